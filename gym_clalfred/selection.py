"""Which episodes an environment draws from: those of some tasks in some rooms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey, Split, room_of
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.names import match_name
from gym_clalfred.rooms import ROOM_NUMBERS, RoomType
from gym_clalfred.setups import Setup, names_of
from gym_clalfred.tasks.spec import TaskType, task_types

#: What ``reset`` draws from: first one of the pools, then an episode of it.
Pools = tuple[tuple[EpisodeEntry, ...], ...]


@dataclass(frozen=True)
class Selection:
    """A selection of tasks and rooms; ``None`` selects all."""

    tasks: frozenset[TaskType] | None = None
    rooms: frozenset[RoomType | int] | None = None

    @classmethod
    def parse(cls, tasks: Any = None, rooms: Any = None) -> Selection:
        """Reads the arguments of ``gymnasium.make``.

        Args:
            tasks: a task's name or several, the paper's (``Heat``) or ALFRED's, in any spelling.
            rooms: a room type's name or several, in any spelling, or scene numbers.
        """
        return cls(
            None if tasks is None else frozenset(map(_task, _several("tasks", tasks))),
            None if rooms is None else frozenset(map(_room, _several("rooms", rooms))),
        )

    def __bool__(self) -> bool:
        return self != Selection()

    def __contains__(self, entry: EpisodeEntry) -> bool:
        if self.tasks is not None and entry.task_type not in self.tasks:
            return False
        if self.rooms is None or entry.room_type in self.rooms:
            return True
        return room_of(entry.key.trajectory) in self.rooms

    def __str__(self) -> str:
        parts = []
        if self.tasks is not None:
            parts.append(f"tasks {', '.join(sorted(task.paper_name for task in self.tasks))}")
        if self.rooms is not None:
            names = (room.value if isinstance(room, RoomType) else str(room) for room in self.rooms)
            parts.append(f"rooms {', '.join(sorted(names))}")
        return " and ".join(parts)

    def entries(self, source: EpisodeSource, split: Split) -> tuple[EpisodeEntry, ...]:
        """The episodes of a split that are selected; raises ``DataError`` if there are none."""
        entries = source.entries(split)
        if not entries:
            raise DataError(f"{source.label} has no episodes in split {split.value!r}")
        if not self:
            return entries
        selected = tuple(entry for entry in entries if entry in self)
        if not selected:
            raise DataError(
                f"{source.label} has no episodes of {self} in split {split.value!r}: "
                "choose others, another split or another tier"
            )
        return selected

    def pools(self, source: EpisodeSource, split: Split, setup: Setup) -> Pools:
        """One pool, or one per room type if the setup balances rooms."""
        entries = self.entries(source, split)
        if not setup.is_balanced_by_room:
            return (entries,)
        pools = (tuple(e for e in entries if e.room_type is room) for room in RoomType)
        return tuple(pool for pool in pools if pool)


def key_of_options(options: dict[str, Any] | None) -> EpisodeKey | None:
    """The episode requested in the options of ``reset``, if any."""
    if options is not None and not isinstance(options, Mapping):
        raise BadInputError(f"expected reset options as a dict, got {options!r}")
    unknown = sorted(set(options or {}) - {"episode"})
    if unknown:
        raise BadInputError(f"unknown reset options {unknown}: expected only 'episode'")
    wanted = (options or {}).get("episode")
    if isinstance(wanted, str):
        return EpisodeKey.parse(wanted)
    if wanted is not None and not isinstance(wanted, EpisodeKey):
        raise BadInputError(
            f"expected an EpisodeKey or its text as episode, got {type(wanted).__name__}"
        )
    return wanted


def open_episodes(tier: str, data: str | Path | None, source: Any) -> EpisodeSource:
    """The given source, or the one for the tier or folder."""
    from gym_clalfred.data import open_source

    if source is None:
        return open_source(tier=tier, data=data)
    if not isinstance(source, EpisodeSource):
        raise BadInputError(
            f"expected source to be an EpisodeSource, which open_source() gives, got {source!r}; "
            "a folder is given as data="
        )
    return source


def _several(argument: str, given: Any) -> tuple[Any, ...]:
    """One name or number, or several."""
    single = isinstance(given, (str, int, np.integer)) and not isinstance(given, bool)
    several = (given,) if single else tuple(given) if isinstance(given, Iterable) else ()
    if not several:
        raise BadInputError(f"expected {argument} to be a list of names, got {given!r}")
    return several


def _task(name: Any) -> TaskType:
    known = task_types()
    return match_name("each of tasks", name, names_of(known), [task.paper_name for task in known])


def _room(name: Any) -> RoomType | int:
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        if name not in ROOM_NUMBERS:
            RoomType.of(int(name))  # which says what the numbers are
        return int(name)
    return match_name("each of rooms", name, names_of(RoomType), [room.value for room in RoomType])
