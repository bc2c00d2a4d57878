"""How many small objects a room has, what they look like and where they tend to lie."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.objects import CLASSES, PICKUPABLE, ObjectClass, classes, having
from gym_clalfred.simulator.embedded.generator.traits import traits_of

#: Different looks that a class has over all rooms, and in one room.
_LOOKS = 12
_LOOKS_IN_ROOM = 2

#: Stand on the floor at a wall.
ON_FLOOR = having("on_floor")


@cache
def item_classes(number: int) -> tuple[ObjectClass, ...]:
    """The pickupable classes that a room has, in the order of their labels."""
    return tuple(sorted(traits_of(number).classes & PICKUPABLE))


@cache
def holders_of(object_class: ObjectClass) -> frozenset[ObjectClass]:
    """Fixture classes on or in which a class may lie at the start."""
    accepted = frozenset(holder for holder, held in ACCEPTS.items() if object_class in held)
    return accepted | classes(CLASSES[object_class].starts_in)


def inclination(object_class: ObjectClass, holder: ObjectClass) -> float:
    """How likely people are to leave an object there."""
    return CLASSES[holder].inclination * CLASSES[object_class].favourites.get(holder.name, 1.0)


def choose_copies(object_class: ObjectClass, rng: np.random.Generator) -> int:
    """How many of a class an arrangement has."""
    one, two, _ = CLASSES[object_class].copies
    if one == 1:
        return 1
    roll = rng.random()
    return 1 if roll < one else 2 if roll < one + two else 3


def item_name(number: int, object_class: ObjectClass, copy: int) -> str:
    """The name of the n-th object of a class in a room: the class and a tag for its look."""
    slot = copy % _LOOKS_IN_ROOM
    look = zlib.crc32(f"{number}/{object_class.name}/look/{slot}".encode()) % _LOOKS
    tag = zlib.crc32(f"{object_class.name}/{look}".encode())
    return f"{object_class.name}_{tag:08x}"
