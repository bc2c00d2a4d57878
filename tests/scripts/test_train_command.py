"""``clalfred-train`` from nothing to results, plots and films on real rooms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from clalfred.agents.checkpoint import load_state
from clalfred.cl.experiment import RunConfig, read_results
from clalfred.cl.experiment.config import EVALUATED
from clalfred.cl.experiment.evaluation import evaluation_sets
from clalfred.cl.experiment.media import pick_episodes
from clalfred.cl.experiment.results import BothSplits, EvaluatedEpisode
from clalfred.cl.experiment.run import limited
from clalfred.scripts.common import read_settings
from clalfred.scripts.train import default_folder, main
from gym_clalfred.data.sources import open_source
from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import RoomType
from gym_clalfred.setups import Setup
from gym_clalfred.simulator.backends import BACKENDS, Backend
from gym_clalfred.stream import build_schedule
from tests.helpers.fakes import FakeSource
from tests.helpers.report_runs import invented_results
from tests.helpers.runs import QUICK, fake_config, run_fake


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("train") / "run"
    return folder, CliRunner().invoke(main, [*QUICK, "--out", str(folder)])


def test_it_prints_tables_and_where_everything_is(trained: tuple[Path, Result]) -> None:
    folder, run = trained
    assert run.exit_code == 0, run.output
    assert run.output.count("After task") == 7
    assert "SR_last" in run.output
    for name in ("results.json", "plots/matrix.png", "videos/failure.mp4"):
        assert str(folder / name) in run.output


def test_progress_bars_are_quiet_without_a_terminal(trained: tuple[Path, Result]) -> None:
    assert "it/s" not in trained[1].output
    assert "\r" not in trained[1].output


def test_results_hold_what_the_issue_asks_for(trained: tuple[Path, Result]) -> None:
    results = read_results(trained[0])
    assert results.config.method == "cama"
    assert results.config.setup == "behavior-il"
    assert results.stream.position == 7
    for split in ("seen", "unseen"):
        matrix = results.matrix(split)
        assert [sum(cell is not None for cell in row) for row in matrix] == list(range(1, 8))
        episodes = results.split(split).episodes
        assert len(episodes) == 28
        assert all(one.episode.startswith(f"valid_{split}/") for one in episodes)
        assert all(one.steps <= 4 for one in episodes)
    assert results.labels.backend.startswith("embedded")
    assert all(getattr(results.seconds, name) > 0 for name in ("train", "evaluate", "processor"))


def test_films_play(trained: tuple[Path, Result]) -> None:
    frames = imageio.mimread(trained[0] / "videos" / "failure.mp4", memtest=False)
    assert frames[0].shape == (540, 2 * 960, 3)  # the expert and the agent
    assert len(frames) > 5
    assert frames[0].std() > 10


def test_tensorboard_has_training_and_evaluation(trained: tuple[Path, Result]) -> None:
    events = EventAccumulator(str(trained[0] / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert {"train/loss", "train/action_accuracy", "cama/gamma_action"} <= tags
    assert {"seen/SR", "unseen/PLW_GC", "unseen/SR_look_at_obj_in_light"} <= tags
    assert len(events.Scalars("seen/SR")) == 7


def test_the_same_command_again_only_prints(trained: tuple[Path, Result]) -> None:
    folder, first = trained
    again = CliRunner().invoke(main, [*QUICK, "--out", str(folder)])
    assert again.exit_code == 0
    assert "After task" not in again.output
    assert again.output.strip() in first.output


def test_forward_transfer_needs_evaluation_ahead(tmp_path: Path) -> None:
    config = fake_config(
        episodes_per_task=1, evaluation_episodes=1, max_steps=2, evaluate_ahead=True, method="er"
    )
    results = run_fake(config, tmp_path / "run")
    assert results.metric("seen", "forward_transfer") == 0.0
    matrix = results.matrix("seen")
    assert [sum(cell is not None for cell in row) for row in matrix] == [2, 3, 4, 4]
    after = {one.after for one in results.splits.seen.episodes}
    assert after == {0, 1, 2, 3, 4}


def test_fewer_episodes_are_evaluated_before_the_end(tmp_path: Path) -> None:
    config = fake_config(
        episodes_per_task=1, evaluation_episodes=2, interim_episodes=1, max_steps=2, method="er"
    )
    rows = run_fake(config, tmp_path / "run").splits.seen.episodes
    count = [sum(one.after == learned for one in rows) for learned in (1, 2, 3, 4)]
    assert count == [1, 2, 3, 8]


def test_joint_is_evaluated_at_the_end_only(tmp_path: Path) -> None:
    config = fake_config(episodes_per_task=1, evaluation_episodes=1, max_steps=2, method="joint")
    results = run_fake(config, tmp_path / "run")
    assert results.metric("seen", "SR_last") is not None
    assert results.metric("seen", "SR_avg") is None
    assert results.training.updates == 4
    after = {one.after for one in results.splits.seen.episodes}
    assert after == {4}


@pytest.mark.parametrize("schedule", ["blurry", "gaussian"])
def test_other_schedules_run_and_are_evaluated_as_often(schedule: str, tmp_path: Path) -> None:
    config = fake_config(schedule=schedule, evaluation_episodes=1, max_steps=2, method="finetuning")
    results = run_fake(config, tmp_path / "run")
    assert all(one is not None for one in results.splits.seen.after_each_task)
    assert schedule in results.stream.name


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tier": "small"}, {0}),
        ({"tier": "tiny", "evaluation_annotations": 2}, {0, 1}),
        ({"tier": "full"}, {0, 1}),
        ({"tier": "small", "data": "elsewhere"}, {0, 1}),
        ({"tier": "full", "evaluation_annotations": 1}, {0}),
    ],
)
def test_annotations_to_evaluate_on(changes: dict[str, Any], expected: set[int]) -> None:
    config = RunConfig(setup="imbalanced-environment-il", **changes)
    source = FakeSource((1, 201, 301, 401))
    tasks = [room_type.value for room_type in RoomType]
    for split, groups in evaluation_sets(config, source, tasks).items():
        keys = [key for group in groups for key in group]
        assert {key.annotation for key in keys} == expected
        entries = source.entries(EVALUATED["valid"][split])
        trajectories = len({entry.key.trajectory for entry in entries})
        assert len(keys) == len(expected) * trajectories


def test_limits_keep_the_stream_a_stream() -> None:
    schedule = build_schedule(open_source("tiny"), "behavior_il")
    short = limited(schedule, 3)
    assert len(short) == 21
    assert short.block_ends == tuple(range(3, 22, 3))
    positions = [schedule.keys.index(key) for key in short.keys]
    assert positions == sorted(positions)
    assert limited(schedule, 1000).keys == schedule.keys


@pytest.mark.parametrize(
    "stream",
    [{"schedule": "blurry", "tasks": "Kitchen,Bedroom"}, {"split_folder": "splits"}],
)
def test_every_setting_is_an_option_and_changes_the_run(
    stream: dict[str, str], tmp_path: Path
) -> None:
    options = {
        "setup": "environment-il", "method": "mir", "order": "2", "seed": "3",
        "preset": "released", "tier": "full", "data": str(tmp_path), **stream,
        "backend": "embedded", "agent": "two-branch:paper", "encoder": "conv",
        "encoder_weights": "w.pth", "memory": "70",
        "batch_size": "16", "episodes_per_task": "5", "evaluation_episodes": "6",
        "interim_episodes": "3",
        "evaluation_annotations": "2", "max_steps": "77", "threads": "1", "evaluate_on": "test",
    }  # fmt: skip
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    out = tmp_path / "run"
    # Ends with an error about the missing data, after the folder has been claimed.
    arguments += ["--evaluate-ahead", "--augment", "--set", "candidates=20"]
    arguments += ["--blind", "--deaf", "--no-rules"]
    arguments += ["--set", "agent.dropout=0.25"]
    CliRunner().invoke(main, [*arguments, "--out", str(out)])
    config = RunConfig.from_dict(json.loads((out / "config.json").read_text())["config"])
    found = config.to_dict()
    assert found.pop("evaluate_ahead") is True
    assert found.pop("augment") is True
    assert [found.pop(name) for name in ("blind", "deaf", "rules")] == [True, True, False]
    assert found.pop("overrides") == {"candidates": 20, "agent.dropout": 0.25}
    assert config.agent_config().dropout == 0.25  # type: ignore[attr-defined]
    others = {"schedule": "disjoint", "split_folder": "None", "tasks": "None"}
    assert {name: str(value) for name, value in found.items()} == {**others, **options}


def test_a_config_file_is_read_and_options_win(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("method: er\nseed: 5\ntier: tiny\n")
    assert read_settings(str(path)) == {"method": "er", "seed": 5, "tier": "tiny"}
    demo = RunConfig.from_dict(read_settings("demo"))
    assert demo.method == "er"
    with pytest.raises(BadInputError, match=r"it has .*demo, full, main, others, paper"):
        read_settings("nothing")


def test_default_folders_tell_runs_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "fake", Backend("tests.helpers.fakes:FakeSimulator"))
    configs = [
        RunConfig(method=method, setup=setup, seed=seed, schedule=schedule, evaluation_episodes=few)
        for method in ("er", "cama")
        for setup in (one.value for one in Setup)
        for seed in (0, 1)
        for schedule in ("disjoint", "blurry")
        for few in (None, 3)
    ]
    configs += [RunConfig(memory=30), RunConfig(overrides={"alpha": 0.5})]
    configs += [RunConfig(agent="two-branch:paper"), RunConfig(agent="plain")]
    configs += [RunConfig(agent="two-branch", encoder="resnet-18"), RunConfig(backend="fake")]
    assert len({default_folder(config) for config in configs}) == len(configs)


def test_damaged_results_are_made_again_from_the_checkpoint(
    trained: tuple[Path, Result],
) -> None:
    path = trained[0] / "results.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    command = [*QUICK, "--no-media", "--out", str(trained[0])]
    run = CliRunner().invoke(main, command)
    assert run.exit_code == 1
    assert run.output.count("Error: ") == 1
    assert "results.json: not a JSON document" in run.output
    assert "delete it and repeat the command, which makes it from the checkpoint" in run.output
    path.unlink()
    assert CliRunner().invoke(main, command).exit_code == 0
    again, before = json.loads(path.read_bytes()), json.loads(whole)
    assert again.pop("seconds").keys() == before.pop("seconds").keys()
    assert again == before


def test_a_start_that_fails_leaves_its_folder_to_the_corrected_command(tmp_path: Path) -> None:
    def run(*options: str) -> Result:
        return CliRunner().invoke(main, [*QUICK, "--no-media", "--out", str(tmp_path), *options])

    assert "resnet18" in run("--agent", "two-branch:paper").output
    assert "belongs to another run" not in run("--device", "nowhere").output
    assert run().exit_code == 0
    assert read_results(tmp_path).config.agent == "two-branch"
    assert "agent is 'two-branch', not 'plain'" in run("--agent", "plain").output


def test_the_agent_file_is_small_and_has_no_memory(trained: tuple[Path, Result]) -> None:
    state = load_state(trained[0] / "agent.zip")
    assert set(state) == {"kind", "agent", "sight", "vocabulary", "weights", "run"}


def test_episodes_for_films_are_of_the_last_evaluation(trained: tuple[Path, Result]) -> None:
    picked = pick_episodes(read_results(trained[0]))
    assert "failure" in picked
    assert set(picked) <= {"best", "failure"}
    assert picked["failure"].split.value == "valid_unseen"


def episode(name: str, met: int, of: int, after: int) -> EvaluatedEpisode:
    return EvaluatedEpisode(
        after,
        0,
        episode=f"valid_{name}/task/trial#0",
        success=met == of,
        conditions_met=met,
        conditions=of,
        steps=9,
        expert_steps=9,
    )


@pytest.mark.parametrize(
    ("seen", "unseen", "expected"),
    [
        ([(0, 2)], [(0, 2)], {"failure": "unseen"}),
        ([(1, 2)], [(0, 2)], {"best": "seen", "failure": "unseen"}),
        ([(1, 3)], [(1, 2)], {"best": "unseen", "failure": "seen"}),
        ([(3, 3)], [(1, 1)], {"success": "seen"}),
        ([(3, 3)], [(2, 3)], {"success": "seen", "failure": "unseen"}),
        ([], [(1, 1)], {"success": "unseen"}),
    ],
)
def test_films_show_a_success_or_the_best_try_and_a_failure(
    seen: list[tuple[int, int]], unseen: list[tuple[int, int]], expected: dict[str, str]
) -> None:
    results = invented_results(fake_config(), 0.5)
    last = len(results.tasks)
    parts = {
        name: replace(
            results.split(name),
            episodes=(
                *(episode(name, *one, after=last) for one in tries),
                episode(name, 5, 5, after=1),
            ),
        )
        for name, tries in (("seen", seen), ("unseen", unseen))
    }
    picked = pick_episodes(replace(results, splits=BothSplits(**parts)))
    assert {name: key.split.value for name, key in picked.items()} == {
        name: f"valid_{split}" for name, split in expected.items()
    }
