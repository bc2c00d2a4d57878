"""Learning curves: what the logger was told, kept with the run for its plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat


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
