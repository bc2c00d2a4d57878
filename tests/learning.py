"""Synthetic demonstrations and tiny networks for tests of agents and methods."""

from __future__ import annotations

import torch

from agents.batch import Demonstration, ViewFeatures
from agents.config import NetworkConfig
from gym_clalfred.actions import Action

VOCABULARY = 24
CHANNELS, CELLS, VIEWS = 3, 4, 5


def tiny_config(**changes: object) -> NetworkConfig:
    sizes: dict[str, object] = {
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
    return NetworkConfig(VOCABULARY, **{**sizes, **changes})  # type: ignore[arg-type]


def demonstration(
    seed: int, length: int = 6, words: int = 5, label: int | None = None, task: int | None = None
) -> Demonstration:
    """A random episode: moves, some interactions with random classes, Stop."""
    generator = torch.Generator().manual_seed(seed)
    actions = torch.randint(0, int(Action.Stop), (length,), generator=generator)
    actions[-1] = int(Action.Stop)
    interacts = (actions >= int(Action.PickupObject)) & (actions <= int(Action.SliceObject))
    classes = torch.randint(1, 119, (length,), generator=generator) * interacts
    maps = torch.rand(length, VIEWS, CHANNELS, CELLS, generator=generator)
    return Demonstration(
        key=f"episode-{seed}",
        features=ViewFeatures.from_dense(maps),
        tokens=torch.randint(1, VOCABULARY, (words,), generator=generator),
        actions=actions,
        classes=classes,
        label=label,
        task=task,
    )


def demonstrations(count: int, first_seed: int = 0) -> list[Demonstration]:
    """Random episodes of unequal lengths."""
    seeds = range(first_seed, first_seed + count)
    return [demonstration(seed, 3 + seed * 5 % 7, 2 + seed * 3 % 6) for seed in seeds]
