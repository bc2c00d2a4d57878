"""``clalfred-evaluate``: equal records for any number of workers, resumable, filtered."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from runs import untrained_agent
from torch import Tensor

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.evaluate_agent import select
from clalfred.scripts.evaluate import main
from gym_clalfred.data.sources import open_source
from gym_clalfred.errors import BadInputError


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate")
    untrained_agent(folder)
    return folder


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
    for workers in (1, 2, 8):
        path = tmp_path / f"{workers}.jsonl"
        evaluate(str(trained), "--workers", str(workers), "--max-steps", "12", "--lines", str(path))
        found.append(records(path))
    assert len(found[0]) == 7
    assert found[0] == found[1] == found[2]
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
        ("--no-helpers", "helpers is ['turn_if_unseen'"),
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
        limits = "--max-steps", "12", "--workers", str(workers), "--lines", str(path)
        assert ", blind," in evaluate(str(trained), "--blind", *limits)
    assert records(paths[0]) == records(paths[1])


def test_helpers_can_be_left_out_and_do_not_see_for_the_blind(trained: Path) -> None:
    for helpers, blind, helped in ((True, False, True), (False, False, False), (True, True, False)):
        policy = load_agent(trained, helpers=helpers, blind=blind)[0].policy
        assert policy is not None
        assert policy.helpers == (ActionHeuristics() if helped else ActionHeuristics.off())
    limits = "--max-steps", "3", "--limit", "1"
    assert ", without helpers, on" in evaluate(str(trained), "--no-helpers", *limits)


def test_closed_eyes_see_nothing(trained: Path) -> None:
    def maps_of(blind: bool) -> Tensor:
        policy = load_agent(trained, blind=blind)[0].policy
        assert policy is not None
        size = policy.encoder.image_size
        views = np.random.default_rng(0).integers(256, size=(3, size, size, 3), dtype=np.uint8)
        return policy.encoder.encode(views)

    seen, unseen = maps_of(blind=False), maps_of(blind=True)
    assert seen.any()
    assert not unseen.any()
    assert (seen.shape, seen.dtype) == (unseen.shape, unseen.dtype)


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
