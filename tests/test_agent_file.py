"""A trained agent by itself: it acts with the eyes and the words that it was trained with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runs import untrained_agent

from clalfred.agents.checkpoint import load_state, save_state
from clalfred.agents.vision.conv_encoder import ConvEncoder
from clalfred.cl.er import ER
from clalfred.cl.experiment.agent_file import load_agent
from gym_clalfred.errors import DataError


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
