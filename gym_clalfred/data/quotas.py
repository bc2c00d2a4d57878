"""How many trajectories and episodes each tier has, by split, task type and room type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks.spec import TaskType


@dataclass(frozen=True)
class Quota:
    """Trajectories of one task type in one room type, and the episodes (annotations) they have."""

    task_type: TaskType
    room_type: RoomType
    trajectories: int
    episodes: int

    def __post_init__(self) -> None:
        if not 1 <= self.trajectories <= self.episodes:
            raise BadInputError(
                f"a quota of {self.trajectories} trajectories with {self.episodes} episodes: "
                "expected at least one trajectory, and an episode for each"
            )

    def annotations(self, position: int) -> int:
        """Number of annotations of the trajectory at a position of the quota; evenly spread."""
        each, rest = divmod(self.episodes, self.trajectories)
        return each + (
            position * rest // self.trajectories != (position + 1) * rest // self.trajectories
        )


@dataclass(frozen=True)
class Scope:
    """Which of all possible tasks a tier asks for; by default any.

    Args:
        rooms: rooms of the seen splits; empty for all of ``TRAIN_NUMBERS``.
        longest: actions that the expert should need at most; more where no such task is found.
        sliced: share of kitchen trajectories whose target has to be cut, for all task types but
            Examine; ``None`` for ALFRED's share of each task type.
        hidden: share of trajectories whose targets start in a closed container, where the room has
            one for them; ``None`` for wherever things happen to lie.
        nearest: whether the agent starts near a target and the expert takes the nearest object of a
            class, instead of any.
    """

    rooms: tuple[int, ...] = ()
    longest: int | None = None
    sliced: float | None = None
    hidden: float | None = None
    nearest: bool = False

    def __post_init__(self) -> None:
        for name, share in (("sliced", self.sliced), ("hidden", self.hidden)):
            if share is not None and not 0 <= share <= 1:
                raise BadInputError(f"{name} {share!r}: expected a share from 0 to 1, or None")


#: No restriction.
ANY_TASK = Scope()


@dataclass(frozen=True)
class Tier:
    """A named amount of generated data.

    Args:
        name: as users say it.
        quotas: what each split consists of.
        seed: of everything random in it.
        evaluated_annotations: of each trajectory, how many annotations an evaluation
            takes unless told otherwise; ``None`` for all, as ALFRED does.
        evaluation_steps: actions after which an evaluation cuts an episode unless told otherwise;
            ``None`` for ALFRED's 1000.
        scope: which tasks it asks for.
    """

    name: str
    quotas: Mapping[Split, tuple[Quota, ...]]
    seed: int = 0
    evaluated_annotations: int | None = None
    evaluation_steps: int | None = None
    scope: Scope = ANY_TASK

    def trajectories(self, split: Split) -> int:
        """Number of trajectories of a split."""
        return sum(quota.trajectories for quota in self.quotas[split])

    def episodes(self, split: Split) -> int:
        """Number of episodes of a split."""
        return sum(quota.episodes for quota in self.quotas[split])


_ROOMS = (RoomType.KITCHEN, RoomType.LIVING_ROOM, RoomType.BEDROOM, RoomType.BATHROOM)

#: Kitchens, living rooms, bedrooms, bathrooms: (trajectories, episodes) or None.
_Row = tuple[tuple[int, int] | None, ...]


def _quotas(rows: dict[TaskType, _Row]) -> tuple[Quota, ...]:
    return tuple(
        Quota(task_type, room_type, *cell)
        for task_type, row in rows.items()
        for room_type, cell in zip(_ROOMS, row)
        if cell is not None
    )


def _even(rows: dict[TaskType, str], annotations: int) -> tuple[Quota, ...]:
    """From "K L B B" numbers of trajectories, all with the same number of annotations."""
    return _quotas(
        {
            task_type: tuple(
                (int(n), int(n) * annotations) if int(n) else None for n in row.split()
            )
            for task_type, row in rows.items()
        }
    )


_TINY_TRAIN = {
    TaskType.EXAMINE: "0 2 2 0",
    TaskType.PICK_AND_PLACE: "1 1 1 1",
    TaskType.PICK_TWO_AND_PLACE: "1 1 1 1",
    TaskType.CLEAN: "2 0 0 2",
    TaskType.HEAT: "4 0 0 0",
    TaskType.COOL: "4 0 0 0",
    TaskType.MOVABLE: "2 1 1 0",
}
_TINY_OTHERS = {
    TaskType.EXAMINE: "0 1 0 0",
    TaskType.PICK_AND_PLACE: "0 0 1 0",
    TaskType.PICK_TWO_AND_PLACE: "0 0 0 1",
    TaskType.CLEAN: "1 0 0 0",
    TaskType.HEAT: "1 0 0 0",
    TaskType.COOL: "1 0 0 0",
    TaskType.MOVABLE: "1 0 0 0",
}
_SMALL_TRAIN = {
    TaskType.EXAMINE: "0 240 240 0",
    TaskType.PICK_AND_PLACE: "48 120 144 168",
    TaskType.PICK_TWO_AND_PLACE: "48 120 144 168",
    TaskType.CLEAN: "312 0 0 168",
    TaskType.HEAT: "480 0 0 0",
    TaskType.COOL: "480 0 0 0",
    TaskType.MOVABLE: "288 120 72 0",
}
_SMALL_VALID = {
    TaskType.EXAMINE: "0 8 8 0",
    TaskType.PICK_AND_PLACE: "3 4 4 5",
    TaskType.PICK_TWO_AND_PLACE: "3 4 4 5",
    TaskType.CLEAN: "9 0 0 7",
    TaskType.HEAT: "16 0 0 0",
    TaskType.COOL: "16 0 0 0",
    TaskType.MOVABLE: "8 4 4 0",
}
# Multiples of the eight unseen test rooms of each type.
_SMALL_TEST = {
    TaskType.EXAMINE: "0 16 16 0",
    TaskType.PICK_AND_PLACE: "8 8 8 8",
    TaskType.PICK_TWO_AND_PLACE: "8 8 8 8",
    TaskType.CLEAN: "16 0 0 16",
    TaskType.HEAT: "32 0 0 0",
    TaskType.COOL: "32 0 0 0",
    TaskType.MOVABLE: "16 8 8 0",
}

# ALFRED's own counts. For valid_unseen only the sums over rows and columns are published; the
# cells are chosen to give them.
_FULL: dict[Split, dict[TaskType, _Row]] = {
    Split.TRAIN: {
        TaskType.EXAMINE: (None, (372, 1178), (339, 1073), None),
        TaskType.PICK_AND_PLACE: ((141, 457), (248, 776), (295, 914), (350, 1098)),
        TaskType.PICK_TWO_AND_PLACE: ((184, 601), (264, 838), (281, 923), (379, 1192)),
        TaskType.CLEAN: ((628, 1991), None, None, (267, 851)),
        TaskType.HEAT: ((918, 2943), None, None, None),
        TaskType.COOL: ((920, 2944), None, None, None),
        TaskType.MOVABLE: ((645, 2120), (201, 664), (142, 460), None),
    },
    Split.VALID_SEEN: {
        TaskType.EXAMINE: (None, (15, 48), (14, 46), None),
        TaskType.PICK_AND_PLACE: ((5, 15), (11, 33), (8, 24), (22, 70)),
        TaskType.PICK_TWO_AND_PLACE: ((6, 26), (9, 36), (6, 21), (12, 41)),
        TaskType.CLEAN: ((23, 70), None, None, (14, 42)),
        TaskType.HEAT: ((34, 107), None, None, None),
        TaskType.COOL: ((38, 126), None, None, None),
        TaskType.MOVABLE: ((25, 88), (4, 12), (5, 15), None),
    },
    Split.VALID_UNSEEN: {
        TaskType.EXAMINE: (None, (30, 97), (24, 76), None),
        TaskType.PICK_AND_PLACE: ((9, 30), (6, 20), (7, 21), (9, 29)),
        TaskType.PICK_TWO_AND_PLACE: ((9, 30), (4, 14), (4, 13), (8, 24)),
        TaskType.CLEAN: ((25, 79), None, None, (10, 34)),
        TaskType.HEAT: ((42, 136), None, None, None),
        TaskType.COOL: ((34, 109), None, None, None),
        TaskType.MOVABLE: ((26, 84), (5, 15), (3, 10), None),
    },
}
# ALFRED keeps its tests' counts to itself.
_FULL[Split.TEST_SEEN] = _FULL[Split.VALID_SEEN]
_FULL[Split.TEST_UNSEEN] = _FULL[Split.VALID_UNSEEN]

#: The fifteen smallest training rooms of each type.
_SMALL_ROOMS = (
    *(3, 5, 12, 13, 14, 15, 17, 19, 20, 21, 22, 26, 27, 28, 30),
    *(201, 203, 204, 206, 207, 208, 209, 210, 214, 216, 217, 221, 225, 227, 228),
    *(301, 302, 303, 304, 305, 307, 310, 311, 313, 318, 321, 326, 327, 329, 330),
    *(402, 405, 409, 410, 412, 413, 416, 417, 418, 419, 420, 422, 427, 428, 429),
)


def _splits(
    annotations: int,
    train: dict[TaskType, str],
    valid: dict[TaskType, str],
    test: dict[TaskType, str],
) -> dict[Split, tuple[Quota, ...]]:
    return {
        Split.TRAIN: _even(train, annotations),
        Split.VALID_SEEN: _even(valid, annotations),
        Split.VALID_UNSEEN: _even(valid, annotations),
        Split.TEST_SEEN: _even(test, annotations),
        Split.TEST_UNSEEN: _even(test, annotations),
    }


#: The tiers by name: ``tiny`` for tests, ``small`` by default, ``full`` with ALFRED's counts.
TIERS = {
    # Evaluations take one annotation of each trajectory: other words for the same room and start
    # tell little more about an agent, at the full price.
    "tiny": Tier(
        "tiny",
        _splits(3, _TINY_TRAIN, _TINY_OTHERS, _TINY_OTHERS),
        evaluated_annotations=1,
        evaluation_steps=100,
    ),
    # One annotation each: another trajectory teaches more than other words for the same one.
    "small": Tier(
        "small",
        _splits(1, _SMALL_TRAIN, _SMALL_VALID, _SMALL_TEST),
        evaluated_annotations=1,
        evaluation_steps=100,
        scope=Scope(_SMALL_ROOMS, longest=36, sliced=0.0, hidden=0.0, nearest=True),
    ),
    "full": Tier("full", {split: _quotas(rows) for split, rows in _FULL.items()}),
}
