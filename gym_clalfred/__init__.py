"""CL-ALFRED Gym: continual learning of household tasks from instructions.

Importing the package registers its environment ids with Gymnasium::

    import gymnasium as gym
    import gym_clalfred

    env = gym.make("CLAlfred-BehaviorIL-v0", image_size=84)
"""

from gym_clalfred.setups import ENV_IDS, register_envs

__version__ = "0.2.0"
__all__ = ["ENV_IDS", "register_envs"]

register_envs()
