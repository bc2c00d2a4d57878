"""Helpers of putting things down: what is seen of a surface, and how much room a load needs."""

from __future__ import annotations

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
from gym_clalfred.simulator.embedded.room import Aim, Rectangle, Surface
from gym_clalfred.simulator.embedded.things import Thing

#: A seen point belongs to a surface that is no farther above or below it, in metres.
_LEVEL = 0.015

#: At how many of the visible points of a surface a place is looked for.
SEEN_POINTS = 4

#: Things are piled in measured rooms until they cover so many times the surface.
PILE = 2.0


@dataclass(frozen=True)
class Mode:
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
    level = np.abs(seen[:, 1] - holder.position[1] - surface.y) < _LEVEL
    sine, cosine = sine_cosine(-holder.yaw)
    dx, dz = seen[level, 0] - holder.position[0], seen[level, 2] - holder.position[2]
    x, z = dx * cosine + dz * sine, dz * cosine - dx * sine
    area = surface.area
    within = (x >= area.x0) & (x <= area.x1) & (z >= area.z0) & (z <= area.z1)
    points = np.stack([x[within], z[within]], axis=1)
    if not len(points):
        return []
    distance = -np.hypot(*(points - points.mean(axis=0)).T)
    chosen = []
    for k in range(min(SEEN_POINTS, len(points))):
        point = points[np.argmax(distance)]
        chosen.append((float(point[0]), float(point[1])))
        apart = np.hypot(*(points - point).T)
        distance = apart if k == 0 else np.minimum(distance, apart)
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


def aimed_spot(
    surface: Surface,
    aim: Aim,
    yaw: float,
    size: Vector,
    taken: Sequence[Rectangle],
    lenient: bool,
) -> Spot | None:
    """Where a measured aim puts a thing: exactly there if that is free, else next to it.

    Args:
        yaw: of the thing in the frame of the surface's object.
        size: of the thing with what it contains.
        taken: what is on the surface already.
        lenient: as ``free_spot`` has it.
    """
    area = footprint(size, aim.x, aim.z, yaw)
    if aim.object_class is not None and not any(overlaps(area, other) for other in taken):
        return Spot(aim.x, surface.y, aim.z, yaw)
    yaws = (yaw, (yaw + 90.0) % 360.0)
    return free_spot(surface, size, taken, near=(aim.x, aim.z), yaws=yaws, lenient=lenient)
