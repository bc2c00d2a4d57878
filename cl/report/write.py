"""Writes a report in all formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clalfred.cl.experiment.results import Results
from clalfred.cl.report.formats import FORMATS
from clalfred.cl.report.html import as_html
from clalfred.cl.report.people import PersonTable, people_text, with_people
from clalfred.cl.report.summary import MAIN_METRICS, Table
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.storage import storage_errors

NAMES = {"text": "table.txt", "markdown": "table.md", "latex": "table.tex", "csv": "table.csv"}


def write_report(
    folder: Path,
    runs: Sequence[Results],
    tables: Sequence[Table],
    metrics: Sequence[str] = MAIN_METRICS,
    people: Sequence[PersonTable] = (),
) -> list[Path]:
    """The tables in every format and ``index.html``; gives the files."""
    contents = {NAMES[kind]: render(tables, metrics) for kind, render in FORMATS.items()}
    contents["index.html"] = with_people(as_html(runs, tables, metrics), people)
    if people:
        contents["people.txt"] = people_text(people) + "\n"
    with storage_errors(folder):
        for name, content in contents.items():
            with atomic_file(folder / name) as file:
                file.write(content.encode())
    return [folder / name for name in contents]
