"""Boxes of objects and where they lie as seen from a pose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from gym_clalfred.simulator.contract import AgentPose, ObjectState


@dataclass(frozen=True)
class Box:
    """An axis-parallel box in the room, in metres."""

    x0: float
    y0: float
    z0: float
    x1: float
    y1: float
    z1: float

    @classmethod
    def of(cls, state: ObjectState) -> Box:
        """Around an object as it stands now; tilts other than yaw are left out."""
        x, y, z = state.position
        width, height, depth = state.size
        yaw = math.radians(state.rotation[1])
        sine, cosine = abs(math.sin(yaw)), abs(math.cos(yaw))
        half_x = (width * cosine + depth * sine) / 2
        half_z = (width * sine + depth * cosine) / 2
        return cls(x - half_x, y, z - half_z, x + half_x, y + height, z + half_z)

    @property
    def centre(self) -> tuple[float, float, float]:
        """Its middle."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2, (self.z0 + self.z1) / 2

    @property
    def width(self) -> float:
        """The longer horizontal side."""
        return max(self.x1 - self.x0, self.z1 - self.z0)

    def nearest(self, x: float, z: float, margin: float = 0.0) -> tuple[float, float]:
        """The point of the floor plan of the box, shrunk by a margin, that is nearest to x, z."""
        return _clamp(x, self.x0, self.x1, margin), _clamp(z, self.z0, self.z1, margin)

    def distance(self, x: float, z: float) -> float:
        """Horizontal distance from a point; 0 inside."""
        near_x, near_z = self.nearest(x, z)
        return math.hypot(near_x - x, near_z - z)

    def gap(self, other: Box) -> float:
        """Horizontal distance between two boxes; 0 if they overlap on the floor plan."""
        dx = max(self.x0 - other.x1, other.x0 - self.x1, 0.0)
        dz = max(self.z0 - other.z1, other.z0 - self.z1, 0.0)
        return math.hypot(dx, dz)

    def covered(self, other: Box) -> float:
        """Share of this box's floor plan that lies over or under another's."""
        dx = min(self.x1, other.x1) - max(self.x0, other.x0)
        dz = min(self.z1, other.z1) - max(self.z0, other.z0)
        area = (self.x1 - self.x0) * (self.z1 - self.z0)
        return max(dx, 0.0) * max(dz, 0.0) / area if area > 0 else 0.0

    def overlaps(self, other: Box, tolerance: float = 1e-3) -> bool:
        """Whether the two share more than a skin of ``tolerance`` metres."""
        return (
            self.x0 < other.x1 - tolerance
            and other.x0 < self.x1 - tolerance
            and self.z0 < other.z1 - tolerance
            and other.z0 < self.z1 - tolerance
            and self.y0 < other.y1 - tolerance
            and other.y0 < self.y1 - tolerance
        )


def ahead_and_right(pose: AgentPose, x: float, z: float) -> tuple[float, float]:
    """How far ahead and to the right of the agent a point is."""
    sine, cosine = _heading(pose.yaw)
    dx, dz = x - pose.x, z - pose.z
    return dx * sine + dz * cosine, dx * cosine - dz * sine


def span_from(pose: AgentPose, box: Box) -> tuple[float, float, float, float]:
    """Least and greatest distance ahead, then to the right, of a box."""
    corners = [ahead_and_right(pose, x, z) for x in (box.x0, box.x1) for z in (box.z0, box.z1)]
    ahead = [corner[0] for corner in corners]
    right = [corner[1] for corner in corners]
    return min(ahead), max(ahead), min(right), max(right)


@lru_cache(maxsize=512)
def _heading(yaw: float) -> tuple[float, float]:
    """Sine and cosine of a heading in degrees."""
    angle = math.radians(yaw)
    return math.sin(angle), math.cos(angle)


def _clamp(value: float, low: float, high: float, margin: float) -> float:
    margin = min(margin, (high - low) / 2)
    return min(max(value, low + margin), high - margin)
