"""The end of a stream inside SB3's ``learn`` and in vector environments."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from gym_clalfred.actions import Action
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, StreamError
from gym_clalfred.stream import Schedule, TaskStream, schedule_of
from gym_clalfred.stream.sb3 import StopAtStreamEnd
from gym_clalfred.wrappers import DiscreteActions, SB3Observation

MakeEnv = Callable[..., ClAlfredEnv]
STOP = (Action.Stop, 0)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def stream_of(make: MakeEnv, at_end: str = "restart") -> TaskStream:
    """Six episodes of up to five steps."""
    env = make(image_size=36, max_steps=5, tasks=["examine"])
    return TaskStream(env, schedule_of(env), at_end=at_end)


def model_of(env: Any, **options: Any) -> PPO:
    return PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=0, **options)


@pytest.mark.filterwarnings("ignore")
def test_learn_goes_through_the_stream_again(make_fake_env: MakeEnv) -> None:
    stream = stream_of(make_fake_env)
    model = model_of(Monitor(SB3Observation(stream)))
    assert model.learn(96).num_timesteps == 96
    assert stream.passes >= 1


def test_the_stream_says_once_that_it_starts_again(make_fake_env: MakeEnv) -> None:
    stream = stream_of(make_fake_env)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for number in range(20):
            stream.reset()
            assert stream.passes == number // 6
            assert stream.position == number % 6 + 1
    told = [str(one.message) for one in warned if "starts again" in str(one.message)]
    assert len(told) == 1
    assert "ended after 6 episodes" in told[0]


@pytest.mark.filterwarnings("ignore")
def test_the_second_pass_is_like_the_first(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(tasks=["examine"])
    stream = TaskStream(env)
    seen = []
    for _ in range(12):
        stream.reset()
        seen.append(env.episode.key)
        assert stream.demonstration().id
        stream.step(STOP)
    assert seen[:6] == seen[6:] == list(schedule_of(env).keys)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_the_callback_ends_learning_after_one_pass(make_fake_env: MakeEnv, algorithm: str) -> None:
    stream = stream_of(make_fake_env)
    handed_out = []
    start = stream.env.reset

    def reset(**options: Any) -> Any:
        handed_out.append(stream.env.unwrapped)
        return start(**options)

    stream.env.reset = reset  # type: ignore[method-assign]
    env = SB3Observation(DiscreteActions(stream))
    model: BaseAlgorithm = (
        model_of(env)
        if algorithm == "ppo"
        else DQN("MultiInputPolicy", env, buffer_size=50, learning_starts=5)
    )
    model.learn(100_000, callback=StopAtStreamEnd())
    assert model.num_timesteps <= 6 * 5
    assert stream.passes == 1
    # The six episodes, and the reset by which the trainer found the end.
    assert len(handed_out) == 7
    assert model.predict(env.reset()[0])[0] is not None


@pytest.mark.filterwarnings("ignore")
def test_the_first_of_several_streams_ends_it(make_fake_env: MakeEnv) -> None:
    streams = [stream_of(make_fake_env), stream_of(make_fake_env)]
    streams[0].reset()  # one episode ahead
    model = model_of(DummyVecEnv([lambda s=each: SB3Observation(s) for each in streams]))
    model.learn(100_000, callback=StopAtStreamEnd())
    assert sorted(stream.passes for stream in streams)[-1] == 1
    model.learn(8, callback=StopAtStreamEnd(), reset_num_timesteps=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_vector_environments_go_on(make_fake_env: MakeEnv, mode: AutoresetMode) -> None:
    stream = stream_of(make_fake_env)
    vector = SyncVectorEnv([lambda: stream], autoreset_mode=mode)
    vector.reset(seed=0)
    for _ in range(20):
        vector.step(np.array([STOP]))
    assert stream.passes >= 1
    vector.close()


def test_raising_can_be_asked_for(make_fake_env: MakeEnv) -> None:
    stream = stream_of(make_fake_env, at_end="raise")
    for _ in range(6):
        stream.reset()
    with pytest.raises(StreamError, match="all 6 episodes have been handed out"):
        stream.reset()
    with pytest.raises(BadInputError, match=r"at_end.*got 'stop'"):
        stream_of(make_fake_env, at_end="stop")


def test_an_empty_stream_has_no_next_pass(make_fake_env: MakeEnv) -> None:
    stream = TaskStream(make_fake_env(), Schedule("empty", (), (), ()))
    with pytest.raises(StreamError, match="all 0 episodes"):
        stream.reset()


def test_demonstrations_come_once(make_fake_env: MakeEnv) -> None:
    stream = stream_of(make_fake_env)
    assert len(list(stream.demonstrations())) == 6
    with pytest.raises(StreamError, match="ended"):
        stream.next_demonstration()
    assert stream.passes == 0
