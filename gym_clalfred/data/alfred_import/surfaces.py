"""Where reconstructed fixtures hold things, and how their boxes follow from what lay there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import CLOSED_AT_START, ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.catalog.surfaces import OPEN_ABOVE
from gym_clalfred.simulator.embedded.room_model import Block, Rectangle, Surface

#: Furniture that holds things on its top.
TOPS = frozenset(
    {
        ObjectClass.CoffeeTable,
        ObjectClass.CounterTop,
        ObjectClass.Desk,
        ObjectClass.DiningTable,
        ObjectClass.Dresser,
        ObjectClass.Ottoman,
        ObjectClass.Shelf,
        ObjectClass.SideTable,
        ObjectClass.TVStand,
    }
)

#: Furniture into which drawers and cabinets are built.
HOLDS_PANELS = frozenset(
    {
        ObjectClass.CoffeeTable,
        ObjectClass.Desk,
        ObjectClass.DiningTable,
        ObjectClass.Dresser,
        ObjectClass.SideTable,
        ObjectClass.TVStand,
    }
)

#: Where other furniture holds things, as a share of its height.
LEVEL_SHARES = {
    ObjectClass.ArmChair: 0.5,
    ObjectClass.Bed: 0.52,
    ObjectClass.Cart: 0.92,
    ObjectClass.Sofa: 0.5,
    ObjectClass.Toilet: 1.0,
}

#: Hollow things are at least this wide and deep inside, whatever little is seen of them.
LEAST_AREAS = {
    ObjectClass.SinkBasin: (0.36, 0.3),
    ObjectClass.BathtubBasin: (0.8, 0.4),
    ObjectClass.GarbageCan: (0.25, 0.25),
    ObjectClass.CoffeeMachine: (0.14, 0.14),
}

#: Things in a container stand on one level if their heights differ by less.
_SAME_LEVEL = 0.12

#: Nothing lies closer to the top of a container.
_LEAST_ROOM = 0.05

#: Things beside a container may seem to be in it by this much.
_BESIDE = 0.05

#: The ceiling of a container is so far below what stands on it.
_BELOW = 0.01

#: Narrower parts of a board hold nothing.
_LEAST_SIDE = 0.1

#: Share of a surface that a shape may stand on.
_COVERED = 0.25

#: How far a fitted top may be from the height at which things lie on it.
_TOP_SLACK = 0.12

#: No seat is lower.
_LEAST_SEAT = 0.1

#: Share of what lies on a top that may be measured below it.
_LOW_SHARE = 8


def settle_top(
    object_class: ObjectClass, box: NDArray[np.float64], bases: Sequence[Vector]
) -> NDArray[np.float64]:
    """The box with its top where things stand on it, if they do.

    Args:
        object_class: of the fixture.
        box: x0, y0, z0, x1, y1, z1.
        bases: base centres of pickupables that are recorded as being on the fixture.
    """
    share = 1.0 if object_class in TOPS else LEVEL_SHARES.get(object_class, 0.0)
    if not share or not len(bases):
        return box
    level = box[1] + share * (box[4] - box[1])
    heights = np.array([y for x, y, z in bases if box[0] <= x <= box[3] and box[2] <= z <= box[5]])
    # Things may lie on several levels, and in drawers below; the top is the level next to the fit.
    slack = _TOP_SLACK if object_class in TOPS else 2 * _TOP_SLACK
    near = heights[np.abs(heights - level) <= slack]
    if not len(near):
        return box
    found = float(np.percentile(near, _LOW_SHARE))
    settled = box.copy()
    if object_class in TOPS:
        settled[4] = found
        settled[1] = min(settled[1], settled[4] - 0.02)
    elif found < level and found - box[1] > _LEAST_SEAT:
        # A seat too high would hide what lies on it; one too low only looks a little low.
        settled[4] = box[1] + (found - box[1]) / share
    return settled


def surfaces_for(
    object_class: ObjectClass, size: Vector, style: int, bases: Sequence[Vector]
) -> tuple[Surface, ...]:
    """The surfaces of a fixture that fills a box.

    Containers hold things at the heights at which things lay in them, if that is known.

    Args:
        bases: base centres of what lay in or on it, in its own frame.
    """
    surfaces = model_of(object_class).surfaces(size, style)
    if object_class in LEAST_AREAS:
        surfaces = tuple(_widened(surface, *LEAST_AREAS[object_class]) for surface in surfaces)
    if object_class not in CLOSED_AT_START or not surfaces:
        return surfaces
    # What is measured below the floor of a container would be hidden by it.
    area, floor = surfaces[0].area, min(surface.y for surface in surfaces)
    inside = [max(y, floor) for _, y, _ in bases if 0.0 <= y < size[1] - _LEAST_ROOM]
    levels = _levels(inside)
    if not levels:
        return surfaces
    tops = [*levels[1:], size[1]]
    return tuple(
        replace(surfaces[0], area=area, y=round(level, 4), clearance=round(top - level - 0.01, 4))
        for level, top in zip(levels, tops)
    )


def keep_out(surface: Surface, outside: Sequence[Vector]) -> Surface:
    """The surface of a container with a ceiling below what is known not to be in it.

    Args:
        surface: in the container's frame.
        outside: base centres of things that are not in the container, in that frame.
    """
    area, room = surface.area, surface.clearance
    for x, y, z in outside:
        if not (area.x0 - _BESIDE <= x <= area.x1 + _BESIDE):
            continue
        if area.z0 - _BESIDE <= z <= area.z1 + _BESIDE and 0.0 < y - surface.y < room:
            room = y - surface.y
    if room < surface.clearance:
        room = max(room - _BELOW, _LEAST_ROOM)
    return replace(surface, clearance=round(room, 4))


def surfaces_on(blocks: Sequence[Block], top: float) -> tuple[Surface, ...]:
    """The surfaces of a board made of blocks, the largest first."""
    surfaces = [
        Surface(
            Rectangle(block.low[0], block.low[2], block.high[0], block.high[2]), top, OPEN_ABOVE
        )
        for block in blocks
        if min(block.high[0] - block.low[0], block.high[2] - block.low[2]) >= _LEAST_SIDE
    ]
    if not surfaces:
        block = blocks[0]
        area = Rectangle(block.low[0], block.low[2], block.high[0], block.high[2])
        surfaces = [Surface(area, top, OPEN_ABOVE)]
    return tuple(surfaces)


def covers(blocks: Sequence[Block], surfaces: Sequence[Surface]) -> bool:
    """Whether blocks stand on a good part of a surface."""
    for surface in surfaces:
        area = surface.area
        x, z = np.meshgrid(
            np.linspace(area.x0, area.x1, 7)[1:-1], np.linspace(area.z0, area.z1, 7)[1:-1]
        )
        taken = np.zeros(x.shape, dtype=np.bool_)
        for block in blocks:
            if block.low[1] < surface.y + 0.1 and block.high[1] > surface.y + 0.02:
                taken |= (
                    (x > block.low[0])
                    & (x < block.high[0])
                    & (z > block.low[2])
                    & (z < block.high[2])
                )
        if taken.mean() > _COVERED:
            return True
    return False


def _levels(heights: Sequence[float]) -> list[float]:
    """The lowest of each group of heights that are close to each other."""
    levels: list[float] = []
    for height in sorted(heights):
        if not levels or height > levels[-1] + _SAME_LEVEL:
            levels.append(height)
    return levels


def _widened(surface: Surface, width: float, depth: float) -> Surface:
    area = surface.area
    x, z = (area.x0 + area.x1) / 2, (area.z0 + area.z1) / 2
    half_x, half_z = max(area.x1 - area.x0, width) / 2, max(area.z1 - area.z0, depth) / 2
    return replace(surface, area=Rectangle(x - half_x, z - half_z, x + half_x, z + half_z))
