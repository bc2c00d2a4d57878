"""The shell of a room: a rectangular or L-shaped floor, the walls around it and the door."""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.simulator.embedded.room_model import Rectangle
from gym_clalfred.simulator.geometry import Box

#: Thickness of the boxes that stand for walls when furniture is fitted between them.
_WALL_METRES = 5.0


@dataclass(frozen=True)
class Side:
    """One wall seen from the room: points on it are ``start + t * along``, inwards is ``inward``.

    Directions are whole numbers, so boxes stay axis-parallel whatever wall they stand at.
    """

    start: tuple[float, float]
    along: tuple[int, int]
    length: float

    @property
    def inward(self) -> tuple[int, int]:
        """Unit vector from the wall into the room: to the right of ``along``."""
        return self.along[1], -self.along[0]

    @property
    def yaw(self) -> float:
        """Of an object whose back is to this wall."""
        return {(0, 1): 0.0, (1, 0): 90.0, (0, -1): 180.0, (-1, 0): 270.0}[self.inward]

    def point(self, t: float, d: float) -> tuple[float, float]:
        """World x, z of the point ``t`` along the wall and ``d`` away from it."""
        (ax, az), (nx, nz) = self.along, self.inward
        return self.start[0] + ax * t + nx * d, self.start[1] + az * t + nz * d

    def box(self, t0: float, t1: float, d0: float, d1: float, y0: float, y1: float) -> Box:
        """The box between two distances along the wall, two away from it and two heights."""
        (xa, za), (xb, zb) = self.point(t0, d0), self.point(t1, d1)
        return Box(min(xa, xb), y0, min(za, zb), max(xa, xb), y1, max(za, zb))

    def local(self, box: Box) -> tuple[float, float, float, float]:
        """(t0, t1, d0, d1) of a box in this wall's frame."""
        (ax, az), (nx, nz) = self.along, self.inward
        xa, za = box.x0 - self.start[0], box.z0 - self.start[1]
        xb, zb = box.x1 - self.start[0], box.z1 - self.start[1]
        ts = (ax * xa + az * za, ax * xb + az * zb)
        ds = (nx * xa + nz * za, nx * xb + nz * zb)
        return min(ts), max(ts), min(ds), max(ds)


@dataclass(frozen=True)
class Shell:
    """Outline of a room: ``sides`` clockwise seen from above; ``notch`` is what an L leaves out."""

    bounds: Rectangle
    notch: Rectangle | None
    sides: tuple[Side, ...]
    height: float

    @property
    def floor(self) -> tuple[Rectangle, ...]:
        """One or two rectangles that cover the floor without overlap."""
        b, n = self.bounds, self.notch
        if n is None:
            return (b,)
        main = (
            Rectangle(b.x0, b.z0, b.x1, n.z0) if n.z1 == b.z1 else Rectangle(b.x0, n.z1, b.x1, b.z1)
        )
        rest = (
            Rectangle(b.x0, n.z0, n.x0, n.z1) if n.x1 == b.x1 else Rectangle(n.x1, n.z0, b.x1, n.z1)
        )
        return main, rest

    def solids(self) -> list[Box]:
        """Boxes that fill the space outside the room next to it."""
        b, w, h = self.bounds, _WALL_METRES, self.height
        boxes = [
            Box(b.x0 - w, 0, b.z0 - w, b.x0, h, b.z1 + w),
            Box(b.x1, 0, b.z0 - w, b.x1 + w, h, b.z1 + w),
            Box(b.x0 - w, 0, b.z0 - w, b.x1 + w, h, b.z0),
            Box(b.x0 - w, 0, b.z1, b.x1 + w, h, b.z1 + w),
        ]
        if self.notch is not None:
            n = self.notch
            boxes.append(Box(n.x0, 0, n.z0, n.x1, h, n.z1))
        return boxes


def make_shell(
    width: float,
    depth: float,
    height: float,
    origin: tuple[float, float],
    cut: tuple[int, float, float] | None = None,
) -> Shell:
    """A room of ``width`` by ``depth`` with its low corner at ``origin``.

    Args:
        cut: for an L: which corner is left out (0-3, clockwise from low x, low z) and the extents
            in x and z of what is missing.
    """
    x0, z0 = origin
    x1, z1 = round(x0 + width, 3), round(z0 + depth, 3)
    bounds = Rectangle(x0, z0, x1, z1)
    corners = [(x0, z0), (x0, z1), (x1, z1), (x1, z0)]
    notch = None
    if cut is not None:
        corner, cut_x, cut_z = cut
        cx, cz = corners[corner]
        nx = round(cx + (cut_x if cx == x0 else -cut_x), 3)
        nz = round(cz + (cut_z if cz == z0 else -cut_z), 3)
        notch = Rectangle(min(cx, nx), min(cz, nz), max(cx, nx), max(cz, nz))
        before, after = ((cx, nz), (nx, cz)) if corner in (1, 3) else ((nx, cz), (cx, nz))
        corners[corner : corner + 1] = [before, (nx, nz), after]
    sides = []
    for (xa, za), (xb, zb) in zip(corners, corners[1:] + corners[:1]):
        length = round(abs(xb - xa) + abs(zb - za), 3)
        along = (round((xb - xa) / length), round((zb - za) / length))
        sides.append(Side((xa, za), along, length))
    return Shell(bounds, notch, tuple(sides), height)
