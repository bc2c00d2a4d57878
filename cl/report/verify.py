"""A run that was repeated, beside its published copy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cl.experiment.results import Results, read_results
from cl.report.publish import compacted, with_data_named
from cl.report.summary import SPLITS

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
    path = folder / f"{run.config.name}.json"
    if not path.is_file():
        return None
    published, run = (with_data_named(one) for one in (read_results(path), run))
    there, here = published.document, compacted(run)
    # Copies of older releases lack settings, which then had their defaults, and parts.
    config = {"config": run.config == published.config}
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


def _text(part: Any) -> str:
    """As in a file; also a diverged run, which is full of NaN, is equal to itself then."""
    return json.dumps(part, sort_keys=True)


def _arithmetic(document: Mapping[str, Any]) -> str:
    return str(document["versions"].get("arithmetic", "unknown"))
