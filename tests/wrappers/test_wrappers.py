"""The wrappers' spaces and values, and Stable-Baselines3 on top of them."""

from __future__ import annotations

import doctest
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env as gymnasium_check
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env as sb3_check
from stable_baselines3.common.monitor import Monitor

import gym_clalfred.wrappers.actions
import gym_clalfred.wrappers.observations
from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import Annotation, Episode, EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.objects import ObjectClass
from gym_clalfred.setups import ENV_IDS
from gym_clalfred.simulator.contract import View
from gym_clalfred.wrappers import (
    DiscreteActions,
    SB3Observation,
    SingleView,
    TokenizedObservation,
)
from tests.helpers.fakes import FakeSource

MakeEnv = Callable[..., ClAlfredEnv]

PLACE = "train/pick_and_place_simple-Apple-None-Fridge-1/trial_T1#0"


def test_tokens_are_the_words(make_fake_env: MakeEnv) -> None:
    env = TokenizedObservation(make_fake_env(), max_tokens=40)
    observation, _ = env.reset(options={"episode": PLACE})
    assert env.observation_space.contains(observation)
    assert set(observation) == {"rgb", "classes", "instances", "tokens"}
    tokenizer = Tokenizer.default()
    ids = tokenizer.encode("Put an apple in the fridge.", ("Go to the table.", "Take the apple."))
    assert observation["tokens"].tolist() == [*ids, *[tokenizer.pad_id] * (40 - len(ids))]


def test_tokens_change_with_the_episode_and_not_within(make_fake_env: MakeEnv) -> None:
    env = TokenizedObservation(make_fake_env())
    first, _ = env.reset(options={"episode": PLACE})
    first["tokens"][:] = 7
    within = env.step((Action.RotateLeft, 0))[0]
    assert not np.array_equal(first["tokens"], within["tokens"])
    other, _ = env.reset(options={"episode": PLACE.replace("#0", "#1")})
    assert not np.array_equal(within["tokens"], other["tokens"])


def test_long_instructions_are_cut(make_fake_env: MakeEnv) -> None:
    env = TokenizedObservation(make_fake_env(), max_tokens=6)
    observation, _ = env.reset(options={"episode": PLACE})
    assert env.observation_space.contains(observation)
    assert (observation["tokens"] != Tokenizer.default().pad_id).all()


def test_sb3_image_stacks_the_views(make_fake_env: MakeEnv) -> None:
    base = make_fake_env(image_size=40)
    env = SB3Observation(base)
    observation, _ = env.reset(options={"episode": PLACE})
    assert env.observation_space.contains(observation)
    rgb = base.reset(options={"episode": PLACE})[0]["rgb"]
    for view in range(5):
        for channel in range(3):
            plane = observation["image"][3 * view + channel]
            assert np.array_equal(plane, rgb[view, :, :, channel])


def test_sb3_words_mark_the_vocabulary(make_fake_env: MakeEnv) -> None:
    env = SB3Observation(make_fake_env(image_size=40))
    observation, _ = env.reset(options={"episode": PLACE})
    marked = {Tokenizer.default().words[k] for k in np.flatnonzero(observation["words"])}
    assert {"put", "apple", "fridge", "table", "<goal>"} <= marked
    assert "lamp" not in marked


def test_sb3_logs_success(make_fake_env: MakeEnv) -> None:
    env = SB3Observation(make_fake_env(image_size=40))
    assert env.reset(seed=0)[1]["is_success"] is False
    assert env.step((Action.RotateLeft, 0))[4]["is_success"] is False
    assert env.step((Action.Stop, 0))[4]["is_success"] is False


@pytest.mark.parametrize("view", list(View))
def test_a_single_view(make_fake_env: MakeEnv, view: View) -> None:
    base = make_fake_env(depth=True)
    env = SingleView(base, view.name.title())
    observation, _ = env.reset(options={"episode": PLACE})
    assert env.observation_space.contains(observation)
    whole = base.reset(options={"episode": PLACE})[0]
    for name in ("rgb", "classes", "instances", "depth"):
        assert np.array_equal(observation[name], whole[name][view])
        assert observation[name].shape[:2] == (16, 16)
    assert observation["goal"] == whole["goal"]
    assert env.step((Action.RotateLeft, 0))[0]["rgb"].shape == (16, 16, 3)


def test_a_single_view_with_other_wrappers(make_fake_env: MakeEnv) -> None:
    base = make_fake_env(image_size=40, masks=False)
    whole = base.reset(options={"episode": PLACE})[0]["rgb"]
    for env in (SB3Observation(SingleView(base)), SB3Observation(base)):
        observation, _ = env.reset(options={"episode": PLACE})
        assert env.observation_space.contains(observation)
        assert np.array_equal(observation["image"][:3], whole[View.FRONT].transpose(2, 0, 1))
    tokens = SingleView(TokenizedObservation(base, max_tokens=5))
    assert tokens.reset(options={"episode": PLACE})[0]["tokens"].shape == (5,)
    with pytest.raises(BadInputError, match="front, left, right, up, down, got 'behind'"):
        SingleView(base, "behind")


def test_discrete_actions_are_the_pairs_that_mean_something(make_fake_env: MakeEnv) -> None:
    base = make_fake_env()
    env = DiscreteActions(base)
    assert env.action_space == spaces.Discrete(len(env.pairs))
    assert len(set(env.pairs)) == len(env.pairs)
    for number, (action, kind) in enumerate(env.pairs):
        assert env.number(action, kind) == number
        assert env.action(number).tolist() == [action, kind]
        assert base.action_space.contains(env.action(np.int64(number)))
    assert env.number(Action.MoveAhead, ObjectClass.Apple) == env.number(Action.MoveAhead)
    with pytest.raises(BadInputError, match="OpenObject cannot be done on Apple"):
        env.number(Action.OpenObject, ObjectClass.Apple)
    for bad in (len(env.pairs), -1, 2.0, [0, 0]):
        with pytest.raises(BadInputError, match="action"):
            env.action(bad)  # type: ignore[arg-type]


def test_an_episode_is_solved_with_discrete_actions(make_fake_env: MakeEnv) -> None:
    env = DiscreteActions(make_fake_env())
    env.reset(options={"episode": PLACE})
    env.step(env.number(Action.PickupObject, ObjectClass.Apple))
    env.step(env.number(Action.PutObject, ObjectClass.Fridge))
    assert env.step(env.number(Action.Stop))[1] == 1.0


@pytest.mark.filterwarnings("ignore")
def test_dqn_trains_on_discrete_actions(make_fake_env: MakeEnv, one_torch_thread: None) -> None:
    env = SB3Observation(SingleView(DiscreteActions(make_fake_env(image_size=36, max_steps=20))))
    sb3_check(env)
    model = DQN("MultiInputPolicy", env, buffer_size=60, learning_starts=20, device="cpu")
    assert model.learn(40).num_timesteps == 40


@pytest.mark.parametrize(
    ("wrapper", "lacks"),
    [
        (TokenizedObservation, "instructions"),
        (SB3Observation, "instructions"),
        (SingleView, "rgb"),
        (DiscreteActions, "action space"),
    ],
)
def test_wrappers_need_our_environment(wrapper: type[gymnasium.Wrapper], lacks: str) -> None:
    with pytest.raises(BadInputError, match=lacks):
        wrapper(gymnasium.make("CartPole-v1"))


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize(
    "wrapper", [TokenizedObservation, SB3Observation, SingleView, DiscreteActions]
)
def test_wrapped_environments_pass_the_check_and_pickle(
    make_fake_env: MakeEnv, wrapper: type[gymnasium.Wrapper]
) -> None:
    env = wrapper(make_fake_env(image_size=40))
    gymnasium_check(env, skip_render_check=True)
    copy = pickle.loads(pickle.dumps(env))
    assert copy.observation_space == env.observation_space


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """Small networks are faster without threads, above all beside other test processes."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("env_id", ENV_IDS)
@pytest.mark.filterwarnings("ignore")
def test_sb3_check_of_every_id(env_id: str) -> None:
    env = SB3Observation(gymnasium.make(env_id, tier="tiny", image_size=36, max_steps=20))
    sb3_check(env, warn=True)
    env.close()


@pytest.mark.filterwarnings("ignore")
def test_ppo_trains_unchanged(one_torch_thread: None) -> None:
    env = gymnasium.make(ENV_IDS[0], tier="tiny", image_size=36, max_steps=40, reward="dense")
    model = PPO(
        "MultiInputPolicy",
        Monitor(SB3Observation(env)),
        n_steps=128,
        batch_size=128,
        n_epochs=1,
        seed=0,
        device="cpu",
        policy_kwargs={"net_arch": [32]},
    )
    before = [weight.detach().clone() for weight in model.policy.parameters()]
    model.learn(512)
    after = list(model.policy.parameters())
    assert model.num_timesteps == 512
    assert all(bool(weight.isfinite().all()) for weight in after)
    assert any(not bool((a == b).all()) for a, b in zip(before, after))
    assert len(model.ep_info_buffer or ()) > 0
    env.close()


@pytest.mark.filterwarnings("ignore")
def test_examples_in_the_documentation_run(one_torch_thread: None) -> None:
    for module in (gym_clalfred.wrappers.actions, gym_clalfred.wrappers.observations):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0


class WrittenByPeople(FakeSource):
    """Texts as some annotators left them: over several lines, with blanks around them."""

    def episode(self, key: EpisodeKey) -> Episode:
        episode = super().episode(key)
        words = Annotation(
            "Put an apple\nin the fridge. \n", (" Go to\r\nthe table.", "Take\n\nit.")
        )
        trajectory = replace(episode.trajectory, annotations=(words, words))
        return Episode(key, trajectory)


def test_a_sentence_over_several_lines_is_one_sentence(make_fake_env: MakeEnv) -> None:
    base = make_fake_env(source=WrittenByPeople(), render_mode="rgb_array")
    env = TokenizedObservation(base)
    observation, _ = env.reset(options={"episode": PLACE})
    assert base.reset(options={"episode": PLACE})[0]["instructions"] == "Go to the table.\nTake it."
    words = base.episode.annotation
    read = observation["tokens"][observation["tokens"] != Tokenizer.default().pad_id]
    # What a learner reads of the demonstration.
    assert read.tolist() == Tokenizer.default().encode(words.goal, words.steps).tolist()
    assert base.render() is not None
