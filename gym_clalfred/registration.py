"""Registers the environment ids with Gymnasium; importing ``gym_clalfred`` does it."""

from __future__ import annotations

import gymnasium

from gym_clalfred.setups import Setup

#: All ids of this package.
ENV_IDS = tuple(setup.env_id for setup in Setup)


def register_envs() -> None:
    """Registers every id once; the environment itself is imported when the first is made."""
    for setup in Setup:
        if setup.env_id not in gymnasium.registry:
            gymnasium.register(
                setup.env_id,
                entry_point="gym_clalfred.env:ClAlfredEnv",
                kwargs={"setup": setup.value},
            )
