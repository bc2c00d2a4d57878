"""What a run came to, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import Results
from clalfred.cl.metrics import SCORES, Scores
from gym_clalfred.tables import aligned
from gym_clalfred.tasks.spec import task_types


def task_title(task: str) -> str:
    """The paper's name of a behaviour, or the room type."""
    titles = {one.value: one.paper_name for one in task_types()}
    return titles.get(task, task)


def percent(share: float | None) -> str:
    """A share as the paper prints it; a dash where there is none."""
    return "\u2013" if share is None else f"{hundredths(share):.2f}"


def hundredths(share: float) -> float:
    """A share in % for printing, with two places; a value close to 0 has no sign."""
    return round(100 * share, 2) + 0.0


def evaluation_table(results: Results, learned: int) -> str:
    """SR and GC on every task, evaluated after the given number of tasks."""
    rows = [["task"] + [f"{title} {score}" for title in SPLITS for score in _SHORT]]
    for number, task in enumerate(results.tasks):
        cells = [
            results.matrix(split, score)[learned - 1][number] if learned else None
            for split in SPLITS
            for score in _SHORT
        ]
        if any(cell is not None for cell in cells):
            rows.append([task_title(task), *map(percent, cells)])
    if learned:
        overall = [results.split(split).after_each_task[learned - 1] for split in SPLITS]
        scores = [getattr(part, SCORES[score], None) for part in overall for score in _SHORT]
        rows.append(["all so far", *map(percent, scores)])
    return f"After task {learned} of {len(results.tasks)}, in %\n" + aligned(rows)


def description(results: Results) -> str:
    """What was trained on what, and what it was tested on."""
    config, labels, training = results.config, results.labels, results.training
    tested = [len(results.last_episodes(split)) for split in SPLITS]
    held, allowed = training.held, training.memory
    # Joint keeps everything, and a memory may be limited in bytes instead.
    limited = held <= allowed and "memory_bytes" not in config.overrides
    memory = f"{held} of at most {allowed} episodes" if held and limited else f"{held} episodes"
    millions = f"{training.parameters / 1e6:.1f} million parameters"
    lines = {
        "method": f"{config.method_title}, seed {config.seed}, {memory} in memory",
        "stream": f"{results.stream.name}: {len(results.tasks)} tasks, "
        f"{results.stream.length} episodes, each once",
        "training": f"{training.updates} updates, agent {config.agent}, {millions}",
        "data": f"{labels.data} in {labels.backend}",
        "tested on": f"{tested[0]} episodes in rooms it knows (seen), "
        f"{tested[1]} in rooms it does not (unseen)",
    }
    if config.data is None and config.tier == "tiny":
        lines["note"] = "tiny is for trying things out and too small to learn from: expect 0 %"
    return "\n".join(f"{name:9}  {line}" for name, line in lines.items())


def summary_table(results: Results) -> str:
    """The paper's metrics of a finished run."""
    rows = [["in %", *SPLITS]]
    names = [f"{score}_{kind}" for kind in ("last", "avg") for score in SCORES]
    for name in (*names, "forgetting", "backward_transfer", "forward_transfer", "A_AUC"):
        values = [results.metric(split, name) for split in SPLITS]
        if any(value is not None for value in values):
            rows.append([name, *map(percent, values)])
    return f"{description(results)}\n\n{aligned(rows)}"


def scores_table(scores: Mapping[str, Scores]) -> str:
    """Named scores, one per line."""
    rows = [["", *SCORES, "episodes"]]
    for name, one in scores.items():
        shares = [percent(getattr(one, field)) for field in SCORES.values()]
        rows.append([name, *shares, str(one.episodes)])
    return aligned(rows)


_SHORT = ("SR", "GC")
