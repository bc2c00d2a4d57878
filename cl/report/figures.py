"""Figures over many runs, in the manner of the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import Results
from clalfred.cl.report.ground import displayed
from clalfred.cl.report.paired import success_rate
from clalfred.cl.report.plots import COLOURS, STYLE, plot_confidence, save
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import Split

_OBJECTS = 30
_MARKERS = "osD^vPX*<>"


def confidence(run: Results, path: Path) -> Path:
    """CAMA's confidence and gamma against the accuracy along the stream."""
    with mpl.rc_context(STYLE):
        return _save(plot_confidence(run), path)


def success_curves(methods: Mapping[str, Sequence[Results]], path: Path) -> Path:
    """Success rate over all tasks learned so far, after each task, for each method."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 3.8))
        axes = figure.subplots(1, 2, sharey=True)
        for ax, split in zip(axes, SPLITS):
            for number, runs in enumerate(methods.values()):
                _curve(ax, displayed(runs[0]), runs, split, number)
            ax.set_title(f"{split} rooms", loc="left", fontsize=11)
            ax.set_xlabel("tasks learned")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0].set_ylim(bottom=0)
        axes[0].set_ylabel("success rate on them in %")
        axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return _save(figure, path)


def overview(setups: Mapping[str, Mapping[str, Sequence[Results]]], path: Path) -> Path:
    """Success rate after the last task of every method, with its interval, for each setup."""
    titles = {name: runs for methods in setups.values() for name, runs in methods.items()}
    names = list(titles)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 1.4 + 0.28 * len(names)), layout="constrained")
        axes = figure.subplots(1, len(setups), sharex=True, sharey=True, squeeze=False)[0]
        for ax, (title, methods) in zip(axes, setups.items()):
            for number, split in enumerate(SPLITS):
                _rates(ax, methods, names, split, number)
            ax.set_title(title, loc="left", fontsize=11)
            ax.set_xlim(0, 100)
        axes[0].set_yticks(range(len(names)), [displayed(titles[name][0]) for name in names])
        axes[0].invert_yaxis()
        axes[0].set_xlabel("success rate after the last task in %, 95 % intervals", loc="left")
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower right", ncols=2)
        return _save(figure, path)


def objects_by_behaviour(source: EpisodeSource, path: Path) -> Path:
    """How often each behaviour of the training split is about each object."""
    counts: dict[str, Counter[str]] = {}
    for entry in source.entries(Split.TRAIN):
        if entry.key.annotation == 0:
            target = source.episode(entry.key).trajectory.task.target
            counts.setdefault(entry.task_type.paper_name, Counter())[target.name] += 1
    total: Counter[str] = sum(counts.values(), Counter())
    objects = [name for name, _ in total.most_common(_OBJECTS)]
    behaviours = sorted(counts)
    shares = np.array(
        [[counts[b][o] / sum(counts[b].values()) for o in objects] for b in behaviours]
    )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 3.2))
        ax = figure.subplots()
        image = ax.imshow(100 * shares, cmap="YlGnBu", aspect="auto")
        ax.set_xticks(range(len(objects)), objects, rotation=60, ha="right", fontsize=8)
        ax.set_yticks(range(len(behaviours)), behaviours)
        ax.grid(False)
        figure.colorbar(image, ax=ax, label="% of its trajectories")
        return _save(figure, path)


def _rates(
    ax: Any, methods: Mapping[str, Sequence[Results]], names: list[str], split: str, number: int
) -> None:
    """One point with its interval for each method, the splits a little apart."""
    there = {name: success_rate(methods[name], split) for name in names if name in methods}
    rates = {name: rate for name, rate in there.items() if rate is not None}
    means = np.array([rate.mean for rate in rates.values()])
    bounds = np.array([(rate.low, rate.high) for rate in rates.values()]).reshape(-1, 2)
    ax.errorbar(
        100 * means,
        [names.index(name) + 0.28 * (number - 0.5) for name in rates],
        xerr=100 * np.abs(bounds - means[:, None]).T,
        fmt=_MARKERS[number],
        markersize=5,
        linewidth=1.4,
        color=COLOURS[number],
        label=f"{split} rooms",
    )


def _curve(ax: Any, method: str, runs: Sequence[Results], split: str, number: int) -> None:
    points: dict[int, list[float]] = {}
    for run in runs:
        for learned, scores in enumerate(run.split(split).after_each_task, 1):
            if scores is not None:
                points.setdefault(learned, []).append(100 * scores.sr)
    x = sorted(points)
    ax.plot(
        x,
        [np.mean(points[one]) for one in x],
        marker=_MARKERS[number % len(_MARKERS)],
        markersize=5,
        linewidth=1.4,
        color=COLOURS[number % len(COLOURS)],
        # The second time round, a colour is dashed.
        linestyle="-" if number < len(COLOURS) else "--",
        label=method,
    )


def _save(figure: Figure, path: Path) -> Path:
    return save(figure, path, dpi=90)
