"""Which room has which object classes and how large it is, planned over thirty rooms of a type.

Thirty rooms with successive numbers are planned together, so that the shares of
``CLASS_FREQUENCY`` hold exactly for them, except for the few classes that every room needs for
ALFRED's tasks (``EVERYWHERE``).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import CLASS_FREQUENCY, ROOMS_PER_TYPE, RoomType

#: Changes whenever a room would come out differently; part of every room's seed.
ROOMS_VERSION = 1

C = ObjectClass

#: Classes that AI2-THOR lacks in some rooms of a type but that tasks need in all of them.
EVERYWHERE = {
    RoomType.KITCHEN: frozenset[ObjectClass](),
    RoomType.LIVING_ROOM: frozenset[ObjectClass](),
    RoomType.BEDROOM: frozenset({C.DeskLamp}),
    RoomType.BATHROOM: frozenset({C.Faucet}),
}


def _numbers(row: str) -> tuple[int, ...]:
    return tuple(int(number) for number in row.split())


#: Numbers of grid points to stand on, smallest room first, shaped like AI2-THOR's rooms.
_WALKABLE = {
    RoomType.KITCHEN: _numbers(
        "30 44 58 61 65 67 69 70 73 76 78 80 85 92 96 "
        "99 101 104 108 114 119 128 134 140 168 178 196 205 224 262"
    ),
    RoomType.LIVING_ROOM: _numbers(
        "82 103 108 114 119 127 140 146 150 154 158 170 184 190 199 "
        "206 212 214 217 222 236 250 264 276 290 306 352 380 415 480"
    ),
    RoomType.BEDROOM: _numbers(
        "46 50 57 60 63 68 76 79 81 83 85 87 88 89 90 "
        "91 92 94 96 98 100 102 105 110 126 138 184 192 222 345"
    ),
    RoomType.BATHROOM: _numbers(
        "26 27 29 31 32 34 37 38 40 42 47 49 50 51 52 53 55 56 57 59 62 64 67 70 72 80 92 96 99 105"
    ),
}

#: How much larger rooms are preferred for a class: 0 not at all, 1 strongly.
_LARGE = {
    RoomType.KITCHEN: {C.DiningTable: 1.5, C.Chair: 0.8, C.SideTable: 1.5, C.Shelf: 0.5}
    | {C.Safe: 1.5, C.HousePlant: 1.0, C.Window: 0.0, C.Mirror: 0.5},
    RoomType.LIVING_ROOM: {C.DiningTable: 2.0, C.Desk: 1.5, C.Dresser: 0.6, C.Cabinet: 0.8}
    | {C.Chair: 0.5, C.Ottoman: 0.8, C.Safe: 0.8, C.ArmChair: 0.6, C.CoffeeTable: 0.5, C.Shelf: 0.4}
    | {C.SideTable: 0.4},
    RoomType.BEDROOM: {C.ArmChair: 1.5, C.DiningTable: 2.0, C.CoffeeTable: 2.0, C.CounterTop: 2.0}
    | {C.Desk: 0.8, C.Dresser: 0.8, C.Cabinet: 1.0, C.LaundryHamper: 0.5, C.Television: 1.0}
    | {C.Chair: 0.4, C.HousePlant: 0.5, C.Safe: 0.6, C.Box: 2.0},
    RoomType.BATHROOM: {C.Bathtub: 1.5, C.Cart: 1.0, C.Dresser: 2.0, C.SideTable: 1.5}
    | {C.FloorLamp: 2.0, C.HousePlant: 1.5, C.CounterTop: 1.0, C.Shelf: 0.7, C.Footstool: 1.0},
}


@dataclass(frozen=True)
class Traits:
    """The plan of one room.

    Args:
        classes: every class that the room contains.
        walkable: approximate number of grid points to stand on.
        roominess: 0 for the smallest room of the type, 1 for the largest.
    """

    classes: frozenset[ObjectClass]
    walkable: int
    roominess: float


class _Planner:
    """Distributes object classes over thirty rooms of a type.

    Args:
        room_type: of the rooms.
        block: which thirty: 0 for those with AI2-THOR's numbers, then on through ``more_numbers``.
    """

    def __init__(self, room_type: RoomType, block: int) -> None:
        seed = zlib.crc32(room_type.value.encode())
        self.rng = np.random.default_rng([ROOMS_VERSION, seed, *([block] if block else [])])
        self.room_type = room_type
        self.rank = self.rng.permutation(ROOMS_PER_TYPE)
        self.holders: dict[ObjectClass, set[int]] = {}

    def count(self, object_class: ObjectClass) -> int:
        if object_class in EVERYWHERE[self.room_type]:
            return ROOMS_PER_TYPE
        return round(CLASS_FREQUENCY[self.room_type][object_class] * ROOMS_PER_TYPE)

    def deal(
        self,
        object_class: ObjectClass,
        *,
        first: set[int] | None = None,
        never: set[int] | None = None,
    ) -> None:
        """Chooses the rooms of a class: those in ``first`` before others, none in ``never``."""
        large = _LARGE[self.room_type].get(object_class, 0.0)
        score = self.rng.random(ROOMS_PER_TYPE) + large * self.rank / ROOMS_PER_TYPE
        for room in range(ROOMS_PER_TYPE):
            if first is not None and room in first:
                score[room] += 10.0
            if never is not None and room in never:
                score[room] -= 20.0
        order = np.argsort(-score, kind="stable")
        self.holders[object_class] = {int(i) for i in order[: self.count(object_class)]}

    def without(self, *classes: ObjectClass) -> set[int]:
        """Rooms that have none of the classes yet."""
        rooms = set(range(ROOMS_PER_TYPE))
        for object_class in classes:
            rooms -= self.holders[object_class]
        return rooms

    def copy(self, object_class: ObjectClass, original: ObjectClass) -> None:
        """Gives a class to the same rooms as another."""
        self.holders[object_class] = set(self.holders[original])


def _plan_dependent(planner: _Planner) -> None:
    """Classes that stand on, in or before each other."""
    deal, without = planner.deal, planner.without
    if planner.room_type == RoomType.KITCHEN:
        deal(C.Window)
        deal(C.Curtains, never=without(C.Window))
        deal(C.Blinds, never=without(C.Window) | planner.holders[C.Curtains])
        deal(C.DiningTable)
        deal(C.Chair, first=planner.holders[C.DiningTable])
    elif planner.room_type == RoomType.LIVING_ROOM:
        deal(C.Window)
        deal(C.Curtains, never=without(C.Window))
        deal(C.Blinds, never=without(C.Window) | planner.holders[C.Curtains])
        deal(C.SideTable)
        deal(C.CoffeeTable, first=without(C.SideTable))
        deal(C.Shelf, first=without(C.SideTable))
        deal(C.Dresser)
        deal(C.TVStand)
        deal(C.Drawer, never=without(C.SideTable, C.Dresser))
        deal(C.DeskLamp, never=without(C.SideTable))
        deal(C.Lamp, never=without(C.SideTable, C.Dresser) | planner.holders[C.DeskLamp])
        deal(C.DiningTable)
        deal(C.Chair, first=planner.holders[C.DiningTable])
    elif planner.room_type == RoomType.BEDROOM:
        deal(C.Window)
        deal(C.Blinds)
        deal(C.Curtains, first=without(C.Blinds))
        deal(C.Desk)
        deal(C.SideTable, first=without(C.Desk))
        deal(C.Dresser, first=without(C.Desk, C.SideTable))
        few = without(C.Desk, C.Dresser) | without(C.SideTable, C.Dresser)
        deal(C.Shelf, first=few)
        deal(C.Drawer, never=without(C.Desk, C.SideTable, C.Dresser))
        deal(C.Chair, first=planner.holders[C.Desk])
        deal(C.LaundryHamper)
        planner.copy(C.LaundryHamperLid, C.LaundryHamper)
        deal(C.Television, never=without(C.Dresser))
        deal(C.Box)
        deal(C.Mug, first=without(C.Box))
        deal(C.Bowl, first=without(C.Box, C.Mug))
    else:
        deal(C.Bathtub)
        planner.copy(C.BathtubBasin, C.Bathtub)
        deal(C.ShowerCurtain, never=without(C.Bathtub))
        deal(C.ShowerDoor, first=without(C.ShowerCurtain))
        deal(C.ShowerGlass, first=without(C.Bathtub), never=without(C.ShowerDoor))
        deal(C.ShowerHead)
        deal(C.CounterTop)
        deal(C.Cabinet, never=without(C.CounterTop))
        deal(C.Dresser)
        deal(C.Drawer, first=planner.holders[C.Dresser], never=without(C.CounterTop, C.Dresser))
        deal(C.Shelf, first=without(C.CounterTop))


@cache
def _plan(room_type: RoomType, block: int) -> tuple[Traits, ...]:
    planner = _Planner(room_type, block)
    _plan_dependent(planner)
    for object_class in CLASS_FREQUENCY[room_type]:
        if object_class not in planner.holders:
            planner.deal(object_class)
    return tuple(
        Traits(
            classes=frozenset(c for c, rooms in planner.holders.items() if room in rooms),
            walkable=_WALKABLE[room_type][int(planner.rank[room])],
            roominess=float(planner.rank[room]) / (ROOMS_PER_TYPE - 1),
        )
        for room in range(ROOMS_PER_TYPE)
    )


def traits_of(number: int) -> Traits:
    """The plan of the room with this number."""
    room_type = RoomType.of(number)
    if number in room_type.numbers:
        return _plan(room_type, 0)[room_type.numbers.index(number)]
    block, position = divmod(room_type.more_numbers.index(number), ROOMS_PER_TYPE)
    return _plan(room_type, block + 1)[position]
