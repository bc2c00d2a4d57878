"""The rooms, each made from its number alone, and the demands that every room has to meet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from gym_clalfred.errors import SimulatorError
from gym_clalfred.objects import PICKUPABLE, TOGGLEABLE, ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import GRID_METRES
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.generator import bathroom, bedroom, kitchen, living_room
from gym_clalfred.simulator.embedded.generator.arrange import arrange
from gym_clalfred.simulator.embedded.generator.decor import make_decor
from gym_clalfred.simulator.embedded.generator.drafts import DRAFTS
from gym_clalfred.simulator.embedded.generator.floor_plan import (
    BODY_METRES,
    DoesNotFitError,
    FloorPlan,
    box_of,
)
from gym_clalfred.simulator.embedded.generator.shell import Shell, make_shell
from gym_clalfred.simulator.embedded.generator.sight import Sightlines
from gym_clalfred.simulator.embedded.generator.traits import ROOMS_VERSION, Traits, traits_of
from gym_clalfred.simulator.embedded.room_model import AGENT_RADIUS, Fixture, Room, Surface, Wall

_FURNISH = {
    RoomType.KITCHEN: kitchen.furnish,
    RoomType.LIVING_ROOM: living_room.furnish,
    RoomType.BEDROOM: bedroom.furnish,
    RoomType.BATHROOM: bathroom.furnish,
}

#: Floor area in square metres that furniture takes, by which a first size is guessed.
_FURNITURE_AREA = {
    RoomType.KITCHEN: 6.5,
    RoomType.LIVING_ROOM: 9.5,
    RoomType.BEDROOM: 7.5,
    RoomType.BATHROOM: 4.5,
}

#: How far the number of grid points may be off its target, and layouts tried before giving up.
_TOLERANCE = 0.12
_ATTEMPTS = 400


@cache
def make_room(number: int) -> Room:
    """Builds a room; the same number always gives the same room.

    Raises:
        BadInputError: if no room has that number.
    """
    traits = traits_of(number)
    draft = None
    if number in DRAFTS:
        draft = make_draft(number, traits, *DRAFTS[number])
    if draft is None:
        draft = make_draft(number, traits, *find_draft(number))
    assert draft is not None
    return _finish(number, *draft)


def find_draft(number: int) -> tuple[int, float]:
    """Searches for a layout that is complete, usable and of the right size: its seed and area."""
    room_type, traits = RoomType.of(number), traits_of(number)
    target = traits.walkable
    area = _FURNITURE_AREA[room_type] + 0.0625 * target
    for attempt in range(_ATTEMPTS):
        area = round(area, 2)
        draft = make_draft(number, traits, attempt, area)
        if draft is None:
            area += 0.1
            continue
        layout, walkable = draft
        # The tolerance grows slowly, so that the search ends.
        tolerance = _TOLERANCE * (1 + attempt / 40)
        if abs(len(walkable) - target) > tolerance * target:
            area += 0.5 * 0.0625 * (target - len(walkable))
        elif not missing_classes(layout.fixtures, traits) and not unusable(
            layout.fixtures, walkable
        ):
            return attempt, area
    raise SimulatorError(f"room {number}: no layout found in {_ATTEMPTS} attempts")


def make_draft(
    number: int, traits: Traits, attempt: int, area: float
) -> tuple[FloorPlan, list[tuple[float, float]]] | None:
    """Furnishes a shell of about that floor area; ``None`` if something does not fit."""
    room_type = RoomType.of(number)
    rng = np.random.default_rng([ROOMS_VERSION, number, attempt])
    layout = FloorPlan(number, _choose_shell(room_type, area, rng), rng)
    try:
        _FURNISH[room_type](layout, traits.classes, traits.roominess)
    except DoesNotFitError:
        return None
    points = largest_component(free_points(layout.shell, layout.fixtures))
    return layout, sorted((GRID_METRES * i, GRID_METRES * j) for i, j in points)


def _choose_shell(room_type: RoomType, area: float, rng: np.random.Generator) -> Shell:
    """A rectangle or L of about that area, somewhere around the origin."""
    ratio = 1.0 + 0.7 * float(rng.random())
    cut = None
    if area > 14.0 and rng.random() < 0.35:
        area *= 1.15
        cut_share = 0.3 + 0.15 * float(rng.random()), 0.3 + 0.15 * float(rng.random())
        cut = int(rng.integers(4))
    long = math.sqrt(area * ratio)
    width, depth = _snap(long), _snap(area / long)
    if rng.random() < 0.5:
        width, depth = depth, width
    least = 2.0 if room_type == RoomType.BATHROOM else 2.5
    width, depth = max(width, least), max(depth, least)
    height = 2.5 + 0.05 * int(rng.integers(0, 7))
    offset = 0.05 * rng.integers(0, 5, size=2)
    shift = GRID_METRES * rng.integers(-8, 9, size=2)
    origin = (
        round(-_snap(width / 2) + float(shift[0]) - float(offset[0]), 3),
        round(-_snap(depth / 2) + float(shift[1]) - float(offset[1]), 3),
    )
    corner = None
    if cut is not None:
        corner = (cut, _snap(width * cut_share[0]), _snap(depth * cut_share[1]))
    return make_shell(width, depth, round(height, 2), origin, corner)


def _snap(metres: float) -> float:
    return round(metres / 0.1) * 0.1


def _finish(number: int, layout: FloorPlan, walkable: list[tuple[float, float]]) -> Room:
    shell = layout.shell
    walls = []
    for side in shell.sides:
        x1, z1 = side.point(side.length, 0.0)
        openings = tuple(layout.openings.get(side, ()))
        walls.append(Wall(*side.start, round(x1, 3), round(z1, 3), openings))
    room = Room(
        number=number,
        floor=shell.floor,
        walls=tuple(walls),
        height=shell.height,
        fixtures=tuple(layout.fixtures),
        walkable=frozenset(walkable),
        items=(),
        decor=make_decor(RoomType.of(number), layout.rng),
    )
    return replace(room, items=arrange(room, layout.rng))


def free_points(shell: Shell, fixtures: Iterable[Fixture]) -> set[tuple[int, int]]:
    """Where the agent touches nothing, in units of ``GRID_METRES``, connected or not."""
    b, radius = shell.bounds, AGENT_RADIUS - 1e-6
    i0, i1 = np.ceil((b.x0 + radius) / GRID_METRES), np.floor((b.x1 - radius) / GRID_METRES)
    j0, j1 = np.ceil((b.z0 + radius) / GRID_METRES), np.floor((b.z1 - radius) / GRID_METRES)
    i, j = np.arange(int(i0), int(i1) + 1), np.arange(int(j0), int(j1) + 1)
    solids = [box_of(f.position, f.size, f.yaw) for f in fixtures if f.solid]
    boxes = [(s.x0, s.x1, s.z0, s.z1) for s in solids if s.y0 < BODY_METRES and s.y1 > 0.02]
    if shell.notch is not None:
        boxes.append((shell.notch.x0, shell.notch.x1, shell.notch.z0, shell.notch.z1))
    x0, x1, z0, z1 = (np.array(column) for column in zip(*boxes))
    x, z = i * GRID_METRES, j * GRID_METRES
    dx = np.maximum(np.maximum(x0 - x[:, None], x[:, None] - x1), 0.0)
    dz = np.maximum(np.maximum(z0 - z[:, None], z[:, None] - z1), 0.0)
    blocked = (dx[:, None, :] ** 2 + dz[None, :, :] ** 2 < radius**2).any(axis=2)
    return {(int(i[a]), int(j[b])) for a, b in np.argwhere(~blocked)}


def largest_component(points: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The largest set of points that moves of one grid step connect."""
    best: set[tuple[int, int]] = set()
    rest = set(points)
    for start in sorted(points):
        if start not in rest:
            continue
        rest.remove(start)
        component, edge = {start}, [start]
        while edge:
            i, j = edge.pop()
            for neighbour in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if neighbour in rest:
                    rest.remove(neighbour)
                    component.add(neighbour)
                    edge.append(neighbour)
        if len(component) > len(best):
            best = component
    return best


#: Holders that may be out of reach: corners of counters, and what no task puts anything on.
_MAY_BE_FAR = frozenset({ObjectClass.CounterTop})

#: Where on a surface one looks for a usable spot, as shares of its width and depth.
_PROBES = ((0.5, 0.7), (0.25, 0.6), (0.75, 0.6), (0.5, 0.4), (0.1, 0.8), (0.9, 0.8), (0.5, 0.15))


def missing_classes(fixtures: Iterable[Fixture], traits: Traits) -> list[ObjectClass]:
    """Classes of fixtures that the room is to have and lacks."""
    present = {fixture.object_class for fixture in fixtures}
    return sorted((traits.classes - PICKUPABLE) - present)


def unusable(fixtures: Sequence[Fixture], walkable: Sequence[tuple[float, float]]) -> list[Fixture]:
    """Fixtures that hold things or can be switched, and that an agent cannot use."""
    sight = Sightlines(fixtures, walkable)
    found = []
    for fixture in fixtures:
        surfaces = model_of(fixture.object_class).surfaces(fixture.size, fixture.style)
        if surfaces:
            if not any(is_usable(sight, fixture, surface) for surface in surfaces):
                found.append(fixture)
        elif fixture.object_class in TOGGLEABLE and not sight.sees_front(fixture):
            found.append(fixture)
    far = [fixture for fixture in found if fixture.object_class in _MAY_BE_FAR]
    # One corner out of reach is normal, a kitchen full of them is not.
    return found if len(far) > 1 else [fixture for fixture in found if fixture not in far]


def is_usable(sight: Sightlines, fixture: Fixture, surface: Surface) -> bool:
    """Whether some spot of a surface can be seen and reached."""
    area = surface.area
    for across, along in _PROBES:
        x = area.x0 + across * (area.x1 - area.x0)
        z = area.z0 + along * (area.z1 - area.z0)
        if sight.sees(fixture, surface, x, z):
            return True
    return False
