"""``info`` goes together with the statistics that Gymnasium and SB3 add to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorStatistics
from stable_baselines3.common.monitor import Monitor

from gym_clalfred.actions import Action
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.objects import ObjectClass
from tests.helpers.fakes import FakeSource

MakeEnv = Callable[..., ClAlfredEnv]

PLACE = "train/pick_and_place_simple-Apple-None-Fridge-1/trial_T1#0"
TURN, STOP = (Action.RotateLeft, 0), (Action.Stop, 0)
SOLUTION = (
    (Action.PickupObject, ObjectClass.Apple),
    (Action.PutObject, ObjectClass.Fridge),
    STOP,
)


@pytest.mark.parametrize("wrapper", [RecordEpisodeStatistics, Monitor])
def test_statistics_stand_beside_the_task(
    make_fake_env: MakeEnv, wrapper: Callable[[Any], Any]
) -> None:
    env = wrapper(make_fake_env(reveal_task=True))
    _, info = env.reset(options={"episode": PLACE})
    assert info["episode_key"] == PLACE
    for action in SOLUTION:
        info = env.step(action)[4]
    assert (float(info["episode"]["r"]), int(info["episode"]["l"])) == (1.0, 3)
    assert info["episode_key"] == PLACE
    assert info["task_type"] == "pick_and_place_simple"
    assert info["room_type"] == "Kitchen"


def test_monitor_can_write_the_task(make_fake_env: MakeEnv) -> None:
    env = Monitor(make_fake_env(reveal_task=True), info_keywords=("task_type", "is_success"))
    env.reset(options={"episode": PLACE})
    statistics = env.step(STOP)[4]["episode"]
    assert statistics["task_type"] == "pick_and_place_simple"
    assert statistics["is_success"] is False


def test_statistics_of_vectors(make_fake_env: MakeEnv) -> None:
    def make() -> ClAlfredEnv:
        return make_fake_env(reveal_task=True, source=FakeSource())

    env = VectorStatistics(SyncVectorEnv([make, make]))
    env.reset(seed=0)
    infos = env.step(np.array([STOP, TURN]))[4]
    assert infos["_episode"].tolist() == [True, False]
    assert infos["episode"]["l"].tolist() == [1, 0]
    assert [key.split("/")[0] for key in infos["episode_key"]] == ["train", "train"]
    assert infos["is_success"].tolist() == [False, False]
    env.close()


def test_is_success_is_told_at_every_step_and_reset(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    told = [env.reset(options={"episode": PLACE})[1]["is_success"]]
    told += [env.step(action)[4]["is_success"] for action in SOLUTION]
    # Not before the end: the goal is met after the second action, but the episode goes on.
    assert told == [False, False, False, True]
    assert env.reset()[1]["is_success"] is False
    assert env.step(STOP)[4]["is_success"] is False


def test_is_success_when_the_step_limit_ends_the_episode(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(max_steps=2)
    env.reset(options={"episode": PLACE})
    env.step(SOLUTION[0])
    _, _, _, truncated, info = env.step(SOLUTION[1])
    assert (truncated, info["is_success"], info["success"]) == (True, True, True)


def test_an_episode_that_another_wrapper_cuts_is_no_success(make_fake_env: MakeEnv) -> None:
    env = TimeLimit(make_fake_env(), max_episode_steps=2)
    env.reset(options={"episode": PLACE})
    env.step(SOLUTION[0])
    _, _, _, truncated, info = env.step(SOLUTION[1])
    assert (truncated, info["is_success"]) == (True, False)
