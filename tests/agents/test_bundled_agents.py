"""Agents that come with the package: found by name, small, and exactly what their file says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from clalfred.agents.checkpoint import load_state, save_state
from clalfred.cl.experiment import bundled
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.bundled import (
    MOST_BYTES,
    RECIPES,
    bundled_agents,
    find_agent,
    read_recipes,
    store,
)
from clalfred.cl.experiment.config import RunConfig
from clalfred.scripts.agents import main as agents_command
from clalfred.scripts.evaluate import main as evaluate_command
from clalfred.scripts.record import main as record_command
from gym_clalfred.errors import BadInputError, DataError, DivergenceError
from tests.helpers.runs import MICRO, untrained_agent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one agent of tier tiny, ``micro``."""
    trained = untrained_agent(tmp_path / "run")
    store(trained, tmp_path / "trained" / "micro.zip")
    monkeypatch.setattr(bundled, "FOLDER", tmp_path / "trained")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "trained"


def test_a_name_is_as_good_as_a_path(folder: Path) -> None:
    policy, config = load_agent("micro", device="cpu")
    assert (config.tier, config.agent) == ("tiny", "two-branch")
    stored = load_state(folder / "micro.zip")["weights"]
    for name, value in policy.agent.state_dict().items():
        assert value.dtype is not torch.float16
        assert torch.equal(value.double(), stored[name].double()), name


def test_weights_are_rounded_to_half_precision_once(folder: Path, tmp_path: Path) -> None:
    whole = load_state(tmp_path / "run" / "agent.zip")["weights"]
    policy, _ = load_agent("micro", device="cpu")
    for name, value in policy.agent.state_dict().items():
        assert torch.equal(
            value, whole[name].half().float() if value.is_floating_point() else value
        )
    again = store(folder / "micro.zip", tmp_path / "again.zip")
    assert again.read_bytes() == (folder / "micro.zip").read_bytes()
    assert again.stat().st_size < 0.6 * (tmp_path / "run" / "agent.zip").stat().st_size


def test_commands_take_names(folder: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke(evaluate_command, ["micro", "--limit", "1", "--max-steps", "2"])
    assert run.exit_code == 0, run.output
    film = ["film.gif", "--agent", "micro", "--max-steps", "1"]
    run = CliRunner().invoke(record_command, film)
    assert run.exit_code == 0, run.output
    for command, arguments in (
        (evaluate_command, ["mirco"]),
        (record_command, ["a.gif", "--agent", "mirco"]),
    ):
        run = CliRunner().invoke(command, arguments)
        assert run.exit_code == 1
        assert "no trained agent; did you mean 'micro'? give an agent.zip" in run.output
        assert "or one of micro" in run.output


def test_what_is_there_goes_before_a_name(folder: Path, tmp_path: Path) -> None:
    assert find_agent("micro") == folder / "micro.zip"
    untrained_agent(tmp_path / "micro")
    assert find_agent("micro") == Path("micro/agent.zip")
    with pytest.raises(DataError, match="there is no trained agent; give an agent"):
        find_agent(tmp_path / "trained")


def test_the_command_trains_them_and_again_gives_the_same_bytes(
    folder: Path, tmp_path: Path
) -> None:
    settings = {
        **{"method": "er", "setup": "environment-il", "tier": "tiny", "agent": "two-branch"},
        **{"episodes_per_task": 1, "batch_size": 4, "evaluation_episodes": 1, "max_steps": 2},
        "overrides": MICRO,
    }
    recipes = tmp_path / "mine.yaml"
    recipes.write_text(json.dumps({"nano": settings}))
    for runs, said in (("first", "new"), ("second", "the same as before")):
        arguments = ["--recipes", str(recipes), "--folder", str(folder), "--out", runs]
        made = CliRunner().invoke(agents_command, arguments)
        assert made.exit_code == 0, made.output
        assert f"nano: {said}, {folder / 'nano.zip'}" in made.output
    # Finished runs are as good as training.
    stored = (folder / "nano.zip").read_bytes()
    (folder / "nano.zip").unlink()
    arguments = ["--recipes", str(recipes), "--folder", str(folder), "--from", "first"]
    made = CliRunner().invoke(agents_command, arguments)
    assert made.exit_code == 0, made.output
    assert (folder / "nano.zip").read_bytes() == stored
    recipes.write_text(json.dumps({"nano": {**settings, "seed": 9}}))
    made = CliRunner().invoke(agents_command, arguments)
    assert made.exit_code == 1
    assert "first: expected finished runs with the settings of nano, found none" in made.output
    assert list(bundled_agents()) == ["micro", "nano"]
    _, config = load_agent("nano", device="cpu")
    assert config == RunConfig.from_dict(settings)


def test_too_many_bytes_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "MOST_BYTES", 100)
    (folder / RECIPES).write_text("micro: {method: er, tier: tiny}\n")
    listed = CliRunner().invoke(agents_command, ["--list"])
    assert listed.exit_code == 1
    assert "expected at most 100 bytes in all" in listed.output


def test_the_command_lists_and_refuses_unknown_names(folder: Path, tmp_path: Path) -> None:
    recipes = tmp_path / "mine.yaml"
    recipes.write_text("tiny-er: {method: er, tier: tiny}\n")
    listed = CliRunner().invoke(agents_command, ["--recipes", str(recipes), "--list"])
    assert listed.exit_code == 0, listed.output
    assert listed.output.splitlines()[0].startswith("micro ")
    wrong = CliRunner().invoke(agents_command, ["tiny-re", "--recipes", str(recipes)])
    assert wrong.exit_code == 1
    assert "did you mean 'tiny-er'?" in wrong.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected lines such as"),
        ("[1]", "expected lines such as"),
        ("a: 1", "'a': expected a name and settings of a run"),
        ("a/b: {}", "'a/b': expected a name and settings of a run"),
        ("a: {methd: er}", "a: unknown setting 'methd': did you mean 'method'"),
        ("a: {", "not a YAML file"),
    ],
)
def test_recipes_that_are_none_get_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / RECIPES).write_text(text)
    with pytest.raises(BadInputError, match=message) as error:
        read_recipes(tmp_path / RECIPES)
    assert "\n" not in str(error.value)


def test_weights_that_half_precision_cannot_hold_are_refused(tmp_path: Path) -> None:
    path = untrained_agent(tmp_path)
    state = load_state(path)
    name = next(iter(state["weights"]))
    state["weights"][name] = torch.full_like(state["weights"][name], 1e6)
    save_state(path, state)
    with pytest.raises(DivergenceError, match="found larger ones"):
        store(path, tmp_path / "small.zip")


def test_those_of_this_package_load_and_are_small() -> None:
    there = bundled_agents()
    assert set(there) <= set(read_recipes())
    assert sum(path.stat().st_size for path in there.values()) < MOST_BYTES
    for name in there:
        load_agent(name, device="cpu")
