"""An encoder, a learner and a source for tests of acting, on the fake household.

Importing this module makes the backend known; evaluation processes do so when they unpickle it.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache

import torch
from torch import Tensor

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.policy import Policy
from clalfred.agents.behavior_cloning import BehaviorCloning
from clalfred.agents.demonstrations import EpisodeReader
from clalfred.agents.episode import EncodedEpisode
from clalfred.agents.training import TrainingConfig
from clalfred.agents.two_branch.agent import TwoBranch
from clalfred.agents.vision.encoder import VisualEncoder
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.errors import SimulatorError
from gym_clalfred.simulator.backends import BACKENDS, Backend
from gym_clalfred.simulator.contract import Scene
from gym_clalfred.stream import demonstration_of
from tests.helpers.fakes import FakeSimulator, FakeSource
from tests.helpers.learning import tiny_config

BACKENDS.setdefault("fake", Backend("tests.helpers.fakes:FakeSimulator"))
BACKENDS.setdefault("dead", Backend("tests.helpers.acting:DeadSimulator"))


class FakeEncoder(VisualEncoder):
    """Mean colours of the four quarters of a view of 16 pixels."""

    image_size, channels, cells, name = 16, 3, 4, "quarters"

    def _encode(self, images: Tensor) -> Tensor:
        return (torch.nn.functional.avg_pool2d(images.float(), 8) / 2).floor().to(torch.int8)


class BrokenEncoder(FakeEncoder):
    """Fails whatever it is shown."""

    def _encode(self, images: Tensor) -> Tensor:
        raise ArithmeticError("no such colour")


class DeadSimulator(FakeSimulator):
    """Cannot be started, wherever."""

    def reset(self, scene: Scene) -> None:
        raise SimulatorError("no display")


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


def fake_agent(seed: int = 0, encoder: VisualEncoder | None = None, **changes: object) -> TwoBranch:
    """An untrained agent that reads real words."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TwoBranch(tiny_config(vocabulary=0, **changes), encoder or FakeEncoder())


def make_learner(seed: int = 0, heuristics: ActionHeuristics | None = None) -> BehaviorCloning:
    """An untrained agent with a policy and a way to train it."""
    agent = fake_agent(seed)
    policy = Policy(agent, heuristics or ActionHeuristics())
    training = TrainingConfig(batch_size=4, learning_rate=0.01, decay=1.0)
    return BehaviorCloning(agent, policy=policy, training=training, seed=seed, device="cpu")


def fake_episodes(split: Split = Split.TRAIN) -> list[EncodedEpisode]:
    """The fake household's demonstrations as tensors."""
    source = FakeSource()
    reader = EpisodeReader(source, fake_agent(), backend="fake", split=split)
    keys = [entry.key for entry in source.entries(split)]
    return [reader(demonstration_of(source.episode(key), source)) for key in keys]


@lru_cache(maxsize=1)
def trained_learner() -> BehaviorCloning:
    """One that has learned what the fake household's expert does."""
    learner = make_learner()
    for _ in range(30):
        learner.learn(fake_episodes()[:4])
    return learner
