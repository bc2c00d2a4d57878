"""A trained agent by itself: it acts with the eyes and the words that it was trained with."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from clalfred.agents.checkpoint import load_state, save_state
from clalfred.agents.vision.conv_encoder import ConvEncoder
from clalfred.cl.er import ER
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.evaluate_agent import with_changes
from gym_clalfred.errors import DataError
from tests.helpers.runs import untrained_agent


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return untrained_agent(tmp_path_factory.mktemp("agent"))


def changed(path: Path, folder: Path, **changes: Any) -> Path:
    state = {**load_state(path), **changes}
    kept = {name: value for name, value in state.items() if value is not None}
    return save_state(folder / "agent.zip", kept)


@pytest.mark.parametrize("what", ["sight", "vocabulary"])
def test_other_eyes_or_words_are_refused(what: str, trained: Path, tmp_path: Path) -> None:
    other = changed(trained, tmp_path, **{what: "another"})
    with pytest.raises(DataError, match=f"trained with the {what} another, this release has"):
        load_agent(other, device="cpu")


def test_who_gives_an_encoder_knows_it_fits(trained: Path, tmp_path: Path) -> None:
    other = changed(trained, tmp_path, sight="another")
    encoder = ConvEncoder()
    policy, _ = load_agent(other, encoder=encoder, device="cpu")
    assert policy.agent.encoder is encoder


def test_it_is_no_checkpoint_of_a_learner(trained: Path) -> None:
    with pytest.raises(DataError, match=r"written by a run, not by ER\.save"):
        ER.load(trained, device="cpu")


def without(state: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in names}


def of_agent(state: dict[str, Any], **changes: Any) -> dict[str, Any]:
    config = {**state["agent"]["config"], **changes}
    return {**state, "agent": {**state["agent"], "config": config}}


def of_weights(state: dict[str, Any], change: Any) -> dict[str, Any]:
    name = next(iter(state["weights"]))
    rest = without(state["weights"], name)
    return {**state, "weights": rest if change is None else {**rest, name: change}}


FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no run": lambda state: without(state, "run"),
    "no agent": lambda state: without(state, "agent"),
    "no weights": lambda state: without(state, "weights"),
    "no sight": lambda state: without(state, "sight"),
    "run is a number": lambda state: {**state, "run": 3},
    "agent is a list": lambda state: {**state, "agent": [1]},
    "unknown agent": lambda state: {**state, "agent": {"name": "of-next-year", "config": {}}},
    "unknown setting": lambda state: of_agent(state, nonsense=1),
    "negative size": lambda state: of_agent(state, language_dim=-1),
    "dropout as text": lambda state: of_agent(state, dropout="x"),
    "no size of images": lambda state: of_agent(state, image_size=None),
    "size as text": lambda state: of_agent(state, language_dim="x"),
    "huge size": lambda state: of_agent(state, language_dim=10**9),
    "missing weight": lambda state: of_weights(state, None),
    "weight of another shape": lambda state: of_weights(state, torch.zeros(3)),
    "weights no numbers": lambda state: of_weights(
        state, next(iter(state["weights"].values())) * torch.nan
    ),
    "weight a number": lambda state: of_weights(state, 1.0),
    "unknown setting of the run": lambda state: {**state, "run": {**state["run"], "taste": 1}},
}


@pytest.mark.parametrize("form", FORMS)
def test_unexpected_contents_are_one_line_that_names_the_file(
    form: str, trained: Path, tmp_path: Path
) -> None:
    path = save_state(tmp_path / "agent.zip", FORMS[form](load_state(trained)))
    with pytest.raises(DataError, match=r"agent\.zip") as error:
        load_agent(path, device="cpu")
    assert "\n" not in str(error.value)


def test_the_method_need_not_be_known(trained: Path, tmp_path: Path) -> None:
    run = {**load_state(trained)["run"], "method": "theirs", "preset": "odd"}
    _, config = load_agent(changed(trained, tmp_path, run=run), device="cpu")
    assert (config.method, config.preset) == ("theirs", "odd")
    assert with_changes(config, max_steps=7).method == "theirs"


def rewritten(path: Path, target: Path, document: str, compression: int = 0) -> Path:
    """A copy with another state.json."""
    with zipfile.ZipFile(path) as archive:
        tensors = archive.read("tensors.safetensors")
    with zipfile.ZipFile(target, "w", compression) as archive:
        archive.writestr("state.json", document)
        archive.writestr("tensors.safetensors", tensors)
    return target


def test_dangling_references_and_deep_nesting_are_named(trained: Path, tmp_path: Path) -> None:
    dangling = '{"x": {"$tensor": "gone"}}'
    nested = ["[" * deep + "]" * deep for deep in (900, 9000)]
    for number, state in enumerate((dangling, "[1]", *nested, '{"x": ' * 900 + "1" + "}" * 900)):
        document = f'{{"format": "clalfred-agent", "version": 1, "state": {state}}}'
        path = rewritten(trained, tmp_path / f"agent{number}.zip", document)
        with pytest.raises(DataError, match=rf"agent{number}\.zip"):
            load_agent(path, device="cpu")


def test_a_bomb_is_not_unpacked(trained: Path, tmp_path: Path) -> None:
    bomb = '{"format": "clalfred-agent", "version": 1, "state": "' + "0" * 50_000_000 + '"}'
    path = rewritten(trained, tmp_path / "agent.zip", bomb, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"agent\.zip.*state\.json is compressed"):
            load_agent(path, device="cpu")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
