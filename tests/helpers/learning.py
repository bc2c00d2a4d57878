"""Synthetic demonstrations and tiny networks for tests of agents and methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from clalfred.agents.agent import Agent
from clalfred.agents.episode import EncodedEpisode, EncodedViews
from clalfred.agents.two_branch.agent import TwoBranch
from clalfred.agents.two_branch.config import TwoBranchConfig
from clalfred.agents.two_branch.maps import dense_views
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.cl.base import ContinualLearner
from clalfred.cl.registry import get_method
from gym_clalfred.actions import Action

# The tests run side by side; more threads than cores would slow all of them down.
torch.set_num_threads(1)

VOCABULARY = 24
CHANNELS, CELLS, VIEWS = 3, 4, 5


class TinyEncoder(VisualEncoder):
    """Says how large maps are; random episodes have theirs already."""

    image_size, channels, cells, name = 16, CHANNELS, CELLS, "tiny"

    def _encode(self, images: Tensor) -> Tensor:
        return images.float().mean((2, 3))[:, :, None, None].expand(-1, -1, 2, 2)


def tiny_config(**changes: object) -> TwoBranchConfig:
    sizes: dict[str, object] = {
        "encoder": "tiny",
        "vocabulary": VOCABULARY,
        "channels": CHANNELS,
        "cells": CELLS,
        "views": VIEWS,
        "word_dim": 6,
        "language_dim": 8,
        "attention_dim": 5,
        "filters": 2,
        "action_dim": 7,
        "action_hidden": 16,
        "class_hidden": 16,
        "dropout": 0.0,
    }
    return TwoBranchConfig(**{**sizes, **changes})  # type: ignore[arg-type]


def tiny_agent(config: TwoBranchConfig | None = None, seed: int = 0) -> TwoBranch:
    """An untrained agent on random maps."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TwoBranch(config or tiny_config(), TinyEncoder())


def demonstration(
    seed: int, length: int = 6, words: int = 5, label: str | None = None
) -> EncodedEpisode:
    """A random episode: moves, some interactions with random classes, Stop."""
    generator = torch.Generator().manual_seed(seed)
    actions = torch.randint(0, int(Action.Stop), (length,), generator=generator)
    actions[-1] = int(Action.Stop)
    interacts = (actions >= int(Action.PickupObject)) & (actions <= int(Action.SliceObject))
    classes = torch.randint(1, 119, (length,), generator=generator) * interacts
    maps = torch.rand(length, VIEWS, CHANNELS, CELLS, generator=generator)
    return EncodedEpisode(
        key=f"episode-{seed}",
        views=EncodedViews(dense_views(maps)),
        tokens=torch.randint(1, VOCABULARY, (words,), generator=generator),
        actions=actions,
        classes=classes,
        label=label,
    )


def demonstrations(count: int, first_seed: int = 0) -> list[EncodedEpisode]:
    """Random episodes of unequal lengths."""
    seeds = range(first_seed, first_seed + count)
    return [demonstration(seed, 3 + seed * 5 % 7, 2 + seed * 3 % 6) for seed in seeds]


def learner(name: str, memory: int = 12, batch_size: int = 6, **changes: Any) -> ContinualLearner:
    """A tiny learner of a registered method with small batches; ``changes`` are its settings."""
    method = get_method(name)
    settings = method.presets[changes.pop("preset", "paper")]
    training = replace(settings.training, batch_size=batch_size)
    stream_size = max(1, round(settings.stream_size * batch_size / settings.training.batch_size))
    settings = replace(settings, memory=memory, stream_size=stream_size, training=training)
    seed = changes.pop("seed", 0)
    agent: Agent = changes.pop("agent", None) or tiny_agent(seed=seed)
    settings = replace(settings, **changes)
    return method(agent, method=settings, device="cpu", seed=seed)


def stream_for(agent: ContinualLearner, count: int, first_seed: int = 0) -> list[EncodedEpisode]:
    """Random episodes with what the learner declares to need."""
    return told(agent, demonstrations(count, first_seed))


def told(agent: ContinualLearner, episodes: list[EncodedEpisode]) -> list[EncodedEpisode]:
    """The episodes as a stream tells this learner of them: three labels, tasks of five."""
    return [
        replace(
            episode,
            label=f"label-{place % 3}" if agent.needs_labels else None,
            starts_task=place % 5 == 0 if agent.needs_boundaries else None,
        )
        for place, episode in enumerate(episodes)
    ]
