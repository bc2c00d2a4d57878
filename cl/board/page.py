"""The board: one static page of verified submissions, without scripts and without network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from clalfred.cl.board.verification import Verified
from clalfred.cl.experiment.results import SCORES
from clalfred.cl.report.text import percent
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.quotas import TIERS

_COLUMNS = (
    "submission", "method", "setup", "agent", *SCORES, "episodes", "notes", "trained on",
    "order, seed", "weights", "file",
)  # fmt: skip


def write_board(path: str | Path, submissions: Sequence[Verified]) -> Path:
    """Writes the page, at once or not at all."""
    with atomic_file(Path(path)) as file:
        file.write(board_html(submissions).encode())
    return Path(path)


def board_html(submissions: Sequence[Verified]) -> str:
    """The page: a table for each split of each data set, the best success rate first.

    Submissions that left episodes out stand below the complete ones, whatever they score.
    """
    groups: dict[tuple[str, str], list[Verified]] = {}
    for one in submissions:
        submission = one.submission
        groups.setdefault((submission.data, submission.split.value), []).append(one)
    tables = "\n".join(_table(*key, groups[key]) for key in sorted(groups))
    template = resources.files("clalfred.cl.board").joinpath("board.html").read_text("utf-8")
    count = f"{len(submissions)} submission{'' if len(submissions) == 1 else 's'}"
    return template.replace("<!-- count -->", f"{count}, release {escape(__version__)}").replace(
        "<!-- tables -->", tables
    )


def _table(data: str, split: str, found: Sequence[Verified]) -> str:
    ordered = sorted(
        found, key=lambda one: (one.missing > 0, -one.scores.sr, -one.scores.gc, _name(one))
    )
    head = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in _COLUMNS)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(one)) + "</tr>"
        for one in ordered
    )
    return (
        f"<h2>{escape(split)} of {escape(data)}</h2>\n<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _cells(one: Verified) -> list[str]:
    submission, run = one.submission, one.submission.run
    count = len(submission.results)
    kept = one.available - one.missing
    return [
        submission.name,
        run.method_title,
        run.setup if run.schedule == "disjoint" else f"{run.setup}, {run.schedule}",
        run.agent,
        *(percent(getattr(one.scores, field)) for field in SCORES.values()),
        f"{count}" if not one.missing else f"{kept} of {one.available}",
        ", ".join(_notes(one)),
        run.tier if run.data is None else run.data,
        f"{run.order}, {run.seed}",
        str(submission.acting["agent"]),
        submission.sha256[:12],
    ]


def _notes(one: Verified) -> list[str]:
    submission = one.submission
    notes = [name for name in ("blind", "deaf") if submission.acting[name]]
    if not submission.acting["rules"] and not submission.acting["blind"]:
        notes.append("without rules")
    tier = None if submission.tier is None else TIERS[submission.tier]
    if submission.max_steps != ((tier.evaluation_steps if tier else None) or 1000):
        notes.append(f"limit {submission.max_steps}")
    return [*notes, "incomplete"] if one.missing else notes


def _name(one: Verified) -> str:
    return one.submission.name
