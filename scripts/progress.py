"""A run on a terminal: a bar with the task and the loss, and a table after each task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from clalfred.cl.experiment.callbacks import RunCallback
from clalfred.cl.experiment.evaluation import Record
from clalfred.cl.experiment.results import Evaluation, Results
from clalfred.cl.report.text import evaluation_table, summary_table
from clalfred.scripts.common import on_terminal

#: Files in a finished run's folder that people look at.
FILES = {
    "results.json": "all figures",
    "agent.zip": "the agent, for clalfred-record",
    "plots/tasks.png": "each task along the stream",
    "plots/matrix.png": "after each task, on each task",
    "plots/training.png": "losses and accuracy",
    "plots/confidence.png": "CAMA's confidence and gamma",
    "videos/success.mp4": "solved, beside the expert",
    "videos/best.mp4": "its best try, beside the expert",
    "videos/failure.mp4": "not solved, beside the expert",
}


class Console(RunCallback):
    """Prints tables always, and bars on terminals only.

    Args:
        folder: of the run, to name the files.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self._bar: tqdm[Any] | None = None

    def _on_training_start(self) -> None:
        """Prints what is run and from which episode."""
        run = self.run
        config, position = run.config, run.stream.position
        click.echo(f"{config.method_title} on {run.schedule.name}, seed {config.seed}")
        click.echo(
            f"{len(run.schedule)} episodes of {run.inputs.source.label} in "
            f"{run.env.simulator.label}, into {self.folder}"
        )
        if position:
            click.echo(f"continuing after episode {position} of {len(run.schedule)}")
        self._bar = tqdm(
            total=len(run.schedule), initial=position, unit="ep", disable=not on_terminal()
        )

    def _on_step(self) -> bool:
        """Moves the bar."""
        if self._bar is not None and not self._bar.disable:
            self._advance(self._bar)
        return True

    def _advance(self, bar: tqdm[Any]) -> None:
        run = self.run
        position = run.stream.position
        bar.set_description(run.schedule.task_of(max(0, position - 1)), refresh=False)
        rows = run.logger.curves.rows
        if rows and "train/loss" in rows[-1]:
            bar.set_postfix(
                loss=f"{rows[-1]['train/loss']:.2f}", updates=run.learner.num_updates, refresh=False
            )
        bar.update(position - bar.n)

    def on_prepared(self, done: int, total: int) -> None:
        """Moves the bar of demonstrations that are being encoded."""
        if self._bar is None:
            click.echo(f"looking at {total} demonstrations for the first time")
            self._bar = tqdm(total=total, unit="demo", disable=not on_terminal())
        self._bar.update(done - self._bar.n)
        if done == total:
            self._close()

    def on_evaluating(self, learned: int) -> None:
        """Replaces the bar by one of evaluation episodes."""
        self._close()
        self._bar = tqdm(unit="ep", desc=f"evaluating after {learned}", disable=not on_terminal())

    def on_evaluated_episode(self, record: Record, total: int) -> None:
        """Moves the bar."""
        if self._bar is not None:
            self._bar.total = total
            self._bar.update()

    def on_evaluated(self, evaluation: Evaluation) -> None:
        """Prints the scores on each task so far."""
        run = self.run
        self._close()
        click.echo("\n" + evaluation_table(run.results(), evaluation.learned))
        self._bar = tqdm(
            total=len(run.schedule),
            initial=run.stream.position,
            unit="ep",
            disable=not on_terminal(),
        )

    def on_illustrating(self) -> None:
        """Says that plots and videos are being made."""
        self._close()
        click.echo("making plots and videos")

    def on_finished(self, results: Results) -> None:
        """Prints the paper's metrics and where everything is."""
        self._close()
        click.echo("\n" + summary_table(results))
        there = {
            str(self.folder / name): what
            for name, what in FILES.items()
            if (self.folder / name).exists()
        }
        width = max(map(len, there))
        click.echo("\n" + "\n".join(f"{path:{width}}  {what}" for path, what in there.items()))

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
