"""What must be true of a household whatever was done to it; for tests and long random runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations

from gym_clalfred.objects import PICKUPABLE, RECEPTACLES
from gym_clalfred.simulator.embedded.holders import LOOSE
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import TOLERANCE, turn
from gym_clalfred.simulator.embedded.things import Thing

#: Boxes may share so many metres of space before they count as overlapping.
SLACK = 1e-4


def problems(household: Household, start: Collection[str]) -> list[str]:
    """Every broken invariant in words; empty if all is well.

    Args:
        household: to look at.
        start: ids of all objects when the episode began.
    """
    return [*_conservation(household, set(start)), *_places(household), *_states(household)]


def boxes_overlap(a: Thing, b: Thing) -> bool:
    """Whether the upright, turned boxes of two things share space."""
    low = max(a.position[1], b.position[1])
    high = min(a.position[1] + a.box[1], b.position[1] + b.box[1])
    if high - low <= SLACK:
        return False
    # Two convex shapes are apart if and only if an axis of one of their sides separates them.
    for yaw in (a.yaw, b.yaw):
        for axis in (turn(1.0, 0.0, yaw), turn(0.0, 1.0, yaw)):
            (a0, a1), (b0, b1) = _extent_along(a, axis), _extent_along(b, axis)
            if a1 <= b0 + SLACK or b1 <= a0 + SLACK:
                return False
    return True


def _extent_along(thing: Thing, axis: tuple[float, float]) -> tuple[float, float]:
    width, _, depth = thing.box
    centre = thing.position[0] * axis[0] + thing.position[2] * axis[1]
    half = 0.0
    for x, z in (turn(width / 2, 0.0, thing.yaw), turn(0.0, depth / 2, thing.yaw)):
        half += abs(x * axis[0] + z * axis[1])
    return centre - half, centre + half


def _conservation(household: Household, start: set[str]) -> Iterator[str]:
    objects = household.objects
    cut = {thing.id for thing in household.things if not thing.alive}
    pieces = {state.id for state in objects.values() if state.is_sliced}
    for object_id in sorted((start - cut) ^ (set(objects) - pieces)):
        yield f"{object_id} appeared or vanished"
    if {piece.rsplit("|", 1)[0] for piece in pieces} != cut:
        yield "the pieces are not those of the objects that were cut"
    for k, thing in enumerate(household.things):
        if thing.index != k:
            yield f"{thing.id} has index {thing.index} at position {k}"


def _places(household: Household) -> Iterator[str]:
    for thing in household.things:
        if not thing.alive:
            if any(thing in other.contents for other in household.things):
                yield f"{thing.id} was cut and is still somewhere"
            continue
        homes = sum(thing in other.contents for other in household.things if other.alive)
        held = thing is household.held
        if homes + held > 1 or homes != (thing.holder is not None):
            yield f"{thing.id} is in {homes} places and held: {held}"
        if held and thing.object_class not in PICKUPABLE:
            yield f"{thing.id} is held"
        if thing.holder is not None and thing.surface is not None:
            yield from _stands_well(thing, thing.holder)
        for one, other in combinations(thing.contents, 2):
            if boxes_overlap(one, other):
                yield f"{one.id} and {other.id} overlap in {thing.id}"


def _stands_well(thing: Thing, holder: Thing) -> Iterator[str]:
    surface = thing.surface
    if surface not in holder.surfaces or holder.object_class not in RECEPTACLES:
        yield f"{thing.id} stands on a surface that {holder.id} does not have"
        return
    area, slack = surface.area, LOOSE.beside + TOLERANCE
    place = thing.place
    if not (
        area.x0 - slack <= place.x <= area.x1 + slack
        and area.z0 - slack <= place.z <= area.z1 + slack
        and place.y == surface.y
    ):
        yield f"{thing.id} is beside the surface of {holder.id}"
    closed = holder.is_shut and surface.inside
    if thing.hidden != (closed or holder.hidden):
        yield f"{thing.id} in {holder.id} has hidden = {thing.hidden}"


def _states(household: Household) -> Iterator[str]:
    objects = household.objects
    if list(objects) != [thing.id for thing in household.things if thing.alive]:
        yield "objects are not listed in the order of their indices"
    for state in objects.values():
        if state.id in state.parents or len(set(state.parents)) != len(state.parents):
            yield f"{state.id} is in itself"
        for content in state.contents:
            if content not in objects or state.id not in objects[content].parents:
                yield f"{content} does not know that it is in {state.id}"
        for parent in state.parents:
            if parent not in objects or state.id not in objects[parent].contents:
                yield f"{parent} does not know that it holds {state.id}"
