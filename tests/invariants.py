"""What must be true of a household at any time, whatever was done to it."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from gym_clalfred.objects import PICKUPABLE, RECEPTACLES
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.things import Thing


def boxes_overlap(a: Thing, b: Thing, slack: float = 1e-4) -> bool:
    """Whether the upright, turned boxes of two things share space."""
    low = max(a.position[1], b.position[1])
    high = min(a.position[1] + a.box[1], b.position[1] + b.box[1])
    if high - low <= slack:
        return False
    corners = {}
    for thing in (a, b):
        w, _, d = thing.box
        corners[thing.index] = np.array(
            [
                np.add(turn(sx * w / 2, sz * d / 2, thing.yaw), thing.position[::2])
                for sx, sz in ((-1, -1), (-1, 1), (1, 1), (1, -1))
            ]
        )
    for thing in (a, b):
        for axis in ((1.0, 0.0), (0.0, 1.0)):
            direction = np.array(turn(*axis, thing.yaw))
            first, second = (points @ direction for points in corners.values())
            if first.max() <= second.min() + slack or second.max() <= first.min() + slack:
                return False
    return True


def check(household: Household, start: set[str], *, overlaps: bool = True) -> None:
    """Asserts the invariants; ``start`` are the ids of the episode's first moment."""
    objects = household.objects
    alive = [thing for thing in household.things if thing.alive]
    assert list(objects) == [thing.id for thing in alive]
    wholes = {thing.id for thing in household.things if not thing.alive}
    pieces = {state.id for state in objects.values() if state.is_sliced}
    assert set(objects) | wholes == start | pieces
    assert {piece.rsplit("|", 1)[0] for piece in pieces} == wholes
    assert [thing.index for thing in household.things] == list(range(len(household.things)))
    for thing in alive:
        check_place(household, thing)
        state = objects[thing.id]
        assert state.parents == tuple(holder.id for holder in thing.holders())
        assert len(set(state.parents)) == len(state.parents)
        for content in state.contents:
            assert state.id in objects[content].parents
        if overlaps:
            for one, other in combinations(thing.contents, 2):
                assert not boxes_overlap(one, other), f"{one.id} and {other.id} in {thing.id}"


def check_place(household: Household, thing: Thing) -> None:
    """Asserts that a thing is in exactly one place, and that the place is its own."""
    if thing is household.held:
        assert thing.holder is None
        assert thing.object_class in PICKUPABLE
        return
    if thing.fixture is not None:
        assert thing.holder is None
        return
    if thing.holder is None:
        return
    assert thing.holder.alive
    assert thing.holder.object_class in RECEPTACLES
    assert sum(thing is content for content in thing.holder.contents) == 1
    assert thing.surface in thing.holder.surfaces
    area = thing.surface.area
    assert area.x0 - 0.06 <= thing.place.x <= area.x1 + 0.06
    assert area.z0 - 0.06 <= thing.place.z <= area.z1 + 0.06
    assert thing.place.y == thing.surface.y
