"""An agent that does random things which often make sense, for long runs that look for faults."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gym_clalfred.actions import Action
from gym_clalfred.objects import KNIVES, OPENABLE, PICKUPABLE, RECEPTACLES, SLICEABLE, TOGGLEABLE
from gym_clalfred.simulator.contract import Outcome, Simulator

_MOVES = [action for action in Action if action.is_navigation]

#: Shares of moves and of blind actions on any object; the rest suits what is seen.
MOVING = 0.5
BLIND = 0.05


def random_step(simulator: Simulator, rng: np.random.Generator) -> Outcome:
    """Does one random action."""
    kind = rng.random()
    wishes = list(sensible_interactions(simulator)) if kind >= MOVING + BLIND else []
    if kind < MOVING or (kind >= MOVING + BLIND and not wishes):
        return simulator.step(_MOVES[int(rng.integers(len(_MOVES)))])
    if wishes:
        action, target = wishes[int(rng.integers(len(wishes)))]
    else:
        names = list(simulator.objects)
        action = Action(int(rng.integers(len(Action))))
        target = names[int(rng.integers(len(names)))]
    return simulator.step(action, target)


def sensible_interactions(simulator: Simulator) -> Iterator[tuple[Action, str]]:
    """Every (action, object id) that what is visible and held suggests, in a fixed order."""
    objects, held = simulator.objects, simulator.held
    has_knife = held is not None and objects[held].object_class in KNIVES
    for name in sorted(simulator.sight().visible):
        state = objects[name]
        object_class = state.object_class
        if held is None and object_class in PICKUPABLE:
            yield Action.PickupObject, name
        if held is not None and object_class in RECEPTACLES:
            yield Action.PutObject, name
        if object_class in OPENABLE:
            yield (Action.CloseObject if state.is_open else Action.OpenObject), name
        if object_class in TOGGLEABLE:
            yield (Action.ToggleObjectOff if state.is_on else Action.ToggleObjectOn), name
        if has_knife and object_class in SLICEABLE:
            yield Action.SliceObject, name
