"""What happens along a run besides learning, as callbacks of Stable-Baselines3.

A run is ``learner.learn(stream, callback=[...])``: the callbacks here draw the learning curves,
evaluate after each task and write checkpoints. A user's own run beside them; one that is a
``RunCallback`` is also told about evaluations.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

if TYPE_CHECKING:
    from clalfred.cl.experiment.evaluation import Record
    from clalfred.cl.experiment.results import Evaluation, Results
    from clalfred.cl.experiment.run import Run

#: Part of the time that may go into writing checkpoints.
CHECKPOINT_SHARE = 0.05

#: Updates between two points of the learning curves at most; a smaller group makes it fewer.
CURVE_UPDATES = 8


class RunCallback(BaseCallback):
    """A callback that is also told about a run's evaluations; override what you need.

    ``run`` is there from ``_on_training_start`` on; ``model`` is the learner, as in SB3.
    """

    run: Run

    def _on_step(self) -> bool:
        """An episode was taken in, or an update made after the stream's end; false stops."""
        return True

    def on_prepared(self, done: int, total: int) -> None:
        """``done`` of ``total`` demonstrations have been encoded, before learning begins."""

    def on_evaluating(self, learned: int) -> None:
        """An evaluation begins after the given number of tasks."""

    def on_evaluated_episode(self, record: Record, total: int) -> None:
        """An episode of ``total`` was evaluated."""

    def on_evaluated(self, evaluation: Evaluation) -> None:
        """An evaluation is complete."""

    def on_illustrating(self) -> None:
        """Plots and videos are being made."""

    def on_finished(self, results: Results) -> None:
        """The run is complete."""


class CurvesCallback(RunCallback):
    """Adds a point to the learning curves every few updates."""

    def _on_step(self) -> bool:
        learner, rows = self.run.learner, self.run.logger.curves.rows
        shown = int(rows[-1]["updates"]) if rows else 0
        if learner.num_updates - shown >= min(CURVE_UPDATES, learner.group_size):
            self._dump()
        return True

    def _on_training_end(self) -> None:
        self._dump()

    def _dump(self) -> None:
        logger = self.run.logger
        if logger.name_to_value:
            logger.record("train/episodes", self.run.learner.num_episodes)
            logger.dump(self.run.learner.num_updates)


class CheckpointCallback(RunCallback):
    """Replaces the run's checkpoint now and then, without taking much of the time.

    Args:
        seconds: least time between two checkpoints.
    """

    def __init__(self, seconds: float = 30.0) -> None:
        super().__init__()
        self.seconds = seconds

    def _on_step(self) -> bool:
        waited = time.monotonic() - self.run.saved_at
        if waited > max(self.seconds, self.run.save_cost / CHECKPOINT_SHARE):
            self.run.save()
        return True


class EvaluationCallback(RunCallback):
    """Evaluates where a task counts as learned; before everything else, what is still missing."""

    def _on_training_start(self) -> None:
        if self.run.config.evaluate_ahead:
            self.run.evaluate(0)
        self._evaluate_here()

    def _on_step(self) -> bool:
        self._evaluate_here()
        return True

    def _on_training_end(self) -> None:
        if self.run.stream.exhausted:
            self.run.evaluate(len(self.run.schedule.tasks))

    def _evaluate_here(self) -> None:
        run = self.run
        if run.stream.exhausted or run.learner.offline:
            return
        for learned, end in enumerate(run.evaluation_points(), start=1):
            if end == run.stream.position:
                run.evaluate(learned)


class CurveWriter(KVWriter):
    """Collects every dump of the logger as one row of numbers."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Called by the logger."""
        numbers = {
            key: float(value) for key, value in key_values.items() if isinstance(value, int | float)
        }
        self.rows.append({"updates": float(step), **numbers})

    def close(self) -> None:
        """Nothing to close."""


class RunLogger(Logger):
    """SB3's logger with TensorBoard and curves, which can be saved between two dumps.

    Args:
        folder: for TensorBoard; ``None`` for curves only.
    """

    def __init__(self, folder: Path | None) -> None:
        self.curves = CurveWriter()
        self._board = None if folder is None else TensorBoardOutputFormat(str(folder))
        formats: list[KVWriter] = [self.curves]
        if self._board is not None:
            formats.append(self._board)
        super().__init__(None if folder is None else str(folder), formats)

    def board(self, values: dict[str, float], step: int) -> None:
        """Writes to TensorBoard alone."""
        if self._board is not None:
            self._board.write(values, dict.fromkeys(values, ()), step)

    def state_dict(self) -> dict[str, Any]:
        """Rows so far, and what was recorded since the last one."""
        return {
            "rows": self.curves.rows,
            "values": {name: float(value) for name, value in self.name_to_value.items()},
            "counts": dict(self.name_to_count),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues from ``state_dict``."""
        self.curves.rows = list(state["rows"])
        self.name_to_value.clear()
        self.name_to_value.update(state["values"])
        self.name_to_count.clear()
        self.name_to_count.update(state["counts"])
        # Nothing is ever recorded for some formats only; TensorBoard wants to be told of each.
        self.name_to_excluded.clear()
        self.name_to_excluded.update(dict.fromkeys(state["values"], ()))


@contextmanager
def quiet_board() -> Iterator[None]:
    """Prints no traceback of TensorBoard's thread; its next write or close raises the error."""
    usual = threading.excepthook

    def say(failed: threading.ExceptHookArgs) -> None:
        if not type(failed.thread).__module__.startswith("tensorboard."):
            usual(failed)

    threading.excepthook = say
    try:
        yield
    finally:
        threading.excepthook = usual
