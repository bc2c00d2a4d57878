"""An agent that does what the expert did, for watching it succeed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clalfred.agents.acting.policy import Policy, PolicyState
from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import Episode
from gym_clalfred.simulator.object_ids import class_of


@dataclass
class Follower(Policy):
    """Looks and decides as its network does, then does the expert's next action all the same."""

    expert: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, policy: Policy, episode: Episode) -> Follower:
        actions = [
            (int(one.action), int(class_of(one.object_id)) if one.object_id else 0)
            for one in episode.trajectory.actions
        ]
        return cls(policy.agent, expert=(*actions, (int(Action.Stop), 0)))

    def predict(
        self, observation: Any, state: PolicyState | None = None, *args: Any, **more: Any
    ) -> tuple[Any, PolicyState]:
        _, states = super().predict(observation, state, *args, **more)
        step = len(states[0].trace.fronts) - 1
        done = self.expert[min(step, len(self.expert) - 1)]
        return np.array(done), (replace(states[0], previous=done),)
