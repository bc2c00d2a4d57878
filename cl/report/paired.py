"""Differences between two methods, episode by episode.

Runs that differ in nothing but the method and its settings are evaluated on the same episodes, so
that what one method solves and the other does not can be counted for each episode. The interval
comes from resampling both runs (orders and seeds) and episodes; of a single run only episodes are
resampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clalfred.cl.experiment.results import Results
from clalfred.cl.report.summary import common_ground

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


def last_success(run: Results, split: str) -> dict[str, int]:
    """Which episodes were solved after the last task."""
    last = len(run.tasks)
    return {
        one["episode"]: int(one["success"])
        for one in run.document["splits"][split]["episodes"]
        if one["after"] == last
    }


def compare(first: Sequence[Results], second: Sequence[Results], split: str) -> Difference | None:
    """Of all pairs of runs that can be compared; ``None`` if there is none."""
    partners = {_pair_key(run): run for run in second}
    differences = []
    for run in first:
        partner = partners.get(_pair_key(run))
        if partner is not None:
            ours, theirs = last_success(run, split), last_success(partner, split)
            differences.append({name: ours[name] - theirs[name] for name in ours.keys() & theirs})
    return bootstrap(differences) if any(differences) else None


def success_rate(runs: Sequence[Results], split: str) -> Difference | None:
    """The success rate itself, with its interval."""
    solved = [last_success(run, split) for run in runs]
    return bootstrap(solved) if any(solved) else None


def bootstrap(runs: Sequence[Mapping[str, float]]) -> Difference:
    """Mean and percentile interval of the values that each run has for its episodes."""
    names = sorted({name for run in runs for name in run})
    values = np.array([[run.get(name, np.nan) for name in names] for run in runs], np.float64)
    there = ~np.isnan(values)
    values = np.nan_to_num(values)
    rng = np.random.default_rng(_SEED)
    # How often each run and each episode is drawn.
    of_runs, of_episodes = (
        rng.multinomial(size, np.full(size, 1 / size), RESAMPLES) for size in values.shape
    )
    sums, counts = ((of_runs @ part * of_episodes).sum(1) for part in (values, there))
    means = sums / np.maximum(counts, 1)
    low, high = np.quantile(means, (0.025, 0.975))
    mean = float(values.sum() / there.sum())
    return Difference(mean, float(low), float(high), len(names), len(runs))


def _pair_key(run: Results) -> tuple[Any, ...]:
    """All that both runs must have in common; the memory is a setting of the method."""
    config = replace(run.config, memory=None)
    return common_ground(config, run.document["labels"]), config.order, config.seed
