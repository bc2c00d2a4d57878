"""From many runs to a table: mean, standard deviation, confidence interval, paired difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import METRICS, Results, read_results
from clalfred.cl.registry import is_offline, method_names
from clalfred.cl.report.ground import group_title
from clalfred.cl.report.paired import Difference, compare, success_rate
from clalfred.cl.report.paper import paper_value
from clalfred.cl.report.text import hundredths
from gym_clalfred.errors import BadInputError, DataError

#: Shown unless others are asked for.
MAIN_METRICS = ("SR_last", "GC_last", "SR_avg", "GC_avg", "forgetting")

#: Metrics of which less is better.
LESS_IS_BETTER = frozenset({"forgetting"})

#: Names of the compact copies of runs that ``publish.collect`` writes.
COPY = ".json.gz"
COPIES = f"*-order*-seed*{COPY}"


@dataclass(frozen=True)
class Statistic:
    """Of values over runs; ``low`` and ``high`` bound the mean with 95 % confidence.

    With one run there is no deviation. There is an interval only where single episodes are known,
    see ``paired.bootstrap``: of ``SR_last``. What is missing is ``None``.
    """

    mean: float
    deviation: float | None
    low: float | None
    high: float | None
    runs: int


@dataclass(frozen=True)
class Row:
    """One method in a table.

    Args:
        method: ``RunConfig.method_title``.
        runs: order and seed of each.
        statistics: by split and metric; missing where no run defines the metric.
        differences: the same of the differences to the baseline, run by run of equal order and
            seed; empty without a baseline.
        offline: whether it is an upper bound and no competitor.
    """

    method: str
    runs: tuple[tuple[int, int], ...]
    statistics: dict[tuple[str, str], Statistic]
    differences: dict[tuple[str, str], Statistic]
    offline: bool = False


@dataclass(frozen=True)
class Table:
    """Runs that can be compared: all but method, order and seed is equal (``ground``).

    ``episodes`` tells by split on how many episodes runs were tested after the last task.
    ``own_tasks`` says that the stream has other tasks than the paper's orders.
    """

    title: str
    setup: str
    rows: tuple[Row, ...]
    baseline: str | None = None
    schedule: str = "disjoint"
    episodes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    own_tasks: bool = False

    def paper(self, row: Row, split: str, metric: str) -> float | None:
        """The paper's value for a row's method, where it has one for these tasks."""
        if self.own_tasks:
            return None
        return paper_value(row.method, self.setup, split, metric, self.schedule)

    def best(self, split: str, metric: str) -> frozenset[str]:
        """The best method but upper bounds, or all that print the same; of one method none is.

        Means over different orders or seeds say little about methods. Only those compete that have
        the same ones, and of several such sets the one with the most runs.
        """
        means: dict[tuple[tuple[int, int], ...], dict[str, float]] = {}
        for row in self.rows:
            found = row.statistics.get((split, metric))
            if found is not None and found.runs == len(row.runs) and not row.offline:
                means.setdefault(row.runs, {})[row.method] = found.mean
        rivals = [(len(runs), len(group), group) for runs, group in means.items() if len(group) > 1]
        if not rivals:
            return frozenset()
        group = max(rivals, key=lambda one: one[:2])[2]
        printed = {method: hundredths(mean) for method, mean in group.items()}
        pick = min if metric in LESS_IS_BETTER else max
        best = pick(printed.values())
        return frozenset(method for method, mean in printed.items() if mean == best)


def load_runs(
    folder: str | Path, listen: Callable[[str], None] = lambda notice: None
) -> list[Results]:
    """All finished runs below a folder, then published copies, in the order of their paths.

    A run that is there twice, as when its folder was copied, is taken once.

    Args:
        folder: with ``results.json`` in folders of runs, or files that ``publish.collect`` wrote.
        listen: is told of each run that is left out, in words.

    Raises:
        DataError: if there is none that can be read, or if two of the same settings, order and
            seed differ: a mean over both would count one run twice.
    """
    found, damaged = [], []
    results, copies = (sorted(Path(folder).rglob(name)) for name in ("results.json", COPIES))
    for path in filter(Path.is_file, (*results, *copies)):
        try:
            run = read_results(path)
        except DataError as error:
            damaged.append(str(error))
            continue
        # A copy shares its folder with others, so that nothing else in there is its own.
        found.append(
            (path, run if path.name == "results.json" else structs.replace(run, folder=None))
        )
    if not found and damaged:
        raise DataError(damaged[0])
    for notice in damaged:
        listen(f"{notice}: left out")
    if not found:
        raise DataError(
            f"{folder}: there are no finished runs (no results.json below it, and no published "
            "copies such as behavior-il-er-order1-seed0.json)"
        )
    return _each_once(found, listen)


def _each_once(
    found: Sequence[tuple[Path, Results]], listen: Callable[[str], None]
) -> list[Results]:
    taken: dict[tuple[Any, ...], tuple[Path, Results]] = {}
    for path, run in found:
        config = run.config
        key = group_title(run), config.method_title, config.order, config.seed
        first, other = taken.setdefault(key, (path, run))
        if other is run:
            continue
        if _outcome(other) != _outcome(run):
            raise DataError(
                f"{first} and {path}: both are {config.method_title}, order {config.order}, seed "
                f"{config.seed} of the same settings ({key[0]}), but their results differ; they "
                "would count as two runs: leave one out"
            )
        listen(f"{path}: the same run as {first}, counted once")
    return [run for _, run in taken.values()]


def _outcome(run: Results) -> list[Any]:
    """What a copy has in common with its run: no times, curves or single episodes."""
    parts = [run.split(split) for split in SPLITS]
    return [(part.metrics, part.matrix, part.after_each_task) for part in parts]


def statistic(values: Sequence[float], drawn: Difference | None = None) -> Statistic:
    """Mean, standard deviation (n - 1), and the interval from resampling, if there is one."""
    array, count = np.asarray(values, dtype=np.float64), len(values)
    deviation = float(array.std(ddof=1)) if count > 1 else None
    low, high = (None, None) if drawn is None else (drawn.low, drawn.high)
    return Statistic(float(array.mean()), deviation, low, high, count)


def summarise(runs: Sequence[Results], baseline: str | None = None) -> list[Table]:
    """A table for each set of comparable runs; those with the most runs come first.

    Args:
        runs: from ``load_runs``.
        baseline: a method; differences against it are taken between runs of equal order and seed.
    """
    groups: dict[str, list[Results]] = {}
    for run in runs:
        groups.setdefault(group_title(run), []).append(run)
    largest_first = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    tables = [_table(title, group, baseline) for title, group in largest_first]
    if baseline is not None and not any(table.baseline for table in tables):
        known = sorted({run.config.method_title for run in runs})
        raise BadInputError(f"no run of the baseline {baseline!r}; there are {', '.join(known)}")
    return tables


def _table(title: str, runs: Sequence[Results], baseline: str | None) -> Table:
    by_method: dict[str, list[Results]] = {}
    for run in runs:
        by_method.setdefault(run.config.method_title, []).append(run)
    reference = by_method.get(baseline or "")
    rows = [
        Row(
            method,
            tuple(sorted((run.config.order, run.config.seed) for run in group)),
            _statistics(group),
            {} if reference is None or method == baseline else paired_differences(group, reference),
            is_offline(group[0].config.method),
        )
        for method, group in by_method.items()
    ]
    order = {name: place for place, name in enumerate(method_names())}
    rows.sort(key=lambda row: (order.get(row.method.split(" ")[0], len(order)), row.method))
    used = baseline if reference is not None else None
    config = runs[0].config
    return Table(
        title,
        config.setup,
        tuple(rows),
        used,
        config.schedule,
        _episodes(runs),
        config.tasks is not None,
    )


def _episodes(runs: Sequence[Results]) -> dict[str, tuple[int, ...]]:
    """On how many episodes runs were tested after the last task, by split."""
    points = {split: [run.split(split).after_each_task[-1] for run in runs] for split in SPLITS}
    return {
        split: tuple(sorted({point.episodes for point in there if point is not None}))
        for split, there in points.items()
    }


def _statistics(runs: Sequence[Results]) -> dict[tuple[str, str], Statistic]:
    found = {}
    for split in SPLITS:
        for metric in METRICS:
            values = [run.metric(split, metric) for run in runs]
            there = [value for value in values if value is not None]
            if there:
                drawn = success_rate(runs, split) if metric == "SR_last" else None
                found[split, metric] = statistic(there, drawn)
    return found


def paired_differences(
    runs: Sequence[Results], reference: Sequence[Results]
) -> dict[tuple[str, str], Statistic]:
    """Of each run minus the baseline's run of the same order and seed."""
    partner = {(run.config.order, run.config.seed): run for run in reference}
    found = {}
    for split in SPLITS:
        for metric in METRICS:
            gaps = []
            for run in runs:
                other = partner.get((run.config.order, run.config.seed))
                mine = run.metric(split, metric)
                theirs = None if other is None else other.metric(split, metric)
                if mine is not None and theirs is not None:
                    gaps.append(mine - theirs)
            if gaps:
                drawn = compare(runs, reference, split) if metric == "SR_last" else None
                found[split, metric] = statistic(gaps, drawn)
    return found
