"""Differences between two methods, episode by episode.

Runs of equal setup, schedule, order and seed are evaluated on the same episodes, so that what one
method solves and the other does not can be counted for each episode. The interval comes from
resampling episodes; an episode that was evaluated in several orders is drawn with all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cl.experiment.results import Results

RESAMPLES = 10_000
_SEED = 0


@dataclass(frozen=True)
class Difference:
    """Mean difference in success with its 95 % interval.

    Args:
        mean: of the first method minus the second, as a share.
        low: of the interval.
        high: of the interval.
        episodes: distinct episodes.
        runs: pairs of runs.
    """

    mean: float
    low: float
    high: float
    episodes: int
    runs: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.low > 0 or self.high < 0


def last_success(run: Results, split: str) -> dict[str, bool]:
    """Which episodes were solved after the last task."""
    last = len(run.tasks)
    return {
        one["episode"]: bool(one["success"])
        for one in run.document["splits"][split]["episodes"]
        if one["after"] == last
    }


def compare(first: Sequence[Results], second: Sequence[Results], split: str) -> Difference | None:
    """Of all pairs of runs that can be compared; ``None`` if there is none."""
    partners = {_pair_key(run): run for run in second}
    differences: dict[str, list[int]] = {}
    pairs = 0
    for run in first:
        partner = partners.get(_pair_key(run))
        if partner is None:
            continue
        pairs += 1
        ours, theirs = last_success(run, split), last_success(partner, split)
        for episode in ours.keys() & theirs.keys():
            differences.setdefault(episode, []).append(ours[episode] - theirs[episode])
    return bootstrap(differences, pairs) if differences else None


def success_rate(runs: Sequence[Results], split: str) -> Difference | None:
    """The success rate itself, with an interval over episodes."""
    solved: dict[str, list[int]] = {}
    for run in runs:
        for episode, success in last_success(run, split).items():
            solved.setdefault(episode, []).append(int(success))
    return bootstrap(solved, len(runs)) if solved else None


def bootstrap(values: Mapping[str, Sequence[int]], runs: int) -> Difference:
    """Mean and percentile interval of values that are grouped by episode."""
    names = sorted(values)
    sums = np.array([sum(values[name]) for name in names], dtype=np.float64)
    counts = np.array([len(values[name]) for name in names], dtype=np.float64)
    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(len(names), size=(RESAMPLES, len(names)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Difference(float(sums.sum() / counts.sum()), float(low), float(high), len(names), runs)


def _pair_key(run: Results) -> tuple[Any, ...]:
    """What decides which episodes a run is evaluated on, and which stream it learns from."""
    config, labels = run.config, run.document["labels"]
    stream = config.setup, config.schedule, config.order, config.seed
    limits = config.episodes_per_task, config.evaluation_episodes, config.evaluation_annotations
    return labels["data"], labels["backend"], *stream, *limits
