"""Helpers of putting things down: what is seen of a surface, and how much room a load needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import posed_size
from gym_clalfred.simulator.embedded.placement import (
    Spot,
    footprint,
    free_spot,
    overlaps,
    sine_cosine,
    turn,
)
from gym_clalfred.simulator.embedded.room_model import PlacementHint, Rectangle, Surface
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.jit import kernel

#: A seen point belongs to a surface that is no farther above or below it, in metres.
_LEVEL = 0.015

#: At how many of the visible points of a surface a place is looked for.
SEEN_POINTS = 4

#: Things are piled in measured rooms until they cover so many times the surface.
PILE = 2.0


@dataclass(frozen=True)
class Strictness:
    """How strictly a place is looked for.

    Args:
        lenient: as in ``free_spot``.
        own_only: only what stands on the same surface is in the way.
        piled: things may stand on each other, up to ``PILE``.
    """

    lenient: bool = False
    own_only: bool = False
    piled: bool = False


def points_on(
    holder: Thing, surface: Surface, seen: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """Some of the seen points that lie on a surface, in the holder's frame, far from each other.

    The first is the most central; each further one is farthest from those before.
    """
    area = surface.area
    found = _spread_points(
        seen,
        holder.position,
        sine_cosine(-holder.yaw),
        surface.y,
        (area.x0, area.z0),
        (area.x1, area.z1),
    )
    return [(x, z) for x, z in found.tolist()]


@kernel()
def _spread_points(
    seen: NDArray[np.float64],
    position: Vector,
    turned: tuple[float, float],
    height: float,
    low: tuple[float, float],
    high: tuple[float, float],
) -> NDArray[np.float64]:
    """``points_on`` as (K, 2), for the place and turn of a holder and an area in its frame."""
    sine, cosine = turned
    points = np.empty((len(seen), 2))
    count, mean_x, mean_z = 0, 0.0, 0.0
    for k in range(len(seen)):
        if abs(seen[k, 1] - position[1] - height) >= _LEVEL:
            continue
        dx, dz = seen[k, 0] - position[0], seen[k, 2] - position[2]
        x, z = dx * cosine + dz * sine, dz * cosine - dx * sine
        if low[0] <= x <= high[0] and low[1] <= z <= high[1]:
            points[count] = x, z
            mean_x, mean_z = mean_x + x, mean_z + z
            count += 1
    points = points[:count]
    chosen = np.empty((min(SEEN_POINTS, count), 2))
    distance = np.empty(count)
    for k in range(count):
        distance[k] = -math.hypot(points[k, 0] - mean_x / count, points[k, 1] - mean_z / count)
    for c in range(len(chosen)):
        chosen[c] = points[np.argmax(distance)]
        for k in range(count):
            apart = math.hypot(points[k, 0] - chosen[c, 0], points[k, 1] - chosen[c, 1])
            distance[k] = apart if c == 0 else min(distance[k], apart)
    return chosen


def area_of(rectangles: Sequence[Rectangle]) -> float:
    """Sum of the areas of rectangles."""
    return sum((r.x1 - r.x0) * (r.z1 - r.z0) for r in rectangles)


def point_at(holder: Thing, spot: Spot) -> Vector:
    """A spot of a holder as a point of the room."""
    x, z = turn(spot.x, spot.z, holder.yaw)
    return (holder.position[0] + x, holder.position[1] + spot.y, holder.position[2] + z)


def extents_with_contents(item: Thing, holder: Thing) -> Vector:
    """Extents about the item's axis of the item and its load, as it would stand in the holder."""
    width, height, depth = posed_size(item.size, item.tips_in(holder))
    for thing in item.tree():
        if thing is item:
            continue
        x, z = item.local(thing.position[0], thing.position[2])
        area = footprint(thing.box, x, z, thing.yaw - item.yaw)
        width = max(width, 2 * abs(area.x0), 2 * abs(area.x1))
        depth = max(depth, 2 * abs(area.z0), 2 * abs(area.z1))
        height = max(height, thing.position[1] + thing.box[1] - item.position[1])
    return width, height, depth


def hinted_spot(
    surface: Surface,
    hint: PlacementHint,
    yaw: float,
    size: Vector,
    taken: Sequence[Rectangle],
    lenient: bool,
) -> Spot | None:
    """Where a measured hint puts a thing: exactly there if that is free, else next to it.

    Args:
        yaw: of the thing in the frame of the surface's object.
        size: of the thing with what it contains.
        taken: what is on the surface already.
        lenient: as ``free_spot`` has it.
    """
    area = footprint(size, hint.x, hint.z, yaw)
    if hint.object_class is not None and not any(overlaps(area, other) for other in taken):
        return Spot(hint.x, surface.y, hint.z, yaw)
    yaws = (yaw, (yaw + 90.0) % 360.0)
    return free_spot(surface, size, taken, near=(hint.x, hint.z), yaws=yaws, lenient=lenient)
