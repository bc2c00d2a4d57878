"""A person's score stands beside agents on the very same episodes, and beside no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from clalfred.cl.experiment import Results, RunConfig
from clalfred.cl.experiment.results import EvaluatedEpisode
from clalfred.cl.report.people import beside_agents
from clalfred.scripts.report import main
from gym_clalfred.errors import DataError
from tests.helpers.report_runs import invented_results

KEYS = [f"valid_unseen/folder-{number}/trial#0" for number in range(3)]


def run_of(method: str, solved: int) -> Results:
    """A run whose last evaluation had three episodes, of which it solved some."""
    run = invented_results(RunConfig(method=method, tier="tiny"), 0.5)
    episodes = tuple(
        EvaluatedEpisode(len(run.tasks), 0, **result(key, number < solved))
        for number, key in enumerate(KEYS)
    )
    unseen = replace(run.splits.unseen, episodes=episodes)
    return replace(run, splits=replace(run.splits, unseen=unseen))


def result(key: str, success: bool) -> dict[str, Any]:
    met = {"success": success, "conditions_met": 2 * success, "conditions": 2}
    return {"episode": key, **met, "steps": 20, "expert_steps": 10, "error": ""}


def write_score(path: Path, run: Results, keys: list[str], **changes: object) -> Path:
    conditions = {
        "agent": "person ann",
        "data": run.labels.data,
        "backend": run.labels.backend,
        "max_steps": run.config.step_limit,
        **changes,
    }
    lines = [{"conditions": conditions}, *(result(key, True) for key in keys)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_agents_are_scored_on_the_persons_episodes_alone(tmp_path: Path) -> None:
    runs = [run_of("er", 1), run_of("cama", 3)]
    table = beside_agents(write_score(tmp_path / "ann.jsonl", runs[0], KEYS[1:]), runs)
    assert [(name, count, shares["SR"]) for name, count, shares in table.rows] == [
        ("ann", 0, 1.0),
        ("cama", 1, 1.0),
        ("er", 1, 0.0),
    ]
    assert table.rows[0][2]["PLW_SR"] == 0.5
    assert table.title.startswith("ann on 2 episodes of valid_unseen, ")


@pytest.mark.parametrize("changes", [{"data": "other"}, {"backend": "other"}, {"max_steps": 7}])
def test_other_data_simulators_and_limits_are_not_compared(
    changes: dict[str, object], tmp_path: Path
) -> None:
    run = run_of("er", 1)
    table = beside_agents(write_score(tmp_path / "ann.jsonl", run, KEYS, **changes), [run])
    assert [name for name, _, _ in table.rows] == ["ann"]


def test_a_run_without_one_of_the_episodes_is_left_out(tmp_path: Path) -> None:
    run = run_of("er", 1)
    score = write_score(tmp_path / "ann.jsonl", run, [*KEYS, "valid_unseen/other/trial#0"])
    assert len(beside_agents(score, [run]).rows) == 1


def test_the_report_shows_it_in_print_and_on_the_page(tmp_path: Path) -> None:
    run = run_of("er", 1)
    run.save(tmp_path / "runs" / "er" / "results.json")
    score = write_score(tmp_path / "ann.jsonl", run, KEYS, agent="person <b>ann")
    options = ["--person", str(score), "--out", str(tmp_path / "page")]
    done = CliRunner().invoke(main, [str(tmp_path / "runs"), *options])
    assert done.exit_code == 0, done.output
    assert "<b>ann on 3 episodes of valid_unseen" in done.output
    page = (tmp_path / "page" / "index.html").read_text()
    assert "People, and agents on the same episodes" in page
    assert "<td>&lt;b&gt;ann</td>" in page
    assert "33.33" in (tmp_path / "page" / "people.txt").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected a file that clalfred-play --score"),
        ("{}", "expected a file that clalfred-play --score"),
        ('{"conditions": {"agent": "0a1b"}}\n', "is the score of an agent"),
        ('{"conditions": {"agent": "person ann"}}\n', "has no finished episode yet"),
    ],
)
def test_files_that_are_no_persons_score_are_named(
    content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "ann.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        beside_agents(path, [])
    with pytest.raises(DataError, match="not a file of results"):
        beside_agents(tmp_path / "none.jsonl", [])
