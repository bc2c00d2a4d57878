"""One page with everything: no network, no library, videos inside."""

from __future__ import annotations

import base64
import colorsys
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from clalfred.cl.experiment.results import Results
from clalfred.cl.report.formats import interval, number, tested
from clalfred.cl.report.ground import group_title
from clalfred.cl.report.paper import SOURCE
from clalfred.cl.report.summary import MAIN_METRICS, SPLITS, Table
from clalfred.cl.report.text import task_title
from gym_clalfred import __version__

#: Videos are embedded up to this size in all; a page must stay something that one can mail.
VIDEO_BYTES = 40_000_000

#: Chosen by hand; distinguishable without red against green.
_FIRST_COLOURS = (
    "#3366cc", "#e0831f", "#1b998b", "#b0413e", "#7b5ea7", "#8c6d46", "#4f5d75",
    "#d16ba5", "#5aa9e6", "#7a9e1f", "#9aa1ad", "#e2b93b",
)  # fmt: skip

_GOLDEN = 0.618034
_LIGHTNESS = (0.38, 0.6, 0.48)
_SATURATION = 0.7
#: How far apart colours are at least, in steps of 256 of red, green and blue together.
_APART = 60
_TRIES = 100


def as_html(
    runs: Sequence[Results],
    tables: Sequence[Table],
    metrics: Sequence[str] = MAIN_METRICS,
    video_bytes: int = VIDEO_BYTES,
) -> str:
    """The page.

    Args:
        runs: from ``load_runs``; their folders are looked into for videos.
        tables: from ``summarise``.
        metrics: the columns.
        video_bytes: embed no more than this; further videos are left out and said to be.
    """
    videos, left_out = _videos(runs, video_bytes)
    methods = list(dict.fromkeys(row.method for table in tables for row in table.rows))
    data = {
        "version": __version__,
        "paper": SOURCE,
        "metrics": list(metrics),
        "colours": dict(zip(methods, distinct_colours(len(methods)))),
        "tables": [_table(table, metrics) for table in tables],
        "runs": [_run(run) for run in runs],
        "videos": videos,
        "videosLeftOut": left_out,
    }
    template = (
        resources.files("clalfred.cl.report").joinpath("page.html").read_text(encoding="utf-8")
    )
    # Nothing in the data may end the script element it stands in.
    content = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return template.replace("/*DATA*/null", content, 1)


def _table(table: Table, metrics: Sequence[str]) -> dict[str, Any]:
    return {
        "title": table.title,
        "setup": table.setup,
        "schedule": table.schedule,
        "baseline": table.baseline,
        "tested": [tested(table, split) for split in SPLITS],
        "rows": [
            {
                "method": row.method,
                "runs": len(row.runs),
                "cells": [
                    {
                        "text": number(row.statistics.get((split, metric))),
                        "interval": interval(row.statistics.get((split, metric))),
                        "best": row.method in table.best(split, metric),
                        "difference": number(row.differences[split, metric], signed=True)
                        if (split, metric) in row.differences
                        else None,
                        "differenceInterval": interval(row.differences.get((split, metric))),
                        "paper": table.paper(row, split, metric),
                    }
                    for split in SPLITS
                    for metric in metrics
                ],
            }
            for row in table.rows
        ],
    }


def _run(run: Results) -> dict[str, Any]:
    config = run.config
    return {
        "table": group_title(run),
        "setup": config.setup,
        "schedule": config.schedule,
        "method": config.method_title,
        "order": config.order,
        "seed": config.seed,
        "tasks": [task_title(task) for task in run.tasks],
        "matrix": {split: run.matrix(split) for split in SPLITS},
        "curve": {
            split: [getattr(one, "sr", None) for one in run.split(split).after_each_task]
            for split in SPLITS
        },
    }


def _videos(runs: Sequence[Results], limit: int) -> tuple[list[dict[str, Any]], int]:
    found, used, left_out = [], 0, 0
    for run in runs:
        folder = run.folder or Path("nowhere")
        for path in sorted((folder / "videos").glob("*.mp4")):
            size = path.stat().st_size
            if used + size > limit:
                left_out += 1
                continue
            used += size
            content = base64.b64encode(path.read_bytes()).decode()
            found.append(
                {
                    "setup": run.config.setup,
                    "schedule": run.config.schedule,
                    "method": run.config.method_title,
                    "title": f"{path.stem}: {run.config.method_title}, order {run.config.order}, "
                    f"seed {run.config.seed}",
                    "source": f"data:video/mp4;base64,{content}",
                }
            )
    return found, left_out


def distinct_colours(count: int) -> list[str]:
    """As many different colours; more than the first ones are spread over the circle of hues."""
    found, apart, tried = list(_FIRST_COLOURS[:count]), float(_APART), 0
    while len(found) < count:
        hue, lightness = (tried * _GOLDEN) % 1.0, _LIGHTNESS[tried % len(_LIGHTNESS)]
        rgb = colorsys.hls_to_rgb(hue, lightness, _SATURATION)
        candidate = "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
        tried += 1
        if all(_distance(candidate, other) >= apart for other in found):
            found.append(candidate)
        elif tried % _TRIES == 0:
            # Hundreds of lines: they come closer, but never together.
            apart = max(apart * 0.8, 1.0)
    return found


def _distance(one: str, other: str) -> int:
    return sum(abs(int(one[k : k + 2], 16) - int(other[k : k + 2], 16)) for k in (1, 3, 5))
