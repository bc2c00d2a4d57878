"""The board: one static page of verified submissions, without scripts and without network."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from clalfred.cl.board.verification import Verified
from clalfred.cl.metrics import SCORES
from clalfred.cl.report.text import percent
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.quotas import TIERS

_COLUMNS = (
    "submission", "method", "agent", *SCORES, "episodes", "notes", "trained on",
    "order, seed", "weights", "file",
)  # fmt: skip


def write_board(
    path: str | Path, submissions: Sequence[Verified], files: Sequence[str | Path] = ()
) -> Path:
    """Writes the page, at once or not at all, with links to the submissions' files if given."""
    folder = Path(path).absolute().parent
    links = [Path(os.path.relpath(file, folder)).as_posix() for file in files]
    with atomic_file(Path(path)) as file:
        file.write(board_html(submissions, links).encode())
    return Path(path)


def board_html(submissions: Sequence[Verified], links: Sequence[str] = ()) -> str:
    """The page: a table for each split and setup of each data set, the best success rate first.

    Submissions that left episodes out stand below the complete ones, whatever they score.

    Args:
        submissions: what to list.
        links: addresses of their files, in the same order; none without.
    """
    addresses = {one.submission.sha256: link for one, link in zip(submissions, links)}
    groups: dict[tuple[str, str, str], list[Verified]] = {}
    for one in submissions:
        submission, run = one.submission, one.submission.run
        setup = run.setup if run.schedule == "disjoint" else f"{run.setup}, {run.schedule}"
        groups.setdefault((submission.data, setup, submission.split.value), []).append(one)
    tables = "\n".join(_table(*key, groups[key], addresses) for key in sorted(groups))
    template = resources.files("clalfred.cl.board").joinpath("board.html").read_text("utf-8")
    count = f"{len(submissions)} submission{'' if len(submissions) == 1 else 's'}"
    return template.replace("<!-- count -->", f"{count}, release {escape(__version__)}").replace(
        "<!-- tables -->", tables
    )


def _table(
    data: str, setup: str, split: str, found: Sequence[Verified], addresses: Mapping[str, str]
) -> str:
    ordered = sorted(
        found,
        key=lambda one: (one.missing > 0, -one.scores.sr, -one.scores.gc, one.submission.name),
    )
    head = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in _COLUMNS)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in _row(one, addresses)) + "</tr>"
        for one in ordered
    )
    title = f"{escape(setup)}, {escape(split)} <small>{escape(data)}</small>"
    return (
        f"<h2>{title}</h2>\n<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _row(one: Verified, addresses: Mapping[str, str]) -> list[str]:
    *cells, file = map(escape, _cells(one))
    address = addresses.get(one.submission.sha256)
    return [*cells, file if address is None else f'<a href="{escape(quote(address))}">{file}</a>']


def _cells(one: Verified) -> list[str]:
    submission, run = one.submission, one.submission.run
    count = len(submission.results)
    kept = one.available - one.missing
    return [
        submission.name,
        run.method_title,
        run.agent,
        *(percent(getattr(one.scores, field)) for field in SCORES.values()),
        f"{count}" if not one.missing else f"{kept} of {one.available}",
        ", ".join(_notes(one)),
        run.tier if run.data is None else run.data,
        f"{run.order}, {run.seed}",
        submission.acting.agent,
        submission.sha256[:12],
    ]


def _notes(one: Verified) -> list[str]:
    submission = one.submission
    notes = [name for name in ("blind", "deaf") if getattr(submission.acting, name)]
    if not submission.acting.rules and not submission.acting.blind:
        notes.append("without rules")
    tier = None if submission.tier is None else TIERS[submission.tier]
    if submission.max_steps != ((tier.evaluation_steps if tier else None) or 1000):
        notes.append(f"limit {submission.max_steps}")
    return [*notes, "incomplete"] if one.missing else notes
