"""The index of a source: what it knows about its trajectories without reading them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split, Trajectory
from gym_clalfred.errors import DataError
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
    """The parts of a trajectory's ``folder/trial``."""

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


class IndexedSource(EpisodeSource):
    """A source with an index of its trajectories, which are read when they are asked for.

    Args:
        folder: where its files are.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self._rows: dict[Split, dict[str, IndexRow]] = {}
        self._entries: dict[Split, tuple[EpisodeEntry, ...]] = {}
        # Episodes of one trajectory often come together.
        self._recent = lru_cache(maxsize=16)(self.read)

    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        """The index of a split, in the order of its trajectories."""
        split = Split(split)
        if split not in self._entries:
            self._entries[split] = episode_entries(split, self._index(split).values())
        return self._entries[split]

    def episode(self, key: EpisodeKey) -> Episode:
        """Reads one episode."""
        row = self._index(key.split).get(key.trajectory)
        if row is None or not 0 <= key.annotation < row.annotations:
            raise DataError(f"{self.folder}: has no episode {key}")
        return Episode(key, self._recent(key.split, key.trajectory))

    @abstractmethod
    def read(self, split: Split, key: str) -> Trajectory:
        """Reads the trajectory ``folder/trial``."""

    @abstractmethod
    def read_index(self, split: Split) -> Iterable[IndexRow]:
        """Finds out which trajectories a split has."""

    def _index(self, split: Split) -> dict[str, IndexRow]:
        if split not in self._rows:
            self._rows[split] = {row.key: row for row in self.read_index(split)}
        return self._rows[split]
