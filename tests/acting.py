"""An encoder, an agent and a source for tests of acting, on the fake household.

Importing this module makes the backend known; evaluation processes do so when they unpickle it.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import lru_cache

import torch
from fakes import FakeSource
from learning import tiny_config
from torch import Tensor

from clalfred.agents.episode import EncodedEpisode
from clalfred.agents.behavior_cloning import BehaviorCloning
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.agents.demonstrations import EpisodeReader
from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.policy import Policy
from clalfred.agents.training import TrainingConfig
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.simulator.backends import BACKENDS, Backend
from gym_clalfred.stream import demonstration_of

BACKENDS.setdefault("fake", Backend("fakes:FakeSimulator"))


class FakeEncoder(VisualEncoder):
    """Mean colours of the four quarters of a view of 16 pixels."""

    image_size, channels, cells, name = 16, 3, 4, "quarters"

    def _encode(self, images: Tensor) -> Tensor:
        return (torch.nn.functional.avg_pool2d(images.float(), 8) / 2).floor().to(torch.int8)


class BrokenEncoder(FakeEncoder):
    """Fails whatever it is shown."""

    def _encode(self, images: Tensor) -> Tensor:
        raise ArithmeticError("no such colour")


class TroubledSource(FakeSource):
    """Misbehaves when the given episode is read: its process dies, or it takes long."""

    def __init__(self, trouble: EpisodeKey, seconds: float | None = None) -> None:
        super().__init__()
        self._trouble, self._seconds, self._home = trouble, seconds, os.getpid()

    def episode(self, key: EpisodeKey) -> Episode:
        if key == self._trouble and os.getpid() != self._home:
            if self._seconds is None:
                os._exit(7)
            time.sleep(self._seconds)
        return super().episode(key)


def make_agent(seed: int = 0, helpers: ActionHeuristics | None = None) -> BehaviorCloning:
    """An untrained agent with a policy."""
    network = replace(tiny_config(), vocabulary=len(Tokenizer.default()))
    policy = Policy(FakeEncoder(), helpers or ActionHeuristics())
    training = TrainingConfig(batch_size=4, learning_rate=0.01, decay=1.0)
    return BehaviorCloning(network, policy=policy, training=training, seed=seed, device="cpu")


def fake_episodes(split: Split = Split.TRAIN) -> list[EncodedEpisode]:
    """The fake household's demonstrations as tensors."""
    source = FakeSource()
    reader = EpisodeReader(source, FakeEncoder(), backend="fake", split=split)
    keys = [entry.key for entry in source.entries(split)]
    return [reader(demonstration_of(source.episode(key), source)) for key in keys]


@lru_cache(maxsize=1)
def trained_agent() -> BehaviorCloning:
    """An agent that has learned what the fake household's expert does."""
    agent = make_agent()
    for _ in range(30):
        agent.learn(fake_episodes()[:4])
    return agent
