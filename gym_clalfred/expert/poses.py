"""Candidate poses for seeing and reaching an object, the most promising first.

Geometry only proposes; whether an object is really visible is for the simulator to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES
from gym_clalfred.expert.navigation import Routes
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    GRID_METRES,
    PITCH_RANGE,
    REACH_METRES,
    AgentPose,
)
from gym_clalfred.simulator.geometry import Box, ahead_and_right

#: Less than ``REACH_METRES``, so that rounding never decides.
_REACH = REACH_METRES - 0.05
#: Objects wider than this are aimed at where they are nearest rather than at their centre.
_WIDE = 0.7
_WIDE_MARGIN = 0.2
_LARGEST_ANGLE = 27.0
# A pose is judged by the view first and by the way second: 15 degrees off the middle weigh as much
# as a quarter of a metre too near or too far, or as 25 more actions. ALFRED's experts stand like
# this too: when they pick something up it is 0.65 m away and 7 degrees off the middle (medians).
_COST_PER_DEGREE = 1 / 3
_COST_PER_METRE = 20.0
_COST_PER_ACTION = 0.2


@dataclass(frozen=True)
class ViewTarget:
    """What to look at.

    Args:
        box: around the object.
        height: the height in it (0 base, 1 top) that matters.
        away: metres from which it is seen and handled best.
    """

    box: Box
    height: float = 0.5
    away: float = 0.65

    def point(self, x: float, z: float) -> tuple[float, float, float]:
        """The point to look at from a place."""
        y = self.box.y0 + self.height * (self.box.y1 - self.box.y0)
        if self.box.width > _WIDE:
            near_x, near_z = self.box.nearest(x, z, _WIDE_MARGIN)
            return near_x, y, near_z
        centre = self.box.centre
        return centre[0], y, centre[2]


def candidate_poses(routes: Routes, targets: Iterable[ViewTarget]) -> list[AgentPose]:
    """Poses in the order in which to try them; ties are broken by place and heading."""
    best: dict[AgentPose, float] = {}
    for target in targets:
        for pose, score in _scored(routes, target):
            best[pose] = min(score, best.get(pose, math.inf))
    return sorted(best, key=lambda p: (round(best[p], 6), p.x, p.z, p.yaw, p.pitch))


def _scored(routes: Routes, target: ViewTarget) -> Iterable[tuple[AgentPose, float]]:
    agent_y, box = routes.start.y, target.box
    x0, x1, z0, z1 = box.x0 - _REACH, box.x1 + _REACH, box.z0 - _REACH, box.z1 + _REACH
    for cell_x, cell_z in routes.grid.cells:
        x, z = cell_x * GRID_METRES, cell_z * GRID_METRES
        # Most cells are far off, which two comparisons tell sooner than a distance.
        if not (x0 <= x <= x1 and z0 <= z <= z1) or box.distance(x, z) > _REACH:
            continue
        point = target.point(x, z)
        for yaw in range(0, 360, ROTATE_DEGREES):
            level = AgentPose(x, agent_y, z, yaw, 0)
            ahead, right = ahead_and_right(level, point[0], point[2])
            if ahead <= 0:
                continue
            sideways = abs(math.degrees(math.atan2(right, ahead)))
            if sideways > _LARGEST_ANGLE:
                continue
            down = math.degrees(math.atan2(agent_y + CAMERA_ABOVE_AGENT - point[1], ahead))
            for pitch in _pitches(down):
                pose = AgentPose(x, agent_y, z, yaw, pitch)
                cost = routes.cost(pose)
                if cost is None:
                    continue
                awkward = abs(math.hypot(ahead, right) - target.away)
                off = sideways + abs(down - pitch)
                way = cost * _COST_PER_ACTION
                yield pose, way + off * _COST_PER_DEGREE + awkward * _COST_PER_METRE


def _pitches(down: float) -> tuple[int, ...]:
    """The two tilts nearest to an angle, within the expert's range."""
    low = math.floor(down / LOOK_DEGREES) * LOOK_DEGREES
    least, most = PITCH_RANGE
    tilts = {min(max(tilt, least), most) for tilt in (low, low + LOOK_DEGREES)}
    return tuple(sorted(tilt for tilt in tilts if abs(down - tilt) <= _LARGEST_ANGLE))
