"""Who is told how a run goes: nobody, unless a command or a notebook wants to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clalfred.cl.experiment.evaluation import Record
    from clalfred.cl.experiment.results import Evaluation, Results
    from clalfred.cl.experiment.run import Run


class Listener:
    """Does nothing; override what you want to show."""

    def started(self, run: Run) -> None:
        """The run begins or goes on."""

    def learned(self, run: Run) -> None:
        """An episode was taken in, or an update made after the stream's end."""

    def evaluating(self, run: Run, learned: int) -> None:
        """An evaluation begins after so many tasks."""

    def evaluated_episode(self, record: Record, total: int) -> None:
        """An episode of ``total`` was evaluated."""

    def evaluated(self, run: Run, evaluation: Evaluation) -> None:
        """An evaluation is complete."""

    def illustrating(self, run: Run) -> None:
        """Plots and videos are being made."""

    def finished(self, results: Results) -> None:
        """The run is complete."""
