"""What a run came to: ``results.json``, its schema (docs/RESULTS_SCHEMA.md) and its reader."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from clalfred.cl import metrics
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import SPLITS, Record
from clalfred.cl.metrics import EpisodeResult, Scores
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.errors import BadInputError, ClAlfredError, DataError

FORMAT = 1

#: Names in results.json of the fields of ``Scores``.
SCORES = {"SR": "sr", "GC": "gc", "PLW_SR": "plw_sr", "PLW_GC": "plw_gc"}

#: All metrics of a split, in the order in which they are written.
METRICS = (
    *(f"{score}_last" for score in SCORES),
    *(f"{score}_avg" for score in SCORES),
    "forgetting",
    "backward_transfer",
    "forward_transfer",
    "A_AUC",
)

#: Results of one split by (number of tasks learned, number of the task evaluated on).
Cells = dict[tuple[int, int], list[EpisodeResult]]


@dataclass(frozen=True)
class Evaluation:
    """An evaluation during a run.

    Args:
        learned: how many tasks the stream had completed.
        episodes: how many episodes it had handed out.
        records: what came of each evaluated episode.
    """

    learned: int
    episodes: int
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Results:
    """A finished run as its ``results.json`` says; shares are in 0..1."""

    document: Mapping[str, Any]
    folder: Path | None = None

    @cached_property
    def config(self) -> RunConfig:
        """What was run."""
        return RunConfig.recorded(self.document["config"])

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, first to last."""
        return tuple(self.document["tasks"])

    def metric(self, split: str, name: str) -> float | None:
        """One of ``METRICS``; ``None`` where the run does not define it."""
        value: float | None = self.document["splits"][split]["metrics"][name]
        return value

    def matrix(self, split: str, score: str = "SR") -> list[list[float | None]]:
        """R[after task, on task]; ``None`` where it was not evaluated."""
        rows: list[list[float | None]] = self.document["splits"][split]["matrix"][score]
        return rows

    def save(self, path: Path) -> None:
        """Writes ``results.json``, at once or not at all."""
        with atomic_file(path) as file:
            file.write(json.dumps(self.document, indent=1, allow_nan=False).encode())


def make_results(
    config: RunConfig,
    tasks: Sequence[str],
    evaluations: Sequence[Evaluation],
    *,
    stream: Mapping[str, Any],
    labels: Mapping[str, str],
    arithmetic: str,
    training: Mapping[str, Any],
    curves: Sequence[Mapping[str, float]] = (),
    seconds: Mapping[str, float] | None = None,
) -> Results:
    """Puts together what ``results.json`` holds.

    Args:
        config: what was run.
        tasks: names, first to last.
        evaluations: in the order of the stream.
        stream: name, digest and length of the schedule, and the position reached.
        labels: what the data, the backend and the agent's eyes call themselves.
        arithmetic: how it was rounded, see ``clalfred.agents.numerics.arithmetic.fingerprint``.
        training: counts of updates, parameters and episodes kept.
        curves: the logger's rows.
        seconds: time spent, by activity.
    """
    return Results(
        {
            "format": FORMAT,
            "project": "cl-alfred-gym",
            "config": config.to_dict(),
            "seed": config.seed,
            "backend": config.backend,
            "labels": dict(labels),
            "versions": {
                "cl-alfred-gym": __version__,
                "python": platform.python_version(),
                "torch": str(torch.__version__),
                "numpy": np.__version__,
                "processor": torch.backends.cpu.get_cpu_capability(),
                "arithmetic": arithmetic,
            },
            "tasks": list(tasks),
            "stream": dict(stream),
            "evaluated_at": _positions(len(tasks), evaluations),
            "training": dict(training),
            "splits": {split: _split_results(split, len(tasks), evaluations) for split in SPLITS},
            "curves": [dict(row) for row in curves],
            "seconds": dict(seconds or {}),
        }
    )


def read_results(path: str | Path) -> Results:
    """Reads and checks a ``results.json``, or that of a run's folder.

    Raises:
        DataError: if there is none or it is malformed.
    """
    path = Path(path)
    path = path / "results.json" if path.is_dir() else path
    try:
        document = json.loads(path.read_text())
    except FileNotFoundError:
        raise DataError(f"{path}: there are no results; finish the run first") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON ({error})") from error
    try:
        validate(document)
    except BadInputError as error:
        raise DataError(f"{path}: {error}") from error
    return Results(document, path.parent)


def validate(document: Any) -> None:
    """Raises ``BadInputError``, and nothing else, where it differs from docs/RESULTS_SCHEMA.md."""
    _need(isinstance(document, dict), "", "an object")
    _need(document.get("format") == FORMAT, "format", str(FORMAT))
    _check_fields(document, "", _TOP_LEVEL)
    for name, fields in _PARTS.items():
        _check_fields(document[name], name, fields)
    _check_config(document["config"])
    tasks = document["tasks"]
    _need(bool(tasks) and all(isinstance(task, str) for task in tasks), "tasks", "names of tasks")
    for number, row in enumerate(document["curves"]):
        _need(_numbers(row), f"curves[{number}]", "numbers by name")
    _need(_numbers(document["seconds"]), "seconds", "numbers by name")
    # Older results lack it.
    _check_positions(document.get("evaluated_at", [None] * len(tasks)), len(tasks))
    for split in SPLITS:
        _check_split(document["splits"].get(split), f"splits.{split}", len(tasks))


_TOP_LEVEL: dict[str, type] = {
    "config": dict,
    "seed": int,
    "backend": str,
    "labels": dict,
    "versions": dict,
    "tasks": list,
    "stream": dict,
    "training": dict,
    "splits": dict,
    "curves": list,
    "seconds": dict,
}
_PARTS: dict[str, dict[str, type]] = {
    "labels": {"data": str, "backend": str, "sight": str},
    "stream": {"name": str, "digest": str, "length": int, "position": int},
    "training": {
        **dict.fromkeys(("updates", "steps_seen", "parameters", "memory", "held"), int),
        **dict.fromkeys(("needs_boundaries", "needs_labels"), bool),
    },
    "seconds": {"train": float, "evaluate": float},
}
_SPLIT: dict[str, type] = {
    "metrics": dict,
    "matrix": dict,
    "after_each_task": list,
    "episodes": list,
}
_EPISODE: dict[str, type] = {
    "after": int,
    "on": int,
    "episode": str,
    "success": bool,
    "conditions_met": int,
    "conditions": int,
    "steps": int,
    "expert_steps": int,
    "error": str,
}
_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number from 0",
    float: "a number",
}
_LARGEST = 2**63
_ROUNDING = 1e-9
#: Metrics that are differences of shares.
_DIFFERENCES = frozenset({"forgetting", "backward_transfer", "forward_transfer"})


def _check_config(values: dict[str, Any]) -> None:
    try:
        RunConfig.recorded(values)
    except (ClAlfredError, ArithmeticError, TypeError, ValueError) as error:
        raise BadInputError(f"config: {error}") from error


def _check_positions(values: Any, size: int) -> None:
    _need(isinstance(values, list) and len(values) == size, "evaluated_at", f"{size} entries")
    fits = all(value is None or _is(value, int) for value in values)
    _need(fits, "evaluated_at", "whole numbers or null")


def _check_split(part: Any, where: str, size: int) -> None:
    """One of ``splits``, of a run with the given number of tasks."""
    _need(isinstance(part, dict), where, "an object")
    _check_fields(part, where, _SPLIT)
    for name in METRICS:
        value = part["metrics"].get(name, "missing")
        low = -1 if name in _DIFFERENCES else 0
        _need(_is_score(value, low), f"{where}.metrics.{name}", f"a number in {low}..1 or null")
    for name in SCORES:
        rows = part["matrix"].get(name)
        square = isinstance(rows, list) and len(rows) == size
        square = square and all(isinstance(row, list) and len(row) == size for row in rows)
        _need(square, f"{where}.matrix.{name}", f"{size} rows of {size}")
        scores = all(_is_score(value) for row in rows for value in row)
        _need(scores, f"{where}.matrix.{name}", "numbers in 0..1 or null")
    points = part["after_each_task"]
    _need(len(points) == size, f"{where}.after_each_task", f"{size} entries")
    for number, point in enumerate(points):
        if point is not None:
            fields = {**dict.fromkeys(SCORES, float), "episodes": int}
            place = f"{where}.after_each_task[{number}]"
            _check_fields(point, place, fields)
            for name in SCORES:
                _need(_is_score(point[name]), f"{place}.{name}", "a number in 0..1")
    for number, episode in enumerate(part["episodes"]):
        place = f"{where}.episodes[{number}]"
        _check_fields(episode, place, _EPISODE)
        _need(episode["after"] <= size, f"{place}.after", f"at most {size}")
        _need(episode["on"] < size, f"{place}.on", f"less than {size}")


def _check_fields(part: Any, where: str, fields: Mapping[str, type]) -> None:
    """Whether an object has all these fields, each of its kind."""
    _need(isinstance(part, dict), where, "an object")
    for name, kind in fields.items():
        place = f"{where}.{name}" if where else name
        _need(name in part and _is(part[name], kind), place, _KINDS[kind])


def _is(value: Any, kind: type) -> bool:
    """As JSON has it: ``true`` is no number, but 1 is a fine share."""
    if isinstance(value, bool):
        return kind is bool
    if kind not in (int, float):
        return isinstance(value, kind)
    if isinstance(value, int):
        return (0 if kind is int else -_LARGEST) <= value < _LARGEST
    return kind is float and isinstance(value, float) and math.isfinite(value)


def _is_score(value: Any, low: int = 0) -> bool:
    """Whether it is a share, or with -1 a difference of two; sums of shares may be rounded."""
    return value is None or (_is(value, float) and low - _ROUNDING <= value <= 1 + _ROUNDING)


def _numbers(values: Any) -> bool:
    return isinstance(values, dict) and all(_is(one, float) for one in values.values())


def _positions(size: int, evaluations: Sequence[Evaluation]) -> list[int | None]:
    found = {one.learned: one.episodes for one in evaluations}
    return [found.get(learned) for learned in range(1, size + 1)]


def _split_results(split: str, size: int, evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    cells: Cells = {}
    for one in evaluations:
        for record in one.records:
            if record.split == split:
                cells.setdefault((one.learned, record.on), []).append(record.result)
    matrix = {name: _matrix(cells, size, field) for name, field in SCORES.items()}
    # Data may lack a split; then there is nothing to score in it.
    points = [one for one in evaluations if one.learned and (one.learned, 0) in cells]
    overall = {
        one.learned: metrics.score([r for on in range(one.learned) for r in cells[one.learned, on]])
        for one in points
    }
    return {
        "metrics": {
            **_last_and_average(overall, size),
            **_transfers(cells, matrix["SR"], size),
            "A_AUC": metrics.area_under_curve(
                [one.episodes for one in points], [overall[one.learned].sr for one in points]
            )
            if len(points) > 1
            else None,
        },
        "matrix": {name: _plain(rows) for name, rows in matrix.items()},
        "after_each_task": [
            _scores(overall[learned]) if learned in overall else None
            for learned in range(1, size + 1)
        ],
        "episodes": [
            {"after": one.learned, **{k: v for k, v in record.to_dict().items() if k != "split"}}
            for one in evaluations
            for record in one.records
            if record.split == split
        ],
    }


def _matrix(cells: Cells, size: int, field: str) -> metrics.Matrix:
    matrix = np.full((size, size), np.nan)
    for (learned, on), results in cells.items():
        if learned:
            matrix[learned - 1, on] = getattr(metrics.score(results), field)
    return matrix


def _last_and_average(overall: Mapping[int, Scores], size: int) -> dict[str, float | None]:
    complete = len(overall) == size
    values: dict[str, float | None] = {}
    for name, field in SCORES.items():
        scores = [getattr(one, field) for one in overall.values()]
        values[f"{name}_last"] = scores[-1] if scores else None
        values[f"{name}_avg"] = float(np.mean(scores)) if complete else None
    return values


def _transfers(cells: Cells, matrix: metrics.Matrix, size: int) -> dict[str, float | None]:
    """Of the success rate; ``None`` for a run that was not evaluated after every task."""
    if np.isnan(np.tril(matrix)[np.tril_indices(size)]).any():
        return {"forgetting": None, "backward_transfer": None, "forward_transfer": None}
    ahead = all((learned, learned) in cells for learned in range(1, size))
    untrained = [metrics.score(cells[0, on]).sr for on in range(size) if (0, on) in cells]
    forward = ahead and len(untrained) == size
    return {
        "forgetting": metrics.forgetting(matrix),
        "backward_transfer": metrics.backward_transfer(matrix),
        "forward_transfer": metrics.forward_transfer(matrix, untrained) if forward else None,
    }


def _scores(scores: Scores) -> dict[str, float]:
    values = {name: getattr(scores, field) for name, field in SCORES.items()}
    return {**values, "episodes": scores.episodes}


def _plain(matrix: metrics.Matrix) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in row] for row in matrix]


def _need(condition: bool, where: str, expected: str) -> None:
    if not condition:
        raise BadInputError(f"{where or 'document'}: expected {expected}")
