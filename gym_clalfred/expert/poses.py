"""Poses from which the agent may see and reach an object, the most promising first.

Geometry only proposes; whether an object is really visible is for the simulator to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES
from gym_clalfred.expert.geometry import Box, ahead_and_right
from gym_clalfred.expert.navigation import Routes
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    GRID_METRES,
    PITCH_RANGE,
    REACH_METRES,
    AgentPose,
)

#: Less than ``REACH_METRES``, so that rounding never decides.
_REACH = REACH_METRES - 0.05
#: Objects wider than this are aimed at where they are nearest rather than at their centre.
_WIDE = 0.7
_WIDE_MARGIN = 0.2
_LARGEST_ANGLE = 27.0
_COMFORTABLE_REACH = 1.0
_COMFORTABLE_NEARNESS = 0.35
# A pose is worth a longer way if it shows its object in the middle of the view at arm's length: one
# action per 15 degrees off the middle, 4 actions per metre.
_COST_PER_DEGREE = 1 / 15
_COST_PER_METRE = 4.0


@dataclass(frozen=True)
class Aim:
    """What to look at: a box, and the height in it (0 base, 1 top) that matters."""

    box: Box
    height: float = 0.5

    def point(self, x: float, z: float) -> tuple[float, float, float]:
        """The point to look at from a place."""
        y = self.box.y0 + self.height * (self.box.y1 - self.box.y0)
        if self.box.width > _WIDE:
            near_x, near_z = self.box.nearest(x, z, _WIDE_MARGIN)
            return near_x, y, near_z
        centre = self.box.centre
        return centre[0], y, centre[2]


def candidate_poses(routes: Routes, aims: Iterable[Aim]) -> list[AgentPose]:
    """Poses in the order in which to try them; ties are broken by place and heading."""
    best: dict[AgentPose, float] = {}
    for aim in aims:
        for pose, score in _scored(routes, aim):
            best[pose] = min(score, best.get(pose, math.inf))
    return sorted(best, key=lambda p: (round(best[p], 6), p.x, p.z, p.yaw, p.pitch))


def _scored(routes: Routes, aim: Aim) -> Iterable[tuple[AgentPose, float]]:
    agent_y = routes.start.y
    for cell_x, cell_z in routes.grid.cells:
        x, z = cell_x * GRID_METRES, cell_z * GRID_METRES
        distance = aim.box.distance(x, z)
        if distance > _REACH:
            continue
        point = aim.point(x, z)
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
                awkward = max(distance - _COMFORTABLE_REACH, 0.0)
                awkward += max(_COMFORTABLE_NEARNESS - distance, 0.0)
                off = sideways + abs(down - pitch)
                yield pose, cost + off * _COST_PER_DEGREE + awkward * _COST_PER_METRE


def _pitches(down: float) -> tuple[int, ...]:
    """The two tilts nearest to an angle, within the expert's range."""
    low = math.floor(down / LOOK_DEGREES) * LOOK_DEGREES
    least, most = PITCH_RANGE
    tilts = {min(max(tilt, least), most) for tilt in (low, low + LOOK_DEGREES)}
    return tuple(sorted(tilt for tilt in tilts if abs(down - tilt) <= _LARGEST_ANGLE))
