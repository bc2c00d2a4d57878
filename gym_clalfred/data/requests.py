"""What to generate: the request for one trajectory, and all requests of a tier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gym_clalfred.data.quotas import ANY_TASK, Quota, Scope, Tier
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import (
    PRETRAINING_NUMBERS,
    TEST_UNSEEN_NUMBERS,
    TRAIN_NUMBERS,
    VALID_UNSEEN_NUMBERS,
    RoomType,
)
from gym_clalfred.tasks.spec import TaskType

#: Attempts in one room before the next has its turn.
TRIES_PER_ROOM = 15

_UNSEEN = {Split.VALID_UNSEEN: VALID_UNSEEN_NUMBERS, Split.TEST_UNSEEN: TEST_UNSEEN_NUMBERS}


@dataclass(frozen=True)
class Request:
    """Everything that determines a generated trajectory, besides the generator itself.

    Args:
        seed: of the tier.
        split: which rooms may be used; the splits draw from different random streams.
        index: number within the split.
        task_type: the behaviour.
        room_type: where.
        annotations: how many to write.
        scope: restricts the tasks.
        turn: which of the rooms is tried first; they take turns within a split.
    """

    seed: int
    split: Split
    index: int
    task_type: TaskType
    room_type: RoomType
    annotations: int
    scope: Scope = ANY_TASK
    turn: int = 0

    @property
    def rooms(self) -> tuple[int, ...]:
        """The scene numbers it may use."""
        numbers = _UNSEEN.get(self.split) or self.scope.rooms or TRAIN_NUMBERS
        return tuple(number for number in numbers if RoomType.of(number) is self.room_type)

    def room(self, attempt: int) -> int:
        """The scene number of an attempt; after some failed ones the next room is tried."""
        return self.rooms[(self.turn + attempt // TRIES_PER_ROOM) % len(self.rooms)]

    @property
    def trial(self) -> str:
        """ALFRED's ``task_id``: unique over all splits and seeds."""
        return f"trial_{self.split.value}_{self.seed}_{self.index:05d}"

    def rng(self, attempt: int) -> np.random.Generator:
        """Randomness of one attempt; no other request or attempt has the same."""
        split = tuple(Split).index(self.split)
        return np.random.default_rng([self.seed, split, self.index, attempt])


def check_tier(tier: Tier) -> None:
    """Raises ``BadInputError`` if a tier lacks a split or asks for a room that it cannot have."""
    missing = [split.value for split in Split if split not in tier.quotas]
    if missing:
        raise BadInputError(
            f"tier {tier.name!r} has no quotas for {', '.join(missing)}: expected some for every "
            "split, () for none"
        )
    kept = {*PRETRAINING_NUMBERS, *VALID_UNSEEN_NUMBERS, *TEST_UNSEEN_NUMBERS}
    leaked = sorted(kept.intersection(tier.scope.rooms))
    if leaked:
        raise BadInputError(
            f"tier {tier.name!r} would train in rooms {leaked}: expected none that are kept for "
            "unseen splits or for pre-training"
        )
    for split in Split:
        for request in split_requests(tier, split):
            if not request.rooms:
                raise BadInputError(
                    f"tier {tier.name!r} asks for {request.task_type.paper_name} in a "
                    f"{request.room_type.name.lower()}, but its scope has no such room"
                )


def split_requests(tier: Tier, split: Split) -> list[Request]:
    """The requests of a split in random order, so that the first n are a fair sample for any n.

    The rooms of a type are used in turn, within each task type and over the whole split.
    """
    cells: list[tuple[Quota, int, int]] = []
    turns = dict.fromkeys(RoomType, 0)
    for quota in tier.quotas[split]:
        for position in range(quota.trajectories):
            cells.append((quota, position, turns[quota.room_type]))
            turns[quota.room_type] += 1
    rng = np.random.default_rng([tier.seed, tuple(Split).index(split)])
    order = rng.permutation(len(cells))
    requests = []
    for index, cell in enumerate(order):
        quota, position, turn = cells[cell]
        requests.append(
            Request(
                tier.seed,
                split,
                index,
                quota.task_type,
                quota.room_type,
                quota.annotations(position),
                tier.scope,
                turn,
            )
        )
    return requests
