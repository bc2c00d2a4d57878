"""One household on the page: an episode, what was done in it by whom, and the agent beside it.

What was done is kept as a list. Going back does the first part of the list again from the start,
which gives the same household, because the simulator is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clalfred.agents.acting.heuristics import EpisodeTrace
from clalfred.agents.acting.policy import EpisodeState, Policy
from clalfred.agents.acting.result_file import EpisodeResult
from clalfred.agents.acting.rollout import env_for, torch_threads
from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import Episode, EpisodeKey, RunLengthMask
from gym_clalfred.env import ClAlfredEnv, Step
from gym_clalfred.errors import UsageError
from gym_clalfred.interaction import Choice, Pointing, choose_by_class, choose_by_mask
from gym_clalfred.objects import ObjectClass
from gym_clalfred.options import MAX_STEPS
from gym_clalfred.possible_actions import most_central
from gym_clalfred.simulator.contract import AgentPose, Simulator

#: Side of the views as rendered. The page shows the front view at this size and the others at half.
VIEW_PIXELS = 600

#: Free roaming has no end of its own.
ROAMING_STEPS = 100_000


@dataclass(frozen=True)
class WatchedAgent:
    """An agent that can be watched.

    Args:
        title: its name on the page.
        policy: who acts.
    """

    title: str
    policy: Policy


@dataclass(frozen=True)
class TakenAction:
    """One action that was done.

    Args:
        action: what.
        object_class: on what; ``NoObject`` for navigation and Stop.
        by_agent: whether the agent chose it.
        mask: pixels of the object at 300 x 300; a person points with them, an agent names a class.
        object_id: what was acted on, if anything.
        held_id: what was held before.
        pose: where the agent stood before.
        reason: why it failed, or ``None``.
    """

    action: Action
    object_class: ObjectClass
    by_agent: bool
    mask: RunLengthMask | None
    object_id: str | None
    held_id: str | None
    pose: AgentPose
    reason: str | None = None


@dataclass(frozen=True)
class Suggestion:
    """What the agent would do next, and its state after it has seen this step."""

    action: Action
    object_class: ObjectClass
    state: EpisodeState


class PlayedEpisode:
    """An episode in which a person, an agent or both by turns act.

    Args:
        source: where episodes come from.
        performer: the agent to watch, if any.
        max_steps: actions at most.
    """

    def __init__(
        self,
        source: EpisodeSource,
        performer: WatchedAgent | None = None,
        *,
        max_steps: int = MAX_STEPS,
    ) -> None:
        self.performer = performer
        self.deeds: list[TakenAction] = []
        self.info: dict[str, Any] = {}
        self.observation: dict[str, Any] = {}
        self.ended = self._terminated = False
        self._key: EpisodeKey | None = None
        self._at = 0
        self._pointing: Pointing | None = None
        self._env = ClAlfredEnv(source=source, image_size=VIEW_PIXELS, max_steps=max_steps)
        self._small: ClAlfredEnv | None = None
        if performer is not None:
            self._small = env_for(performer.policy.agent, source, max_steps=max_steps)
        self._seen: dict[str, Any] = {}
        self._state: EpisodeState | None = None
        self._suggestion: Suggestion | None = None

    @property
    def simulator(self) -> Simulator:
        """The household."""
        return self._env.simulator

    @property
    def episode(self) -> Episode:
        """The episode at hand."""
        return self._env.episode

    @property
    def conditions(self) -> tuple[tuple[str, bool], ...]:
        """The goal conditions in words, and whether each is met."""
        return tuple((one.description, one.met) for one in self._env.goal.conditions)

    @property
    def step(self) -> int:
        """How many of the deeds have been done where we are now."""
        return self._at

    @property
    def done(self) -> list[TakenAction]:
        """The deeds up to now."""
        return self.deeds[: self._at]

    def begin(self, key: EpisodeKey) -> None:
        """Starts an episode."""
        self.deeds = []
        self._restart(key)

    def suggestion(self) -> Suggestion | None:
        """What the agent would do next; ``None`` without an agent or after the end."""
        if self.performer is None or self.ended:
            return None
        if self._suggestion is None:
            before = None if self._state is None else (self._state,)
            with torch_threads(1):
                action, states = self.performer.policy.predict(self._seen, before)
            self._suggestion = Suggestion(
                Action(int(action[0])), ObjectClass(int(action[1])), states[0]
            )
        return self._suggestion

    def act(self, action: Action, object_id: str | None = None) -> bool:
        """A person's action, on an object or on the most central one that it applies to.

        Gives whether anything was tried: what applies to nothing in reach is not.
        """
        self._check_alive()
        mask = None
        if action.is_interaction:
            if object_id is None:
                object_id = most_central(action, self.simulator).object_id
            pixels = self.simulator.sight().mask(object_id or "")
            if not pixels.any():
                return False
            mask = RunLengthMask.encode(pixels)
        del self.deeds[self._at :]
        self._do(action, ObjectClass.NoObject, mask, by_agent=False)
        return True

    def let_agent_act(self) -> bool:
        """Does what the agent suggests; gives whether there was anything to do."""
        suggestion = self.suggestion()
        if suggestion is None:
            return False
        del self.deeds[self._at :]
        self._do(suggestion.action, suggestion.object_class, None, by_agent=True)
        return True

    def go_to(self, step: int) -> None:
        """Goes to the state after the given number of deeds, by doing them again from the start."""
        step = max(0, min(step, len(self.deeds)))
        if step == self._at:
            return
        deeds = self.deeds
        if step < self._at:
            self._restart(self.episode.key)
        for deed in deeds[self._at : step]:
            mask = None if deed.by_agent else deed.mask
            self._do(deed.action, deed.object_class, mask, deed.by_agent, again=True)

    def forget_failures(self) -> None:
        """Does everything again that worked, so that failures never end a walk."""
        worked = [deed for deed in self.done if deed.reason is None]
        self._restart(self.episode.key)
        self.deeds = worked
        self.go_to(len(worked))

    def result(self) -> EpisodeResult:
        """What came of the episode, once it has ended."""
        if not self.ended:
            raise UsageError("the episode is not over: expected Stop before its result")
        met, conditions = self.info["goal_conditions"]
        last = self.done[-1].action
        end = "stop" if last is Action.Stop else "failures" if self._terminated else "limit"
        worked = [
            f"{deed.action.name} {deed.object_class.name}"
            for deed in self.done
            if deed.action.is_interaction and deed.reason is None
        ]
        return EpisodeResult(
            episode=str(self.episode.key),
            success=bool(self.info["success"]),
            conditions_met=int(met),
            conditions=int(conditions),
            steps=int(self.info["steps"]),
            expert_steps=len(self.episode.trajectory.actions),
            error="the simulator crashed" if self.info["crashed"] else "",
            interactions=", ".join(worked),
            end="" if self.info["crashed"] else end,
        )

    def sleep(self) -> None:
        """Frees the simulators; what was done stays known."""
        for env in (self._env, self._small):
            if env is not None:
                env.close()
        self.observation, self._seen = {}, {}
        self._state = self._suggestion = None

    def wake(self) -> None:
        """After ``sleep``: comes back to the same step by doing everything again."""
        if not self.observation and self._key is not None:
            step = self._at
            self._restart(self._key)
            self.go_to(step)

    def _restart(self, key: EpisodeKey) -> None:
        self.observation, self.info = self._env.reset(options={"episode": key})
        self._key = key
        self.ended = self._terminated = False
        self._at, self._pointing = 0, None
        self._state = self._suggestion = None
        if self._small is not None:
            self._seen, _ = self._small.reset(options={"episode": key})

    def _do(
        self,
        action: Action,
        wanted: ObjectClass,
        mask: RunLengthMask | None,
        by_agent: bool,
        again: bool = False,
    ) -> None:
        self.suggestion()  # the agent sees every step, also a person's
        held, pose = self.simulator.held, self.simulator.agent
        choice = self._choice(action, wanted, mask)
        self._pointing = choice.pointing or self._pointing
        kind = wanted if choice.pointing is None else choice.pointing.object_class
        pixels = None if mask is None else mask.decode()
        shown = mask
        if mask is None and choice.object_id is not None:
            shown = RunLengthMask.encode(self.simulator.sight().mask(choice.object_id))
        self.observation, _, self._terminated, truncated, self.info = _acted(
            self._env, action, wanted, pixels
        )
        self.ended = self._terminated or truncated
        if self._small is not None and not self.info.get("crashed"):
            self._seen = _acted(self._small, action, wanted, pixels)[0]
        self._remember(action, kind)
        self._at += 1
        if not again:
            reason = self.info["reason"]
            self.deeds.append(
                TakenAction(action, kind, by_agent, shown, choice.object_id, held, pose, reason)
            )

    def _choice(self, action: Action, wanted: ObjectClass, mask: RunLengthMask | None) -> Choice:
        """What the environment will act on, by the rules that it has."""
        if not action.is_interaction:
            return Choice(None)
        sight, objects = self.simulator.sight(), self.simulator.objects
        if mask is not None:
            return choose_by_mask(mask.decode(), sight, objects)
        return choose_by_class(wanted, sight, objects, self._pointing)

    def _remember(self, action: Action, kind: ObjectClass) -> None:
        """Tells the agent what was really done, which may be a person's choice."""
        if self._suggestion is None:
            return
        state = self._suggestion.state
        trace = EpisodeTrace(state.trace.fronts, action)
        self._state = replace(state, previous=(int(action), int(kind)), trace=trace)
        self._suggestion = None

    def _check_alive(self) -> None:
        if self.ended:
            raise UsageError("the episode is over: go back a step, start again or take the next")


def _acted(
    env: ClAlfredEnv,
    action: Action,
    wanted: ObjectClass,
    mask: NDArray[np.bool_] | None,
) -> Step:
    if mask is not None:
        return env.act_with_mask(action, mask)
    return env.step((int(action), int(wanted)))
