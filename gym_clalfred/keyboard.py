"""Keys for people, as ``gymnasium.utils.play`` wants them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass

#: One key for each action; ``\r`` is Enter.
KEYS = {
    "w": Action.MoveAhead,
    "a": Action.RotateLeft,
    "d": Action.RotateRight,
    "q": Action.LookUp,
    "e": Action.LookDown,
    "p": Action.PickupObject,
    "u": Action.PutObject,
    "o": Action.OpenObject,
    "c": Action.CloseObject,
    "n": Action.ToggleObjectOn,
    "f": Action.ToggleObjectOff,
    "x": Action.SliceObject,
    "\r": Action.Stop,
}


def keys_to_action() -> dict[str, NDArray[np.int64]]:
    """The action of each key, as elements of the action space; interactions name no class."""
    return {key: np.array([action, ObjectClass.NoObject]) for key, action in KEYS.items()}


def is_no_key(action: Any) -> bool:
    """Whether an action is the 0 that ``play`` sends while no key is pressed."""
    return isinstance(action, (int, np.integer)) and not isinstance(action, bool) and action == 0
