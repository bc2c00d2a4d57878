"""Where an object fits on a surface: footprints, what occupies a surface, the nearest free spot.

Everything here happens in the own frame of the object that has the surface, seen from above, so
that a spot stays valid when a box is carried or a drawer slides out. Footprints of turned boxes are
their axis-parallel bounding rectangles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.room_model import Fixture, Rectangle, Surface
from gym_clalfred.simulator.jit import kernel

#: Air kept between two objects on one surface, in metres.
GAP = 0.005

#: Slack in metres for positions that went through rounding.
TOLERANCE = 1e-6

#: How far above a surface something must rise before it takes space there; basins and burners are
#: let into the surface and count although they do not rise at all.
_RISE = 0.01
_LET_IN = frozenset(
    {
        ObjectClass.Sink,
        ObjectClass.SinkBasin,
        ObjectClass.Bathtub,
        ObjectClass.BathtubBasin,
        ObjectClass.StoveBurner,
    }
)


@dataclass(frozen=True)
class Spot:
    """A place on a surface: the centre of an object's base and its turn, in the holder's frame."""

    x: float
    y: float
    z: float
    yaw: float = 0.0


@dataclass(frozen=True)
class Gaze:
    """Where somebody looks, from ``eye`` along the unit vector ``direction``, within ``reach``."""

    eye: Vector
    direction: Vector
    reach: float

    def point_at(self, height: float) -> tuple[float, float]:
        """(x, z) at which the gaze meets a level, drawn in to what is within reach."""
        x, y, z = self.direction
        along = math.hypot(x, z)
        if along < 1e-9:
            return self.eye[0], self.eye[2]
        fall = self.eye[1] - height
        distance = along * fall / -y if fall * y < 0.0 else math.inf
        distance = min(distance, self.reach) / along
        return self.eye[0] + x * distance, self.eye[2] + z * distance

    def distance_to(self, point: Vector) -> float:
        """How far a point is beside the line of sight."""
        offset = [b - a for a, b in zip(self.eye, point)]
        along = sum(a * b for a, b in zip(offset, self.direction))
        return math.sqrt(max(sum(a * a for a in offset) - along * along, 0.0))


def turn(x: float, z: float, yaw: float) -> tuple[float, float]:
    """(x, z) of an object's own frame turned clockwise by ``yaw`` degrees."""
    if yaw == 0.0:
        return x, z
    sine, cosine = sine_cosine(yaw)
    return x * cosine + z * sine, z * cosine - x * sine


def sine_cosine(degrees: float) -> tuple[float, float]:
    """Sine and cosine; exact for multiples of 90 degrees."""
    quarter, rest = divmod(degrees, 90.0)
    if rest == 0.0:
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[int(quarter) % 4]
    return math.sin(math.radians(degrees)), math.cos(math.radians(degrees))


def extents(size: Vector, yaw: float) -> tuple[float, float]:
    """Width (x) and depth (z) of the bounding rectangle of a box turned by ``yaw``."""
    sine, cosine = (abs(value) for value in sine_cosine(yaw))
    return size[0] * cosine + size[2] * sine, size[0] * sine + size[2] * cosine


def footprint(size: Vector, x: float, z: float, yaw: float = 0.0) -> Rectangle:
    """Bounding rectangle of a box of ``size`` whose base centre is at (x, z)."""
    width, depth = extents(size, yaw)
    return Rectangle(x - width / 2, z - depth / 2, x + width / 2, z + depth / 2)


def overlaps(a: Rectangle, b: Rectangle, gap: float = 0.0) -> bool:
    """Whether two rectangles come closer to each other than ``gap``; touching is allowed."""
    return a.x0 < b.x1 + gap and b.x0 < a.x1 + gap and a.z0 < b.z1 + gap and b.z0 < a.z1 + gap


def free_spot(
    surface: Surface,
    size: Vector,
    occupied: Sequence[Rectangle] = (),
    *,
    near: tuple[float, float] | None = None,
    yaws: Sequence[float] = (0.0, 90.0),
    gap: float = GAP,
    lenient: bool = False,
) -> Spot | None:
    """The free spot nearest to a point, or ``None`` if the object fits nowhere on the surface.

    Spots that carry the whole footprint come first, then spots from which the object sticks out
    over the edges by at most ``Surface.overhang`` of its extents.

    Args:
        surface: in its holder's frame.
        size: extents of the object's box, with what it contains.
        occupied: footprints of what is on the surface already.
        near: where the object should go; the centre of the surface by default.
        yaws: turns to try, in order of preference.
        gap: air to keep to other objects.
        lenient: ignore the clearance and, if nothing else is on the surface, let the object
            stand alone in its middle however large it is. For pairs that ALFRED puts together.
    """
    if size[1] > surface.clearance + TOLERANCE and not lenient:
        return None
    area = surface.area
    middle = ((area.x0 + area.x1) / 2, (area.z0 + area.z1) / 2)
    point = middle if near is None else near
    taken = np.array([(r.x0, r.z0, r.x1, r.z1) for r in occupied], dtype=np.float64).reshape(-1, 4)
    for overhang in (0.0, surface.overhang):
        for yaw in yaws:
            width, depth = extents(size, yaw)
            x_range = _centre_range(area.x0, area.x1, width, overhang)
            z_range = _centre_range(area.z0, area.z1, depth, overhang)
            if x_range is None or z_range is None:
                continue
            x_gap, z_gap = width / 2 + gap, depth / 2 + gap
            grown = taken + np.array([-x_gap, -z_gap, x_gap, z_gap])
            found, x, z = _nearest_outside(point, x_range, z_range, grown)
            if found:
                return Spot(x, surface.y, z, yaw)
    if lenient and not occupied:
        return Spot(middle[0], surface.y, middle[1], _roomiest(area, size, yaws))
    return None


def obstacles(
    holder: Fixture, surface: Surface, height: float, fixtures: Iterable[Fixture]
) -> list[Rectangle]:
    """What the room's other fixtures take from a surface for an object of some height.

    A microwave on a counter takes the place it stands on, a wall cabinet above the counter only
    from tall objects; insides and basins are free of other fixtures by construction. Rectangles
    are in the holder's frame.
    """
    if surface.inside or holder.object_class in _LET_IN:
        return []
    bottom = holder.position[1] + surface.y
    taken = []
    for other in fixtures:
        if other.name == holder.name or holder.part_of == other.name:
            continue
        rise = -_RISE if other.object_class in _LET_IN else _RISE
        top = other.position[1] + other.size[1]
        if top <= bottom + rise or other.position[1] >= bottom + height:
            continue
        x, z = turn(
            other.position[0] - holder.position[0],
            other.position[2] - holder.position[2],
            -holder.yaw,
        )
        rectangle = footprint(other.size, x, z, other.yaw - holder.yaw)
        # Measured boxes reach into each other by mistake; what stands on a surface is over it.
        if holder.surfaces is not None and not _is_within(x, z, surface.area):
            continue
        if overlaps(rectangle, surface.area):
            taken.append(rectangle)
    return taken


def _is_within(x: float, z: float, area: Rectangle) -> bool:
    return area.x0 <= x <= area.x1 and area.z0 <= z <= area.z1


def _centre_range(
    low: float, high: float, extent: float, overhang: float
) -> tuple[float, float] | None:
    """Where the centre may be along one axis."""
    margin = extent * (0.5 - overhang)
    if low + margin <= high - margin:
        return low + margin, high - margin
    if low + margin <= high - margin + TOLERANCE:
        return (low + high) / 2, (low + high) / 2
    return None


@kernel()
def _nearest_outside(
    point: tuple[float, float],
    x_range: tuple[float, float],
    z_range: tuple[float, float],
    taken: NDArray[np.float64],
) -> tuple[bool, float, float]:
    """Whether there is a point of a rectangle in none of the ``taken`` ones, and the nearest.

    It is ``point`` itself, its projection onto an edge, or a crossing of two edges, so it is
    enough to try those.
    """
    count = len(taken)
    xs, zs = np.empty(3 + 2 * count), np.empty(3 + 2 * count)
    xs[0] = min(max(point[0], x_range[0]), x_range[1])
    zs[0] = min(max(point[1], z_range[0]), z_range[1])
    xs[1], xs[2] = x_range
    zs[1], zs[2] = z_range
    xs[3 : 3 + count], xs[3 + count :] = taken[:, 0], taken[:, 2]
    zs[3 : 3 + count], zs[3 + count :] = taken[:, 1], taken[:, 3]
    least, best_x, best_z = np.inf, 0.0, 0.0
    for x in xs:
        if x < x_range[0] or x > x_range[1]:
            continue
        for z in zs:
            distance = (x - point[0]) ** 2 + (z - point[1]) ** 2
            if z < z_range[0] or z > z_range[1] or distance >= least:
                continue
            free = True
            for k in range(count):
                free = free and not (
                    taken[k, 0] + 1e-9 < x < taken[k, 2] - 1e-9
                    and taken[k, 1] + 1e-9 < z < taken[k, 3] - 1e-9
                )
            if free:
                least, best_x, best_z = distance, x, z
    return least < np.inf, best_x, best_z


def _roomiest(area: Rectangle, size: Vector, yaws: Sequence[float]) -> float:
    """The turn with which a too large object sticks out least."""
    width, depth = area.x1 - area.x0, area.z1 - area.z0

    def excess(yaw: float) -> float:
        x, z = extents(size, yaw)
        return max(x - width, 0.0) + max(z - depth, 0.0)

    return min(yaws, key=excess)
