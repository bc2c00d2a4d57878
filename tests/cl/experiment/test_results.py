"""Results of a run: every metric of a small stream, computed by hand."""

from __future__ import annotations

import pytest

from clalfred.cl.experiment.evaluation import Record
from clalfred.cl.experiment.results import (
    Evaluation,
    Labels,
    Results,
    Seconds,
    StreamInfo,
    TrainingInfo,
    make_results,
)
from tests.helpers.runs import fake_config

#: After which task, on which task: one letter per episode, solved or failed.
OUTCOMES = {(1, 0): "sssf", (2, 0): "ssff", (2, 1): "ss", (3, 0): "sfff", (3, 1): "sf", (3, 2): "s"}

#: How much of the stream had been seen after each task.
EPISODES = {1: 10, 2: 20, 3: 60}


def record(split: str, on: int, number: int, solved: bool) -> Record:
    # Two conditions, of which a failed episode meets one; the expert's path is half as long.
    expert = 10 * (1 + on)
    return Record(
        split,
        on,
        episode=f"{on}-{number}",
        success=solved,
        conditions_met=1 + solved,
        conditions=2,
        steps=2 * expert,
        expert_steps=expert,
    )


def three_tasks() -> Results:
    evaluations = [
        Evaluation(
            learned,
            EPISODES[learned],
            tuple(
                record("seen", on, number, outcome == "s")
                for on in range(learned)
                for number, outcome in enumerate(OUTCOMES[learned, on])
            ),
        )
        for learned in (1, 2, 3)
    ]
    return make_results(
        fake_config(),
        ["a", "b", "c"],
        evaluations,
        stream=StreamInfo("three", "0", 60, 60),
        labels=Labels("invented", "none", "none"),
        arithmetic="none",
        training=TrainingInfo(
            updates=60,
            steps_seen=600,
            parameters=1,
            memory=8,
            held=8,
            needs_boundaries=False,
            needs_labels=False,
        ),
        seconds=Seconds(1.0, 1.0),
    )


def test_last_pools_episodes_and_avg_is_the_mean_after_each_task() -> None:
    run = three_tasks()
    rates = [3 / 4, 4 / 6, 3 / 7]
    assert run.metric("seen", "SR_last") == pytest.approx(rates[2])
    assert run.metric("seen", "SR_avg") == pytest.approx(sum(rates) / 3)
    # 7 episodes of 2 conditions: 3 meet both, 4 meet one.
    assert run.metric("seen", "GC_last") == pytest.approx(10 / 14)
    # Experts need 10, 20 and 30 steps on the three tasks, and everybody took twice as long.
    weights = 4 * 10 + 2 * 20 + 30
    assert run.metric("seen", "PLW_SR_last") == pytest.approx((10 + 20 + 30) / 2 / weights)
    half_met = 3 * 10 + 20
    assert run.metric("seen", "PLW_GC_last") == pytest.approx(
        (10 + 20 + 30 + half_met / 2) / 2 / weights
    )


def test_the_matrix_has_every_task_after_every_task() -> None:
    run = three_tasks()
    assert run.matrix("seen") == ((0.75, None, None), (0.5, 1.0, None), (0.25, 0.5, 1.0))
    conditions = ((0.875, None, None), (0.75, 1.0, None), (0.625, 0.75, 1.0))
    assert run.matrix("seen", "GC") == conditions
    assert run.metric("seen", "forgetting") == pytest.approx((0.5 + 0.5) / 2)
    assert run.metric("seen", "backward_transfer") == pytest.approx(-0.5)
    assert run.metric("seen", "forward_transfer") is None


def test_positions_of_evaluations_are_written_down() -> None:
    assert three_tasks().evaluated_at == (10, 20, 60)


def test_the_area_is_under_the_rates_along_the_stream() -> None:
    first, second, third = 3 / 4, 4 / 6, 3 / 7
    expected = (10 * (first + second) / 2 + 40 * (second + third) / 2) / 50
    assert three_tasks().metric("seen", "A_AUC") == pytest.approx(expected)
    assert three_tasks().metric("unseen", "A_AUC") is None
