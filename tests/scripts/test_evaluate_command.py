"""``clalfred-evaluate``: equal records for any number of workers, resumable, filtered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import Tensor

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.evaluate_agent import select
from clalfred.scripts.evaluate import main
from gym_clalfred.data.sources import open_source
from gym_clalfred.errors import BadInputError
from tests.helpers.runs import untrained_agent


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate")
    untrained_agent(folder)
    return folder


#: Enough for three processes.
MANY = ("--split", "train", "--limit", "17", "--max-steps", "6")


def evaluate(*arguments: str) -> str:
    run = CliRunner().invoke(main, list(arguments))
    assert run.exit_code == 0, run.output
    return run.output


def records(path: Path) -> dict[str, dict[str, object]]:
    """By episode, without the first line, which says what they depend on."""
    lines = path.read_text().splitlines()[1:]
    return {line["episode"]: line for line in map(json.loads, lines)}


def test_records_are_equal_for_any_number_of_workers(trained: Path, tmp_path: Path) -> None:
    found = []
    for workers in (1, 8):
        path = tmp_path / f"{workers}.jsonl"
        evaluate(str(trained), *MANY, "--workers", str(workers), "--lines", str(path))
        found.append(records(path))
    assert len(found[0]) == 17
    assert found[0] == found[1]
    assert not any(record["error"] for record in found[0].values())


def test_what_is_done_is_not_done_again(trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    whole = evaluate(str(trained), "--lines", str(path))
    lines = path.read_text().splitlines(keepends=True)
    marked = json.loads(lines[1])
    marked["steps"] = 3
    path.write_text(lines[0] + json.dumps(marked) + "\n" + lines[2] + lines[3][:20])
    again = evaluate(str(trained), "--lines", str(path))
    assert records(path)[marked["episode"]]["steps"] == 3
    assert len(records(path)) == 7
    assert whole.splitlines()[0] == again.splitlines()[0]


@pytest.mark.parametrize(
    ("option", "difference"),
    [
        ("--blind", "blind is False, not True"),
        ("--no-rules", "rules is ['turn_if_unseen'"),
        ("--max-steps=3", "max_steps is 4, not 3"),
    ],
)
def test_lines_of_another_evaluation_are_not_reported_as_this_one(
    option: str, difference: str, trained: Path, tmp_path: Path
) -> None:
    lines = tmp_path / "lines.jsonl"
    evaluate(str(trained), "--limit", "1", "--lines", str(lines))
    before = lines.read_text()
    run = CliRunner().invoke(main, [str(trained), "--limit", "1", "--lines", str(lines), option])
    assert run.exit_code == 1
    assert run.output.count("Error: ") == 1
    assert difference in run.output
    assert "Name another file, or delete this one" in run.output
    assert lines.read_text() == before


def test_a_blind_agent_acts_the_same_for_any_number_of_workers(
    trained: Path, tmp_path: Path
) -> None:
    paths = tmp_path / "one", tmp_path / "two"
    for workers, path in enumerate(paths, 1):
        limits = *MANY, "--workers", str(workers), "--lines", str(path)
        assert ", blind on" in evaluate(str(trained), "--blind", *limits)
    assert records(paths[0]) == records(paths[1])


def test_rules_can_be_left_out(trained: Path) -> None:
    for rules in (True, False):
        policy, _ = load_agent(trained, rules=rules)
        assert policy.heuristics == (ActionHeuristics() if rules else ActionHeuristics.off())
    limits = "--max-steps", "3", "--limit", "1"
    assert ", without rules on" in evaluate(str(trained), "--no-rules", *limits)


def observation_of(seed: int, word: str) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "rgb": random.integers(256, size=(5, 84, 84, 3), dtype=np.uint8),
        "classes": random.integers(1, 100, size=(5, 84, 84), dtype=np.uint8),
        "goal": f"{word} the mug",
        "instructions": f"turn left\n{word} the mug",
    }


@pytest.mark.parametrize(("lost", "kept"), [("blind", "deaf"), ("deaf", "blind")])
def test_the_blind_see_nothing_and_the_deaf_read_nothing(
    lost: str, kept: str, trained: Path
) -> None:
    def logits(observation: dict[str, Any], **how: bool) -> Tensor:
        policy, _ = load_agent(trained, device="cpu", **how)
        decision = policy.predict(observation)[1][0].decision
        assert decision is not None
        return decision.action_logits

    one = observation_of(0, "wash")
    other = observation_of(1, "wash") if lost == "blind" else observation_of(0, "heat")
    assert not torch.equal(logits(one), logits(other))
    assert torch.equal(logits(one, **{lost: True}), logits(other, **{lost: True}))
    assert not torch.equal(logits(one, **{kept: True}), logits(other, **{kept: True}))


def test_rules_do_not_see_for_the_blind(trained: Path) -> None:
    """Without its class in view, an interaction becomes a turn; the blind cannot know that."""
    policy, _ = load_agent(trained, device="cpu", blind=True)
    plain, _ = load_agent(trained, device="cpu", blind=True, rules=False)
    for seed in range(5):
        observation = observation_of(seed, "wash")
        assert policy.predict(observation)[0].tolist() == plain.predict(observation)[0].tolist()


def test_filters_and_the_table(trained: Path) -> None:
    output = evaluate(str(trained / "agent.zip"), "--split", "valid_seen", "--task", "Heat")
    assert "Heat" in output
    assert "Cool" not in output
    assert output.splitlines()[-1].split()[-1] == "1"


def test_selection_is_even_and_names_what_is_unknown() -> None:
    source = open_source("tiny")
    keys = select(source, "train", task="Heat")
    assert len(keys) == 12
    assert select(source, "train", task="Heat", annotations=1) == keys[::3]
    assert select(source, "train", task="Heat", limit=3) == (keys[2], keys[6], keys[10])
    with pytest.raises(BadInputError, match="did you mean 'Heat'"):
        select(source, "train", task="Heta")
    with pytest.raises(BadInputError, match="known are train, valid_seen, valid_unseen"):
        select(source, "test")
