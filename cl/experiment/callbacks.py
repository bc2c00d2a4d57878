"""What happens along a run besides learning, as callbacks of Stable-Baselines3.

A run is ``learner.learn(stream, callback=[...])``: the callbacks here draw the learning curves,
evaluate after each task and write checkpoints. A user's own run beside them; one that is a
``RunCallback`` also hears of evaluations.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from stable_baselines3.common.callbacks import BaseCallback

if TYPE_CHECKING:
    from clalfred.cl.experiment.evaluation import Record
    from clalfred.cl.experiment.results import Evaluation, Results
    from clalfred.cl.experiment.run import Run

#: Part of the time that may go into writing checkpoints.
CHECKPOINT_SHARE = 0.05

#: Updates between two points of the learning curves at most; a smaller group makes it fewer.
CURVE_UPDATES = 8


class RunCallback(BaseCallback):
    """A callback that hears of a run's evaluations too; override what you want to know.

    ``run`` is there from ``_on_training_start`` on; ``model`` is the learner, as in SB3.
    """

    run: Run

    def _on_step(self) -> bool:
        """An episode was taken in, or an update made after the stream's end; false stops."""
        return True

    def on_prepared(self, done: int, total: int) -> None:
        """So many demonstrations of ``total`` have been looked at, before learning begins."""

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
