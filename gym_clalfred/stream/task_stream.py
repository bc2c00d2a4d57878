"""The incremental stream: hands out a schedule's episodes one at a time, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym

from gym_clalfred.checks import one_of
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.errors import StreamError
from gym_clalfred.stream.builders import schedule_of
from gym_clalfred.stream.schedule import Schedule
from gym_clalfred.stream.task_free import Demonstration, TaskHint, demonstration_of

STATE_VERSION = 1


class Learner(Protocol):
    """What a stream reads from a learner: which task information it needs."""

    needs_boundaries: bool
    needs_labels: bool


@dataclass(frozen=True)
class Needs:
    """The declaration of these needs without a learner."""

    needs_boundaries: bool = False
    needs_labels: bool = False


class TaskStream(gym.Wrapper[Any, Any, Any, Any]):
    """Wraps the environment so that ``reset`` moves to the next episode of a schedule.

    Only the current episode can be played and demonstrated; skipping and going back are refused.
    Demonstrations end with the schedule. After the last episode ``reset`` starts another pass with
    a warning, because SB3's ``learn`` and vector environments reset automatically.
    ``gym_clalfred.stream.sb3.StopAtStreamEnd`` ends ``learn`` there, and ``at_end="raise"`` makes
    ``reset`` raise ``StreamError``.

    Observations and demonstrations reveal neither the task nor its boundaries, unless the stream
    was made for a learner that declares that it needs them.

    Example:
        >>> stream = TaskStream(env, schedule)                          # doctest: +SKIP
        >>> while not stream.exhausted:                                 # doctest: +SKIP
        ...     observation, info = stream.reset()
        ...     demonstration = stream.demonstration()

    A learner that only reads demonstrations need not simulate: ``next_demonstration`` and
    ``demonstrations`` move along the same schedule.

    Args:
        env: the environment; its ``unwrapped.source`` has the schedule's episodes.
        schedule: the sequence of episodes; by default the disjoint schedule of the environment's
            setup, order and split.
        learner: an object with ``needs_boundaries`` and ``needs_labels``; ``None``: task-free.
        at_end: ``restart`` or ``raise``: what ``reset`` does after the last episode.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        schedule: Schedule | None = None,
        learner: Learner | None = None,
        at_end: str = "restart",
    ) -> None:
        super().__init__(env)
        self._restarts = one_of("at_end", at_end, ["restart", "raise"]) == "restart"
        if getattr(env.unwrapped, "reveal_task", False):
            raise StreamError(
                "the environment was made with reveal_task=True, so its info tells the task: make "
                "it without, and give the stream a learner that declares what it needs"
            )
        self._schedule = schedule_of(env) if schedule is None else schedule
        self._next = 0
        self._passes = 0
        self._simulated = -1
        self._needs = Needs()
        if learner is not None:
            self.for_learner(learner)

    def for_learner(self, learner: Learner) -> TaskStream:
        """Hands out the task information that this learner needs, and no more."""
        needs = Needs(
            bool(getattr(learner, "needs_boundaries", False)),
            bool(getattr(learner, "needs_labels", False)),
        )
        if needs.needs_boundaries and not self._schedule.block_starts:
            raise StreamError(
                f"the learner needs task boundaries, but schedule {self._schedule.name!r} has "
                "none; use a disjoint or blurry schedule"
            )
        self._needs = needs
        return self

    @property
    def position(self) -> int:
        """How many episodes have been handed out."""
        return self._next

    @property
    def remaining(self) -> int:
        """How many episodes are still to come."""
        return len(self._schedule) - self._next

    @property
    def exhausted(self) -> bool:
        """Whether the last episode has been handed out."""
        return self.remaining == 0

    @property
    def passes(self) -> int:
        """How often ``reset`` has started the stream again after its end."""
        return self._passes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts the next episode, or the first again after the last; refuses any other."""
        if options and "episode" in options:
            raise StreamError(
                "a stream goes from one episode to the next: call reset() without "
                "options['episode'], or use the environment itself"
            )
        if self.exhausted and self._restarts and len(self._schedule):
            self._restart()
        key = self._peek()
        observation, info = self.env.reset(seed=seed, options={**(options or {}), "episode": key})
        self._simulated = self._next
        self._next += 1
        return observation, _untold(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Acts in the current episode."""
        if self._simulated != self._next - 1 or self._next == 0:
            raise StreamError(
                "the current episode is not being simulated: call reset() to start the next one"
            )
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, _untold(info)

    def demonstration(self) -> Demonstration:
        """The expert's solution of the current episode."""
        if self._next == 0:
            raise StreamError("no episode has been handed out yet: call reset() first")
        position = self._next - 1
        source: EpisodeSource = self.env.unwrapped.source  # type: ignore[attr-defined]
        return demonstration_of(
            source.episode(self._schedule.keys[position]), source, self._hint(position)
        )

    def next_demonstration(self) -> Demonstration:
        """Moves to the next episode without simulating it and gives its demonstration."""
        self._peek()
        self._next += 1
        try:
            return self.demonstration()
        except BaseException:
            self._next -= 1
            raise

    def demonstrations(self) -> Iterator[Demonstration]:
        """Moves along the stream and yields the demonstrations of the remaining episodes."""
        while not self.exhausted:
            yield self.next_demonstration()

    def state_dict(self) -> dict[str, Any]:
        """The position in the stream, as plain values."""
        return {
            "version": STATE_VERSION,
            "position": self._next,
            "schedule": self._schedule.digest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where ``state_dict`` was taken; the schedule must be the same."""
        if state.get("version") != STATE_VERSION or state.get("schedule") != self._schedule.digest:
            raise StreamError(
                f"the saved position belongs to another schedule than {self._schedule.name!r}: "
                "make the stream with the setup, order, seed and data it was saved with"
            )
        position = state.get("position")
        if type(position) is not int or not 0 <= position <= len(self._schedule):
            raise StreamError(
                f"position {position!r}: expected a whole number from 0 to {len(self._schedule)}"
            )
        self._next = position
        self._simulated = -1

    def _restart(self) -> None:
        self._next = 0
        self._passes += 1
        if self._passes == 1:
            gym.logger.warn(
                f"the stream has ended after {len(self._schedule)} episodes and starts again; "
                'TaskStream(..., at_end="raise") raises instead, and the callback '
                "gym_clalfred.stream.sb3.StopAtStreamEnd ends SB3's learn"
            )

    def _peek(self) -> EpisodeKey:
        if self.exhausted:
            raise StreamError(
                f"the stream has ended: all {len(self._schedule)} episodes have been handed out"
            )
        return self._schedule.keys[self._next]

    def _hint(self, position: int) -> TaskHint | None:
        if self._needs == Needs():
            return None
        return TaskHint(
            position in self._schedule.block_starts if self._needs.needs_boundaries else None,
            self._schedule.task_of(position) if self._needs.needs_labels else None,
        )


def _untold(info: dict[str, Any]) -> dict[str, Any]:
    """Removes the goal conditions, whose number would reveal the behaviour."""
    return {name: value for name, value in info.items() if name != "goal_conditions"}
