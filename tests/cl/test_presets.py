"""The numbers of the paper and of its released code, written out."""

from __future__ import annotations

from typing import Any

import pytest

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.registry import get_method

#: k, and what else a method has of its own.
PAPER: dict[str, dict[str, Any]] = {
    "finetuning": {"stream_size": 32},
    "joint": {"stream_size": 32},
    "er": {"stream_size": 16},
    "mir": {"stream_size": 16, "candidates": 50},
    "clib": {"stream_size": 1, "importance_decay": 0.9, "probes": 32, "rate_step": 0.95},
    "ewc++": {"stream_size": 16, "penalty": 100.0, "anchor_at_boundaries": True},
    "der++": {"stream_size": 11, "replay_weight": 0.5, "distillation_weight": 0.5},
    "x-der": {"stream_size": 11, "gamma": 0.85, "margin": 0.7, "constraint_weight": 0.001},
    "cama": {"stream_size": 11, "replay_weight": 1.0, "alpha": 0.99, "queue_length": 5},
    "cama-without-dc": {"stream_size": 11, "replay_weight": 1.0, "alpha": 0.99},
}
RELEASED: dict[str, dict[str, Any]] = {
    "ewc++": {"stream_size": 16, "anchor_at_boundaries": True},
    "der++": {"split_replay": True, "replay_weight": 0.5},
    "x-der": {"split_replay": True},
    "cama": {
        "split_replay": True,
        "replay_weight": 0.5,
        "alpha": 1.0,
        "confidence_of_replay": True,
        "chance_of_all_labels": True,
        "by_true_label": True,
        "once_per_group": True,
    },
    "cama-without-dc": {"split_replay": True, "alpha": 0.99},
}


@pytest.mark.parametrize(
    ("preset", "method", "values"),
    [
        (preset, method, values)
        for preset, table in (("paper", PAPER), ("released", RELEASED))
        for method, values in table.items()
    ],
)
def test_settings_of_methods(preset: str, method: str, values: dict[str, Any]) -> None:
    settings = get_method(method).presets[preset]
    assert {name: getattr(settings, name) for name in values} == values


@pytest.mark.parametrize("method", sorted(PAPER))
def test_training_of_both_presets(method: str) -> None:
    paper, released = (get_method(method).presets[one].training for one in ("paper", "released"))
    assert (paper.batch_size, paper.learning_rate, paper.teacher_forcing) == (32, 1e-3, True)
    assert (paper.decay, paper.reset_every) == (0.9999 if method == "clib" else 0.95, 10)
    assert (released.batch_size, released.learning_rate, released.decay) == (32, 1e-3, 1.0)
    assert not released.teacher_forcing
    distils = method in ("der++", "x-der", "cama", "cama-without-dc")
    assert released.loss.auxiliary == (1.0 if distils else 0.2)


def test_batches_and_rates_are_the_agents() -> None:
    settings = RunConfig(agent="two-branch").method_settings(2520)
    training = settings.training
    assert (training.batch_size, training.learning_rate) == (8, 3e-3)
    assert (settings.stream_size, settings.memory) == (3, 60)
    paper = RunConfig(agent="two-branch:paper").method_settings(21023)
    training = paper.training
    assert (training.batch_size, training.learning_rate, paper.memory) == (32, 1e-3, 500)
    own = RunConfig(overrides={"agent.learning_rate": 0.02}, batch_size=4).method_settings(2520)
    assert (own.training.batch_size, own.training.learning_rate) == (4, 0.02)
