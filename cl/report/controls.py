"""Controls: agents evaluated with something taken away, from files that clalfred-evaluate wrote.

Such a file, from ``clalfred-evaluate --lines``, lies in a folder of runs as
``controls/NAME.SPLIT.jsonl``; ``NAME`` is what the table calls it.
"""

from __future__ import annotations

import json
from pathlib import Path

from clalfred.agents.acting.records import read_conditions, read_results
from clalfred.cl.report.paired import Difference, bootstrap, drawn
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.errors import DataError

FOLDER = "controls"


def collect_controls(folder: Path, to: Path) -> list[Path]:
    """Writes a compact copy of every control below a folder; gives the files."""
    made = []
    for path in sorted(folder.rglob(f"{FOLDER}/*.jsonl")):
        name, _, split = path.stem.rpartition(".")
        if not name:
            raise DataError(f"{path}: expected a name such as blind.test_seen.jsonl")
        results = read_results(path)
        document = {
            "name": name.replace("_", " "),
            "split": split,
            "conditions": read_conditions(path),
            "success": {episode: int(one.success) for episode, one in sorted(results.items())},
        }
        copy = to / FOLDER / f"{path.stem}.json"
        with atomic_file(copy) as file:
            file.write(f"{json.dumps(document, separators=(',', ':'))}\n".encode())
        made.append(copy)
    return made


def control_rates(folder: Path) -> dict[str, dict[str, Difference]]:
    """By control and kind of split, ``seen`` or ``unseen``, how much was solved."""
    rates: dict[str, dict[str, Difference]] = {}
    for path in sorted((folder / FOLDER).glob("*.json")):
        document = json.loads(path.read_text())
        kind = document["split"].rpartition("_")[2]
        rates.setdefault(document["name"], {})[kind] = bootstrap([document["success"]], drawn(kind))
    return dict(
        sorted(rates.items(), key=lambda one: -one[1]["seen"].mean if "seen" in one[1] else 0)
    )
