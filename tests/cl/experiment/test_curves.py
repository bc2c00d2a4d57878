"""The logger of a run goes on, after a kill, with what was recorded since its last point."""

from __future__ import annotations

from pathlib import Path

from clalfred.cl.experiment.callbacks import RunLogger


def test_a_logger_goes_on_between_two_points(tmp_path: Path) -> None:
    whole, first = RunLogger(tmp_path / "whole"), RunLogger(tmp_path / "board")
    for logger in (whole, first):
        logger.record("train/episodes", 4)
        logger.dump(1)
        logger.record_mean("train/loss", 3.0)
        logger.record_mean("train/loss", 6.0)
    second = RunLogger(tmp_path / "board")
    second.load_state_dict(first.state_dict())
    for logger in (whole, second):
        logger.record_mean("train/loss", 9.0)
        logger.dump(2)
    assert second.curves.rows == whole.curves.rows
    assert second.curves.rows[-1] == {"updates": 2.0, "train/loss": 6.0}
