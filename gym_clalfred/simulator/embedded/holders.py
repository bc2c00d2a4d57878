"""Finds what holds an object from where it is, as AI2-THOR does when a scene starts.

Generated poses lie exactly on a surface. Poses recorded in AI2-THOR are measured from an object's
own origin, a little above or below what it stands on, so a looser second look follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.placement import sine_cosine
from gym_clalfred.simulator.embedded.room_model import Surface
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.object_ids import class_of, position_of


@dataclass(frozen=True)
class Tolerance:
    """How far a pose may be off a surface: beside its area, below it, above it; in metres."""

    beside: float
    below: float
    above: float


EXACT = Tolerance(beside=0.002, below=0.004, above=0.004)
LOOSE = Tolerance(beside=0.05, below=0.1, above=0.35)
#: Nothing is taken for the contents of a container that would have to be lifted into it.
LIFTED = 0.03
LOOSE_IN_DISH = Tolerance(beside=0.0, below=0.02, above=0.1)

#: How far a named holder may be from where its name says, in metres.
NAMED = 0.8

#: Heights closer together than this count as equal, and the smaller surface wins: a burner before
#: the counter that it is let into.
_LEVEL = 0.005


class Supports:
    """All surfaces of some things, ready to be asked what holds a point.

    Args:
        things: settled, with their surfaces.
    """

    def __init__(self, things: Sequence[Thing]) -> None:
        self.rows: list[tuple[Thing, Surface]] = [
            (thing, surface) for thing in things for surface in thing.surfaces
        ]
        self._inside = np.array([surface.inside for _, surface in self.rows], dtype=np.bool_)
        table = np.array([_row(*row) for row in self.rows], dtype=np.float64).reshape(-1, 11)
        self._x, self._y, self._z, self._sine, self._cosine = table[:, :5].T
        self._low_x, self._low_z, self._high_x, self._high_z, self._room, self._area = table[
            :, 5:
        ].T

    def find(
        self, position: Vector, tolerance: Tolerance, below: float | None = None
    ) -> tuple[Thing, Surface] | None:
        """The surface that an object with this base centre stands on.

        Args:
            position: of the object.
            tolerance: how exactly the pose must fit.
            below: only holders whose own base is lower than this; keeps two dishes from holding
                each other.
        """
        if not self.rows:
            return None
        x, y, z = position
        dx, dz = x - self._x, z - self._z
        local_x = dx * self._cosine - dz * self._sine
        local_z = dx * self._sine + dz * self._cosine
        rise = y - self._y
        slack = tolerance.beside
        fits = (
            (local_x >= self._low_x - slack)
            & (local_x <= self._high_x + slack)
            & (local_z >= self._low_z - slack)
            & (local_z <= self._high_z + slack)
            & (rise >= -np.where(self._inside, min(tolerance.below, LIFTED), tolerance.below))
            & (rise <= np.minimum(tolerance.above, self._room))
        )
        best: tuple[float, float, int] | None = None
        for k in np.flatnonzero(fits):
            if below is not None and self.rows[k][0].position[1] >= below - 1e-6:
                continue
            key = (round(abs(float(rise[k])) / _LEVEL), float(self._area[k]), int(k))
            if best is None or key < best:
                best = key
        return None if best is None else self.rows[best[2]]


def find_holder(
    position: Vector, fixed: Supports, movable: Supports
) -> tuple[Thing, Surface] | None:
    """What a thing at ``position`` stands in or on: a dish or box, or a fixture.

    A thing is never its own holder, because its base is not below itself.
    """
    for in_dish, on_fixture in ((EXACT, EXACT), (LOOSE_IN_DISH, LOOSE)):
        inner = movable.find(position, in_dish, below=position[1])
        if inner is not None:
            return inner
        outer = fixed.find(position, on_fixture)
        if outer is not None:
            return outer
    return None


def named_holder(
    name: str, position: Vector, things: Sequence[Thing]
) -> tuple[Thing, Surface] | None:
    """The surface of a named thing that is nearest to a height; ``None`` if there is none.

    A recorded name tells the class and the place, which for parts is not that of the id. If
    nothing of the class is there, it is the one that the position is nearest to.

    Args:
        name: class and place of the holder.
        position: base centre of what it holds.
        things: among which to look.
    """
    object_class, place = class_of(name), np.array(position_of(name))
    alike = [thing for thing in things if thing.object_class is object_class and thing.surfaces]
    found = [
        (float(np.abs(place - np.array(position_of(thing.id))).max()), k)
        for k, thing in enumerate(alike)
    ]
    if not found or min(found)[0] > NAMED:
        found = [(_beside(thing, position[0], position[2]), k) for k, thing in enumerate(alike)]
    if not found or min(found)[0] > NAMED:
        return None
    thing = alike[min(found)[1]]
    rise = position[1] - thing.position[1]
    return thing, min(thing.surfaces, key=lambda surface: abs(surface.y - rise))


def _beside(thing: Thing, x: float, z: float) -> float:
    """How far a point is beside a thing's box, seen from above."""
    local_x, local_z = thing.local(x, z)
    return max(abs(local_x) - thing.box[0] / 2, abs(local_z) - thing.box[2] / 2, 0.0)


def _row(thing: Thing, surface: Surface) -> NDArray[np.float64]:
    area = surface.area
    x, y, z = thing.position
    return np.array(
        (
            *(x, y + surface.y, z),
            *sine_cosine(thing.yaw),
            *(area.x0, area.z0, area.x1, area.z1),
            surface.clearance,
            (area.x1 - area.x0) * (area.z1 - area.z0),
        )
    )
