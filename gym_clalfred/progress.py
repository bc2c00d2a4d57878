"""The state of an episode, for ``info`` and for the rendered picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import Episode
from gym_clalfred.interaction import Pointing
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Failure
from gym_clalfred.tasks.goals import GoalChecker, GoalStatus
from gym_clalfred.viewer import Caption, Notes


@dataclass
class Progress:
    """Progress of one episode.

    Args:
        episode: what is being done.
        checker: checks the goal conditions.
        words: the texts of the observation.
        goal: the goal conditions now.
        steps: actions so far; Stop is not counted.
        failures: failed actions so far.
        ended: whether the episode is over.
        crashed: whether the simulator crashed.
        pointing: the object of the last interaction.
        action: the last action; with its class, its target's id and why it failed.
    """

    episode: Episode
    checker: GoalChecker
    words: dict[str, str]
    goal: GoalStatus
    steps: int = 0
    failures: int = 0
    ended: bool = False
    crashed: bool = False
    pointing: Pointing | None = None
    action: Action | None = None
    object_class: ObjectClass = ObjectClass.NoObject
    target: str | None = None
    failure: Failure | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the episode is over and all goal conditions are met."""
        return self.ended and self.goal.success and not self.crashed

    def info(self, reveal_task: bool) -> dict[str, Any]:
        """The environment's ``info``; names the task only if it may be revealed."""
        info: dict[str, Any] = {
            "action_success": self.failure is None,
            "reason": None if self.failure is None else self.failure.value,
            "failures": self.failures,
            "steps": self.steps,
            "goal_conditions": (self.goal.met, self.goal.total),
            "is_success": self.succeeded,
        }
        if self.ended:
            info["success"] = self.succeeded
            info["crashed"] = self.crashed
        if reveal_task:
            trajectory = self.episode.trajectory
            # Not "episode": that is where Gymnasium and SB3 put the statistics of an episode.
            info["episode_key"] = str(self.episode.key)
            info["task_type"] = trajectory.task.type.value
            info["room_type"] = trajectory.room_type.value
        return info

    def caption(self, max_steps: int, held: ObjectClass | None, notes: Notes) -> Caption:
        """The text beside the views."""
        return Caption(
            goal=self.words["goal"],
            instructions=tuple(self.words["instructions"].split("\n")),
            step=self.steps,
            max_steps=max_steps,
            action=self.action,
            object_class=self.object_class,
            failure=self.failure,
            failures=self.failures,
            held=held,
            goal_met=self.goal.met,
            goal_total=self.goal.total,
            success=self.succeeded if self.ended else None,
            notes=notes,
        )
