"""The results of a run: ``results.json`` as models, from which docs/RESULTS_SCHEMA.md is made."""

from __future__ import annotations

import gzip
import json
import platform
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import torch
from msgspec import UNSET, Meta, Struct, UnsetType

from clalfred.agents.acting.result_file import EpisodeOutcome
from clalfred.cl import metrics
from clalfred.cl.experiment.config import MALFORMED, RunConfig
from clalfred.cl.experiment.evaluation import SPLITS, Record
from clalfred.cl.metrics import SCORES, Change, Scores, Share
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.schema import Natural, Number, read

#: Results of one split by (number of tasks learned, number of the task evaluated on).
Cells = dict[tuple[int, int], list[Record]]


class Evaluation(Struct, frozen=True):
    """An evaluation during a run.

    Args:
        learned: how many tasks the stream had completed.
        episodes: how many episodes it had handed out.
        records: what came of each evaluated episode.
    """

    learned: Natural
    episodes: Natural
    records: tuple[Record, ...]


class Labels(Struct, frozen=True):
    """What things call themselves, with versions.

    Args:
        data: the episodes
        backend: the simulator
        sight: the agent's way of seeing
    """

    data: str
    backend: str
    sight: str


class StreamInfo(Struct, frozen=True):
    """The stream that was learned from.

    Args:
        name: of the schedule
        digest: SHA-256 of the schedule
        length: episodes in it
        position: episodes that it had handed out at the end
    """

    name: str
    digest: str
    length: Natural
    position: Natural


class TrainingInfo(Struct, frozen=True, kw_only=True):
    """What training took.

    Args:
        updates: of the weights
        forwards: forward passes of an episode; older files lack it
        backwards: backward passes of an episode; older files lack it
        steps_seen: steps of all episodes of the stream
        parameters: of the agent
        memory: limit of the memory in episodes
        held: episodes in memory at the end
        budget: bytes of `views`, `words`, `actions`, `logits` and extra `models`; older files lack
            it
        needs_boundaries: whether the method is told where tasks begin
        needs_labels: whether it is told what the task is
    """

    updates: Natural
    forwards: Natural | UnsetType = UNSET
    backwards: Natural | UnsetType = UNSET
    steps_seen: Natural
    parameters: Natural
    memory: Natural
    held: Natural
    budget: dict[str, Natural] | UnsetType = UNSET
    needs_boundaries: bool
    needs_labels: bool


class Seconds(Struct, frozen=True):
    """Time that a run took. Equal runs differ only here and in `versions`.

    Args:
        train: wall-clock time
        evaluate: wall-clock time
        processor: processor time of both; older files lack it
    """

    train: Number
    evaluate: Number
    processor: Number | UnsetType = UNSET


class Metrics(Struct, frozen=True):
    """The paper's metrics of a split.

    Args:
        SR_last: `SR` over the episodes of all tasks after the last task
        SR_avg: mean of `SR` in `after_each_task`
        GC_last: as `SR_last`
        GC_avg: as `SR_avg`
        PLW_SR_last: as `SR_last`
        PLW_SR_avg: as `SR_avg`
        PLW_GC_last: as `SR_last`
        PLW_GC_avg: as `SR_avg`
        forgetting: of the success rate: best earlier score minus the final one, mean over all tasks
            but the last
        backward_transfer: final score minus the one just after learning, mean over all tasks but
            the last
        forward_transfer: score just before learning minus an untrained agent's; only with
            `evaluate_ahead`
        A_AUC: area under the success rate on the tasks so far, from the end of the first task to
            that of the last, joined by straight lines between the ends of tasks. It is not
            i-Blurry's A_AUC, which evaluates on a fine grid within tasks; do not compare the two
    """

    SR_last: Share | None
    SR_avg: Share | None
    GC_last: Share | None
    GC_avg: Share | None
    PLW_SR_last: Share | None
    PLW_SR_avg: Share | None
    PLW_GC_last: Share | None
    PLW_GC_avg: Share | None
    forgetting: Change | None
    backward_transfer: Change | None
    forward_transfer: Change | None
    A_AUC: Share | None


#: All metrics of a split, in the order in which they are written.
METRICS = Metrics.__struct_fields__

#: R[after task, on task]; ``None`` where it was not evaluated.
Rows = tuple[tuple[Share | None, ...], ...]


class Matrices(Struct, frozen=True):
    """Square lists of rows, R[after task, on task], of each score.

    Args:
        SR: success rate
        GC: goal conditions
        PLW_SR: success rate weighted by path length
        PLW_GC: goal conditions weighted by path length
    """

    SR: Rows
    GC: Rows
    PLW_SR: Rows
    PLW_GC: Rows


class EvaluatedEpisode(EpisodeOutcome, frozen=True):
    """An evaluated episode.

    Args:
        after: how many tasks the agent had learned; 0 is before the first
        on: number of the episode's task, from 0
    """

    after: Natural
    on: Natural


class SplitResults(Struct, frozen=True):
    """What came of the episodes in seen rooms, or in unseen ones.

    Args:
        metrics: see below
        matrix: see below
        after_each_task: after each task, the scores over the episodes of all tasks so far; `null`
            where nothing was evaluated (joint training before its end)
        episodes: one for each evaluated episode, see below
    """

    metrics: Metrics
    matrix: Matrices
    after_each_task: tuple[Scores | None, ...]
    episodes: tuple[EvaluatedEpisode, ...]


class BothSplits(Struct, frozen=True):
    """Results by split.

    Args:
        seen: rooms that training knows
        unseen: other rooms
    """

    seen: SplitResults
    unseen: SplitResults


class Results(Struct, frozen=True, kw_only=True, dict=True):
    """A finished run as its ``results.json`` says; shares are in 0..1.

    Args:
        format: raised when a reader of an older release would misread the file
        project: always `cl-alfred-gym`
        settings: every setting of the run, as `clalfred-train` takes them; see `RunConfig`
        seed: the same as in `config`
        backend: the simulator's name
        labels: what data, simulator and the agent's way of seeing call themselves, see below
        versions: of this project, Python, torch and numpy. `processor` names torch's vector
            instructions (`AVX2`, `AVX512`, ...). `arithmetic` is a fingerprint of how torch rounded
            on every machine of the run: where it is equal, runs of one release with equal settings
            are equal, bit for bit. It names a GPU instead; older files lack it
        tasks: the tasks in the order of the stream: ALFRED's task types (`look_at_obj_in_light`),
            in Environment-IL room types (`Kitchen`)
        stream: see below
        evaluated_at: for each task, how many episodes the stream had handed out at the evaluation
            after it. A Gaussian stream has no task borders and is evaluated after equal parts.
            `null` where nothing was evaluated; older files lack it
        training: see below
        splits: for `seen` and `unseen` rooms, see below; `config.evaluate_on` says whether episodes
            are of the validation or the test splits
        curves: one for each point of the learning curves: `updates`, `train/loss`,
            `train/action_accuracy`, ... and for CAMA `cama/confidence_*`, `cama/gamma_*`
        seconds: see below
        folder: where it was read, not in the file.
    """

    format: Literal[1]
    project: str = "cl-alfred-gym"
    settings: dict[str, Any] = msgspec.field(name="config")
    seed: Natural
    backend: str
    labels: Labels
    versions: dict[str, str]
    tasks: Annotated[tuple[str, ...], Meta(min_length=1)]
    stream: StreamInfo
    evaluated_at: tuple[Natural | None, ...] | UnsetType = UNSET
    training: TrainingInfo
    splits: BothSplits
    curves: tuple[dict[str, Number], ...]
    seconds: Seconds
    folder: Path | None = None

    def __post_init__(self) -> None:
        """Refuses settings of no run, and lists that do not fit the number of tasks."""
        try:
            _ = self.config
        except MALFORMED as error:
            raise BadInputError(f"config: {error}") from error
        size = len(self.tasks)
        lists: dict[str, tuple[Sequence[Any], str]] = {}
        if self.evaluated_at is not UNSET:
            lists["evaluated_at"] = self.evaluated_at, "entries"
        for split in SPLITS:
            part = self.split(split)
            lists[f"splits.{split}.after_each_task"] = part.after_each_task, "entries"
            for score in SCORES:
                place, rows = f"splits.{split}.matrix.{score}", self.matrix(split, score)
                lists[place] = rows, f"rows of {size}"
                lists |= {f"{place}[{at}]": (row, "numbers") for at, row in enumerate(rows)}
            for number, one in enumerate(part.episodes):
                if one.after > size or one.on >= size:
                    raise BadInputError(
                        f"splits.{split}.episodes[{number}]: expected after at most {size} and on "
                        f"below it, found {one.after} and {one.on}"
                    )
        for place, (found, what) in lists.items():
            if len(found) != size:
                raise BadInputError(f"{place}: expected {size} {what}, found {len(found)}")

    @cached_property
    def config(self) -> RunConfig:
        """What was run."""
        return RunConfig.recorded(self.settings)

    def split(self, name: str) -> SplitResults:
        """``seen`` or ``unseen``."""
        part: SplitResults = getattr(self.splits, name)
        return part

    def metric(self, split: str, name: str) -> float | None:
        """One of ``METRICS``; ``None`` where the run does not define it."""
        value: float | None = getattr(self.split(split).metrics, name)
        return value

    def matrix(self, split: str, score: str = "SR") -> Rows:
        """R[after task, on task]; ``None`` where it was not evaluated."""
        rows: Rows = getattr(self.split(split).matrix, score)
        return rows

    def last_episodes(self, split: str) -> list[EvaluatedEpisode]:
        """Those of the evaluation after the last task."""
        return [one for one in self.split(split).episodes if one.after == len(self.tasks)]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, in the order of the file."""
        values: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        del values["folder"]
        return values

    def save(self, path: Path) -> None:
        """Writes ``results.json``, at once or not at all; ``.gz`` is compact and compressed."""
        packed = path.suffix == ".gz"
        # Not by msgspec, which would write NaN as null.
        layout: dict[str, Any] = {"separators": (",", ":")} if packed else {"indent": 1}
        text = json.dumps(self.to_dict(), allow_nan=False, **layout).encode()
        with atomic_file(path) as file:
            file.write(gzip.compress(text, mtime=0) if packed else text)


def make_results(
    config: RunConfig,
    tasks: Sequence[str],
    evaluations: Sequence[Evaluation],
    *,
    stream: StreamInfo,
    labels: Labels,
    arithmetic: str,
    training: TrainingInfo,
    curves: Sequence[Mapping[str, float]] = (),
    seconds: Seconds,
) -> Results:
    """Puts together what ``results.json`` holds.

    Args:
        config: what was run.
        tasks: names, first to last.
        evaluations: in the order of the stream.
        stream: the schedule, and the position reached.
        labels: what the data, the backend and the agent's eyes call themselves.
        arithmetic: how it was rounded, see ``clalfred.agents.numerics.arithmetic.fingerprint``.
        training: counts of updates, parameters and episodes kept.
        curves: the logger's rows.
        seconds: time spent, by activity.
    """
    reached = {one.learned: one.episodes for one in evaluations}
    return Results(
        format=1,
        settings=config.to_dict(),
        seed=config.seed,
        backend=config.backend,
        labels=labels,
        versions={
            "cl-alfred-gym": __version__,
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "numpy": np.__version__,
            "processor": torch.backends.cpu.get_cpu_capability(),
            "arithmetic": arithmetic,
        },
        tasks=tuple(tasks),
        stream=stream,
        evaluated_at=tuple(reached.get(learned) for learned in range(1, len(tasks) + 1)),
        training=training,
        splits=BothSplits(*(_split_results(split, len(tasks), evaluations) for split in SPLITS)),
        curves=tuple(dict(row) for row in curves),
        seconds=seconds,
    )


def read_results(path: str | Path) -> Results:
    """Reads and checks a ``results.json``, or that of a run's folder.

    Raises:
        DataError: if there is none or it is malformed; names the file and the field.
    """
    path = Path(path)
    path = path / "results.json" if path.is_dir() else path
    if not path.exists():
        raise DataError(f"{path}: there are no results; finish the run first")
    return msgspec.structs.replace(read(path, Results), folder=path.parent)


def _split_results(split: str, size: int, evaluations: Sequence[Evaluation]) -> SplitResults:
    cells: Cells = {}
    for one in evaluations:
        for record in one.records:
            if record.split == split:
                cells.setdefault((one.learned, record.on), []).append(record)
    matrix = {name: _matrix(cells, size, field) for name, field in SCORES.items()}
    # Data may lack a split; then there is nothing to score in it.
    points = [one for one in evaluations if one.learned and (one.learned, 0) in cells]
    overall = {
        one.learned: metrics.score([r for on in range(one.learned) for r in cells[one.learned, on]])
        for one in points
    }
    curve = [one.episodes for one in points], [overall[one.learned].sr for one in points]
    return SplitResults(
        metrics=Metrics(
            **_last_and_average(overall, size),
            **_transfers(cells, matrix["SR"], size),
            A_AUC=metrics.area_under_curve(*curve) if len(points) > 1 else None,
        ),
        matrix=Matrices(**{name: _plain(rows) for name, rows in matrix.items()}),
        after_each_task=tuple(overall.get(learned) for learned in range(1, size + 1)),
        episodes=tuple(
            EvaluatedEpisode(one.learned, record.on, **record.outcome())
            for one in evaluations
            for record in one.records
            if record.split == split
        ),
    )


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


def _plain(matrix: metrics.Matrix) -> Rows:
    return tuple(
        tuple(None if np.isnan(value) else float(value) for value in row) for row in matrix
    )
