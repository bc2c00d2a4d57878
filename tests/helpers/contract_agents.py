"""Every registered agent, small, on the fake household; and every encoder that can be made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clalfred.agents.acting.policy import BEFORE
from clalfred.agents.agent import Agent, AgentConfig
from clalfred.agents.demonstrations import EpisodeReader
from clalfred.agents.episode import EncodedEpisode
from clalfred.agents.registry import ENCODERS, agent_config, make_agent
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.agents.vision.resnet import ResNet18
from gym_clalfred.data.trajectory import Split
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.simulator.backends import BACKENDS, Backend
from gym_clalfred.stream import demonstration_of
from tests.helpers.fakes import FakeSource

BACKENDS.setdefault("fake", Backend("tests.helpers.fakes:FakeSimulator"))

#: Sizes that a config may have, and what they are here.
SMALL: Mapping[str, int] = {
    "word_dim": 6,
    "language_dim": 8,
    "attention_dim": 5,
    "filters": 2,
    "action_dim": 7,
    "action_hidden": 12,
    "class_hidden": 12,
    "width": 8,
    "layers": 1,
}


def small_config(name: str, **changes: Any) -> AgentConfig:
    """The preset of an agent, or its first, as small as it gets."""
    config = agent_config(name)
    names = {one.name for one in fields(config)}
    sizes = {size: value for size, value in SMALL.items() if size in names}
    return replace(config, **sizes, batch_size=4, **changes)


def small_agent(name: str, seed: int = 0, **changes: Any) -> Agent:
    """An untrained agent of a registered kind."""
    return make_agent(name, small_config(name, **changes), seed=seed)


def episodes_for(agent: Agent, count: int = 3) -> list[EncodedEpisode]:
    """Demonstrations of the fake household as this agent keeps them."""
    source = FakeSource()
    reader = EpisodeReader(source, agent, backend="fake")
    keys = [entry.key for entry in source.entries(Split.TRAIN)][:count]
    found = [reader(demonstration_of(source.episode(key), source)) for key in keys]
    reader.close()
    return found


def observations(agent: Agent, count: int) -> list[dict[str, Any]]:
    """Noise that an agent can look at, with words."""
    random = np.random.default_rng(0)
    shape = (5, agent.image_size, agent.image_size)
    words = Tokenizer.default().words
    return [
        {
            "rgb": random.integers(0, 256, (*shape, 3), dtype=np.uint8),
            "classes": random.integers(0, 119, shape, dtype=np.uint8),
            "instances": random.integers(0, 40, shape, dtype=np.int16),
            "depth": random.random(shape, dtype=np.float32),
            "goal": " ".join(words[30 + row : 34 + row]),
            "instructions": "\n".join([" ".join(words[50 : 60 + 9 * row])] * (1 + row % 3)),
        }
        for row in range(count)
    ]


def look(agent: Agent, shown: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
    """What it takes in of the first step of some episodes."""
    previous = torch.tensor([BEFORE] * len(shown))
    return agent.see(shown, [agent.new_memory() for _ in shown], previous)


def make_encoder(name: str, folder: Path) -> VisualEncoder:
    """An encoder with its own weights, or with random ones if it has none along."""
    if name != "resnet-18":
        return ENCODERS.get(name)(None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.save(dict(ResNet18().state_dict()), folder / "resnet.pth")
    return ENCODERS.get(name)(folder / "resnet.pth")


def weights(agent: Agent) -> torch.Tensor:
    """All of them in a row."""
    return torch.cat([one.detach().flatten() for one in agent.parameters()])


def joined(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """One after the other."""
    return torch.cat(list(parts))
