"""A run streams, reads and evaluates what its settings say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

from clalfred.agents.acting.rollout import RolloutConfig, evaluate
from clalfred.agents.vision.augment import Augmentation
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.folder import RunFolder
from clalfred.cl.experiment.results import read_results
from clalfred.cl.experiment.run import Run, schedule_for
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.stream import demonstration_of
from tests.helpers.acting import make_learner
from tests.helpers.fakes import FakeSource
from tests.helpers.runs import fake_config, fake_inputs, run_fake

SOURCE = FakeSource((1, 2, 201, 301, 401))


def test_the_stream_is_balanced_unless_the_setup_says_otherwise() -> None:
    balanced = schedule_for(fake_config(), SOURCE)
    assert Counter(map(balanced.task_of, range(len(balanced)))) == dict.fromkeys(balanced.tasks, 6)
    whole = schedule_for(fake_config(setup="imbalanced-environment-il"), SOURCE)
    assert Counter(map(whole.task_of, range(len(whole))))["Kitchen"] == 12


def test_another_seed_is_another_stream() -> None:
    streams = [schedule_for(fake_config(seed=seed), SOURCE).keys for seed in (0, 0, 1)]
    assert streams[0] == streams[1] != streams[2]


def make_run(config: RunConfig, folder: Path) -> Run:
    place = RunFolder(folder / "run", config)
    return Run(config, place, fake_inputs(config, folder / "features"), "cpu", 1)


def test_what_is_read_and_seen_in_training_is_what_the_settings_say(tmp_path: Path) -> None:
    plain = make_run(fake_config(), tmp_path)
    assert plain.reader.augmentations == ()
    papers = make_run(fake_config(augment=True, overrides={"agent.reads_goal": False}), tmp_path)
    assert len(papers.reader.augmentations) == 6
    assert Augmentation.NONE not in papers.reader.augmentations
    assert papers.reader.agent is papers.learner.agent is papers.learner.policy.agent
    key = papers.schedule.keys[0]
    demonstration = demonstration_of(papers.inputs.source.episode(key), papers.inputs.source)
    whole, part = (run.reader(demonstration).tokens for run in (plain, papers))
    assert torch.equal(part, whole[-len(part) :])
    assert len(part) < len(whole)


#: The authors' files of order 4 have an order of their own.
AUTHORS_ORDER = {"Kitchen": 1, "Bathroom": 401, "LivingRoom": 201, "Bedroom": 301}


@pytest.fixture
def authors_files(tmp_path: Path) -> Path:
    folder = tmp_path / "environment_il"
    folder.mkdir()
    for number, room in enumerate(AUTHORS_ORDER.values()):
        keys = [entry.key for entry in FakeSource((room,)).entries(Split.TRAIN)]
        rows = [{"task": {"task": key.trajectory, "repeat_idx": key.annotation}} for key in keys]
        name = f"embodied_data_disjoint_rand4_cls1_task{number}.json"
        (folder / name).write_text(json.dumps(rows))
    return folder


def test_the_authors_streams_are_evaluated_task_by_task(
    authors_files: Path, tmp_path: Path
) -> None:
    config = fake_config(
        method="finetuning", order=4, split_folder=str(authors_files), evaluation_episodes=1
    )
    results = run_fake(config, tmp_path / "run")
    assert results.tasks == tuple(AUTHORS_ORDER)
    for one in results.splits.seen.episodes:
        room = EpisodeKey.parse(one.episode).trajectory.split("/")[0].rsplit("-", 1)[1]
        assert int(room) == AUTHORS_ORDER[results.tasks[one.on]]


def test_the_authors_files_of_another_setup_are_refused(
    authors_files: Path, tmp_path: Path
) -> None:
    config = fake_config(setup="behavior-il", order=4, split_folder=str(authors_files))
    with pytest.raises(BadInputError, match="but the stream has Kitchen, Bathroom"):
        run_fake(config, tmp_path / "run")


def test_rollouts_compute_with_one_thread_whatever_is_set() -> None:
    policy = make_learner().policy
    seen: set[int] = set()
    act = policy.act
    policy.act = lambda *arguments: (  # type: ignore[method-assign]
        seen.add(torch.get_num_threads()) or act(*arguments)
    )
    source, before = FakeSource(), torch.get_num_threads()
    keys = [entry.key for entry in source.entries(Split.VALID_SEEN)][:1]
    torch.set_num_threads(2)
    try:
        evaluate(policy, source, keys, RolloutConfig(backend="fake", max_steps=3))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == {1}


def test_one_method_has_one_name() -> None:
    assert RunConfig(method="DERpp") == RunConfig(method="der++")
    assert RunConfig(method="CAMA").name == RunConfig().name
    assert RunConfig(agent="TwoBranch:paper") == RunConfig(agent="two-branch:paper")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"agent": "two-brunch"}, "unknown agent 'two-brunch': did you mean 'two-branch'"),
        ({"agent": "two-branch:huge"}, "no preset 'huge'; known are small, paper"),
        ({"encoder": "conf"}, "unknown encoder 'conf': did you mean 'conv'"),
        ({"overrides": {"agent.droput": 0.1}}, "did you mean 'dropout'"),
        ({"overrides": {"agent.dropout": "much"}}, "dropout 'much': expected a number"),
        (
            {"overrides": {"alpha": 1e15}},
            "alpha 1000000000000000.0: expected a number b",
        ),
        ({"overrides": {"memory": 7}}, "unknown setting of the method 'memory'"),
    ],
)
def test_wrong_names_and_values_are_named(change: dict[str, Any], match: str) -> None:
    with pytest.raises(BadInputError, match=match):
        RunConfig(**change)


def test_a_split_folder_has_its_own_schedule() -> None:
    with pytest.raises(
        BadInputError, match="schedule 'blurry': the split folder defines the stream"
    ):
        RunConfig(split_folder="split", schedule="blurry")


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "x-der"},
        {"method": "ewc++", "preset": "released"},
        {"method": "ewc++"},
    ],
)
def test_who_needs_boundaries_is_refused_where_there_are_none(settings: dict[str, object]) -> None:
    RunConfig(schedule="blurry", **settings)  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="needs task boundaries"):
        RunConfig(schedule="gaussian", **settings)  # type: ignore[arg-type]
    RunConfig(method="ewc++", preset="task-free", schedule="gaussian")


@pytest.mark.parametrize("method", ["er", "mir", "x-der", "cama"])
def test_a_memory_that_leaves_nothing_to_replay_is_refused(method: str) -> None:
    k = RunConfig(method=method).method_settings(1000).stream_size
    with pytest.raises(BadInputError, match=f"memory {k}: {method} gathers {k} episodes.*{k + 1}"):
        RunConfig(method=method, memory=k)
    assert RunConfig(method=method, memory=k + 1).method_settings(1000).memory == k + 1
    RunConfig(method="finetuning", memory=4)  # replays nothing anyway


@pytest.mark.parametrize("method", ["er", "mir", "x-der", "cama"])
def test_a_batch_that_leaves_nothing_to_replay_is_refused(method: str) -> None:
    with pytest.raises(BadInputError, match=f"batch_size 1: {method} replays.*at least 2"):
        RunConfig(method=method, batch_size=1)
    for other in ("finetuning", "clib"):  # replays nothing; replays a batch of its own
        RunConfig(method=other, batch_size=1)
    for size in range(2, 9):
        settings = RunConfig(method=method, batch_size=size).method_settings(1000)
        assert settings.stream_size < size


def test_plots_and_films_that_fail_cost_no_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/bin/false")
    config = fake_config(method="er", episodes_per_task=1, evaluation_episodes=1, max_steps=2)
    with pytest.warns(UserWarning, match="could not be made.*the results are complete"):
        results = run_fake(config, tmp_path / "run", media=True)
    assert read_results(tmp_path / "run") == results


def test_long_names_are_short_enough_for_files_and_tell_runs_apart() -> None:
    one, other = fake_config(), fake_config(overrides={"agent.word_dim": 9})
    assert max(len(one.name), len(other.name)) < 200
    assert one.name != other.name
    assert one.name.endswith("-order1-seed0")


def test_batches_and_rates_are_the_agents() -> None:
    settings = RunConfig(agent="two-branch").method_settings(2520)
    training = settings.training
    assert (training.batch_size, training.learning_rate) == (8, 3e-3)
    assert (settings.stream_size, settings.memory) == (3, 60)
    paper = RunConfig(agent="two-branch:paper").method_settings(21023)
    training = paper.training
    assert (training.batch_size, training.learning_rate, paper.memory) == (32, 1e-3, 500)
    own = RunConfig(overrides={"agent.learning_rate": 0.02}, batch_size=4).method_settings(2520)
    assert (own.training.batch_size, own.training.learning_rate) == (4, 0.02)
