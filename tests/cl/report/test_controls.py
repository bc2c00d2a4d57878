"""Controls: agents without rules, sight or words, from their evaluation to the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clalfred.agents.acting.result_file import read_conditions
from clalfred.cl.experiment.agent_file import save_agent
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results
from clalfred.cl.report.controls import CONTROLS, collect_controls, control_rates, make_controls
from clalfred.cl.report.published_tables import behaviours, controls, data_curve
from gym_clalfred.errors import DataError, UsageError
from tests.helpers.report_runs import EPISODES, invented_results
from tests.helpers.runs import MICRO, new_agent


def lines(path: Path, successes: dict[str, bool]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = [{"conditions": {"data": "small"}}]
    rows += [
        {
            "episode": name,
            "success": success,
            "conditions_met": int(success),
            "conditions": 1,
            "steps": 3,
            "expert_steps": 3,
        }
        for name, success in successes.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def joint(order: int, skill: float, **changes: Any) -> Results:
    return invented_results(RunConfig(method="joint", order=order, **changes), skill)


def test_the_table_has_a_row_for_whatever_was_taken(tmp_path: Path) -> None:
    episodes = [f"test_seen/task-{room}/trial_{n}#0" for room in range(4) for n in range(5)]
    half = {name: place < 10 for place, name in enumerate(episodes)}
    runs, published = tmp_path / "runs", tmp_path / "results"
    lines(runs / "controls" / "masks-no-rules@1.test_seen.jsonl", half)
    lines(runs / "controls" / "masks-no-rules@2.test_seen.jsonl", dict.fromkeys(episodes, True))
    lines(runs / "controls" / "masks-blind@1.test_seen.jsonl", dict.fromkeys(episodes, False))
    lines(runs / "controls" / "rgb-blind@1.test_unseen.jsonl", dict.fromkeys(episodes, False))
    assert len(collect_controls(runs, published)) == 4
    rates = control_rates(published)
    assert rates["masks", "no-rules"]["seen"].mean == 0.75
    made = [joint(1, 0.9), joint(2, 0.9), joint(1, 0.01, blind=True), joint(1, 0.5, rules=False)]
    rows = controls(published, made).splitlines()[2:]
    assert [row.split(" | ")[:4] for row in rows] == [
        ["| masks", "unchanged", "2", f"{7 * EPISODES} / {7 * EPISODES}"],
        ["| masks", "no-rules", "2", "20"],
        ["| masks", "blind", "1", "20"],
        ["| masks", "trained blind", "1", f"{7 * EPISODES} / {7 * EPISODES}"],
        ["| rgb", "blind", "1", "20"],
    ]
    assert rows[2].endswith("| 0.0 [0.0, 0.0] | – |")
    assert controls(tmp_path, []) == ""
    lines(runs / "controls" / "blind.jsonl", half)
    with pytest.raises(DataError, match=r"expected a name such as masks-blind@1\.test_seen"):
        collect_controls(runs, published)


def test_joint_agents_are_scored_by_behaviour() -> None:
    always, never = joint(1, 1.0), joint(2, 0.0)
    rows = [row.split(" | ") for row in behaviours([always, never]).splitlines()]
    assert rows[0][1:3] == ["Clean", "Cool"]
    assert set(rows[2][1:7]) == {"50.0"}
    assert 0 < float(rows[3][1]) < 50
    assert behaviours([joint(1, 1.0, setup="environment-il")]) == ""


@pytest.mark.slow
def test_joint_agents_are_evaluated_without_what_they_have(tmp_path: Path) -> None:
    config = RunConfig(
        method="joint",
        tier="tiny",
        agent="two-branch",
        max_steps=3,
        evaluate_on="test",
        overrides=MICRO,
    )
    save_agent(tmp_path / "run" / "agent.zip", new_agent(config), config)
    run = replace(invented_results(config, 0.5), folder=tmp_path / "run")
    said: list[str] = []
    make_controls([run], tmp_path, said.append)
    assert [one.partition(":")[0] for one in said] == [
        f"rgb-{name}@1.test_{split}" for name in CONTROLS for split in ("seen", "unseen")
    ]
    blind = tmp_path / "controls" / "rgb-blind@1.test_seen.jsonl"
    before = blind.read_bytes()
    assert read_conditions(blind)["blind"]
    make_controls([run], tmp_path)
    assert blind.read_bytes() == before
    other = replace(invented_results(RunConfig(method="er"), 0.5), folder=tmp_path / "run")
    with pytest.raises(UsageError, match="expected Joint runs"):
        make_controls([other], tmp_path)


def test_the_curve_ends_with_all_trajectories() -> None:
    part = invented_results(
        RunConfig(method="joint", episodes_per_task=10), 0.3, (10, 20, 30, 40, 50, 60, 70)
    )
    rows = data_curve([joint(1, 0.9), joint(2, 0.9), part]).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| 70", "| 700"]
    assert data_curve([joint(1, 0.9)]) == ""
