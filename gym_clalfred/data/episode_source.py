"""Where episodes come from: one small interface over tiers, ALFRED folders and imported stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.tasks.spec import TaskType


@dataclass(frozen=True)
class EpisodeEntry:
    """One line of a source's index: enough to schedule an episode without reading it."""

    key: EpisodeKey
    task_type: TaskType
    room_type: RoomType
    length: int


class EpisodeSource(ABC):
    """A read-only collection of episodes, cheap to open. It is pickled as its arguments."""

    #: Names the data in results, such as ``small-73a177bc``.
    label: str

    #: Whether ``room`` gives generated rooms, which are the same in every such source.
    has_generated_rooms: bool = True

    @abstractmethod
    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        """The index of a split, in a fixed order; empty if the data has no such split."""

    @abstractmethod
    def episode(self, key: EpisodeKey) -> Episode:
        """Reads one episode; raises ``DataError`` if it is damaged or not there."""

    @abstractmethod
    def room(self, number: int) -> Room:
        """The room with a scene number, for the embedded simulator."""
