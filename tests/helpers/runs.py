"""Runs on the fake household that take a second: for tests of commands, resuming and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from clalfred.agents.demonstrations import ViewStore
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.cl.experiment import Results, RunConfig, train
from clalfred.cl.experiment.agent_file import save_agent
from clalfred.cl.experiment.inputs import RunInputs, new_agent
from gym_clalfred.simulator.backends import BACKENDS, Backend
from tests.helpers.fakes import FakeSource

SIZE = 16


class CoarseEncoder(VisualEncoder):
    """Means over a 2 x 2 grid: enough to tell views apart."""

    image_size, channels, cells, name = SIZE, 3, 4, "coarse"

    def _encode(self, images: Tensor) -> Tensor:
        half = SIZE // 2
        return images.float().unfold(2, half, half).unfold(3, half, half).mean((-2, -1)).byte()


#: Settings that make the two-branch agent so small that it learns nothing of use in no time.
MICRO = {
    "agent.batch_size": 32,
    "agent.learning_rate": 1e-3,
    "agent.word_dim": 8,
    "agent.language_dim": 8,
    "agent.attention_dim": 8,
    "agent.filters": 2,
    "agent.action_dim": 8,
    "agent.action_hidden": 16,
    "agent.class_hidden": 16,
    "agent.dropout": 0.3,
    "agent.previous_class_dim": 0,
    "agent.steps": 0,
    "agent.class_reads_input": False,
    "agent.visual_bottleneck_dim": 0,
    "agent.attention_gain": 1.0,
    "agent.filter_gain": 1.0,
}


def fake_inputs(config: RunConfig, folder: Path) -> RunInputs:
    """Four kinds of rooms with six episodes each."""
    agent = new_agent(config, CoarseEncoder())
    return RunInputs(FakeSource((1, 201, 301, 401)), agent, ViewStore(folder))


def fake_config(**changes: Any) -> RunConfig:
    """A run of four tasks with six episodes each on the fake household."""
    BACKENDS.setdefault("fake", Backend("tests.helpers.fakes:FakeSimulator"))
    values = {
        "setup": "environment-il",
        "backend": "fake",
        "agent": "two-branch",
        "batch_size": 6,
        "memory": 8,
        "evaluation_episodes": 2,
        "max_steps": 12,
        "threads": 1,
        "overrides": {**MICRO, **changes.pop("overrides", {})},
    }
    return RunConfig(**{**values, **changes})


def run_fake(config: RunConfig, folder: Path, **options: Any) -> Results:
    """Trains on the fake household, saving at every step, without plots and videos."""
    options = {"checkpoint_seconds": 0.0, "media": False, "device": "cpu", **options}
    options.setdefault("inputs", fake_inputs(config, folder.parent / "features"))
    return train(config, folder, **options)


#: Options of clalfred-train for a run on tier tiny that takes seconds and learns nothing.
QUICK = (
    *("--tier", "tiny", "--agent", "two-branch", "--episodes-per-task", "1", "--batch-size", "4"),
    *("--evaluation-episodes", "1", "--max-steps", "4", "--threads", "1", "--device", "cpu"),
    *(part for name, value in MICRO.items() for part in ("--set", f"{name}={json.dumps(value)}")),
)


def untrained_agent(folder: Path) -> Path:
    """Writes the agent.zip of a micro network that has learned nothing, for tier tiny."""
    config = RunConfig(tier="tiny", agent="two-branch", max_steps=4, overrides=MICRO)
    return save_agent(folder / "agent.zip", new_agent(config), config)
