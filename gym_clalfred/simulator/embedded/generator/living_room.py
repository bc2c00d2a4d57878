"""Living rooms: seats around a low table that look at the television, and storage at the walls."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.generator import common
from gym_clalfred.simulator.embedded.generator.floor_plan import (
    FRONT_METRES,
    DoesNotFitError,
    FloorPlan,
    box_of,
)
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Fixture
from gym_clalfred.simulator.geometry import Box

#: Between a seat and the table before it: just enough for one row of grid points.
_LEG_ROOM = 0.66


def furnish(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    """Fills a living room; see ``kitchen.furnish``."""
    common.add_door(layout)
    television = _television(layout, classes)
    sofa = _sofa(layout, television, roominess)
    table = _coffee_table(layout, classes, sofa)
    if ObjectClass.ArmChair in classes:
        _armchairs(layout, sofa, table, 1 + int(layout.chance(0.3 + 0.6 * roominess)))
    if ObjectClass.DiningTable in classes:
        _dining_table(layout, classes, roominess)
    elif ObjectClass.Chair in classes:
        common.stand(layout, ObjectClass.Chair, where="corner", gap=0.02)
    _storage(layout, classes, sofa, roominess)
    common.add_garbage_can(layout)
    _lamps(layout, classes, sofa)
    common.add_windows(layout, classes, 1 + int(layout.rng.integers(0, 3)))
    if ObjectClass.HousePlant in classes:
        common.add_plants(layout, 1 + int(roominess > 0.5) + int(layout.chance(0.5)))
    common.hang_pictures(
        layout,
        classes,
        {
            ObjectClass.Painting: int(layout.rng.integers(2, 4)) + int(4 * roominess),
            ObjectClass.Mirror: 1,
        },
    )


def _television(layout: FloorPlan, classes: frozenset[ObjectClass]) -> Fixture:
    """On a stand, a dresser or a low table, or on the wall."""
    size = layout.usual_size(ObjectClass.Television)
    if ObjectClass.TVStand in classes:
        stand = layout.usual_size(ObjectClass.TVStand)
        stand = (max(stand[0], size[0] + 0.1), stand[1], stand[2])
        tall = (stand[0], stand[1] + size[1] + 0.05, stand[2])
        place = layout.need(tall, front=FRONT_METRES, where="middle")
        body = layout.at_wall(ObjectClass.TVStand, place, stand, front=FRONT_METRES)
        return layout.on_top(body, ObjectClass.Television, 0.0, -0.08, size)
    if ObjectClass.Dresser in classes:
        body = dresser(layout, classes, above=size[1] + 0.05, least=size[0] + 0.1)
        return layout.on_top(body, ObjectClass.Television, 0.0, -0.1, size)
    if ObjectClass.SideTable in classes and layout.chance(0.7):
        low = (round(size[0] + 0.3, 2), 0.5, 0.44)
        tall = (low[0], low[1] + size[1] + 0.05, low[2])
        place = layout.need(tall, front=FRONT_METRES, where="middle")
        body = layout.at_wall(
            ObjectClass.SideTable, place, low, front=FRONT_METRES, style=layout.style("low table")
        )
        return layout.on_top(body, ObjectClass.Television, 0.0, -0.1, size)
    place = layout.need((size[0], size[1], 0.5), y=0.95, where="middle")
    return layout.at_wall(
        ObjectClass.Television, place, (size[0], size[1], 0.12), y=0.95, front=0.9, solid=False
    )


def dresser(
    layout: FloorPlan, classes: frozenset[ObjectClass], *, above: float = 0.3, least: float = 0.0
) -> Fixture:
    """A dresser at a wall with free wall above it, filled with drawers if the room has any."""
    size = layout.usual_size(ObjectClass.Dresser)
    size = (max(size[0], round(least, 2)), size[1], size[2])
    tall = (size[0], size[1] + above, size[2])
    place = layout.need(tall, front=FRONT_METRES, where="middle" if least else "any")
    body = layout.at_wall(ObjectClass.Dresser, place, size, front=FRONT_METRES)
    if ObjectClass.Drawer in classes:
        common.add_drawers(
            layout, body, rows=2 + layout.style("rows") % 2, columns=2 + int(size[0] > 1.2)
        )
    return body


def _sofa(layout: FloorPlan, television: Fixture, roominess: float) -> Fixture:
    """Faces the television: free in the room if that is large, else at the best wall."""
    size = layout.usual_size(ObjectClass.Sofa)
    toward = turn(0.0, 1.0, television.yaw)
    across = turn(1.0, 0.0, television.yaw)
    x0, _, z0 = television.position
    yaw = (television.yaw + 180.0) % 360.0
    if layout.chance(0.35 + 0.5 * roominess):
        for distance in (3.0, 2.7, 3.3, 2.5):
            for shift in (0.0, 0.3, -0.3, 0.6, -0.6):
                x = x0 + toward[0] * distance + across[0] * shift
                z = z0 + toward[1] * distance + across[1] * shift
                position = (round(x, 3), 0.0, round(z, 3))
                box = box_of(position, size, yaw)
                ring = Box(box.x0 - 0.5, 0.0, box.z0 - 0.5, box.x1 + 0.5, 1.5, box.z1 + 0.5)
                if layout.is_free(box, ring):
                    sofa = layout.add(ObjectClass.Sofa, position, yaw, size)
                    _clear_front(layout, sofa, _LEG_ROOM)
                    return sofa
    opposite = [side for side in layout.shuffled_sides() if side.yaw == yaw]
    near = (x0 + 3.0 * toward[0], z0 + 3.0 * toward[1])
    place = layout.find(size, front=_LEG_ROOM, sides=opposite, near=near, gap=0.04)
    if place is None or layout.chance(0.2):
        others = [side for side in layout.shuffled_sides() if side.yaw != television.yaw]
        place = layout.find(size, front=_LEG_ROOM, sides=others, gap=0.04, near=near) or place
    if place is None:
        place = layout.need(size, front=_LEG_ROOM, gap=0.04)
    return layout.at_wall(ObjectClass.Sofa, place, size, front=_LEG_ROOM, gap=0.04)


def _clear_front(layout: FloorPlan, seat: Fixture, metres: float) -> None:
    dx, dz = turn(0.0, seat.size[2] / 2 + metres / 2, seat.yaw)
    position = (seat.position[0] + dx, 0.0, seat.position[2] + dz)
    layout.keep_clear(box_of(position, (seat.size[0], 1.8, metres), seat.yaw))


def _before(seat: Fixture, size: Vector, away: float, shift: float = 0.0) -> Vector:
    """Centre of something that stands ``away`` metres before the front of a seat."""
    dx, dz = turn(shift, seat.size[2] / 2 + away + size[2] / 2, seat.yaw)
    return round(seat.position[0] + dx, 3), 0.0, round(seat.position[2] + dz, 3)


def _coffee_table(
    layout: FloorPlan, classes: frozenset[ObjectClass], sofa: Fixture
) -> Fixture | None:
    if ObjectClass.CoffeeTable not in classes:
        return None
    size = layout.usual_size(ObjectClass.CoffeeTable)
    for scale in (1.0, 0.85, 0.7):
        scaled = (round(size[0] * scale, 2), size[1], round(size[2] * scale, 2))
        for away in (_LEG_ROOM + 0.01, 0.8, 1.0):
            for shift in (0.0, 0.25, -0.25, 0.5, -0.5):
                position = _before(sofa, scaled, away, shift)
                if layout.is_free(box_of(position, scaled, sofa.yaw)):
                    return layout.add(ObjectClass.CoffeeTable, position, sofa.yaw, scaled)
        found = common.free_standing(
            layout, ObjectClass.CoffeeTable, scaled, around=0.45, required=False
        )
        if found is not None:
            return found
    return common.stand(layout, ObjectClass.CoffeeTable, front=0.5)


def _armchairs(layout: FloorPlan, sofa: Fixture, table: Fixture | None, count: int) -> None:
    """Beside the table, turned to it, or else at a wall; the first must fit."""
    added = 0
    for k in range(count):
        size = layout.usual_size(ObjectClass.ArmChair)
        spots = []
        if table is not None:
            reach = table.size[0] / 2 + _LEG_ROOM + size[2] / 2
            for sign, yaw in ((1.0, 270.0), (-1.0, 90.0)):
                for extra in (0.0, 0.3):
                    dx, dz = turn(sign * (reach + extra), 0.05, table.yaw)
                    spots.append((dx, dz, table.yaw + yaw))
        for i in layout.rng.permutation(len(spots)):
            dx, dz, yaw = spots[i]
            assert table is not None
            position = (table.position[0] + dx, 0.0, table.position[2] + dz)
            box = box_of(position, size, yaw)
            if layout.is_free(box):
                chair = layout.add(ObjectClass.ArmChair, position, yaw, size)
                _clear_front(layout, chair, 0.4)
                added += 1
                break
        else:
            near = (sofa.position[0], sofa.position[2])
            chair_or_none = common.stand(
                layout,
                ObjectClass.ArmChair,
                front=0.5,
                gap=0.04,
                near=near if layout.chance(0.5) else None,
                required=k == 0,
            )
            added += chair_or_none is not None


def _dining_table(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    wide = layout.between(1.1, 1.4) if roominess < 0.7 else layout.between(1.4, 1.9)
    size = (wide, 0.76, layout.between(0.8, 0.95))
    table = common.free_standing(layout, ObjectClass.DiningTable, size, around=0.75, required=False)
    if table is None:
        table = common.stand(
            layout, ObjectClass.DiningTable, size=(wide, 0.76, 0.8), front=0.7, where="corner"
        )
    assert table is not None
    if ObjectClass.Chair in classes:
        added = common.add_chairs(layout, table, int(layout.rng.integers(2, 5)))
        if added == 0:
            common.stand(layout, ObjectClass.Chair, where="corner", gap=0.02)


def _storage(
    layout: FloorPlan, classes: frozenset[ObjectClass], sofa: Fixture, roominess: float
) -> None:
    """Dresser, cabinet, safe, desk, shelves, side tables, ottoman."""
    if ObjectClass.Dresser in classes and not layout.of(ObjectClass.Dresser):
        dresser(layout, classes)
    if ObjectClass.Cabinet in classes:
        style = layout.style(ObjectClass.Cabinet)
        size = (0.7, 0.85, 0.42)
        for _ in range(1 + int(layout.chance(0.5))):
            common.stand(layout, ObjectClass.Cabinet, size=size, front=FRONT_METRES, style=style)
    if ObjectClass.Desk in classes:
        desk = common.stand(layout, ObjectClass.Desk, front=0.7)
        assert desk is not None
        if ObjectClass.Chair in classes:
            common.add_chairs(layout, desk, 1)
    if ObjectClass.SideTable in classes:
        side_tables(layout, classes, (sofa.position[0], sofa.position[2]), 1 + 2 * roominess)
    if ObjectClass.Safe in classes:
        common.stand(layout, ObjectClass.Safe, front=FRONT_METRES)
    if ObjectClass.Shelf in classes:
        common.add_shelves(layout, int(layout.rng.integers(2, 4)))
        if layout.chance(roominess):
            common.add_shelves(layout, int(layout.rng.integers(1, 4)), required=False)
    if ObjectClass.Ottoman in classes:
        size = layout.usual_size(ObjectClass.Ottoman)
        ottoman = common.free_standing(
            layout, ObjectClass.Ottoman, size, around=0.45, tries=20, required=False
        )
        if ottoman is None:
            common.stand(layout, ObjectClass.Ottoman, front=0.5)


def side_tables(
    layout: FloorPlan, classes: frozenset[ObjectClass], near: tuple[float, float], count: float
) -> None:
    """Small tables with a drawer, and a long one if the room has few other tables."""
    tables = layout.of(
        ObjectClass.CoffeeTable, ObjectClass.DiningTable, ObjectClass.Dresser, ObjectClass.Desk
    )
    drawers = ObjectClass.Drawer in classes
    if sum(table.size[0] * table.size[2] for table in tables) < 0.7:
        style = layout.style("console")
        for wide in (1.2, 1.0, 0.85, 0.7):
            size = (wide, 0.74, 0.44)
            console = common.stand(
                layout, ObjectClass.SideTable, size=size, front=0.6, style=style, required=False
            )
            if console is not None:
                if drawers:
                    common.add_drawer_under_top(layout, console, share=0.5)
                break
        else:
            raise DoesNotFitError("no wall for a table")
    for k in range(round(count)):
        table = common.stand(
            layout,
            ObjectClass.SideTable,
            front=0.55,
            near=near if layout.chance(0.7) else None,
            required=k == 0 and not layout.of(ObjectClass.SideTable),
        )
        if table is not None and drawers and (k == 0 or layout.chance(0.6)):
            common.add_drawer_under_top(layout, table)


def _lamps(layout: FloorPlan, classes: frozenset[ObjectClass], sofa: Fixture) -> None:
    if ObjectClass.FloorLamp in classes:
        near = (sofa.position[0], sofa.position[2])
        common.stand(layout, ObjectClass.FloorLamp, front=0.5, near=near, gap=0.02)
    for lamp in (ObjectClass.DeskLamp, ObjectClass.Lamp):
        if lamp in classes:
            stand_lamp(layout, lamp)


def stand_lamp(layout: FloorPlan, lamp: ObjectClass) -> Fixture:
    """Stands a lamp on a back corner of a table or dresser."""
    size = layout.usual_size(lamp)
    holders = layout.of(ObjectClass.Desk, ObjectClass.SideTable, ObjectClass.Dresser)
    for i in layout.rng.permutation(len(holders)):
        holder = holders[i]
        half = holder.size[0] / 2 - size[0] / 2 - 0.02
        z = -holder.size[2] / 2 + size[2] / 2 + 0.02
        sign = 1.0 if layout.chance(0.5) else -1.0
        for x in (sign * half, -sign * half, 0.0):
            found = layout.try_on_top(holder, lamp, round(x, 3), z, size)
            if found is not None:
                return found
    raise DoesNotFitError(f"no table for {lamp.name}")
