"""A schedule: the sequence of a stream's episodes, which can be hashed, saved and compared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.fields import Field
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Schedule:
    """Episodes in the order of the stream, each exactly once.

    Args:
        name: how it was made, for results, such as ``behavior_il-disjoint-1``.
        tasks: values of the task labels, in the order in which the stream introduces them.
        keys: the episodes, first to last.
        task_ids: for every episode the index into ``tasks`` of the task it belongs to.
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
        document = {
            "version": FORMAT_VERSION,
            "name": self.name,
            "tasks": self.tasks,
            "episodes": [
                [key.split.value, key.trajectory, key.annotation, task]
                for key, task in zip(self.keys, self.task_ids)
            ],
            "block_starts": self.block_starts,
        }
        with atomic_file(Path(path)) as file:
            file.write(json.dumps(document, indent=0).encode())

    @classmethod
    def load(cls, path: str | Path) -> Schedule:
        """Reads a schedule that ``save`` wrote."""
        document = Field.read(Path(path))
        document["version"].integer(FORMAT_VERSION, FORMAT_VERSION)
        tasks = tuple(task.text() for task in document["tasks"])
        keys, task_ids = [], []
        for row in document["episodes"]:
            fields = list(row)
            if len(fields) != 4 or fields[0].value not in [split.value for split in Split]:
                row.fail("[split, trajectory, annotation, task]")
            key = EpisodeKey(Split(fields[0].value), fields[1].text(), fields[2].integer(0, 10_000))
            keys.append(key)
            task_ids.append(fields[3].integer(0, len(tasks) - 1))
        starts = tuple(start.integer(0, len(keys)) for start in document["block_starts"])
        return cls(document["name"].text(), tasks, tuple(keys), tuple(task_ids), starts)
