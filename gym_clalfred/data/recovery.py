"""What it takes to make an environment again, as a Gymnasium spec that can be written as JSON."""

from __future__ import annotations

import copy
import json
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.index import IndexedSource
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.tiers import tier_folder


def recoverable_spec(source: EpisodeSource, env: gym.Env[Any, Any] | None = None) -> EnvSpec | None:
    """The spec of an environment, or without one, of the default environment with some episodes.

    An opened source cannot be written down; the tier or the folder that it was opened from stands
    in its place. ``None`` for sources that come from neither.

    Args:
        source: the episodes, if there is no environment.
        env: an environment of this package, also in wrappers.
    """
    if env is None:
        return _with_episodes(_default_spec(), source)
    spec = copy.deepcopy(env.spec)
    if spec is None:
        base: Any = env.unwrapped
        spec = copy.deepcopy(gym.spec(base.setup.env_id))
        spec.kwargs.update(base._ezpickle_kwargs)
    if spec.kwargs.get("source") is not None:
        return _with_episodes(spec, spec.kwargs["source"])
    return _writable(spec)


def _default_spec() -> EnvSpec:
    from gym_clalfred import ENV_IDS

    return copy.deepcopy(gym.spec(ENV_IDS[0]))


def _with_episodes(spec: EnvSpec, source: EpisodeSource) -> EnvSpec | None:
    spec.kwargs = {
        name: value for name, value in spec.kwargs.items() if name not in ("source", "tier", "data")
    }
    if not isinstance(source, IndexedSource):
        return None
    tiers = {tier_folder(tier): name for name, tier in TIERS.items()}
    if source.folder in tiers:
        spec.kwargs["tier"] = tiers[source.folder]
    else:
        spec.kwargs["data"] = str(source.folder)
    return _writable(spec)


def _writable(spec: EnvSpec) -> EnvSpec:
    """With settings as JSON has them: paths as text, and no ``None``, which is the default."""
    settings = {name: value for name, value in spec.kwargs.items() if value is not None}
    spec.kwargs = json.loads(json.dumps(settings, default=str))
    return spec
