"""Runs on the fake household that take a second: for tests of commands, resuming and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fakes import FakeSource
from torch import Tensor

from clalfred.agents.encoder import VisualEncoder
from clalfred.agents.features import FeatureStore
from clalfred.cl.experiment import Results, RunConfig, train
from clalfred.cl.experiment.agent_file import save_agent
from clalfred.cl.experiment.run import make_agent
from clalfred.cl.experiment.tools import Tools, make_tools
from gym_clalfred.simulator.backends import BACKENDS, Backend

SIZE = 16


class CoarseEncoder(VisualEncoder):
    """Means over a 2 x 2 grid: enough to tell views apart."""

    image_size, channels, cells, name = SIZE, 3, 4, "coarse"

    def _encode(self, images: Tensor) -> Tensor:
        half = SIZE // 2
        return images.float().unfold(2, half, half).unfold(3, half, half).mean((-2, -1)).byte()


def fake_tools(folder: Path) -> Tools:
    """Four kinds of rooms with six episodes each."""
    return Tools(FakeSource((1, 201, 301, 401)), CoarseEncoder(), FeatureStore(folder))


def fake_config(**changes: Any) -> RunConfig:
    """A run of four tasks with six episodes each on the fake household."""
    BACKENDS.setdefault("fake", Backend("fakes:FakeSimulator"))
    values = {
        "setup": "environment-il",
        "backend": "fake",
        "network": "micro",
        "batch_size": 6,
        "memory": 8,
        "evaluation_episodes": 2,
        "max_steps": 12,
        "threads": 1,
    }
    return RunConfig(**{**values, **changes})


def run_fake(config: RunConfig, folder: Path, **options: Any) -> Results:
    """Trains on the fake household, saving at every step, without plots and videos."""
    options = {"checkpoint_seconds": 0.0, "media": False, "device": "cpu", **options}
    options.setdefault("tools", fake_tools(folder.parent / "features"))
    return train(config, folder, **options)


#: Options of clalfred-train for a run on tier tiny that takes seconds and learns nothing.
QUICK = (
    *("--tier", "tiny", "--network", "micro", "--episodes-per-task", "1", "--batch-size", "4"),
    *("--evaluation-episodes", "1", "--max-steps", "4", "--threads", "1", "--device", "cpu"),
)


def untrained_agent(folder: Path) -> Path:
    """Writes the agent.zip of a micro network that has learned nothing, for tier tiny."""
    config = RunConfig(tier="tiny", network="micro", max_steps=4)
    tools = make_tools(config)
    return save_agent(folder / "agent.zip", make_agent(config, tools, 84, "cpu"), config)
