"""Data without one of the validation splits, as imported ALFRED may be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clalfred.cl.experiment.evaluate_agent import select
from clalfred.cl.experiment.evaluation import evaluation_sets
from clalfred.cl.experiment.results import read_results
from clalfred.cl.report.text import evaluation_table
from gym_clalfred.data.episode_source import EpisodeEntry
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError
from tests.helpers.fakes import FakeSource
from tests.helpers.runs import fake_config, fake_inputs, run_fake


class Partial(FakeSource):
    """A source that only has some splits."""

    def __init__(self, *splits: Split) -> None:
        super().__init__((1, 201, 301, 401))
        self._splits = splits

    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        return super().entries(split) if split in self._splits else ()


def test_a_run_is_evaluated_on_the_split_that_is_there(tmp_path: Path) -> None:
    source = Partial(Split.TRAIN, Split.VALID_SEEN)
    config = fake_config(method="finetuning")
    inputs = replace(fake_inputs(config, tmp_path / "features"), source=source)
    results = run_fake(config, tmp_path / "run", inputs=inputs)
    assert results.metric("seen", "SR_last") is not None
    assert results.metric("unseen", "SR_last") is None
    assert not results.splits.unseen.episodes
    assert read_results(tmp_path / "run") == results
    assert "–" in evaluation_table(results, len(results.tasks))


def test_data_without_any_validation_is_refused() -> None:
    with pytest.raises(BadInputError, match="has no such episodes"):
        evaluation_sets(fake_config(), Partial(Split.TRAIN), ["Kitchen"])


def test_a_split_that_is_not_there_is_named() -> None:
    with pytest.raises(
        BadInputError, match=r"split valid_unseen: .* has no such .* only train, valid"
    ):
        select(Partial(Split.TRAIN, Split.VALID_SEEN), "valid_unseen")
