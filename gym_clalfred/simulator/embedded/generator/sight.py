"""Whether an agent can see and reach a point of a room, by geometry alone.

Boxes stand for what they enclose, so the answer errs on the safe side: the real shapes hide less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import CAMERA_ABOVE_AGENT, PITCH_RANGE, Vector
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.generator.floor_plan import box_of
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Fixture, Surface

#: Largest horizontal distance to a point that counts as within reach; a little less than the rule.
REACH = 1.4

_EYE = AGENT_HEIGHT + CAMERA_ABOVE_AGENT
#: Half of the field of view that is used, so that a thing is well inside the picture.
_HALF_VIEW = math.radians(26.0)
_LOOK = math.radians(15.0)
#: How steeply one has to look down on a surface so that flat things on it show.
_SLOPE = 0.2
#: How many standpoints are tried for a free line of sight.
_STANDPOINTS = 6

#: Too thin or too small to hide anything.
_HIDES_NOTHING = frozenset(
    {
        ObjectClass.Faucet,
        ObjectClass.StoveBurner,
        ObjectClass.StoveKnob,
        ObjectClass.FloorLamp,
        ObjectClass.LightSwitch,
        ObjectClass.ShowerHead,
        ObjectClass.SinkBasin,
        ObjectClass.BathtubBasin,
    }
)

#: Holders into which one looks from above.
HOLLOW_ABOVE = frozenset(
    {
        ObjectClass.SinkBasin,
        ObjectClass.BathtubBasin,
        ObjectClass.GarbageCan,
        ObjectClass.LaundryHamper,
    }
)


class Sightlines:
    """Answers for one room.

    Args:
        fixtures: of the room.
        walkable: points to stand on.
    """

    def __init__(
        self, fixtures: Sequence[Fixture], walkable: Sequence[tuple[float, float]]
    ) -> None:
        self._stand = np.array(sorted(walkable), dtype=np.float64).reshape(-1, 2)
        hiding = [f for f in fixtures if f.object_class not in _HIDES_NOTHING]
        boxes = [box_of(f.position, f.size, f.yaw) for f in hiding]
        self._low = np.array([(b.x0, b.y0, b.z0) for b in boxes]).reshape(-1, 3) + 2e-3
        self._high = np.array([(b.x1, b.y1, b.z1) for b in boxes]).reshape(-1, 3) - 2e-3
        self._names = {fixture.name: k for k, fixture in enumerate(hiding)}

    def sees(
        self, fixture: Fixture, surface: Surface, x: float, z: float, height: float = 0.06
    ) -> bool:
        """Whether something of some height at (x, z) of a surface, in its own frame, is usable.

        Drawers are looked at pulled out, other containers opened.
        """
        slide = model_of(fixture.object_class).slide(fixture.size, True)
        if slide > 0.0:
            dx, dz = turn(0.0, slide, fixture.yaw)
            px, py, pz = fixture.position
            fixture = replace(fixture, position=(px + dx, py, pz + dz))
        dx, dz = turn(x, z, fixture.yaw)
        px, py, pz = fixture.position
        point = (px + dx, py + surface.y + height / 2, pz + dz)
        eyes = self._standpoints(point)
        if slide > 0.0 or fixture.object_class in HOLLOW_ABOVE:
            eyes = eyes[_over_rim(fixture, point, eyes)]
        elif surface.inside:
            eyes = eyes[_through_front(fixture, surface, point, eyes)]
        else:
            away = np.hypot(eyes[:, 0] - point[0], eyes[:, 2] - point[2])
            eyes = eyes[_EYE - (py + surface.y) > _SLOPE * away]
        # What is pulled out of a body can still be hidden by it, what is let into it cannot.
        ignored = (fixture.name, None if slide > 0.0 else fixture.part_of)
        return len(eyes) > 0 and self._is_clear(point, eyes, ignored)

    def sees_point(self, point: Vector) -> bool:
        """Whether a point in free space can be seen from within reach."""
        eyes = self._standpoints(point)
        return len(eyes) > 0 and self._is_clear(point, eyes, ())

    def sees_front(self, fixture: Fixture) -> bool:
        """Whether the middle of an object's front (of its top, if that is lower) can be seen."""
        dx, dz = turn(0.0, fixture.size[2] / 2, fixture.yaw)
        px, py, pz = fixture.position
        point = (px + dx, py + fixture.size[1] / 2, pz + dz)
        eyes = self._standpoints(point)
        inward = turn(0.0, 1.0, fixture.yaw)
        ahead = (eyes[:, 0] - point[0]) * inward[0] + (eyes[:, 2] - point[2]) * inward[1]
        eyes = eyes[ahead > 0.05]
        return len(eyes) > 0 and self._is_clear(point, eyes, (fixture.name, fixture.part_of))

    def _standpoints(self, point: Vector) -> NDArray[np.float64]:
        """(K, 3) eyes from which the point is within reach and can be brought into the picture."""
        first, last = np.searchsorted(self._stand[:, 0], (point[0] - REACH, point[0] + REACH))
        stand = self._stand[first:last]
        dx = np.abs(stand[:, 0] - point[0])
        dz = np.abs(stand[:, 1] - point[2])
        away = np.hypot(dx, dz)
        ahead, aside = np.maximum(dx, dz), np.minimum(dx, dz)
        drop = _EYE - point[1]
        angle = np.arctan2(drop, ahead)
        low, high = (math.radians(value) for value in PITCH_RANGE)
        pitch = np.clip(np.round(angle / _LOOK) * _LOOK, low, high)
        off = np.abs(angle - pitch)
        deep = np.hypot(ahead, drop) * np.cos(off)
        good = (away <= REACH) & (off <= _HALF_VIEW) & (aside <= deep * math.tan(_HALF_VIEW))
        chosen = np.flatnonzero(good)
        order = np.argsort(np.abs(away[chosen] - 0.75), kind="stable")
        eyes = np.empty((len(chosen), 3))
        eyes[:, 0], eyes[:, 2] = stand[chosen[order]].T
        eyes[:, 1] = _EYE
        return eyes

    def _is_clear(
        self, point: Vector, eyes: NDArray[np.float64], ignored: tuple[str | None, ...]
    ) -> bool:
        """Whether the line from one of the eyes to the point meets no box."""
        eyes = eyes[:_STANDPOINTS]
        target = np.array(point)
        ray = target - eyes
        ray = np.where(np.abs(ray) < 1e-9, 1e-9, ray)
        near = (self._low[None] - eyes[:, None]) / ray[:, None]
        far = (self._high[None] - eyes[:, None]) / ray[:, None]
        enter = np.minimum(near, far).max(axis=2)
        leave = np.maximum(near, far).min(axis=2)
        hit = (enter < leave) & (leave > 0.0) & (enter < 1.0 - 1e-3)
        for name in ignored:
            if name in self._names:
                hit[:, self._names[name]] = False
        return bool((~hit.any(axis=1)).any())


def _through_front(
    fixture: Fixture, surface: Surface, point: Vector, eyes: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which eyes see the point through the open front and not through the shelf above."""
    inward, across = turn(0.0, 1.0, fixture.yaw), turn(1.0, 0.0, fixture.yaw)
    px, py, pz = fixture.position
    offset = eyes - np.array(point)
    ahead = offset[:, 0] * inward[0] + offset[:, 2] * inward[1]
    depth = fixture.size[2] / 2 - ((point[0] - px) * inward[0] + (point[2] - pz) * inward[1])
    share = depth / np.maximum(ahead, 1e-6)
    side = (point[0] - px) * across[0] + (point[2] - pz) * across[1]
    side = side + share * (offset[:, 0] * across[0] + offset[:, 2] * across[1])
    height = point[1] + share * offset[:, 1]
    low = py + surface.y
    inside = np.abs(side) < fixture.size[0] / 2 - 0.02
    result: NDArray[np.bool_] = (
        (ahead > depth + 0.05) & inside & (height > low) & (height < low + surface.clearance)
    )
    return result


def _over_rim(fixture: Fixture, point: Vector, eyes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which eyes see the point through the open top."""
    top = fixture.position[1] + fixture.size[1]
    share = (top - point[1]) / (eyes[:, 1] - point[1])
    box = box_of(fixture.position, fixture.size, fixture.yaw)
    x = point[0] + share * (eyes[:, 0] - point[0])
    z = point[2] + share * (eyes[:, 2] - point[2])
    margin = 0.02
    result: NDArray[np.bool_] = (
        (x > box.x0 + margin)
        & (x < box.x1 - margin)
        & (z > box.z0 + margin)
        & (z < box.z1 - margin)
    )
    return result
