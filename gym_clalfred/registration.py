"""Registers the environment ids with Gymnasium; importing ``gym_clalfred`` does it."""

from __future__ import annotations

import gymnasium

from gym_clalfred.scenarios import Scenario

#: All ids of this package.
ENV_IDS = tuple(scenario.env_id for scenario in Scenario)


def register_envs() -> None:
    """Registers every id once; the environment itself is imported when the first is made."""
    for scenario in Scenario:
        if scenario.env_id not in gymnasium.registry:
            gymnasium.register(
                scenario.env_id,
                entry_point="gym_clalfred.env:ClAlfredEnv",
                kwargs={"scenario": scenario.value},
            )
