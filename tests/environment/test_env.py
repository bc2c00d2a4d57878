"""How an episode runs: actions, ends, rewards, info, on the fake household."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import SimulatorError
from gym_clalfred.interaction import MAX_FAILURES
from gym_clalfred.objects import ObjectClass
from gym_clalfred.setups import Setup
from gym_clalfred.simulator.contract import Failure, View
from gym_clalfred.tasks.rewards import DenseReward
from tests.helpers.fakes import APPLE, FRIDGE, FakeSimulator

MakeEnv = Callable[..., ClAlfredEnv]

PLACE = "train/pick_and_place_simple-Apple-None-Fridge-1/trial_T1#0"
EXAMINE = "train/look_at_obj_in_light-Apple-None-DeskLamp-301/trial_T1#0"

PICK = (Action.PickupObject, ObjectClass.Apple)
PUT = (Action.PutObject, ObjectClass.Fridge)
STOP = (Action.Stop, 0)
TURN = (Action.RotateLeft, 0)
FAIL = (Action.OpenObject, ObjectClass.Apple)


def start(env: ClAlfredEnv, episode: str = PLACE) -> dict[str, Any]:
    observation, _ = env.reset(seed=0, options={"episode": episode})
    return observation


@pytest.mark.filterwarnings("ignore:.*alternative render modes")
@pytest.mark.parametrize("setup", Setup)
@pytest.mark.parametrize("reward", ["sparse", "dense"])
def test_gymnasium_check(make_fake_env: MakeEnv, setup: Setup, reward: str) -> None:
    check_env(
        make_fake_env(setup=setup.value, reward=reward, depth=True, render_mode="rgb_array"),
        skip_render_check=False,
    )


def test_solving_an_episode(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    _, reward, terminated, truncated, info = env.step(PICK)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info == {
        "action_success": True,
        "reason": None,
        "failures": 0,
        "steps": 1,
        "goal_conditions": (0, 1),
        "is_success": False,
    }
    assert env.step(PUT)[4]["goal_conditions"] == (1, 1)
    _, reward, terminated, truncated, info = env.step(STOP)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["success"]
    assert not info["crashed"]
    assert info["steps"] == 2


def test_stopping_too_early_fails(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    _, reward, terminated, _, info = env.step(STOP)
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["action_success"]


def test_the_tenth_failure_ends_the_episode(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    for number in range(1, MAX_FAILURES + 1):
        assert env.step(TURN)[4]["failures"] == number - 1
        _, _, terminated, truncated, info = env.step(FAIL)
        assert info["failures"] == number
        assert not info["action_success"]
        assert info["reason"] == Failure.NOT_OPENABLE.value
        assert terminated == (number == MAX_FAILURES)
        assert not truncated
    assert info["success"] is False


def test_a_blocked_move_is_a_failed_action(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    env.step(TURN)
    info = env.step((Action.MoveAhead, 0))[4]
    assert (info["failures"], info["reason"]) == (1, Failure.BLOCKED.value)


def test_a_goal_met_at_the_tenth_failure_counts(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    env.step(PICK)
    env.step(PUT)
    for _ in range(MAX_FAILURES):
        _, reward, terminated, _, info = env.step(FAIL)
    assert (reward, terminated, info["success"]) == (1.0, True, True)


def test_the_step_limit_truncates(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(max_steps=3)
    start(env)
    ends = [env.step(TURN)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_a_crash_is_a_failed_episode_and_the_next_one_runs(
    make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make_fake_env()
    start(env)
    monkeypatch.setattr(FakeSimulator, "crash_at", 3)
    env.step(PICK)
    env.step(PUT)
    observation, reward, terminated, truncated, info = env.step(TURN)
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["crashed"]
    assert not info["success"]
    assert info["reason"] == Failure.SIMULATOR.value
    assert env.observation_space.contains(observation)
    start(env)
    assert not env.step(TURN)[2]


def test_a_crash_anywhere_in_a_step_ends_the_episode(
    make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    for broken, call in ((FakeSimulator, "frame"), (DenseReward, "step")):
        env = make_fake_env(reward="dense")
        before = start(env)
        with monkeypatch.context() as patch:
            patch.setattr(broken, call, crash)
            observation, reward, terminated, _, info = env.step(TURN)
        assert (reward, terminated, info["crashed"]) == (0.0, True, True)
        assert info["failures"] == 1
        assert not np.shares_memory(observation["rgb"], before["rgb"])
        start(env)


def test_a_crash_anywhere_in_a_reset_gets_one_fresh_start(
    make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make_fake_env()
    start(env)
    first = env.simulator
    monkeypatch.setattr(first, "frame", crash)
    assert start(env)["rgb"].any()
    assert env.simulator is not first


def crash(*_: object) -> None:
    raise SimulatorError("dead")


def test_an_observation_is_the_callers_own(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(render_mode="rgb_array")
    observation = start(env)
    picture = env.render()
    assert picture is not None
    observation["rgb"][:] = 0
    del observation["instances"]
    again = env.render()
    assert again is not None
    assert np.array_equal(picture, again)
    again[:] = 0  # and so is a picture


def test_no_target_and_unknown_target(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    info = env.step((Action.PickupObject, ObjectClass.NoObject))[4]
    assert info["reason"] == Failure.NO_TARGET.value
    info = env.step((Action.PickupObject, ObjectClass.Sofa))[4]
    assert info["reason"] == Failure.NOT_VISIBLE.value


def test_the_held_object_is_not_chosen(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    env.step(PICK)
    held = env.simulator.held
    info = env.step(PICK)[4]
    assert info["reason"] == Failure.HANDS_FULL.value
    assert env.simulator.held == held


def test_acting_with_masks(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    observation = start(env)
    names = list(env.simulator.objects)
    mask = observation["instances"][View.FRONT] == names.index(APPLE) + 1
    assert env.act_with_mask(Action.PickupObject, mask)[4]["action_success"]
    assert env.simulator.held == APPLE
    assert env.act_with_mask(Action.RotateLeft)[4]["action_success"]
    sight = env.simulator.sight()
    assert env.act_with_mask(Action.PutObject, sight.mask(FRIDGE))[4]["goal_conditions"] == (1, 1)
    assert env.act_with_mask(Action.Stop)[1] == 1.0


def test_mask_and_class_share_the_previous_interaction(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    sight = env.simulator.sight()
    second = [name for name in env.simulator.objects if name.startswith("Apple")][1]
    env.act_with_mask(Action.OpenObject, sight.mask(second))
    env.step(PICK)
    assert env.simulator.held == second


def test_observation(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(depth=True)
    observation = start(env)
    shapes = {name: getattr(part, "shape", None) for name, part in observation.items()}
    assert shapes == {
        "rgb": (5, 16, 16, 3),
        "classes": (5, 16, 16),
        "instances": (5, 16, 16),
        "depth": (5, 16, 16),
        "goal": None,
        "instructions": None,
    }
    assert observation["goal"] == "Put an apple in the fridge."
    assert observation["instructions"] == "Go to the table.\nTake the apple."
    assert env.observation_space.contains(observation)


def test_masks_can_be_left_out(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(masks=False)
    assert set(start(env)) == {"rgb", "goal", "instructions"}
    assert env.observation_space.contains(env.step(PICK)[0])


def test_foreign_characters_are_made_plain(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    observation = start(env, PLACE.replace("#0", "#1"))
    assert observation["goal"] == "Store the cafe's apple."


def test_equal_seeds_draw_equal_episodes(make_fake_env: MakeEnv) -> None:
    drawn = []
    for _ in range(2):
        env = make_fake_env()
        env.reset(seed=7)
        keys = [env.episode.key]
        for _ in range(20):
            env.reset()
            keys.append(env.episode.key)
        drawn.append(keys)
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 5


def test_balanced_rooms_are_drawn_equally_often(make_fake_env: MakeEnv) -> None:
    def share_of_kitchens(setup: Setup) -> float:
        env = make_fake_env(setup=setup.value, reveal_task=True, image_size=8)
        env.reset(seed=1)
        rooms = [env.reset()[1]["room_type"] for _ in range(600)]
        return rooms.count("Kitchen") / len(rooms)

    assert share_of_kitchens(Setup.ENVIRONMENT_IL) == pytest.approx(1 / 2, abs=0.07)
    assert share_of_kitchens(Setup.IMBALANCED_ENVIRONMENT_IL) == pytest.approx(2 / 3, abs=0.07)


def test_the_task_is_a_secret_unless_asked_for(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    _, info = env.reset(options={"episode": EXAMINE})
    assert set(info) == {
        "action_success",
        "reason",
        "failures",
        "steps",
        "goal_conditions",
        "is_success",
    }
    assert "look_at_obj_in_light" not in repr(info)
    env = make_fake_env(reveal_task=True)
    _, info = env.reset(options={"episode": EXAMINE})
    assert info["episode_key"] == EXAMINE
    assert info["task_type"] == "look_at_obj_in_light"
    assert info["room_type"] == "Bedroom"


def test_an_episode_can_be_named_by_key_or_text(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    start(env)
    assert env.episode.key == EpisodeKey(Split.TRAIN, PLACE[len("train/") : -2], 0)
    env.reset(options={"episode": env.episode.key})
    assert str(env.episode.key) == PLACE


def test_goal_matching_reaches_the_goal(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(goal_matching="substring")
    start(env)
    env.step(PICK)
    assert env.step(PUT)[4]["goal_conditions"] == (1, 1)


def test_pickling_gives_the_same_environment(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(reward="dense", split="valid_seen", depth=True)
    copy = pickle.loads(pickle.dumps(env))
    ours, _ = env.reset(seed=3)
    theirs, _ = copy.reset(seed=3)
    assert env.episode.key == copy.episode.key
    assert env.step(TURN)[1] == copy.step(TURN)[1]
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_two_environments_do_not_disturb_each_other(make_fake_env: MakeEnv) -> None:
    first, second = make_fake_env(), make_fake_env()
    start(first)
    start(second)
    first.step(PICK)
    assert second.simulator.held is None
    assert second.step(TURN)[4]["steps"] == 1


def test_observations_stay_as_they_were(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    before = start(env)
    copy = {name: np.array(part) for name, part in before.items()}
    env.step(PICK)
    env.step(TURN)
    assert all(np.array_equal(before[name], copy[name]) for name in copy)
