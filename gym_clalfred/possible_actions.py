"""Which actions can succeed now: for action masks, and for keys, which name no class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import LOOK_DEGREES, Action
from gym_clalfred.interaction import Choice, Pointing, choose_by_class
from gym_clalfred.objects import (
    CLOSED_AT_START,
    KNIVES,
    OPENABLE,
    PICKUPABLE,
    RECEPTACLES,
    SLICEABLE,
    TOGGLEABLE,
    ObjectClass,
)
from gym_clalfred.simulator.contract import (
    GRID_METRES,
    LEAST_PIXELS,
    PITCH_RANGE,
    SIGHT_PIXELS,
    Failure,
    ObjectState,
    Simulator,
)

#: Classes that each interaction can be done on, by ALFRED's lists.
TARGETS: dict[Action, frozenset[ObjectClass]] = {
    Action.PickupObject: PICKUPABLE,
    Action.PutObject: RECEPTACLES,
    Action.OpenObject: OPENABLE,
    Action.CloseObject: OPENABLE,
    Action.ToggleObjectOn: TOGGLEABLE,
    Action.ToggleObjectOff: TOGGLEABLE,
    Action.SliceObject: SLICEABLE,
}

#: Every meaningful (action, class) pair, navigation and Stop first.
PAIRS: tuple[tuple[Action, ObjectClass], ...] = (
    *((action, ObjectClass.NoObject) for action in Action if not action.is_interaction),
    *((action, kind) for action, kinds in TARGETS.items() for kind in sorted(kinds)),
)

_AHEAD = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}

_ROWS, _COLUMNS = np.indices((SIGHT_PIXELS, SIGHT_PIXELS)) - (SIGHT_PIXELS - 1) / 2
_FROM_CENTRE = _ROWS**2 + _COLUMNS**2


def possible_actions(simulator: Simulator, previous: Pointing | None = None) -> NDArray[np.bool_]:
    """(13, 119): which pairs of an action and a class can succeed now.

    A pair that is false would fail. Of those that are true, only PutObject can still fail, for lack
    of space. Actions that need no class are in the column ``NoObject``.

    Args:
        simulator: the household.
        previous: the last interaction, by which instances of a class are chosen.
    """
    table = np.zeros((len(Action), len(ObjectClass)), dtype=np.bool_)
    table[[Action.RotateLeft, Action.RotateRight, Action.Stop], ObjectClass.NoObject] = True
    table[Action.MoveAhead, ObjectClass.NoObject] = _can_move(simulator)
    low, high = PITCH_RANGE
    pitch = simulator.agent.pitch
    table[Action.LookUp, ObjectClass.NoObject] = pitch - LOOK_DEGREES >= low
    table[Action.LookDown, ObjectClass.NoObject] = pitch + LOOK_DEGREES <= high
    sight, objects = simulator.sight(), simulator.objects
    held = objects.get(simulator.held or "")
    for kind in {objects[name].object_class for name in sight.visible if name in objects}:
        chosen = choose_by_class(kind, sight, objects, previous).object_id
        if chosen is not None:
            for action in TARGETS:
                table[action, kind] = applies(action, objects[chosen], held)
    return table


def applies(action: Action, target: ObjectState, held: ObjectState | None) -> bool:
    """Whether an interaction with an object within reach makes sense in the current state."""
    kind = target.object_class
    if kind not in TARGETS[action]:
        return False
    if action is Action.PickupObject:
        return held is None and not (kind is ObjectClass.Laptop and target.is_open)
    if action is Action.PutObject:
        shut = kind in CLOSED_AT_START and not target.is_open
        return held is not None and not shut and target.id != held.id
    if action is Action.SliceObject:
        return held is not None and held.object_class in KNIVES
    microwave = kind is ObjectClass.Microwave
    if action is Action.OpenObject:
        return not target.is_open and not (microwave and target.is_on)
    if action is Action.CloseObject:
        return target.is_open
    if action is Action.ToggleObjectOn:
        return not target.is_on and not (microwave and target.is_open)
    return target.is_on


def most_central(action: Action, simulator: Simulator) -> Choice:
    """The object that an interaction applies to nearest to the centre of the front view."""
    sight, objects = simulator.sight(), simulator.objects
    held = objects.get(simulator.held or "")
    seen = [
        index
        for index, name in enumerate(sight.object_ids, start=1)
        if name in sight.visible
        and name in objects
        and applies(action, objects[name], held)
        and sight.extent(name)[0] >= LEAST_PIXELS
    ]
    if not seen:
        return Choice(None, Failure.NO_TARGET)
    distances = np.where(np.isin(sight.instances, seen), _FROM_CENTRE, np.inf)
    name = sight.object_ids[sight.instances.flat[int(distances.argmin())] - 1]
    return Choice(name, pointing=Pointing(objects[name].object_class, sight.extent(name)[1]))


def _can_move(simulator: Simulator) -> bool:
    agent = simulator.agent
    dx, dz = _AHEAD[round(agent.yaw / 90) * 90 % 360]
    ahead = np.array([agent.x + GRID_METRES * dx, agent.z + GRID_METRES * dz])
    return bool((np.abs(simulator.reachable() - ahead).max(axis=1) < GRID_METRES / 2).any())


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
