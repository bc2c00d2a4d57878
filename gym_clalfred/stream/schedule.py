"""A schedule: the sequence of a stream's episodes, which can be hashed, saved and compared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.schema import Natural, read


class ScheduleFile(msgspec.Struct):
    """A saved schedule; an episode is its split, trajectory, annotation and task."""

    version: Literal[1]
    name: str
    tasks: tuple[str, ...]
    episodes: list[tuple[Split, str, Natural, Natural]]
    block_starts: tuple[Natural, ...]


@dataclass(frozen=True)
class Schedule:
    """Episodes in the order of the stream, each exactly once.

    Args:
        name: how it was made, for results, such as ``behavior_il-disjoint-1``.
        tasks: values of the task labels, in the order in which the stream introduces them.
        keys: the episodes, first to last.
        task_ids: for every episode, the index of its task in ``tasks``.
        block_starts: positions at which a task's block begins; empty for a schedule without
            blocks, such as a Gaussian one.
    """

    name: str
    tasks: tuple[str, ...]
    keys: tuple[EpisodeKey, ...]
    task_ids: tuple[int, ...]
    block_starts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.task_ids):
            raise BadInputError(
                f"schedule {self.name!r}: {len(self.keys)} episodes but {len(self.task_ids)} tasks"
            )
        if len(set(self.keys)) != len(self.keys):
            raise BadInputError(f"schedule {self.name!r}: an episode occurs twice")
        if not all(0 <= task < len(self.tasks) for task in self.task_ids):
            raise BadInputError(
                f"schedule {self.name!r}: expected task ids below {len(self.tasks)}"
            )
        starts = self.block_starts
        if starts and (
            starts[0] != 0 or list(starts) != sorted(set(starts)) or starts[-1] >= len(self.keys)
        ):
            raise BadInputError(
                f"schedule {self.name!r}: expected rising block starts from 0 below "
                f"{len(self.keys)}, found {starts}"
            )

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def block_ends(self) -> tuple[int, ...]:
        """Positions after which a block is complete, the last being the end of the stream."""
        return (*self.block_starts[1:], len(self)) if self.block_starts else ()

    def task_of(self, position: int) -> str:
        """The task that the episode at a position belongs to."""
        return self.tasks[self.task_ids[position]]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of episodes, tasks and blocks; the name does not count."""
        digest = hashlib.sha256()
        digest.update(json.dumps([self.tasks, self.task_ids, self.block_starts]).encode())
        for key in self.keys:
            digest.update(f"{key}\n".encode())
        return digest.hexdigest()

    def save(self, path: str | Path) -> None:
        """Writes the schedule as JSON."""
        episodes = [
            (key.split, key.trajectory, key.annotation, task)
            for key, task in zip(self.keys, self.task_ids)
        ]
        document = ScheduleFile(1, self.name, self.tasks, episodes, self.block_starts)
        with atomic_file(Path(path)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(document)))

    @classmethod
    def load(cls, path: str | Path) -> Schedule:
        """Reads a schedule that ``save`` wrote."""
        saved = read(Path(path), ScheduleFile)
        keys = tuple(EpisodeKey(*episode[:3]) for episode in saved.episodes)
        ids = tuple(episode[3] for episode in saved.episodes)
        return cls(saved.name, saved.tasks, keys, ids, saved.block_starts)
