"""People's scores, beside those of agents on the very same episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from clalfred.agents.acting.result_file import EpisodeOutcome, read_conditions, read_results
from clalfred.cl.experiment.config import EVALUATED
from clalfred.cl.experiment.results import Results
from clalfred.cl.metrics import SCORES, score
from clalfred.cl.report.text import percent
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.tables import aligned

#: What ``clalfred-play --score`` writes before a name.
_PERSON = "person "

#: Shares by the paper's names.
Shares = Mapping[str, float]


@dataclass(frozen=True)
class PersonTable:
    """A person and the agents that were evaluated on all of the person's episodes.

    Args:
        title: whose score it is, and on what.
        rows: name, number of runs (0 for the person), and the scores in 0..1.
    """

    title: str
    rows: tuple[tuple[str, int, Shares], ...]


def beside_agents(path: str | Path, runs: Sequence[Results]) -> PersonTable:
    """The score in a file of ``clalfred-play --score``, and the agents' on the same episodes.

    Agents count by their last evaluation, and only if it was on the same data, in the same
    simulator, with the same step limit, and had all of the person's episodes.

    Args:
        path: the file.
        runs: from ``load_runs``.
    """
    conditions = read_conditions(path)
    agent = conditions.get("agent")
    if not isinstance(agent, str) or not agent.startswith(_PERSON):
        raise DataError(f"{path}: is the score of an agent; expected one of clalfred-play --score")
    results = list(read_results(path).values())
    if not results:
        raise DataError(f"{path}: has no finished episode yet; play at least one")
    split = _split_of(path, results)
    keys = [result.episode for result in results]
    by_method: dict[str, list[Shares]] = {}
    for run in runs:
        if _fits(run, conditions):
            found = _last_episodes(run, split)
            if all(key in found for key in keys):
                mine = _shares([found[key] for key in keys])
                by_method.setdefault(run.config.method_title, []).append(mine)
    rows = [(agent.removeprefix(_PERSON), 0, _shares(results))]
    rows += [(name, len(found), _mean(found)) for name, found in sorted(by_method.items())]
    count = f"{len(keys)} episode{'' if len(keys) == 1 else 's'}"
    return PersonTable(
        f"{rows[0][0]} on {count} of {split}, {conditions.get('data', 'unknown data')}", tuple(rows)
    )


def people_text(tables: Sequence[PersonTable]) -> str:
    """For a terminal."""
    parts = []
    for table in tables:
        rows = [["in %", "runs", *SCORES], *_cells(table)]
        note = "" if len(table.rows) > 1 else "\nNo run was evaluated on all of these episodes."
        parts.append(f"{table.title}\n{aligned(rows)}{note}")
    return "\n\n".join(parts)


def with_people(page: str, tables: Sequence[PersonTable]) -> str:
    """A report's page with the tables at its end."""
    parts = []
    for table in tables:
        head = "".join(f"<th>{escape(name)}</th>" for name in ("in %", "runs", *SCORES))
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in _cells(table)
        )
        parts.append(
            f'<div class="card"><h3>{escape(table.title)}</h3><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )
    if not parts:
        return page
    section = f"<h2>People, and agents on the same episodes</h2>{''.join(parts)}"
    before, mark, after = page.rpartition("</main>")
    return f"{before}{section}{mark}{after}"


def _cells(table: PersonTable) -> list[list[str]]:
    return [
        [name, str(runs) if runs else "\u2013", *(percent(shares[one]) for one in SCORES)]
        for name, runs, shares in table.rows
    ]


def _split_of(path: str | Path, results: Sequence[EpisodeOutcome]) -> str:
    try:
        splits = {EpisodeKey.parse(result.episode).split.value for result in results}
    except BadInputError as error:
        raise DataError(f"{path}: {error}") from error
    if len(splits) > 1:
        raise DataError(
            f"{path}: expected episodes of one split, found {', '.join(sorted(splits))}"
        )
    return splits.pop()


def _fits(run: Results, conditions: Mapping[str, Any]) -> bool:
    here = run.labels.data, run.labels.backend, run.config.step_limit
    return here == tuple(conditions.get(name) for name in ("data", "backend", "max_steps"))


def _last_episodes(run: Results, split: str) -> dict[str, EpisodeOutcome]:
    """The episodes of a run's last evaluation on a split, by name."""
    names = {one.value: name for name, one in EVALUATED[run.config.evaluate_on].items()}
    if split not in names:
        return {}
    return {one.episode: one for one in run.last_episodes(names[split])}


def _shares(results: Sequence[EpisodeOutcome]) -> Shares:
    found = score(results)
    return {name: getattr(found, field) for name, field in SCORES.items()}


def _mean(found: Sequence[Shares]) -> Shares:
    return {name: sum(one[name] for one in found) / len(found) for name in SCORES}
