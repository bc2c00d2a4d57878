"""What a source knows of its trajectories without reading them again."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Struct

from gym_clalfred.data.episode_source import EpisodeEntry
from gym_clalfred.data.trajectory import EpisodeKey, Split, Trajectory
from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import RoomType, is_room
from gym_clalfred.schema import said, shown
from gym_clalfred.tasks.spec import TaskType, find_task

_KEY = re.compile(
    r"(?P<type>[a-z_]+)-(?P<target>[A-Za-z]+)-(?P<movable>[A-Za-z]+)-(?P<place>[A-Za-z]+)"
    r"-(?P<number>[0-9]{1,4})/(?P<trial>[A-Za-z0-9_]{1,100})"
)
Count = Annotated[int, said("a whole number from 1 to 100,000", ge=1, le=100_000)]


@dataclass(frozen=True)
class TrajectoryName:
    """A trajectory's ``folder/trial``, taken apart."""

    task_type: TaskType
    number: int
    trial: str

    @classmethod
    def parse(cls, key: str) -> TrajectoryName | None:
        """``None`` if the text is not ``<type>-<object>-<movable>-<place>-<scene>/<trial>``.

        Whatever passes contains no path separator besides the one and no dots, so it cannot lead
        out of a folder.
        """
        match = _KEY.fullmatch(key)
        task_type = find_task(match["type"]) if match is not None else None
        if match is None or task_type is None or not is_room(int(match["number"])):
            return None
        names = {match["target"], match["movable"], match["place"]} - {"None"}
        if not names <= set(ObjectClass.__members__):
            return None
        return cls(task_type, int(match["number"]), match["trial"])


class IndexRow(Struct, array_like=True, frozen=True):
    """One trajectory: ``folder/trial``, number of annotations, number of the expert's actions."""

    key: str
    annotations: Count
    length: Count

    def __post_init__(self) -> None:
        if TrajectoryName.parse(self.key) is None:
            raise ValueError(
                "key: expected <type>-<object>-<movable>-<receptacle>-<scene>/<trial> with a task "
                f"type that is known here, found {shown(self.key)}"
            )

    @classmethod
    def of(cls, trajectory: Trajectory) -> IndexRow:
        """The row that describes a trajectory."""
        return cls(trajectory.key, len(trajectory.annotations), len(trajectory.actions))


def episode_entries(split: Split, rows: Iterable[IndexRow]) -> tuple[EpisodeEntry, ...]:
    """One entry per annotation, in the order of the rows."""
    entries = []
    for row in rows:
        name = TrajectoryName.parse(row.key)
        assert name is not None
        room_type = RoomType.of(name.number)
        entries += [
            EpisodeEntry(EpisodeKey(split, row.key, number), name.task_type, room_type, row.length)
            for number in range(row.annotations)
        ]
    return tuple(entries)


class RecentTrajectories:
    """The most recently read trajectories; episodes of one trajectory often come together."""

    def __init__(self, size: int = 16) -> None:
        self._size = size
        self._kept: OrderedDict[tuple[Split, str], Trajectory] = OrderedDict()

    def get(
        self, name: tuple[Split, str], read: Callable[[tuple[Split, str]], Trajectory]
    ) -> Trajectory:
        """The trajectory, read if it is not kept."""
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        trajectory = read(name)
        self._kept[name] = trajectory
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return trajectory
