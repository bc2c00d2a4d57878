"""How many trajectories and episodes each tier has, by split, task type and room type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks import ALFRED_TASKS
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
    """Restricts the tasks of a tier; by default it restricts nothing.

    Args:
        rooms: rooms of the seen splits; empty for all of ``TRAIN_NUMBERS``.
        longest: most actions that the expert should need; exceeded only if no such task is found.
        sliced: share of kitchen trajectories whose target has to be cut, for all task types but
            Examine; ``None`` for ALFRED's share of each task type.
        hidden: share of trajectories whose targets start in a closed container, if the room has a
            suitable one; ``None`` to leave it to chance.
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


#: Trajectories, or trajectories/annotations.
_CELL = re.compile(r"[0-9]{1,6}(/[0-9]{1,6})?")

_ROOMS = (RoomType.KITCHEN, RoomType.LIVING_ROOM, RoomType.BEDROOM, RoomType.BATHROOM)


def quotas_of(
    tasks: Iterable[TaskType], tier: str, annotations: int = 1
) -> dict[Split, tuple[Quota, ...]]:
    """The quotas of a tier for some task types, from their ``counts``.

    Args:
        tasks: which.
        tier: ``tiny``, ``small`` or ``full``.
        annotations: of each trajectory, where the counts do not say.
    """
    tasks = tuple(tasks)
    return {
        split: tuple(quota for one in tasks for quota in _quotas(one, tier, split, annotations))
        for split in Split
    }


def _quotas(task: TaskType, tier: str, split: Split, annotations: int) -> Iterator[Quota]:
    if tier not in task.counts:
        raise BadInputError(
            f"{task!r} has counts for {', '.join(task.counts)}, but none for {tier!r}: add them"
        )
    names = (split.value, *split.value.split("_"))
    rows = [row for name, row in task.counts[tier].items() if name in names]
    cells = rows[0].split() if len(rows) == 1 else []
    if len(cells) != len(_ROOMS) or not all(map(_CELL.fullmatch, cells)):
        raise BadInputError(
            f"{task!r}: expected one row of {len(_ROOMS)} counts of {split.value} in {tier!r}, "
            f"such as '3 0 7/20 0', found {rows}"
        )
    for room_type, cell in zip(_ROOMS, cells):
        trajectories, _, episodes = cell.partition("/")
        if int(trajectories):
            total = int(episodes) if episodes else int(trajectories) * annotations
            yield Quota(task, room_type, int(trajectories), total)


#: The fifteen smallest training rooms of each type.
_SMALL_ROOMS = (
    *(3, 5, 12, 13, 14, 15, 17, 19, 20, 21, 22, 26, 27, 28, 30),
    *(201, 203, 204, 206, 207, 208, 209, 210, 214, 216, 217, 221, 225, 227, 228),
    *(301, 302, 303, 304, 305, 307, 310, 311, 313, 318, 321, 326, 327, 329, 330),
    *(402, 405, 409, 410, 412, 413, 416, 417, 418, 419, 420, 422, 427, 428, 429),
)


#: The tiers by name: ``tiny`` for tests, ``small`` by default, ``full`` with ALFRED's counts.
TIERS = {
    # Evaluations take one annotation of each trajectory: other words for the same room and start
    # tell little more about an agent, at the full price.
    "tiny": Tier(
        "tiny",
        quotas_of(ALFRED_TASKS, "tiny", annotations=3),
        evaluated_annotations=1,
        evaluation_steps=100,
    ),
    # One annotation each: another trajectory teaches more than other words for the same one.
    "small": Tier(
        "small",
        quotas_of(ALFRED_TASKS, "small"),
        evaluated_annotations=1,
        evaluation_steps=100,
        scope=Scope(_SMALL_ROOMS, longest=36, sliced=0.0, hidden=0.0, nearest=True),
    ),
    # ALFRED's own counts; it keeps its tests' to itself. For valid_unseen only the sums over rows
    # and columns are published; the cells are chosen to give them.
    "full": Tier("full", quotas_of(ALFRED_TASKS, "full")),
}
