"""The three continual-learning setups of CL-ALFRED, and their ids in Gymnasium."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, TypeVar

import gymnasium

from gym_clalfred.data.episode_source import EpisodeEntry
from gym_clalfred.names import match_name
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType, task_types

#: Number of task orders that the paper evaluates for each setup; orders are numbered from 1.
ORDERS = 5

#: What a task of a stream is: a behaviour or a kind of room.
TaskLabel = TaskType | RoomType

_Label = TypeVar("_Label", bound=TaskLabel)


class Setup(str, Enum):
    """A continual-learning setup: what changes along the stream, and whether rooms are balanced.

    Environments, streams, commands and results spell a setup by its value. ``Setup.parse``
    also takes other spellings, such as ``BehaviorIL`` and ``behavior_il``.
    """

    BEHAVIOR_IL = "behavior-il"
    ENVIRONMENT_IL = "environment-il"
    IMBALANCED_ENVIRONMENT_IL = "imbalanced-environment-il"

    @classmethod
    def parse(cls, name: Any, argument: str = "setup") -> Setup:
        """The setup with this name, in any spelling; raises ``BadInputError`` if there is none.

        Args:
            name: a member or its name.
            argument: name of the argument, for the error.
        """
        return match_name(argument, name, {setup.value: setup for setup in cls})

    @property
    def paper_name(self) -> str:
        """The name in the paper: ``Behavior-IL``."""
        return _PAPER_NAMES[self]

    @property
    def env_id(self) -> str:
        """The id for ``gymnasium.make``: ``CLAlfred-BehaviorIL-v0``."""
        return f"CLAlfred-{self.paper_name.replace('-', '').replace(' ', '')}-v0"

    @property
    def is_balanced_by_room(self) -> bool:
        """Whether every room type has as many episodes as the one with the fewest."""
        return self is Setup.ENVIRONMENT_IL

    @property
    def tasks(self) -> tuple[TaskLabel, ...]:
        """The benchmark's tasks, in a fixed order that no stream follows."""
        return ALFRED_TASKS if self is Setup.BEHAVIOR_IL else tuple(RoomType)

    @property
    def known_tasks(self) -> tuple[TaskLabel, ...]:
        """All tasks that a stream may have: the benchmark's and the registered ones."""
        return task_types() if self is Setup.BEHAVIOR_IL else tuple(RoomType)

    def task_of(self, entry: EpisodeEntry) -> TaskLabel:
        """The task an episode belongs to."""
        return entry.task_type if self is Setup.BEHAVIOR_IL else entry.room_type


_PAPER_NAMES = {
    Setup.BEHAVIOR_IL: "Behavior-IL",
    Setup.ENVIRONMENT_IL: "Environment-IL",
    Setup.IMBALANCED_ENVIRONMENT_IL: "Imbalanced Environment-IL",
}


def names_of(tasks: Iterable[_Label]) -> dict[str, _Label]:
    """Every name of some tasks: the paper's, ALFRED's and the enum's."""
    names: dict[str, _Label] = {}
    for task in tasks:
        names |= {task.value: task, task.name: task}
        names |= {task.paper_name: task, task.paper_name.replace("&", " and "): task}
    return names


#: All ids of this package.
ENV_IDS = tuple(setup.env_id for setup in Setup)


def register_envs() -> None:
    """Registers every id once; the environment is imported when the first one is made."""
    for setup in Setup:
        if setup.env_id not in gymnasium.registry:
            gymnasium.register(
                setup.env_id,
                entry_point="gym_clalfred.env:ClAlfredEnv",
                kwargs={"setup": setup.value},
            )
