"""Differences between two methods, episode by episode.

Runs that differ in nothing but the method and its settings are evaluated on the same episodes, so
that what one method solves and the other does not can be counted for each episode. The interval
comes from resampling both runs (orders and seeds) and what was drawn to test on: episodes in seen
rooms, whole rooms among the unseen. Of a single run only the latter is resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clalfred.cl.experiment.results import Results
from clalfred.cl.report.ground import common_ground, group_title, update_note

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
        p: how likely so large a difference would be if there were none, two-sided.
    """

    mean: float
    low: float
    high: float
    episodes: int
    runs: int
    p: float = 1.0

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval does not contain 0."""
        return self.low > 0 or self.high < 0


def last_success(run: Results, split: str) -> dict[str, int]:
    """Which episodes were solved after the last task."""
    return {one.episode: int(one.success) for one in run.last_episodes(split)}


def compare(first: Sequence[Results], second: Sequence[Results], split: str) -> Difference | None:
    """Of all pairs of runs that can be compared; ``None`` if there is none."""
    partners = {_pair_key(run): run for run in second}
    differences = []
    for run in first:
        partner = partners.get(_pair_key(run))
        if partner is not None:
            ours, theirs = last_success(run, split), last_success(partner, split)
            differences.append({name: ours[name] - theirs[name] for name in ours.keys() & theirs})
    return bootstrap(differences, drawn(split)) if any(differences) else None


def success_rate(runs: Sequence[Results], split: str) -> Difference | None:
    """The success rate itself, with its interval."""
    solved = [last_success(run, split) for run in runs]
    return bootstrap(solved, drawn(split)) if any(solved) else None


def probability_of_improvement(
    first: Sequence[Results], second: Sequence[Results], split: str
) -> float | None:
    """How likely a run of one method solves more than a run of the other; ties count half.

    All runs of a setup are compared with all (Agarwal et al. 2021), then setups are averaged.
    """
    shares = []
    for ground in sorted({group_title(run) for run in first}):
        ours, theirs = (
            [
                rate
                for run in runs
                if group_title(run) == ground and (rate := run.metric(split, "SR_last")) is not None
            ]
            for runs in (first, second)
        )
        wins = [0.5 * ((a > b) + (a >= b)) for a in ours for b in theirs]
        if wins:
            shares.append(sum(wins) / len(wins))
    return sum(shares) / len(shares) if shares else None


def holm(ps: Sequence[float]) -> list[float]:
    """Corrected for having asked so many questions, by Holm's method."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    corrected, largest = [0.0] * len(ps), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - place) * ps[index]))
        corrected[index] = largest
    return corrected


def drawn(split: str) -> Callable[[str], str]:
    """What an episode was drawn with: its room if rooms are unseen, else nothing but itself."""
    return room_of if split == "unseen" else str


def room_of(episode: str) -> str:
    """The room in the name of an episode, which ends the name of its task's folder."""
    return episode.split("/")[-2].rpartition("-")[2] if episode.count("/") else episode


def bootstrap(runs: Sequence[Mapping[str, float]], unit: Callable[[str], str] = str) -> Difference:
    """Mean and percentile interval of the values that each run has for its episodes.

    Args:
        runs: values by episode.
        unit: what is drawn together with an episode.
    """
    names = sorted({name for run in runs for name in run})
    units = sorted({unit(name) for name in names})
    place = {one: index for index, one in enumerate(units)}
    sums, counts = np.zeros((2, len(runs), len(units)))
    for row, run in enumerate(runs):
        for name, value in run.items():
            sums[row, place[unit(name)]] += value
            counts[row, place[unit(name)]] += 1
    rng = np.random.default_rng(_SEED)
    # How often each run and each unit is drawn.
    of_runs, of_units = (
        rng.multinomial(size, np.full(size, 1 / size), RESAMPLES) for size in sums.shape
    )
    total, number = ((of_runs @ part * of_units).sum(1) for part in (sums, counts))
    means = total / np.maximum(number, 1)
    low, high = np.quantile(means, (0.025, 0.975))
    p = min(1.0, 2 * float(min((means <= 0).mean(), (means >= 0).mean())))
    mean = float(sums.sum() / counts.sum())
    return Difference(mean, float(low), float(high), len(names), len(runs), max(p, 1 / RESAMPLES))


def _pair_key(run: Results) -> tuple[Any, ...]:
    """All that both runs must have in common; the memory is a setting of the method."""
    config = type(run.config).recorded({**run.config.to_dict(), "memory": None})
    ground = common_ground(config, run.labels) + update_note(run)
    return ground, config.order, config.seed
