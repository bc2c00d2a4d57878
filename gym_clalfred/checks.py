"""Checks of user input; each error says what was expected and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import View

T = TypeVar("T")

# By number; calling an enum is slower.
_ACTIONS = tuple(Action)
_CLASSES = tuple(ObjectClass)


def one_of(name: str, value: T, allowed: Sequence[T]) -> T:
    """The value itself if it is allowed."""
    if value not in allowed:
        raise BadInputError(f"expected {name} to be one of {list(allowed)}, got {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """The value as ``bool`` if it is one."""
    if not isinstance(value, (bool, np.bool_)):
        raise BadInputError(f"expected {name} to be True or False, got {value!r}")
    return bool(value)


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """The value as ``int`` if it is a whole number from ``low`` to ``high``."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        limits = f"from {low}" + ("" if high is None else f" to {high}")
        raise BadInputError(f"expected {name} to be a whole number {limits}, got {value!r}")
    return int(value)


def action_pair(action: ArrayLike) -> tuple[Action, ObjectClass]:
    """An element of the action space as enums."""
    if isinstance(action, tuple) and tuple(map(type, action)) == (Action, ObjectClass):
        return action
    try:
        array = np.asarray(action)
    except ValueError:
        array = np.empty(0)
    if array.shape != (2,) or array.dtype.kind not in "iu":
        raise BadInputError(
            f"expected an action of two integers (action, object class), got {action!r}"
        )
    number, wanted = int(array[0]), int(array[1])
    if not 0 <= number < len(_ACTIONS):
        raise BadInputError(f"expected an action from 0 to {len(_ACTIONS) - 1}, got {number}")
    if not 0 <= wanted < len(_CLASSES):
        raise BadInputError(f"expected an object class from 0 to {len(_CLASSES) - 1}, got {wanted}")
    return _ACTIONS[number], _CLASSES[wanted]


def view_angles(angles: Any) -> tuple[tuple[float, float], ...]:
    """One finite (yaw, pitch) pair per view."""
    try:
        array = np.asarray(angles, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (len(View), 2) or not np.isfinite(array).all():
        raise BadInputError(
            f"expected view_angles to be {len(View)} pairs (yaw, pitch) in degrees, got {angles!r}"
        )
    return tuple((float(yaw), float(pitch)) for yaw, pitch in array)
