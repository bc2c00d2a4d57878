"""What all rooms share: door and light switch, windows, wall decoration, tables and storage."""

from __future__ import annotations

from collections.abc import Sequence

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.generator.floor_plan import (
    FRONT_METRES,
    DoesNotFitError,
    FloorPlan,
    WallPlace,
    box_of,
)
from gym_clalfred.simulator.embedded.generator.shell import Side
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Fixture, Opening
from gym_clalfred.simulator.geometry import Box

_DOOR_WIDTH = 0.9
_DOOR_HEIGHT = 2.05
_SWITCH_HEIGHT = 1.15


def add_door(layout: FloorPlan, sides: Sequence[Side] | None = None) -> WallPlace:
    """Cuts a door into one of the walls, with free floor before it and a light switch beside it."""
    size = (_DOOR_WIDTH, _DOOR_HEIGHT, 0.03)
    place = layout.find(size, front=0.8, margin=0.05, sides=sides, where="corner")
    if place is None:
        place = layout.need(size, front=0.8, where="corner")
    side, t = place.side, place.t
    half = _DOOR_WIDTH / 2
    opening = Opening("door", round(t - half, 3), round(t + half, 3), 0.0, _DOOR_HEIGHT)
    layout.openings.setdefault(side, []).append(opening)
    layout.forbid(side.box(t - half, t + half, 0.0, 0.03, 0.0, _DOOR_HEIGHT))
    layout.keep_clear(side.box(t - half, t + half, 0.0, 0.8, 0.0, _DOOR_HEIGHT))
    switch = layout.usual_size(ObjectClass.LightSwitch)
    # A clear strip keeps tall furniture from hiding the switch.
    found = layout.need(switch, y=_SWITCH_HEIGHT, front=0.3, near=side.point(t, 0.0), margin=0.04)
    layout.at_wall(ObjectClass.LightSwitch, found, switch, y=_SWITCH_HEIGHT, front=0.3, solid=False)
    return place


def add_window(
    layout: FloorPlan, place: WallPlace, width: float, sill: float, height: float
) -> Fixture:
    """Cuts a window into a wall and adds its frame and panes."""
    opening = Opening(
        "window",
        round(place.t - width / 2, 3),
        round(place.t + width / 2, 3),
        sill,
        round(sill + height, 3),
    )
    layout.openings.setdefault(place.side, []).append(opening)
    return layout.at_wall(ObjectClass.Window, place, (width, height, 0.06), y=sill, solid=False)


def add_windows(
    layout: FloorPlan,
    classes: frozenset[ObjectClass],
    count: int,
    *,
    sides: Sequence[Side] | None = None,
    sill: float = 0.95,
    narrow: bool = False,
) -> None:
    """Adds up to ``count`` windows where walls are free, with the room's blinds and curtains."""
    if ObjectClass.Window not in classes:
        return
    added = 0
    for side in sides if sides is not None else layout.shuffled_sides():
        if added == count:
            break
        width = layout.between(0.6, 0.9) if narrow else layout.between(1.0, 1.6)
        height = layout.between(0.7, 0.9) if narrow else layout.between(1.05, 1.3)
        for shrink in (1.0, 0.75, 0.5):
            size = (round(width * shrink, 2), height, 0.2)
            place = layout.find(size, y=sill, sides=[side], where="middle")
            if place is not None:
                window = add_window(layout, place, size[0], sill, height)
                _dress(layout, classes, place, window, first=added == 0)
                added += 1
                break
    if added == 0:
        raise DoesNotFitError("no wall is free for a window")


def _dress(
    layout: FloorPlan,
    classes: frozenset[ObjectClass],
    place: WallPlace,
    window: Fixture,
    first: bool,
) -> None:
    width, height, _ = window.size
    sill = window.position[1]
    if ObjectClass.Curtains in classes and (first or ObjectClass.Blinds not in classes):
        size = (round(width + 0.3, 2), round(height + 0.2, 2), 0.09)
        box = place.side.box(
            place.t - size[0] / 2, place.t + size[0] / 2, 0.065, 0.155, sill - 0.1, sill + height
        )
        if layout.is_free(box):
            layout.at_wall(ObjectClass.Curtains, place, size, y=sill - 0.1, gap=0.065, solid=False)
            return
        size = (width, height, 0.09)
        layout.at_wall(ObjectClass.Curtains, place, size, y=sill, gap=0.065, solid=False)
    elif ObjectClass.Blinds in classes:
        layout.at_wall(
            ObjectClass.Blinds, place, (width, height, 0.05), y=sill, gap=0.065, solid=False
        )


def hang(
    layout: FloorPlan,
    object_class: ObjectClass,
    size: Vector,
    y: float,
    *,
    near: tuple[float, float] | None = None,
    style: int | None = None,
    required: bool = True,
) -> Fixture | None:
    """Hangs something flat on a free piece of wall."""
    deep = (size[0], size[1], max(size[2], 0.12))
    place = layout.find(deep, y=y, margin=0.05, near=near)
    if place is None:
        place = layout.find(size, y=y, margin=0.01, near=near)
    if place is None:
        if required:
            raise DoesNotFitError(f"no wall for {object_class.name}")
        return None
    return layout.at_wall(object_class, place, size, y=y, style=style, solid=False)


def hang_pictures(
    layout: FloorPlan, classes: frozenset[ObjectClass], kinds: dict[ObjectClass, int]
) -> None:
    """Hangs at least one and at most the given number of each kind of picture and mirror."""
    for object_class, count in kinds.items():
        if object_class not in classes:
            continue
        for k in range(count):
            style = layout.style(f"{object_class.name}/{k}")
            width, height, depth = layout.usual_size(object_class, style)
            y = round(1.55 - height / 2 + layout.between(0.0, 0.15), 2)
            for shrink in (1.0, 0.7, 0.5):
                size = (round(width * shrink, 2), round(height * shrink, 2), depth)
                if hang(layout, object_class, size, y, style=style, required=False):
                    break
            else:
                if k == 0:
                    raise DoesNotFitError(f"no wall for {object_class.name}")


def stand(
    layout: FloorPlan,
    object_class: ObjectClass,
    *,
    size: Vector | None = None,
    where: str = "any",
    front: float = 0.0,
    near: tuple[float, float] | None = None,
    gap: float = 0.0,
    style: int | None = None,
    required: bool = True,
) -> Fixture | None:
    """Stands a piece of furniture at a wall."""
    size = size or layout.usual_size(object_class, style)
    place = layout.find(size, front=front, near=near, where=where, gap=gap)
    if place is None:
        if required:
            raise DoesNotFitError(f"no place for {object_class.name}")
        return None
    return layout.at_wall(object_class, place, size, front=front, gap=gap, style=style)


def add_drawers(layout: FloorPlan, body: Fixture, rows: int, columns: int) -> None:
    """Fills the front of a solid body with drawers."""
    width, height, depth = body.size
    low = 0.06
    wide = (width - 0.04) / columns
    tall = (height - 0.04 - low) / rows
    for row in range(rows):
        for column in range(columns):
            x = (column - (columns - 1) / 2) * wide
            size = (round(wide - 0.02, 3), round(tall - 0.02, 3), round(depth - 0.05, 3))
            layout.built_in(body, ObjectClass.Drawer, x, low + row * tall + 0.01, size)


def add_drawer_under_top(layout: FloorPlan, table: Fixture, share: float = 1.0) -> None:
    """Adds one drawer right under the top of a table, over ``share`` of its width."""
    width, height, depth = table.size
    tall = 0.15
    size = (round(share * (width - 0.1), 3), tall, round(depth - 0.06, 3))
    x = (width - 0.1 - size[0]) / 2
    layout.built_in(table, ObjectClass.Drawer, x, height - 0.05 - tall, size)


def free_standing(
    layout: FloorPlan,
    object_class: ObjectClass,
    size: Vector,
    *,
    around: float,
    tries: int = 60,
    yaws: Sequence[float] = (0.0, 90.0),
    required: bool = True,
) -> Fixture | None:
    """Puts something in the middle of free floor with ``around`` metres of space on all sides."""
    bounds = layout.shell.bounds
    for k in range(tries):
        yaw = yaws[int(layout.rng.integers(len(yaws)))]
        wide, deep = (size[0], size[2]) if yaw % 180 == 0 else (size[2], size[0])
        # Later tries settle for less space around.
        space = around * (1.0 if k < tries / 2 else 0.8)
        low_x, high_x = bounds.x0 + wide / 2 + space, bounds.x1 - wide / 2 - space
        low_z, high_z = bounds.z0 + deep / 2 + space, bounds.z1 - deep / 2 - space
        if low_x > high_x or low_z > high_z:
            continue
        x = round(low_x + layout.rng.random() * (high_x - low_x), 2)
        z = round(low_z + layout.rng.random() * (high_z - low_z), 2)
        box = box_of((x, 0.0, z), size, yaw)
        ring = Box(box.x0 - space, 0.0, box.z0 - space, box.x1 + space, 1.8, box.z1 + space)
        if layout.is_free(box, ring):
            return layout.add(object_class, (x, 0.0, z), yaw, size)
    if required:
        raise DoesNotFitError(f"no free floor for {object_class.name}")
    return None


def add_chairs(layout: FloorPlan, table: Fixture, count: int) -> int:
    """Pushes chairs to a table, facing it; fewer if there is no space. Returns how many."""
    chair = layout.usual_size(ObjectClass.Chair)
    width, _, depth = table.size
    out = chair[2] / 2 + 0.03
    per_side = max(1, int(width / 0.75))
    spots: list[tuple[float, float, float]] = []
    for k in range(per_side):
        x = (k + 0.5) * width / per_side - width / 2
        spots += [(x, depth / 2 + out, 180.0), (x, -depth / 2 - out, 0.0)]
    spots += [(width / 2 + out, 0.0, 270.0), (-width / 2 - out, 0.0, 90.0)]
    added = 0
    for i in layout.rng.permutation(len(spots)):
        if added == count:
            break
        dx, dz, facing = spots[i]
        x, z = turn(dx, dz, table.yaw)
        position = (table.position[0] + x, 0.0, table.position[2] + z)
        yaw = table.yaw + facing
        if layout.is_free(box_of(position, chair, yaw)):
            layout.add(ObjectClass.Chair, position, yaw, chair)
            added += 1
    return added


def add_shelves(
    layout: FloorPlan, boards: int, *, required: bool = True, low: float = 0.6
) -> list[Fixture]:
    """Mounts one wall board, or some above each other with free floor before them.

    The highest is below the eyes, so that one sees what lies on it.
    """
    low = low if boards == 3 else max(low, 0.85)
    width, thick, _ = layout.usual_size(ObjectClass.Shelf)
    depth = 0.36
    for scale in (1.0, 0.8, 0.6):
        size = (round(width * scale, 2), thick, depth)
        pitch = 0.38
        tall = (boards - 1) * pitch + 0.35
        body = (size[0], tall, depth)
        place = layout.find(body, y=low, front=FRONT_METRES, where="corner")
        if place is None:
            continue
        # Nobody can walk under boards at this height, so they are as solid as a bookcase.
        found = []
        for k in range(boards):
            y = round(low + k * pitch, 3)
            front = FRONT_METRES if k == 0 else 0.0
            found.append(
                layout.at_wall(ObjectClass.Shelf, place, size, y=y, front=front, solid=True)
            )
        layout.keep_clear(
            place.side.box(
                place.t - size[0] / 2, place.t + size[0] / 2, 0.0, depth, low, low + tall
            )
        )
        return found
    if required:
        raise DoesNotFitError("no wall for a shelf")
    return []


def add_garbage_can(layout: FloorPlan) -> Fixture:
    """Stands the garbage can at a wall, with free floor before it."""
    fixture = stand(layout, ObjectClass.GarbageCan, where="corner", front=0.5)
    assert fixture is not None
    return fixture


def add_plants(layout: FloorPlan, count: int) -> None:
    """Stands potted plants in corners; at least one must fit."""
    for k in range(count):
        style = layout.style(f"HousePlant/{k}")
        width, height, depth = layout.usual_size(ObjectClass.HousePlant, style)
        for scale in (1.0, 0.75, 0.55):
            size = (round(width * scale, 2), round(height * scale, 2), round(depth * scale, 2))
            plant = stand(
                layout,
                ObjectClass.HousePlant,
                size=size,
                where="corner",
                style=style,
                required=False,
            )
            if plant is not None:
                break
        else:
            if k == 0:
                raise DoesNotFitError("no place for a plant")
