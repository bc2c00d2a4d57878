"""The metrics of the benchmark, from per-episode records to the matrix R and its summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from clalfred.agents.acting.result_file import EpisodeOutcome
from gym_clalfred.errors import BadInputError
from gym_clalfred.schema import Natural, said

Matrix = NDArray[np.float64]

#: Sums of shares may be rounded.
_ROUNDING = 1e-9

Share = Annotated[float, said("a number from 0 to 1", ge=-_ROUNDING, le=1 + _ROUNDING)]
Change = Annotated[float, said("a number from -1 to 1", ge=-1 - _ROUNDING, le=1 + _ROUNDING)]

#: Names in files and tables of the fields of ``Scores``.
SCORES = {"SR": "sr", "GC": "gc", "PLW_SR": "plw_sr", "PLW_GC": "plw_gc"}


class Scores(Struct, frozen=True, rename={field: name for name, field in SCORES.items()}):
    """Shares in 0..1 over a set of episodes; ``plw`` means path-length weighted.

    Args:
        sr: share of the episodes that were solved
        gc: share of the goal conditions that were met
        plw_sr: `SR` weighted by path length: the sum of L* s min(1, L*/L) over the sum of L*, where
            L* is the expert's steps, L the agent's, and s success
        plw_gc: the same with s the share of conditions met
        episodes: how many there were
    """

    sr: Share
    gc: Share
    plw_sr: Share
    plw_gc: Share
    episodes: Natural


def score(results: Sequence[EpisodeOutcome]) -> Scores:
    """SR, GC and their path-length-weighted forms over a set of episodes.

    ``PLW = sum L* s min(1, L* / L) / sum L*``, with s = success or the share of conditions met.
    """
    if not results:
        raise BadInputError("no episodes to score: evaluate at least one")
    expert = np.array([result.expert_steps for result in results], dtype=np.float64)
    taken = np.array([result.steps for result in results], dtype=np.float64)
    success = np.array([result.success for result in results], dtype=np.float64)
    met = np.array([result.conditions_met for result in results], dtype=np.float64)
    total = np.array([result.conditions for result in results], dtype=np.float64)
    weight = expert * np.minimum(1.0, expert / np.maximum(taken, 1.0))
    return Scores(
        sr=float(success.mean()),
        gc=float(met.sum() / total.sum()),
        plw_sr=float((weight * success).sum() / expert.sum()),
        plw_gc=float((weight * met / total).sum() / expert.sum()),
        episodes=len(results),
    )


def forgetting(matrix: Matrix) -> float:
    """Mean over all tasks but the last of the best earlier score minus the final one.

    ``F = 1/(T-1) sum_{j<T} max_{j<=i<T} R[i, j] - R[T, j]``; 0 for a single task.
    """
    rows = _checked(matrix)
    drops = [rows[j:-1, j].max() - rows[-1, j] for j in range(len(rows) - 1)]
    return float(np.mean(drops)) if drops else 0.0


def backward_transfer(matrix: Matrix) -> float:
    """``BWT = 1/(T-1) sum_{j<T} R[T, j] - R[j, j]``; 0 for a single task."""
    rows = _checked(matrix)
    gains = [rows[-1, j] - rows[j, j] for j in range(len(rows) - 1)]
    return float(np.mean(gains)) if gains else 0.0


def forward_transfer(matrix: Matrix, untrained: Sequence[float]) -> float:
    """``FWT = 1/(T-1) sum_{j>1} R[j-1, j] - b_j`` with b_j the score of an untrained agent.

    Needs scores on tasks not learned yet, which are in R above its diagonal.
    """
    rows = _checked(matrix)
    if len(untrained) != len(rows):
        raise BadInputError(f"expected {len(rows)} scores without training, found {len(untrained)}")
    gains = [rows[j - 1, j] - untrained[j] for j in range(1, len(rows))]
    if np.isnan(gains).any():
        raise BadInputError(
            "forward transfer needs scores on tasks before they are learned (R above its diagonal)"
        )
    return float(np.mean(gains)) if gains else 0.0


def area_under_curve(episodes_seen: Sequence[int], scores: Sequence[float]) -> float:
    """Mean score over the stream, from evaluations joined by straight lines.

    On a fine grid of evaluations this is i-Blurry's A_AUC. Runs evaluate only at the ends of tasks,
    so their ``A_AUC`` is coarser and adds little to the mean over tasks.
    """
    if len(episodes_seen) != len(scores) or len(scores) < 2:
        raise BadInputError(
            f"A_AUC needs at least two evaluations with a score each, found {len(episodes_seen)} "
            f"and {len(scores)}"
        )
    x, y = np.asarray(episodes_seen, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if (np.diff(x) <= 0).any():
        raise BadInputError("A_AUC needs evaluations in the order of the stream")
    return float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum() / (x[-1] - x[0]))


def _checked(matrix: Matrix) -> Matrix:
    rows = np.asarray(matrix, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or not len(rows):
        raise BadInputError(f"R must be a square matrix [after, on], found shape {rows.shape}")
    if np.isnan(np.tril(rows)).any():
        raise BadInputError("R has gaps on or below its diagonal: evaluate after every task")
    return rows
