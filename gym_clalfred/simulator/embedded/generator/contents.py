"""How many small objects a room gets, what they look like and where they tend to lie."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.simulator.embedded.generator.traits import traits_of

C = ObjectClass

#: Different looks that a class has over all rooms, and in one room.
_LOOKS = 12
_LOOKS_IN_ROOM = 2

#: Copies of a class in one room as in ALFRED's scenes: (share of 1, of 2, of 3).
_USUAL = (0.3, 0.45, 0.25)
_COPIES = {
    C.Pan: (0.65, 0.3, 0.05),
    C.Pot: (0.55, 0.35, 0.1),
    C.Bread: (0.5, 0.4, 0.1),
    C.Lettuce: (0.4, 0.4, 0.2),
    C.Kettle: (0.5, 0.35, 0.15),
    C.Laptop: (0.6, 0.35, 0.05),
    C.Pillow: (0.5, 0.4, 0.1),
    C.Box: (0.75, 0.25, 0.0),
    C.Statue: (0.4, 0.4, 0.2),
    C.ToiletPaper: (0.15, 0.45, 0.4),
    C.TissueBox: (0.5, 0.4, 0.1),
}
_SINGLE = frozenset(
    {C.PaperTowelRoll, C.BaseballBat, C.BasketBall, C.TennisRacket, C.TeddyBear, C.Boots}
    | {C.Footstool, C.Plunger, C.ScrubBrush, C.Towel, C.HandTowel, C.WateringCan}
)

#: Stand on the floor at a wall.
ON_FLOOR = frozenset({C.Boots, C.Footstool, C.Plunger, C.ScrubBrush})

#: Holders of classes for which ALFRED's table names none.
_MORE_HOLDERS = {
    C.TeddyBear: frozenset({C.Bed, C.Sofa, C.ArmChair}),
    C.PaperTowelRoll: frozenset({C.CounterTop, C.DiningTable, C.Shelf, C.SideTable, C.Toilet}),
}

#: Where people leave things: how much likelier a holder is chosen than another of the same size.
_INCLINATION = {
    C.CounterTop: 3.0,
    C.DiningTable: 3.0,
    C.SideTable: 3.0,
    C.CoffeeTable: 3.0,
    C.Desk: 3.0,
    C.Dresser: 2.5,
    C.Shelf: 2.0,
    C.Cart: 2.0,
    C.TVStand: 1.5,
    C.Sofa: 1.0,
    C.ArmChair: 0.8,
    C.Ottoman: 0.8,
    C.Bed: 1.0,
    C.Toilet: 1.2,
    C.Fridge: 0.9,
    C.SinkBasin: 0.5,
    C.BathtubBasin: 0.5,
    C.StoveBurner: 1.6,
    C.Cabinet: 0.3,
    C.Drawer: 0.35,
    C.Microwave: 0.2,
    C.GarbageCan: 0.2,
    C.LaundryHamper: 0.5,
    C.Safe: 0.4,
    C.CoffeeMachine: 0.3,
    C.HandTowelHolder: 300.0,
    C.TowelHolder: 30.0,
    C.ToiletPaperHanger: 15.0,
}

#: Pairs that belong together more than the inclination says.
_FAVOURITES = {
    (C.Pillow, C.Bed): 8.0,
    (C.Pillow, C.Sofa): 4.0,
    (C.Egg, C.Fridge): 2.0,
    (C.Lettuce, C.Fridge): 2.0,
    (C.SoapBar, C.SinkBasin): 2.0,
    (C.DishSponge, C.SinkBasin): 2.0,
    (C.Laptop, C.Desk): 2.0,
    (C.TissueBox, C.TVStand): 1.0,
}


@cache
def item_classes(number: int) -> tuple[ObjectClass, ...]:
    """The pickupable classes that a room has, in the order of their labels."""
    return tuple(sorted(traits_of(number).classes & PICKUPABLE))


@cache
def holders_of(object_class: ObjectClass) -> frozenset[ObjectClass]:
    """Fixture classes on or in which a class may lie at the start."""
    accepted = frozenset(holder for holder, held in ACCEPTS.items() if object_class in held)
    return accepted | _MORE_HOLDERS.get(object_class, frozenset())


def inclination(object_class: ObjectClass, holder: ObjectClass) -> float:
    """How likely people leave a thing there."""
    return _INCLINATION.get(holder, 0.0) * _FAVOURITES.get((object_class, holder), 1.0)


def choose_copies(object_class: ObjectClass, rng: np.random.Generator) -> int:
    """How many of a class an arrangement has."""
    if object_class in _SINGLE:
        return 1
    one, two, _ = _COPIES.get(object_class, _USUAL)
    roll = rng.random()
    return 1 if roll < one else 2 if roll < one + two else 3


def item_name(number: int, object_class: ObjectClass, copy: int) -> str:
    """The name of the n-th object of a class in a room: the class and a tag for its look."""
    slot = copy % _LOOKS_IN_ROOM
    look = zlib.crc32(f"{number}/{object_class.name}/look/{slot}".encode()) % _LOOKS
    tag = zlib.crc32(f"{object_class.name}/{look}".encode())
    return f"{object_class.name}_{tag:08x}"
