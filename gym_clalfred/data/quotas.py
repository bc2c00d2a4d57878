"""How many trajectories and episodes each tier has, by split, task type and room type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks.spec import TaskType

#: Annotations of every trajectory, unless ALFRED's own counts say more.
ANNOTATIONS = 3


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
        rooms: training rooms that are used; empty for all.
        longest: actions that the expert should need at most; more where no such task is found.
        slicing: whether the target may have to be cut.
        hidden: whether the target may start in a closed container.
        nearest: whether the agent starts near a target and the expert takes the nearest object of a
            class, instead of any.
        precise: whether instructions count short walks and name every turn and look, instead of as
            much as people do.
    """

    rooms: tuple[int, ...] = ()
    longest: int | None = None
    slicing: bool = True
    hidden: bool = True
    nearest: bool = False
    precise: bool = False


#: No restriction.
ANY_TASK = Scope()


@dataclass(frozen=True)
class Tier:
    """A named amount of generated data.

    Args:
        name: as users say it.
        quotas: what each split consists of.
        seed: of everything random in it.
        evaluated_annotations: of each validation trajectory, how many annotations an evaluation
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


def _even(rows: dict[TaskType, str]) -> tuple[Quota, ...]:
    """From "K L B B" numbers of trajectories, all with the same number of annotations."""
    return _quotas(
        {
            task_type: tuple(
                (int(n), int(n) * ANNOTATIONS) if int(n) else None for n in row.split()
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
_TINY_VALID = {
    TaskType.EXAMINE: "0 1 0 0",
    TaskType.PICK_AND_PLACE: "0 0 1 0",
    TaskType.PICK_TWO_AND_PLACE: "0 0 0 1",
    TaskType.CLEAN: "1 0 0 0",
    TaskType.HEAT: "1 0 0 0",
    TaskType.COOL: "1 0 0 0",
    TaskType.MOVABLE: "1 0 0 0",
}
_SMALL_TRAIN = {
    TaskType.EXAMINE: "0 60 60 0",
    TaskType.PICK_AND_PLACE: "12 30 36 42",
    TaskType.PICK_TWO_AND_PLACE: "12 30 36 42",
    TaskType.CLEAN: "78 0 0 42",
    TaskType.HEAT: "120 0 0 0",
    TaskType.COOL: "120 0 0 0",
    TaskType.MOVABLE: "72 30 18 0",
}
_SMALL_VALID = {
    TaskType.EXAMINE: "0 6 6 0",
    TaskType.PICK_AND_PLACE: "2 3 3 4",
    TaskType.PICK_TWO_AND_PLACE: "2 3 3 4",
    TaskType.CLEAN: "7 0 0 5",
    TaskType.HEAT: "12 0 0 0",
    TaskType.COOL: "12 0 0 0",
    TaskType.MOVABLE: "6 3 3 0",
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


#: The fifteen smallest training rooms of each type.
_SMALL_ROOMS = (
    *(3, 5, 12, 13, 14, 15, 17, 19, 20, 21, 22, 26, 27, 28, 30),
    *(201, 203, 204, 206, 207, 208, 209, 210, 214, 216, 217, 221, 225, 227, 228),
    *(301, 302, 303, 304, 305, 307, 310, 311, 313, 318, 321, 326, 327, 329, 330),
    *(402, 405, 409, 410, 412, 413, 416, 417, 418, 419, 420, 422, 427, 428, 429),
)


def _splits(
    train: dict[TaskType, str], valid: dict[TaskType, str]
) -> dict[Split, tuple[Quota, ...]]:
    return {
        Split.TRAIN: _even(train),
        Split.VALID_SEEN: _even(valid),
        Split.VALID_UNSEEN: _even(valid),
    }


# In the smaller tiers validation uses one annotation of each trajectory: other words for the same
# room and start tell little more about an agent, at the full price.
#: The tiers by name: ``tiny`` for tests, ``small`` by default, ``full`` with ALFRED's counts.
TIERS = {
    "tiny": Tier("tiny", _splits(_TINY_TRAIN, _TINY_VALID), evaluated_annotations=1),
    "small": Tier(
        "small",
        _splits(_SMALL_TRAIN, _SMALL_VALID),
        evaluated_annotations=1,
        evaluation_steps=100,
        scope=Scope(
            _SMALL_ROOMS, longest=36, slicing=False, hidden=False, nearest=True, precise=True
        ),
    ),
    "full": Tier("full", {split: _quotas(rows) for split, rows in _FULL.items()}),
}
