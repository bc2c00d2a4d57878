"""Other forms of the observation: token ids, one view, and plain boxes for Stable-Baselines3."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from gym_clalfred.errors import BadInputError
from gym_clalfred.language.tokenizer import MAX_TOKENS, SPECIALS, Tokenizer
from gym_clalfred.names import match_name
from gym_clalfred.simulator.contract import View

Observation = dict[str, Any]


class TokenizedObservation(
    gymnasium.ObservationWrapper[Observation, Any, Observation], RecordConstructorArgs
):
    """Replaces ``goal`` and ``instructions`` by ``tokens``, ids of one fixed vocabulary.

    ``tokens`` is (max_tokens,) int32: ``<goal> ... <step> ... <step> ... <stop>``, filled up with
    ``<pad>`` (0).

    Args:
        env: an environment of this package.
        max_tokens: length of ``tokens``; longer instructions are cut.

    Example:
        >>> import gymnasium as gym
        >>> import gym_clalfred
        >>> from gym_clalfred.wrappers import TokenizedObservation
        >>> env = gym.make("CLAlfred-BehaviorIL-v0", tier="tiny", image_size=32)
        >>> env = TokenizedObservation(env, max_tokens=256)
        >>> observation, info = env.reset(seed=0)
        >>> observation["tokens"].shape
        (256,)
        >>> env.close()
    """

    def __init__(self, env: gymnasium.Env[Observation, Any], max_tokens: int = MAX_TOKENS) -> None:
        RecordConstructorArgs.__init__(self, max_tokens=max_tokens)
        super().__init__(env)
        parts = _parts(env, "goal", "instructions")
        self._tokenizer = Tokenizer(Tokenizer.default().words[len(SPECIALS) :], max_tokens)
        self._words: tuple[str, str] | None = None
        self._tokens = np.zeros(max_tokens, dtype=np.int32)
        last_id = len(self._tokenizer) - 1
        self.observation_space = spaces.Dict(
            {
                **{name: part for name, part in parts.items() if name not in _TEXTS},
                "tokens": spaces.Box(0, last_id, (max_tokens,), np.int32),
            }
        )

    def observation(self, observation: Observation) -> Observation:
        """The observation with ``tokens`` instead of text."""
        words = (observation["goal"], observation["instructions"])
        if words != self._words:
            self._words = words
            ids = self._tokenizer.encode(words[0], words[1].split("\n"))
            self._tokens = np.full(self._tokenizer.max_tokens, self._tokenizer.pad_id, np.int32)
            self._tokens[: len(ids)] = ids
        kept = {name: part for name, part in observation.items() if name not in _TEXTS}
        return {**kept, "tokens": self._tokens.copy()}


class SB3Observation(
    gymnasium.ObservationWrapper[Observation, Any, Observation], RecordConstructorArgs
):
    """Observations for Stable-Baselines3's ``MultiInputPolicy``: an image and a vector of words.

    ``image`` is (15, H, W) uint8, the stacked RGB channels of the five views; (3, H, W) for a
    ``SingleView``. ``words`` is float32, one number per word of the vocabulary: 1 if the
    goal or the instructions contain it, else 0. Ids and depth are left out. SB3's image network
    needs ``image_size`` 36 or more.

    Args:
        env: an environment of this package.

    Example:
        >>> import gymnasium as gym
        >>> import gym_clalfred
        >>> from stable_baselines3 import PPO
        >>> from gym_clalfred.wrappers import SB3Observation
        >>> env = gym.make("CLAlfred-BehaviorIL-v0", tier="tiny", image_size=36, max_steps=50)
        >>> model = PPO("MultiInputPolicy", SB3Observation(env), n_steps=64, batch_size=64)
        >>> model.learn(64).num_timesteps
        64
        >>> env.close()
    """

    def __init__(self, env: gymnasium.Env[Observation, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        shape = _parts(env, "rgb", "goal", "instructions")["rgb"].shape
        assert shape is not None
        *views, height, width, channels = shape
        self._tokenizer = Tokenizer.default()
        self._texts: tuple[str, str] | None = None
        self._words = np.zeros(len(self._tokenizer), dtype=np.float32)
        self.observation_space = spaces.Dict(
            {
                "image": spaces.Box(0, 255, (math.prod(views) * channels, height, width), np.uint8),
                "words": spaces.Box(0.0, 1.0, self._words.shape, np.float32),
            }
        )

    def observation(self, observation: Observation) -> Observation:
        """The views as channels and the words as a vector."""
        texts = (observation["goal"], observation["instructions"])
        if texts != self._texts:
            self._texts = texts
            self._words = np.zeros(len(self._tokenizer), dtype=np.float32)
            self._words[self._tokenizer.encode(texts[0], texts[1].split("\n"))] = 1.0
        return {"image": _stacked(observation["rgb"]), "words": self._words.copy()}


class SingleView(
    gymnasium.ObservationWrapper[Observation, Any, Observation], RecordConstructorArgs
):
    """Keeps one of the five views: ``rgb`` is (H, W, 3), the others (H, W).

    Args:
        env: an environment of this package.
        view: ``front``, ``left``, ``right``, ``up`` or ``down``.

    Example:
        >>> import gymnasium as gym
        >>> import gym_clalfred
        >>> from gym_clalfred.wrappers import SingleView
        >>> env = gym.make("CLAlfred-BehaviorIL-v0", tier="tiny", image_size=32)
        >>> observation, info = SingleView(env).reset(seed=0)
        >>> observation["rgb"].shape
        (32, 32, 3)
        >>> env.close()
    """

    def __init__(self, env: gymnasium.Env[Observation, Any], view: str = "front") -> None:
        RecordConstructorArgs.__init__(self, view=view)
        super().__init__(env)
        self._view = match_name("view", view, {each.name.lower(): each for each in View})
        parts = _parts(env, "rgb")
        self._names = [name for name in _PICTURES if name in parts]
        self.observation_space = spaces.Dict(
            {**parts, **{name: _one_of(parts[name], self._view) for name in self._names}}
        )

    def observation(self, observation: Observation) -> Observation:
        """The observation with one view."""
        return {**observation, **{name: observation[name][self._view] for name in self._names}}


_TEXTS = ("goal", "instructions")
_PICTURES = ("rgb", "classes", "instances", "depth")


def _parts(env: gymnasium.Env[Observation, Any], *needed: str) -> dict[str, spaces.Space[Any]]:
    parts = getattr(env.observation_space, "spaces", {})
    missing = [name for name in needed if name not in parts]
    if missing:
        raise BadInputError(
            f"expected an environment whose observation has {list(needed)}, but {missing} are not "
            f"in {env.observation_space}"
        )
    return dict(parts)


def _stacked(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = rgb.shape[-3:-1]
    return np.ascontiguousarray(np.moveaxis(rgb, -1, -3)).reshape(-1, height, width)


def _one_of(views: spaces.Space[Any], view: View) -> spaces.Box:
    """The space of one view."""
    assert isinstance(views, spaces.Box)
    return spaces.Box(views.low[view], views.high[view], dtype=views.dtype.type)
