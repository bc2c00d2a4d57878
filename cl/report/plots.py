"""Plots of a run: learning curves per task, the matrix, and CAMA's confidence along the stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from msgspec import UNSET

from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import Results
from clalfred.cl.report.text import task_title
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.setups import Setup

#: How all plots look.
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e8ec",
    "axes.edgecolor": "#9aa1ad",
    "axes.axisbelow": True,
    "figure.dpi": 110,
    "legend.frameon": False,
}

#: One colour per task; distinguishable without red against green.
COLOURS = ("#3366cc", "#e0831f", "#1b998b", "#b0413e", "#7b5ea7", "#8c6d46", "#4f5d75")
_SMOOTH = 9


def plot_all(results: Results, folder: Path) -> list[Path]:
    """Makes every plot that the results have data for."""
    plots = {"tasks.png": plot_tasks, "matrix.png": plot_matrices, "training.png": plot_training}
    if any("cama/gamma_action" in row for row in results.curves):
        plots["confidence.png"] = plot_confidence
    made = []
    with mpl.rc_context(STYLE):
        for name, plot in plots.items():
            made.append(save(plot(results), folder / name))
    return made


def save(figure: Figure, path: Path, **options: Any) -> Path:
    """Writes a figure, whole or not at all, without anything that depends on the day."""
    with atomic_file(path) as file:
        figure.savefig(
            file, format="png", bbox_inches="tight", metadata={"Software": None}, **options
        )
    return path


def plot_tasks(results: Results) -> Figure:
    """Success rate on each task after each task, from when it was learned."""
    figure = Figure(figsize=(10, 3.6))
    axes = figure.subplots(1, 2, sharey=True)
    count = len(results.tasks)
    for ax, split in zip(axes, SPLITS):
        matrix = _percent(results.matrix(split))
        for task, name in enumerate(results.tasks):
            shown = [after for after in range(count) if not np.isnan(matrix[after, task])]
            ax.plot(
                [after + 1 for after in shown],
                matrix[shown, task],
                marker="o",
                markersize=4,
                color=COLOURS[task % len(COLOURS)],
                label=task_title(name),
            )
        ax.set_title(f"{split} rooms", loc="left", fontsize=11)
        ax.set_xticks(range(1, count + 1))
        ax.set_xlim(0.8, count + 0.2)
        ax.set_xlabel("tasks learned")
    axes[0].set_ylim(bottom=0)
    axes[0].set_ylabel("success rate in %")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(_title(results), x=0.06, ha="left", fontsize=12)
    figure.subplots_adjust(top=0.82)
    return figure


def plot_matrices(results: Results) -> Figure:
    """R[after task, on task] of success rate and goal conditions, seen and unseen."""
    figure = Figure(figsize=(10, 9))
    names = [task_title(task) for task in results.tasks]
    places = range(len(names))
    axes = figure.subplots(2, 2)
    for row, score in enumerate(("SR", "GC")):
        for column, split in enumerate(SPLITS):
            ax = axes[row][column]
            matrix = _percent(results.matrix(split, score))
            top = max(1.0, float(np.nanmax(matrix)))
            ax.imshow(matrix, cmap="YlGnBu", vmin=0, vmax=top)
            for after, on in np.argwhere(~np.isnan(matrix)):
                value = matrix[after, on]
                colour = "white" if value > 0.6 * top else "#222222"
                ax.text(on, after, f"{value:.0f}", ha="center", va="center", color=colour)
            ax.set_xticks(places, names, rotation=40, ha="right")
            ax.set_yticks(places, names)
            ax.set_xlabel("evaluated on")
            ax.set_ylabel("after learning")
            ax.grid(False)
            ax.set_title(f"{score} in %, {split} rooms", loc="left", fontsize=11)
    figure.suptitle(_title(results), x=0.06, ha="left", fontsize=12)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    return figure


def plot_training(results: Results) -> Figure:
    """Loss and accuracy of the training batches along the stream."""
    figure = Figure(figsize=(10, 3.4))
    left, right = figure.subplots(1, 2)
    _line(left, results, "train/loss", "loss per episode", "#3366cc")
    _line(right, results, "train/action_accuracy", "actions", "#3366cc", 100)
    _line(right, results, "train/class_accuracy", "classes", "#e0831f", 100)
    left.set_ylabel("training loss")
    left.set_ylim(bottom=0)
    right.set_ylabel("accuracy on the stream in %")
    right.set_ylim(0, 100)
    right.legend(loc="lower right")
    for ax in (left, right):
        ax.set_xlabel("episodes seen" if not results.config.learner.offline else "updates")
        _mark_tasks(ax, results)
    figure.suptitle(_title(results), x=0.06, ha="left", fontsize=12)
    figure.subplots_adjust(top=0.8, wspace=0.25)
    return figure


def plot_confidence(results: Results) -> Figure:
    """CAMA's confidence and gamma along the stream, against the accuracy they stand for."""
    figure = Figure(figsize=(10, 3.6))
    axes = figure.subplots(1, 2, sharey=True)
    for ax, part in zip(axes, ("action", "class")):
        _line(ax, results, f"train/{part}_accuracy", "accuracy on the stream", "#9aa1ad", 100)
        _line(ax, results, f"cama/confidence_{part}", "confidence", "#3366cc", 100)
        _line(ax, results, f"cama/gamma_{part}", "gamma", "#e0831f", 100)
        ax.set_title(part, loc="left", fontsize=11)
        ax.set_xlabel("episodes seen")
        _mark_tasks(ax, results)
    axes[0].set_ylim(0, 100)
    axes[0].set_ylabel("mean in %")
    axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(_title(results), x=0.06, ha="left", fontsize=12)
    figure.subplots_adjust(top=0.8)
    return figure


def _line(
    ax: Any, results: Results, name: str, label: str, colour: str, scale: float = 1.0
) -> None:
    x_name = "updates" if results.config.learner.offline else "train/episodes"
    rows = [row for row in results.curves if name in row and x_name in row]
    x = np.array([row[x_name] for row in rows])
    y = scale * np.array([row[name] for row in rows])
    if len(x) > 3 * _SMOOTH:
        ax.plot(x, y, color=colour, alpha=0.22, linewidth=0.8)
        y = _smoothed(y)
    ax.plot(x, y, color=colour, linewidth=1.6, label=label)


def _smoothed(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Running mean over a window that shrinks at both ends."""
    half = _SMOOTH // 2
    return np.array([values[max(0, i - half) : i + half + 1].mean() for i in range(len(values))])


def _mark_tasks(ax: Any, results: Results) -> None:
    for position in task_borders(results):
        ax.axvline(position, color="#c5cad3", linewidth=0.8, linestyle=":")


def task_borders(results: Results) -> list[float]:
    """After how many episodes a task ended and the next began; none for offline methods.

    Older results do not say it. Theirs are equal parts, but for an imbalanced stream unknown.
    """
    if results.config.learner.offline:
        return []
    if results.evaluated_at is not UNSET:
        return [at for at in results.evaluated_at[:-1] if at is not None]
    if results.config.task_setup is Setup.IMBALANCED_ENVIRONMENT_IL:
        return []
    length, count = results.stream.length, len(results.tasks)
    return [task * length / count for task in range(1, count)]


def _percent(rows: Sequence[Sequence[float | None]]) -> np.ndarray[Any, Any]:
    return 100 * np.array([[np.nan if cell is None else cell for cell in row] for row in rows])


def _title(results: Results) -> str:
    config = results.config
    stream = f"{config.setup}, {config.schedule}, order {config.order}"
    return f"{config.method_title} · {stream} · seed {config.seed} · {results.labels.data}"
