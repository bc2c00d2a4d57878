"""Bedrooms: a bed with its head to a wall, night tables, a desk, a dresser."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.generator import common
from gym_clalfred.simulator.embedded.generator.floor_plan import FRONT_METRES, FloorPlan, WallPlace
from gym_clalfred.simulator.embedded.generator.living_room import dresser, side_tables, stand_lamp
from gym_clalfred.simulator.embedded.room_model import Fixture


def furnish(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    """Fills a bedroom; see ``kitchen.furnish``."""
    common.add_door(layout)
    _bed(layout, classes, roominess)
    if ObjectClass.Desk in classes:
        _desk(layout, classes)
    if ObjectClass.Dresser in classes:
        above = 0.85 if ObjectClass.Television in classes else 0.3
        body = dresser(layout, classes, above=above)
        if ObjectClass.Television in classes:
            size = layout.usual_size(ObjectClass.Television)
            scale = min(1.0, (body.size[0] - 0.25) / size[0])
            small = (round(size[0] * scale, 2), round(size[1] * scale, 2), size[2])
            layout.on_top(body, ObjectClass.Television, 0.0, -0.1, small)
    if ObjectClass.SideTable in classes:
        beds = layout.of(ObjectClass.Bed)[0].position
        have = len(layout.of(ObjectClass.SideTable))
        side_tables(layout, classes, (beds[0], beds[2]), 1 + roominess - have)
    _extras(layout, classes)
    stand_lamp(layout, ObjectClass.DeskLamp)
    if ObjectClass.Lamp in classes:
        stand_lamp(layout, ObjectClass.Lamp)
    common.add_garbage_can(layout)
    if ObjectClass.LaundryHamper in classes:
        _hamper(layout)
    common.add_windows(layout, classes, 1 + int(layout.chance(0.3 + 0.4 * roominess)))
    if ObjectClass.HousePlant in classes:
        common.add_plants(layout, 1)
    common.hang_pictures(
        layout,
        classes,
        {
            ObjectClass.Mirror: 1,
            ObjectClass.Painting: int(layout.rng.integers(2, 5)),
            ObjectClass.Poster: int(layout.rng.integers(2, 5)),
        },
    )


def _bed(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    width, height, depth = layout.usual_size(ObjectClass.Bed)
    # Small rooms have single beds.
    width = round(width * (0.68 if roominess < 0.4 else 0.85 if roominess < 0.7 else 1.0), 2)
    size = (width, height, depth)
    night = layout.usual_size(ObjectClass.SideTable)
    beside = ObjectClass.SideTable in classes
    both = beside and layout.chance(0.2 + 0.6 * roominess)
    wide = width + (2 if both else 1 if beside else 0) * (night[0] + 0.04)
    place = layout.find((wide, height, depth), front=0.6, where="corner")
    if place is None:
        both = beside = False
        place = layout.need(size, front=0.5, where="corner")
        wide = width
    left = layout.chance(0.5) or both
    t = place.t + (wide - width) / 2 * (0 if both or not beside else 1 if left else -1)
    layout.at_wall(ObjectClass.Bed, WallPlace(place.side, round(t, 3)), size)
    drawers = ObjectClass.Drawer in classes
    for sign in (-1, 1) if both else (-1,) if left else (1,):
        if not beside:
            break
        spot = round(t + sign * (width / 2 + night[0] / 2 + 0.03), 3)
        table = layout.at_wall(ObjectClass.SideTable, WallPlace(place.side, spot), night, front=0.6)
        if drawers:
            common.add_drawer_under_top(layout, table)


def _desk(layout: FloorPlan, classes: frozenset[ObjectClass]) -> Fixture:
    width, height, depth = layout.usual_size(ObjectClass.Desk)
    for scale in (1.0, 0.85, 0.7):
        size = (round(width * scale, 2), height, depth)
        place = layout.find((size[0], 1.3, depth), front=0.75, where="corner")
        if place is not None:
            break
    else:
        place = layout.need(size, front=FRONT_METRES)
    desk = layout.at_wall(ObjectClass.Desk, place, size, front=0.3)
    if ObjectClass.Drawer in classes:
        common.add_drawer_under_top(layout, desk, share=0.4)
    if ObjectClass.Chair in classes and common.add_chairs(layout, desk, 1) == 0:
        common.stand(layout, ObjectClass.Chair, where="corner", gap=0.02)
    return desk


def _hamper(layout: FloorPlan) -> None:
    """The hamper with its lid leaning against the wall beside it."""
    size = layout.usual_size(ObjectClass.LaundryHamper)
    place = layout.need((size[0] + 0.08, size[1], size[2]), front=0.5, where="corner")
    spot = WallPlace(place.side, round(place.t - 0.04, 3))
    hamper = layout.at_wall(ObjectClass.LaundryHamper, spot, size, front=0.5)
    lid = (0.04, round(size[0] - 0.05, 2), round(size[2] - 0.02, 2))
    beside = WallPlace(place.side, round(spot.t + hamper.size[0] / 2 + 0.03, 3))
    layout.at_wall(ObjectClass.LaundryHamperLid, beside, lid)


def _extras(layout: FloorPlan, classes: frozenset[ObjectClass]) -> None:
    if ObjectClass.Chair in classes and not layout.of(ObjectClass.Chair):
        common.stand(layout, ObjectClass.Chair, where="corner", gap=0.02)
    if ObjectClass.DiningTable in classes:
        common.stand(
            layout, ObjectClass.DiningTable, size=(1.1, 0.76, 0.7), front=0.6, where="corner"
        )
    if ObjectClass.CoffeeTable in classes:
        common.stand(layout, ObjectClass.CoffeeTable, front=0.6)
    if ObjectClass.CounterTop in classes:
        common.stand(layout, ObjectClass.CounterTop, front=0.6)
    if ObjectClass.ArmChair in classes:
        common.stand(layout, ObjectClass.ArmChair, front=0.5, gap=0.04)
    if ObjectClass.Cabinet in classes:
        common.stand(layout, ObjectClass.Cabinet, size=(0.65, 0.85, 0.42), front=FRONT_METRES)
    if ObjectClass.Safe in classes:
        common.stand(layout, ObjectClass.Safe, front=FRONT_METRES)
    if ObjectClass.Shelf in classes:
        common.add_shelves(layout, int(layout.rng.integers(2, 4)))
