"""Every registered id on the embedded household: checks, vectors, processes, seeds."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass
from gym_clalfred.setups import ENV_IDS, Setup, register_envs
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.tasks import ALFRED_TASKS
from tests import ROOT

SETTINGS: dict[str, Any] = {"tier": "tiny", "image_size": 32}

pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")


def digest(observation: dict[str, Any]) -> str:
    whole = hashlib.sha256()
    for name in sorted(observation):
        part = observation[name]
        whole.update(part.encode() if isinstance(part, str) else np.asarray(part).tobytes())
    return whole.hexdigest()


def random_walk(env_id: str, seed: int, steps: int = 60) -> str:
    """Digest of everything that some random actions show, over the ends of episodes."""
    env = gymnasium.make(env_id, depth=True, **SETTINGS)
    env.action_space.seed(seed)
    observation, info = env.reset(seed=seed)
    seen = [digest(observation)]
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        seen.append(f"{digest(observation)} {reward} {sorted(info.items())}")
        if terminated or truncated:
            seen.append(digest(env.reset()[0]))
    env.close()
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()


def test_registering_twice_is_harmless() -> None:
    register_envs()
    assert {setup.env_id for setup in Setup} == set(ENV_IDS)
    assert all(env_id in gymnasium.registry for env_id in ENV_IDS)


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_gymnasium_check_of_every_id(env_id: str) -> None:
    env = gymnasium.make(env_id, render_mode="rgb_array", **SETTINGS)
    check_env(env.unwrapped)
    env.close()


def test_equal_seeds_give_equal_bytes_in_another_process() -> None:
    code = (
        "import warnings; warnings.simplefilter('ignore'); import gym_clalfred\n"
        "from tests.environment.test_vector_env import ENV_IDS, random_walk\n"
        "for env_id in ENV_IDS: print(random_walk(env_id, 5))"
    )
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "123",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", code]
    other = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    ).stdout.split()
    assert len(other) == len(ENV_IDS)
    for env_id, found in zip(ENV_IDS, other):
        assert found == random_walk(env_id, 5)
        assert found != random_walk(env_id, 6)


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_pickled_environments_agree(env_id: str) -> None:
    env = gymnasium.make(env_id, **SETTINGS)
    copy = pickle.loads(pickle.dumps(env.unwrapped))
    assert digest(env.reset(seed=2)[0]) == digest(copy.reset(seed=2)[0])
    copy.close()
    env.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("env_id", ENV_IDS)
def test_vector_environments_agree_with_single_ones(env_id: str, mode: str) -> None:
    vector = gymnasium.make_vec(
        env_id,
        2,
        vectorization_mode=mode,
        vector_kwargs={"autoreset_mode": AutoresetMode.NEXT_STEP},
        **SETTINGS,
    )
    single = gymnasium.make(env_id, **SETTINGS)
    observations, _ = vector.reset(seed=[11, 12])
    expected, _ = single.reset(seed=12)
    assert vector.observation_space.contains(observations)
    for number in range(8):
        for name, part in expected.items():
            assert np.array_equal(observations[name][1], part)
        action = np.array([number % 5, 0])
        observations, rewards, terminated, _, infos = vector.step(np.stack([action, action]))
        expected, reward, ended, _, info = single.step(action)
        assert (rewards[1], terminated[1]) == (reward, ended)
        assert infos["failures"][1] == info["failures"]
        if ended:
            break
    vector.close()
    single.close()


def test_vector_environments_go_on_after_the_end() -> None:
    vector = gymnasium.make_vec(ENV_IDS[0], 2, vectorization_mode="sync", **SETTINGS)
    vector.reset(seed=0)
    stop, turn = [Action.Stop, 0], [Action.RotateLeft, 0]
    _, _, terminated, _, infos = vector.step(np.array([stop, turn]))
    assert terminated.tolist() == [True, False]
    assert infos["success"].tolist() == [False, False]
    assert infos["_success"].tolist() == [True, False]
    _, _, terminated, _, infos = vector.step(np.array([turn, turn]))
    assert infos["steps"].tolist() == [0, 2]
    vector.close()


def test_experts_solve_one_episode_of_each_task_by_class_and_by_mask() -> None:
    env: Any = gymnasium.make(ENV_IDS[0], **SETTINGS).unwrapped
    first = {}
    for entry in env.source.entries(env.split):
        first.setdefault(entry.task_type, entry.key)
    assert set(first) == set(ALFRED_TASKS)
    for key in first.values():
        for by_mask in (False, True):
            env.reset(options={"episode": key})
            for low in env.episode.trajectory.actions:
                if by_mask:
                    mask = None if low.mask is None else low.mask.decode()
                    info = env.act_with_mask(low.action, mask)[4]
                else:
                    name = low.object_id
                    wanted = ObjectClass.NoObject if name is None else class_of(name)
                    info = env.step((low.action, wanted))[4]
                assert info["action_success"], info["reason"]
            _, reward, terminated, _, info = env.step((Action.Stop, 0))
            assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.close()
