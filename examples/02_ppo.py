"""PPO from Stable-Baselines3 on dense rewards: the environment is an ordinary one."""

import argparse

import gymnasium as gym
from stable_baselines3 import PPO

import gym_clalfred  # noqa: F401  (registers the environments)
from gym_clalfred.wrappers import SB3Observation

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tier", default="tiny")
parser.add_argument("--timesteps", type=int, default=20_000)
parser.add_argument("--rollout", type=int, default=256)
arguments = parser.parse_args()

env = gym.make(
    "CLAlfred-BehaviorIL-v0", tier=arguments.tier, image_size=36, max_steps=100, reward="dense"
)
model = PPO(
    "MultiInputPolicy",
    SB3Observation(env),
    n_steps=arguments.rollout,
    batch_size=64,
    seed=0,
    device="cpu",
    verbose=1,
)
model.learn(arguments.timesteps)
env.close()
print(f"{model.num_timesteps} steps of PPO")
