"""Golden values of SPEC section 4's metrics, worked out on paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clalfred.agents.acting.result_file import EpisodeResult
from clalfred.cl.metrics import (
    area_under_curve,
    backward_transfer,
    forgetting,
    forward_transfer,
    score,
)
from gym_clalfred.errors import BadInputError


def result(
    success: bool, met: int, conditions: int, steps: int, expert: int, error: str = ""
) -> EpisodeResult:
    return EpisodeResult(
        episode="e",
        success=success,
        conditions_met=met,
        conditions=conditions,
        steps=steps,
        expert_steps=expert,
        error=error,
    )


EPISODES = [
    result(True, 3, 3, steps=40, expert=20),  # half of its path counts
    result(True, 1, 1, steps=8, expert=10),  # faster than the expert: no more than 1
    result(False, 1, 2, steps=30, expert=30),
    result(False, 0, 2, steps=0, expert=40, error="the simulator crashed"),
]


def test_rates_over_episodes_and_over_conditions() -> None:
    scores = score(EPISODES)
    assert scores.sr == 0.5
    assert scores.gc == pytest.approx(5 / 8)
    assert scores.episodes == 4


def test_path_length_weighted_rates() -> None:
    scores = score(EPISODES)
    # Weights L*: 20, 10, 30, 40. SR: 20 * 1 * 0.5 + 10 * 1 * 1 = 20 of 100.
    assert scores.plw_sr == pytest.approx(0.20)
    # GC: 20 * 1 * 0.5 + 10 * 1 * 1 + 30 * 0.5 * 1 + 0 = 35 of 100.
    assert scores.plw_gc == pytest.approx(0.35)


def test_a_crash_stays_in_the_denominator() -> None:
    assert score([result(True, 1, 1, 5, 5), result(False, 0, 1, 0, 5, "crash")]).sr == 0.5


R = np.array([[0.8, 0.1, 0.0], [0.5, 0.6, 0.2], [0.6, 0.3, 0.9]])


def test_forgetting_is_the_drop_from_the_best() -> None:
    assert forgetting(R) == pytest.approx(((0.8 - 0.6) + (0.6 - 0.3)) / 2)


def test_transfers() -> None:
    assert backward_transfer(R) == pytest.approx(((0.6 - 0.8) + (0.3 - 0.6)) / 2)
    assert forward_transfer(R, [0.0, 0.05, 0.1]) == pytest.approx(((0.1 - 0.05) + (0.2 - 0.1)) / 2)


def test_a_single_task_forgets_nothing() -> None:
    one = np.array([[0.4]])
    assert (forgetting(one), backward_transfer(one)) == (0, 0)


def test_area_under_curve_is_the_mean_over_the_stream() -> None:
    assert area_under_curve([0, 100, 400], [0.0, 0.4, 0.6]) == pytest.approx(
        (100 * 0.2 + 300 * 0.5) / 400
    )


def test_gaps_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(BadInputError, match="gaps"):
        forgetting(np.array([[0.1, np.nan], [np.nan, 0.2]]))
    with pytest.raises(BadInputError, match="square"):
        forgetting(np.zeros((2, 3)))
    with pytest.raises(BadInputError, match="before they are learned"):
        forward_transfer(np.array([[0.1, np.nan], [0.1, 0.2]]), [0.0, 0.0])
    with pytest.raises(BadInputError, match="at least one"):
        score([])
    with pytest.raises(BadInputError, match="order"):
        area_under_curve([3, 2], [0.1, 0.2])


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 50), st.integers(1, 50)),
        min_size=1,
        max_size=8,
    )
)
def test_scores_are_shares_and_success_counts_no_more_than_conditions(
    rows: list[tuple[int, int, int, int]],
) -> None:
    results = [
        result(min(met, total) == total, min(met, total), total, steps, expert)
        for met, total, steps, expert in rows
    ]
    scores = score(results)
    assert 0 <= scores.plw_sr <= scores.plw_gc + 1e-12
    assert scores.plw_gc <= 1 + 1e-12
    assert 0 <= scores.sr <= 1
    assert 0 <= scores.gc <= 1
