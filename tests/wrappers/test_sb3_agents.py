"""Our agents in other people's hands: SB3's evaluation and callbacks, Gymnasium's wrappers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

from clalfred.agents.acting.policy import Policy, split_observations
from clalfred.agents.registry import make_agent
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError
from gym_clalfred.wrappers import SB3Observation, TokenizedObservation
from tests.helpers.acting import fake_episodes, make_learner
from tests.helpers.fakes import FakeSource

MakeEnv = Callable[..., ClAlfredEnv]
STEPS = 6


def plain_env() -> ClAlfredEnv:
    """In processes of their own, too."""
    return ClAlfredEnv(backend="fake", image_size=16, source=FakeSource(), max_steps=STEPS)


def evaluated(env: Any, episodes: int = 3) -> tuple[list[float], list[int]]:
    rewards, lengths = evaluate_policy(
        make_learner(), env, n_eval_episodes=episodes, return_episode_rewards=True, warn=False
    )
    assert len(rewards) == len(lengths) == episodes
    return rewards, lengths


def test_evaluate_policy_takes_the_environment_as_it_is(make_fake_env: MakeEnv) -> None:
    make = partial(make_fake_env, max_steps=STEPS)
    rewards, lengths = evaluated(make())
    assert all(1 <= length <= STEPS for length in lengths)
    # The words arrive whole: with tokens made outside of the agent it does the same.
    assert evaluated(TokenizedObservation(make())) == (rewards, lengths)


@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_vectors_of_sb3_hand_out_whole_words(kind: type[VecEnv]) -> None:
    env = kind([plain_env, plain_env])
    try:
        env.seed(0)
        observation = env.reset()
        assert isinstance(observation, dict)
        rows, single = split_observations(observation, frozenset({"rgb"}))
        first, _ = plain_env().reset(seed=0)
        assert not single
        assert len(rows) == 2
        assert (rows[0]["goal"], rows[0]["instructions"]) == (first["goal"], first["instructions"])
        assert len(first["instructions"]) > 10
        evaluated(env)
    finally:
        env.close()


@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
def test_vectors_of_gymnasium_are_acted_in(kind: type[VectorEnv]) -> None:
    agent = make_learner()
    env = kind([plain_env, plain_env])
    try:
        observation, _ = env.reset(seed=[0, 1])
        alone = [agent.predict(plain_env().reset(seed=seed)[0])[0].tolist() for seed in (0, 1)]
        starts, state = np.array([True, True]), None
        for step in range(2 * STEPS):
            actions, state = agent.predict(observation, state, episode_start=starts)
            if step == 0:
                assert actions.tolist() == alone
            observation, _, ended, cut, _ = env.step(actions)
            starts = ended | cut
    finally:
        env.close()


def test_what_a_wrapper_takes_away_is_named(make_fake_env: MakeEnv) -> None:
    with pytest.raises(BadInputError, match=r"lacks rgb.*without wrappers.*SB3Observation"):
        evaluated(SB3Observation(make_fake_env()))


def test_pictures_of_another_size_are_refused(make_fake_env: MakeEnv) -> None:
    """An agent that sees classes would otherwise look at a corner of them and fail in silence."""
    agent = make_agent("semantic-map")
    observation, _ = make_fake_env(image_size=100, depth=True).reset(seed=0)
    with pytest.raises(BadInputError, match=r"classes has 100 x 100; make .* image_size=84"):
        Policy(agent).predict(observation)


def test_eval_callback_evaluates_the_agent_while_it_learns(tmp_path: Path) -> None:
    agent = make_learner()
    agent._env = DummyVecEnv([plain_env])  # as the constructor's env
    callback = EvalCallback(
        DummyVecEnv([plain_env]),
        n_eval_episodes=2,
        eval_freq=2,
        log_path=str(tmp_path),
        verbose=0,
        warn=False,
    )
    agent.learn(fake_episodes()[:4], callback=callback)
    found = np.load(tmp_path / "evaluations.npz")
    assert found["results"].shape[1] == 2
    assert len(found["timesteps"]) >= 2
    assert (found["ep_lengths"] >= 1).all()


class Film:
    """Stands in for moviepy's clip: keeps what it is given."""

    made: ClassVar[list[Film]] = []

    def __init__(self, frames: list[Any], fps: float) -> None:
        self.frames = frames
        Film.made.append(self)

    def write_videofile(self, path: str, **_: Any) -> None:
        Path(path).touch()


def test_record_video_films_the_agent(
    make_fake_env: MakeEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = SimpleNamespace(ImageSequenceClip=Film)
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "moviepy.video.io.ImageSequenceClip", clips)
    monkeypatch.setattr(Film, "made", [])
    inner = make_fake_env(max_steps=STEPS, render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(
        inner, str(tmp_path / "films"), episode_trigger=lambda _: True
    )
    agent, state = make_learner(), None
    observation, _ = env.reset(seed=0)
    starts, steps, over = np.array([True]), 0, False
    while not over:
        action, state = agent.predict(observation, state, episode_start=starts)
        observation, _, ended, cut, _ = env.step(action)
        starts, steps, over = np.array([False]), steps + 1, ended or cut
    env.close()
    assert [path.name for path in (tmp_path / "films").iterdir()] == ["rl-video-episode-0.mp4"]
    assert len(Film.made[0].frames) == steps + 1
    assert all(frame.dtype == np.uint8 and frame.ndim == 3 for frame in Film.made[0].frames)
