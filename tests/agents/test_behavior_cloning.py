from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback
from stable_baselines3.common.logger import configure

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.rollout import RolloutConfig, evaluate
from clalfred.agents.behavior_cloning import BehaviorCloning
from clalfred.agents.checkpoint import load_state, save_state
from clalfred.agents.demonstrations import EpisodeReader
from clalfred.agents.training import TrainingConfig
from gym_clalfred.data.trajectory import Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import DataError, UsageError
from gym_clalfred.stream import Schedule, TaskStream, build_schedule
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.acting import fake_episodes, make_learner, trained_learner
from tests.helpers.fakes import FakeSource
from tests.helpers.learning import demonstrations, tiny_agent


def small_agent(**changes: object) -> BehaviorCloning:
    training = TrainingConfig(batch_size=3)
    return BehaviorCloning(tiny_agent(), training=training, device="cpu", **changes)  # type: ignore


def load(path: Path, training: TrainingConfig, **options: Any) -> BehaviorCloning:
    return BehaviorCloning.load(path, agent=tiny_agent(seed=9), training=training, **options)


def weights(agent: BehaviorCloning) -> torch.Tensor:
    return torch.cat([weight.detach().flatten() for weight in agent.agent.parameters()])


def test_it_solves_what_the_expert_showed() -> None:
    source = FakeSource()
    solvable = [
        entry.key
        for entry in source.entries(Split.VALID_SEEN)
        if entry.task_type is TaskType.PICK_AND_PLACE
    ]
    config = RolloutConfig(backend="fake", max_steps=30)
    # The fake household looks the same after a step, which the rules would take for standing still.
    policy = replace(trained_learner().policy, heuristics=ActionHeuristics.off())
    assert all(result.success for result in evaluate(policy, source, solvable, config))
    assert not any(
        result.success for result in evaluate(make_learner().policy, source, solvable, config)
    )


def fake_schedule(source: FakeSource) -> Schedule:
    present = {entry.task_type for entry in source.entries(Split.TRAIN)}
    return build_schedule(source, order=[task for task in ALFRED_TASKS if task in present])


def test_it_learns_from_a_task_stream() -> None:
    source = FakeSource()
    env = ClAlfredEnv(source=source, backend="fake", image_size=16)
    stream = TaskStream(env, fake_schedule(source))
    agent = make_learner()
    agent.reader = EpisodeReader(source, agent.agent, backend="fake")
    before = weights(agent)
    agent.learn(stream)
    assert stream.exhausted
    assert agent.num_episodes == agent.num_updates == len(source.entries(Split.TRAIN))
    assert not torch.equal(weights(agent), before)
    env.close()


def test_a_stream_without_features_needs_a_reader() -> None:
    env = ClAlfredEnv(source=FakeSource(), backend="fake", image_size=16)
    with pytest.raises(UsageError, match="reader=EpisodeReader"):
        make_learner().learn(TaskStream(env, fake_schedule(FakeSource())))
    env.close()


class Notes(BaseCallback):
    """Notes what it is told, and stops after some steps."""

    def __init__(self, stop_after: int = 1000) -> None:
        super().__init__()
        self.stop_after = stop_after
        self.events: list[str] = []

    def _on_training_start(self) -> None:
        self.events.append("start")

    def _on_step(self) -> bool:
        self.events.append("step")
        return self.n_calls < self.stop_after

    def _on_training_end(self) -> None:
        self.events.append("end")


def test_callbacks_are_called_per_episode_and_may_stop() -> None:
    whole, cut = Notes(), Notes(stop_after=4)
    small_agent().learn(demonstrations(7), callback=whole)
    # Seven episodes, and the last group of one after the stream's end.
    assert whole.events == ["start", *["step"] * 8, "end"]
    agent = small_agent()
    agent.learn(demonstrations(7), callback=[cut])
    assert cut.events == ["start", *["step"] * 4, "end"]
    assert agent.num_episodes == 4
    assert agent.num_updates == 3


def test_sb3s_checkpoint_callback_saves_agents_that_load(tmp_path: Path) -> None:
    agent = small_agent()
    agent.learn(demonstrations(6), callback=CheckpointCallback(3, str(tmp_path)))
    files = sorted(tmp_path.glob("*.zip"))
    assert len(files) == 2
    loaded = [load(path, agent.training) for path in files]
    assert sorted(one.num_episodes for one in loaded) == [3, 6]
    latest = max(loaded, key=lambda one: one.num_episodes)
    assert torch.equal(weights(latest), weights(agent))


def test_a_checkpoint_goes_on_with_its_own_training_settings_only(tmp_path: Path) -> None:
    path = small_agent().save(tmp_path / "agent.zip")
    with pytest.raises(DataError, match="load it with the same training="):
        load(path, TrainingConfig(learning_rate=0.5))


def test_the_loss_goes_to_sb3s_logger(tmp_path: Path) -> None:
    agent = small_agent()
    agent.set_logger(configure(str(tmp_path), ["json"]))
    agent.learn([*demonstrations(3), *demonstrations(3)], log_interval=3)
    lines = [json.loads(line) for line in (tmp_path / "progress.json").read_text().splitlines()]
    assert len(lines) == 2
    assert lines[-1]["train/updates"] == 6
    assert 0 < lines[-1]["train/loss"] < lines[0]["train/loss"]


def test_a_checkpoint_is_tensors_and_json_and_nothing_else(tmp_path: Path) -> None:
    path = small_agent().save(tmp_path / "agent")
    assert path.name == "agent.zip"
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["state.json", "tensors.safetensors"]
        assert json.loads(archive.read("state.json"))["format"] == "clalfred-agent"


def test_states_survive_the_round_trip(tmp_path: Path) -> None:
    state = {"a": [1, 2.5, None, True, "x"], "b": {"c": torch.arange(6).view(2, 3)}, "d": {}}
    loaded = load_state(save_state(tmp_path / "state.zip", state))
    assert torch.equal(loaded["b"].pop("c"), state["b"].pop("c"))  # type: ignore[attr-defined]
    assert loaded == state


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_damaged_checkpoints_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "agent.zip"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"agent\.zip"):
        load_state(path)


def test_checkpoints_of_another_version_are_refused(tmp_path: Path) -> None:
    path = save_state(tmp_path / "a.zip", {})
    with zipfile.ZipFile(path) as archive:
        tensors = archive.read("tensors.safetensors")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tensors.safetensors", tensors)
        archive.writestr(
            "state.json", json.dumps({"format": "clalfred-agent", "version": 99, "state": {}})
        )
    with pytest.raises(DataError, match="version 99"):
        load_state(path)


def test_a_failed_save_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    path = save_state(tmp_path / "a.zip", {"x": 1})
    with pytest.raises(TypeError, match="/y: a checkpoint cannot hold a set"):
        save_state(path, {"y": {1}})
    assert load_state(path) == {"x": 1}
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]


def test_constructing_an_agent_leaves_torchs_global_random_state_alone() -> None:
    before = torch.get_rng_state()
    small_agent(seed=5).learn(demonstrations(3))
    assert torch.equal(torch.get_rng_state(), before)


def test_episodes_in_a_store_are_saved_by_name(tmp_path: Path) -> None:
    agent = small_agent()
    episode = demonstrations(1)[0]
    named = replace(episode, views=replace(episode.views, name="encoder/abc"))
    agent.observe(named)
    path = agent.save(tmp_path / "a.zip")
    with pytest.raises(UsageError, match="are in a store"):
        load(path, agent.training)
    found: list[str] = []
    loaded = load(
        path,
        agent.training,
        views=lambda name: found.append(name) or episode.views,  # type: ignore
    )
    assert found == ["encoder/abc"]
    assert len(loaded._gathered) == 1


def test_demonstrations_of_the_fake_household_are_what_the_expert_did() -> None:
    episode = fake_episodes()[0]
    assert len(episode) == 13
    assert episode.actions[-1] == 12
    assert episode.classes.nonzero().flatten().tolist() == [4, 11]


@pytest.mark.parametrize("forced", [True, False])
def test_training_does_what_its_settings_say(forced: bool) -> None:
    training = TrainingConfig(batch_size=2, teacher_forcing=forced)
    agent = BehaviorCloning(tiny_agent(), training=training, device="cpu")
    seen: list[bool] = []
    rates: list[float] = []
    agent.agent.register_forward_pre_hook(lambda network, arguments: seen.append(arguments[2]))
    step = agent.optimizer.step
    agent.optimizer.step = lambda: (  # type: ignore[method-assign]
        rates.append(agent.optimizer.learning_rate) or step()
    )
    agent.learn(demonstrations(12))
    assert rates == [1e-3 * 0.95 ** (update % 10) for update in range(12)]
    assert seen == [forced] * 12
