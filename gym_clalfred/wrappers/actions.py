"""Other forms of the action: one number, for algorithms that take no ``MultiDiscrete``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.checks import whole_number
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.possible_actions import PAIRS

_ROWS, _COLUMNS = np.array(PAIRS).T


class DiscreteActions(gymnasium.ActionWrapper[Any, int, NDArray[np.int64]], RecordConstructorArgs):
    """``Discrete`` actions: one number for each meaningful pair of an action and a class.

    The numbers are those of ``pairs``: first the five moves and Stop, then PickupObject with every
    class that can be picked up, and so on. ``action_masks`` masks pairs, which sb3-contrib's
    MaskablePPO uses.

    Args:
        env: an environment of this package.

    Example:
        >>> import gymnasium as gym
        >>> import gym_clalfred
        >>> from gym_clalfred.wrappers import DiscreteActions
        >>> env = gym.make("CLAlfred-BehaviorIL-v0", tier="tiny", image_size=32)
        >>> env = DiscreteActions(env)
        >>> env.action_space
        Discrete(144)
        >>> env.pairs[5]
        (<Action.Stop: 12>, <ObjectClass.NoObject: 0>)
        >>> observation, info = env.reset(seed=0)
        >>> bool(env.action_masks()[5])
        True
        >>> env.close()
    """

    #: What each number stands for.
    pairs: tuple[tuple[Action, ObjectClass], ...] = PAIRS

    def __init__(self, env: gymnasium.Env[Any, NDArray[np.int64]]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        wanted = spaces.MultiDiscrete([len(Action), len(ObjectClass)])
        if env.action_space != wanted:
            raise BadInputError(f"expected an action space {wanted}, found {env.action_space}")
        self.action_space: spaces.Space[Any] = spaces.Discrete(len(PAIRS))

    def action(self, action: int) -> NDArray[np.int64]:
        """The pair that a number stands for."""
        number = action.item() if isinstance(action, np.ndarray) and action.ndim == 0 else action
        return np.array(PAIRS[whole_number("action", number, 0, len(PAIRS) - 1)], dtype=np.int64)

    def number(self, action: Action, object_class: ObjectClass = ObjectClass.NoObject) -> int:
        """The number of a pair; raises ``BadInputError`` if it is not a meaningful one."""
        pair = (action, object_class if action.is_interaction else ObjectClass.NoObject)
        if pair not in PAIRS:
            raise BadInputError(f"{action.name} cannot be done on {object_class.name}")
        return PAIRS.index(pair)

    def action_masks(self) -> NDArray[np.bool_]:
        """Which numbers can succeed now, see ``ClAlfredEnv.possible_actions``."""
        table: NDArray[np.bool_] = self.env.get_wrapper_attr("possible_actions")()
        return table[_ROWS, _COLUMNS]
