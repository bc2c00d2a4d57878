"""Compares repeated runs with the published ones."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clalfred.cl.experiment.results import Results, read_results
from clalfred.cl.report.paired import Difference, compare
from clalfred.cl.report.publish import compacted
from clalfred.cl.report.summary import COPY, SPLITS

#: What two equal runs may differ in.
_OF_THE_MACHINE = ("versions", "seconds")


@dataclass(frozen=True)
class Comparison:
    """How a run compares with the published copy of the same settings.

    Args:
        name: of the run.
        different: parts of the published copy that differ: the last evaluation's episodes, all
            metrics, the points of the learning curves that it keeps, and so on.
        arithmetic: how the published one and this one were rounded.
        success: SR last of the published one and of this one, by split.
    """

    name: str
    different: tuple[str, ...]
    arithmetic: tuple[str, str]
    success: dict[str, tuple[float, float]]

    def __str__(self) -> str:
        if not self.different:
            return f"{self.name}: equal"
        there, here = (
            " / ".join(f"{100 * pair[which]:.1f}" for pair in self.success.values())
            for which in (0, 1)
        )
        text = f"{self.name}: differs in {', '.join(self.different)}; SR {there} there, {here} here"
        if self.arithmetic[0] != self.arithmetic[1]:
            text += "; arithmetic {} there, {} here".format(*self.arithmetic)
        return text


def compare_with_published(run: Results, folder: Path) -> Comparison | None:
    """``None`` if a folder of published results has no copy of it."""
    path = folder / f"{run.config.name}{COPY}"
    if not path.is_file():
        return None
    published = read_results(path)
    copy = compacted(run)
    there, here = published.to_dict(), copy.to_dict()
    # Copies of older releases lack settings, which then had their defaults, and parts.
    config = {"config": copy.config == published.config}
    parts = (name for name in sorted(there) if name not in (*_OF_THE_MACHINE, *config))
    equal = {**config, **{name: _text(there[name]) == _text(here.get(name)) for name in parts}}
    pairs = {split: [one.metric(split, "SR_last") for one in (published, run)] for split in SPLITS}
    return Comparison(
        run.config.name,
        tuple(name for name, same in equal.items() if not same),
        (_arithmetic(there), _arithmetic(here)),
        {split: (a, b) for split, (a, b) in pairs.items() if a is not None and b is not None},
    )


def summary(comparisons: Sequence[Comparison]) -> str:
    """How many are equal, and how far apart the others are."""
    apart = [one for one in comparisons if one.different]
    text = f"{len(comparisons) - len(apart)} of {len(comparisons)} equal"
    gaps = {
        split: [
            abs(a - b) for one in apart if split in one.success for a, b in [one.success[split]]
        ]
        for split in SPLITS
    }
    means = [f"{100 * sum(values) / len(values):.1f}" for values in gaps.values() if values]
    return f"{text}; SR of the others is {' / '.join(means)} points apart" if means else text


#: Two methods, each with its setup and schedule.
_Pair = tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class Moves:
    """How far SR last moved from one set of runs to another, by split.

    Args:
        ground: setup and schedule.
        runs: how many.
        single: the mean distance of two runs with the same settings.
        farthest: the method whose mean over its runs moved most, and by how much.
    """

    ground: str
    runs: int
    single: dict[str, float]
    farthest: dict[str, tuple[str, float]]

    def __str__(self) -> str:
        single = " / ".join(f"{100 * value:.1f}" for value in self.single.values())
        means = " / ".join(f"{100 * value:+.1f} ({name})" for name, value in self.farthest.values())
        return f"{self.ground}: {self.runs} runs {single} apart, means at most {means}"


@dataclass(frozen=True)
class Agreement:
    """Whether two sets of runs with the same settings tell the same of the same methods.

    A difference is one between two methods in SR last, of a setup, a schedule and a split, over the
    orders and seeds that both sets have.

    Args:
        moves: of each setup and schedule.
        differences: how many there are.
        inside: in how many of them the second set's mean lies in the first set's interval.
        certain: how many exclude 0 by the first set's interval.
        again: how many of those do by the second set's, too, with the same sign.
        reversed: names of those that have the other sign in the second set.
    """

    moves: tuple[Moves, ...]
    differences: int
    inside: int
    certain: int
    again: int
    reversed: tuple[str, ...]

    def __str__(self) -> str:
        text = (
            f"{self.differences} differences between two methods: the second mean lies in the first"
            f" interval in {self.inside}. {self.certain} exclude 0 at first, {self.again} of them"
            f" again; {len(self.reversed)} have the other sign"
        )
        return "\n".join([*map(str, self.moves), text, *self.reversed])


def agreement(
    first: Sequence[Results],
    second: Sequence[Results],
    progress: Callable[[list[_Pair]], Iterable[_Pair]] = lambda pairs: pairs,
) -> Agreement:
    """Of two sets of runs with the settings that methods have by themselves.

    Args:
        first: runs.
        second: their repetitions.
        progress: gives the same pairs of methods and shows how far one is, as ``tqdm`` does.
    """
    both = {run.config.name for run in first} & {run.config.name for run in second}
    before, after = (
        _by_method([run for run in runs if run.config.name in both]) for runs in (first, second)
    )
    pairs: list[tuple[str, Difference, Difference]] = []
    methods = list(itertools.combinations(sorted(before), 2))
    for (ground, one), (other_ground, other) in progress(methods):
        if ground != other_ground:
            continue
        for split in SPLITS:
            a, b = (
                compare(runs[ground, one], runs[ground, other], split) for runs in (before, after)
            )
            if a is not None and b is not None:
                pairs.append((f"{ground}, {split}: {one} \N{MINUS SIGN} {other}", a, b))
    certain = [(name, a, b) for name, a, b in pairs if a.excludes_zero]
    return Agreement(
        moves=tuple(
            _moves(ground, before, after) for ground in sorted({ground for ground, _ in before})
        ),
        differences=len(pairs),
        inside=sum(a.low <= b.mean <= a.high for _, a, b in pairs),
        certain=len(certain),
        again=sum(b.excludes_zero and a.mean * b.mean > 0 for _, a, b in certain),
        reversed=tuple(
            f"{name} {100 * a.mean:+.1f}, then {100 * b.mean:+.1f}"
            for name, a, b in certain
            if a.mean * b.mean < 0
        ),
    )


_Methods = dict[tuple[str, str], list[Results]]


def _by_method(runs: Sequence[Results]) -> _Methods:
    """Runs by setup and schedule, and by method, sorted by name."""
    found: _Methods = {}
    for run in sorted(runs, key=lambda run: run.config.name):
        config = run.config
        if not config.variant:
            ground = f"{config.setup}, {config.schedule}"
            found.setdefault((ground, config.method_title), []).append(run)
    return found


def _moves(ground: str, before: _Methods, after: _Methods) -> Moves:
    single: dict[str, float] = {}
    farthest: dict[str, tuple[str, float]] = {}
    for split in SPLITS:
        by_method = {
            method: [
                (b.metric(split, "SR_last") or 0.0) - (a.metric(split, "SR_last") or 0.0)
                for a, b in zip(runs, after[place, method])
            ]
            for (place, method), runs in before.items()
            if place == ground
        }
        everyone = [move for moves in by_method.values() for move in moves]
        single[split] = sum(map(abs, everyone)) / len(everyone)
        means = {method: sum(moves) / len(moves) for method, moves in by_method.items()}
        most = max(means, key=lambda method: abs(means[method]))
        farthest[split] = most, means[most]
    return Moves(ground, len(everyone), single, farthest)


def _text(part: Any) -> str:
    """As in a file; also a diverged run, which is full of NaN, is equal to itself then."""
    return json.dumps(part, sort_keys=True)


def _arithmetic(document: Mapping[str, Any]) -> str:
    return str(document["versions"].get("arithmetic", "unknown"))
