"""A random agent in the environment: what Gymnasium users know, nothing else."""

import argparse

import gymnasium as gym

import gym_clalfred  # noqa: F401  (registers the environments)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tier", default="tiny")
parser.add_argument("--steps", type=int, default=200)
arguments = parser.parse_args()

env = gym.make("CLAlfred-BehaviorIL-v0", tier=arguments.tier, image_size=84)
env.action_space.seed(0)
observation, info = env.reset(seed=0)
print("goal:", observation["goal"])

episodes = successes = 0
for _ in range(arguments.steps):
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    if terminated or truncated:
        episodes, successes = episodes + 1, successes + info["success"]
        observation, info = env.reset()
env.close()
print(f"{episodes} episodes, {successes} solved")
