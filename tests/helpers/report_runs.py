"""Invented results of finished runs, for tests of reports."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import SPLITS, Record
from clalfred.cl.experiment.results import (
    Evaluation,
    Labels,
    Results,
    Seconds,
    StreamInfo,
    TrainingInfo,
    make_results,
)
from clalfred.cl.registry import get_method
from gym_clalfred.stream.orders import resolve_order
from tests.helpers.runs import fake_config

EPISODES = 20


def invented_results(
    config: RunConfig, skill: float, positions: tuple[int, ...] | None = None
) -> Results:
    """A run whose agent solves about ``skill`` of the episodes, less of what is long ago."""
    draw = random.Random(f"{config.name}")
    tasks = [task.value for task in resolve_order(config.task_setup, config.order)]
    offline = get_method(config.method).offline
    ends = positions or tuple(100 * learned for learned in range(1, len(tasks) + 1))
    evaluations = []
    for learned in range(1, len(tasks) + 1):
        if offline and learned < len(tasks):
            continue
        records = [
            _record(draw, split, on, number, chance)
            for split, factor in zip(SPLITS, (1.0, 0.5))
            for on in range(learned)
            for chance in [skill * factor * (0.85 ** (0 if offline else learned - on - 1))]
            for number in range(EPISODES)
        ]
        evaluations.append(Evaluation(learned, ends[learned - 1], tuple(records)))
    curves = [
        {
            "updates": 10.0 * step,
            "train/episodes": 10.0 * step,
            "train/loss": 60.0 / (1 + step) + 5,
            "train/action_accuracy": 1 - 0.6 / (1 + step / 10),
            "train/class_accuracy": 1 - 0.9 / (1 + step / 10),
            **(
                {
                    f"cama/{name}_{part}": 1 - scale / (1 + step / 10)
                    for part in ("action", "class")
                    for name, scale in (("confidence", 0.7), ("gamma", 0.8))
                }
                if config.method.startswith("cama")
                else {}
            ),
        }
        for step in range(1, 10 * len(tasks))
    ]
    return make_results(
        config,
        tasks,
        evaluations,
        stream=StreamInfo(f"{config.setup}-{config.order}", "0" * 64, ends[-1], ends[-1]),
        labels=Labels("invented", "none", "none"),
        arithmetic="none",
        training=TrainingInfo(
            updates=100 * len(tasks),
            steps_seen=4000 * len(tasks),
            parameters=1_000_000,
            memory=8,
            held=8,
            needs_boundaries=False,
            needs_labels=False,
        ),
        curves=curves,
        seconds=Seconds(100.0, 20.0, 90.0),
    )


def _record(draw: random.Random, split: str, on: int, number: int, chance: float) -> Record:
    success = draw.random() < chance
    return Record(
        split,
        on,
        episode=f"{split}-{on}-{number}",
        success=success,
        conditions_met=3 if success else draw.randrange(3),
        conditions=3,
        steps=draw.randrange(20, 90),
        expert_steps=40,
    )


def write_runs(
    folder: Path,
    methods: tuple[str, ...] = ("finetuning", "er", "cama", "joint"),
    setups: tuple[str, ...] = ("behavior-il", "environment-il"),
    orders: tuple[int, ...] = (1, 2),
    seeds: tuple[int, ...] = (0, 1),
) -> list[Results]:
    """Writes a folder of finished runs."""
    made = []
    for place, method in enumerate(methods):
        for setup in setups:
            for order in orders:
                for seed in seeds:
                    config = fake_config(method=method, setup=setup, order=order, seed=seed)
                    config = replace(config, overrides={})
                    results = invented_results(config, 0.2 + 0.2 * place)
                    results.save(folder / config.name / "results.json")
                    made.append(results)
    return made
