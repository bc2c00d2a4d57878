"""Controls: what is left of a Joint agent when sight, words or rules are taken from it.

Every evaluation is a file of JSON lines in a folder of runs,
``controls/EYES-NAME@ORDER.SPLIT.jsonl``, such as ``masks-blind@1.test_seen.jsonl``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clalfred.agents.acting.result_file import read_conditions, read_results
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.config import EVALUATED, RunConfig
from clalfred.cl.experiment.evaluate_agent import evaluate_agent, select
from clalfred.cl.experiment.results import Results
from clalfred.cl.registry import is_offline
from clalfred.cl.report.paired import Difference, bootstrap, drawn
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.sources import open_source
from gym_clalfred.errors import DataError, UsageError

FOLDER = "controls"

#: What is taken away, by the name of the control; also settings of runs that never had it.
CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "no-rules": {"rules": False},
    "blind": {"blind": True},
    "deaf": {"deaf": True},
}


#: Controls that hardly any episode is solved with: few of them tell as much as all.
HOPELESS = ("blind", "deaf")


def make_controls(
    runs: Sequence[Results],
    folder: Path,
    listen: Callable[[str], None] = lambda notice: None,
    limit: int | None = None,
) -> None:
    """Evaluates every Joint agent of Behavior-IL with each thing taken away, on its test splits.

    Files that are there are continued, so that nothing is evaluated twice.

    Args:
        runs: of which the Joint ones have their agents.
        folder: of the runs; the files go to ``controls`` in it.
        listen: is told of each evaluation, in words.
        limit: episodes of each split that blind and deaf agents act in, at most.
    """
    chosen = [run for run in runs if is_control_subject(run.config) and run.folder is not None]
    if not chosen:
        raise UsageError(f"{folder}: expected Joint runs of behavior-il with their agents")
    (folder / FOLDER).mkdir(exist_ok=True)
    for run in chosen:
        assert run.folder is not None
        source = open_source(run.config.tier, run.config.data)
        for name, taken in CONTROLS.items():
            policy, config = load_agent(run.folder, device="cpu", **taken)
            for split in EVALUATED[config.evaluate_on].values():
                stem = f"{eyes_of(run)}-{name}@{config.order}.{split.value}"
                path = folder / FOLDER / f"{stem}.jsonl"
                keys = select(
                    source,
                    split.value,
                    annotations=config.evaluated_annotations,
                    limit=limit if name in HOPELESS else None,
                )
                summary = evaluate_agent(policy, config, source, keys, lines=path)
                listen(f"{stem}: {100 * summary.overall.sr:.1f} %")


def eyes_of(run: Results) -> str:
    """How its agent sees: from pictures, or by given masks."""
    return "rgb" if run.config.agent_config().encoder else "masks"


def is_control_subject(config: RunConfig) -> bool:
    """Whether controls are made of a run: Joint with its usual settings on Behavior-IL."""
    plain = not config.variant.keys() - {"memory"} and config.episodes_per_task is None
    return plain and is_offline(config.method) and config.setup == "behavior-il"


def collect_controls(folder: Path, to: Path) -> list[Path]:
    """Writes a compact copy of every control below a folder; gives the files."""
    made = []
    for path in sorted(folder.rglob(f"{FOLDER}/*.jsonl")):
        name, _, split = path.stem.rpartition(".")
        if "-" not in name:
            raise DataError(f"{path}: expected a name such as masks-blind@1.test_seen.jsonl")
        results = read_results(path)
        document = {
            "name": name.partition("@")[0],
            "split": split,
            "conditions": read_conditions(path),
            "success": {episode: int(one.success) for episode, one in sorted(results.items())},
        }
        copy = to / FOLDER / f"{path.stem}.json"
        with atomic_file(copy) as file:
            file.write(f"{json.dumps(document, separators=(',', ':'))}\n".encode())
        made.append(copy)
    return made


def control_rates(folder: Path) -> dict[tuple[str, str], dict[str, Difference]]:
    """By eyes and control, then by kind of split, how much was solved."""
    solved: dict[tuple[str, str], dict[str, list[dict[str, int]]]] = {}
    for path in sorted((folder / FOLDER).glob("*.json")):
        document = json.loads(path.read_text())
        kind = document["split"].rpartition("_")[2]
        eyes, _, name = document["name"].partition("-")
        solved.setdefault((eyes, name), {}).setdefault(kind, []).append(document["success"])
    return {
        control: {kind: bootstrap(runs, drawn(kind)) for kind, runs in kinds.items()}
        for control, kinds in solved.items()
    }
