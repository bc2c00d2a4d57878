"""What the agent sees and reaches, decided on the front view at ``SIGHT_PIXELS``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    FIELD_OF_VIEW_DEGREES,
    LEAST_PIXELS,
    REACH_METRES,
    SIGHT_PIXELS,
    AgentPose,
    Sight,
    Vector,
)
from gym_clalfred.simulator.embedded.placement import Gaze, sine_cosine
from gym_clalfred.simulator.embedded.render.readout import find_runs
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.jit import kernel

#: How far away things are put at most; what is put there is surely within reach.
PUT_REACH = 1.4

#: How many pixels of a mask are taken into the room to find places in view.
MOST_POINTS = 600

_MIDDLE = SIGHT_PIXELS / 2
_FOCAL = _MIDDLE / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2))


@dataclass(frozen=True)
class Observation:
    """A ``Sight`` with the ids that are in view whether or not they are in reach.

    ``about`` is the only class of which all this is right, or ``None`` if it is right of all.
    ``depth`` is (300, 300) metres along the optical axis, if something is held.
    """

    sight: Sight
    in_view: frozenset[str]
    about: ObjectClass | None = None
    depth: NDArray[np.float32] | None = None

    def is_about(self, object_class: ObjectClass | None) -> bool:
        """Whether it tells what is in view of a class; ``None`` asks about all."""
        return self.about is None or self.about is object_class


def observe(
    instances: NDArray[np.int16],
    sums: NDArray[np.int64],
    object_ids: tuple[str, ...],
    things: Sequence[Thing],
    x: float,
    z: float,
    about: ObjectClass | None = None,
    depth: NDArray[np.float32] | None = None,
) -> Observation:
    """Works out what an agent at (x, z) with a front view of ``instances`` (300, 300) sees.

    Args:
        sums: what ``sum_pixels`` gives for it.
        about: the only class of which it shows all.
        depth: (300, 300) that belongs to it.
    """
    shown = [things[k] for k in np.flatnonzero(sums[1:, 0] >= LEAST_PIXELS).tolist()]
    seen = [thing for thing in shown if about is None or thing.object_class is about]
    visible = frozenset(thing.id for thing in seen if _is_in_reach(thing, x, z))
    in_view = frozenset(thing.id for thing in seen)
    return Observation(Sight(instances, object_ids, visible, sums), in_view, about, depth)


def _is_in_reach(thing: Thing, x: float, z: float) -> bool:
    # No part of a box is farther than its centre, which is quicker to tell.
    centre_x, _, centre_z = thing.position
    if math.hypot(centre_x - x, centre_z - z) <= REACH_METRES:
        return True
    return distance_to(thing, x, z) <= REACH_METRES


def distance_to(thing: Thing, x: float, z: float) -> float:
    """Horizontal distance from an axis at (x, z) to the nearest point of a thing's box."""
    local_x, local_z = thing.local(x, z)
    width, _, depth = thing.box
    return math.hypot(max(abs(local_x) - width / 2, 0.0), max(abs(local_z) - depth / 2, 0.0))


def eye_of(agent: AgentPose) -> Vector:
    """Where the camera is."""
    return (agent.x, agent.y + CAMERA_ABOVE_AGENT, agent.z)


def gaze_at(row: float, column: float, agent: AgentPose) -> Gaze:
    """The line of sight through a place in the 300 x 300 view."""
    right = (column + 0.5 - _MIDDLE) / _FOCAL
    up = (_MIDDLE - row - 0.5) / _FOCAL
    return Gaze(eye_of(agent), direction_of(agent, right, up), PUT_REACH)


def points_of(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    depth: NDArray[np.float32],
    agent: AgentPose,
) -> NDArray[np.float64]:
    """(N, 3) points in the room that some pixels show, those within reach.

    Args:
        rows, columns: (P,) of the pixels.
        depth: (300, 300) metres along the optical axis.
        agent: whose view it is.
    """
    yaw, pitch = sine_cosine(agent.yaw), sine_cosine(agent.pitch)
    return _points_of(rows, columns, depth, eye_of(agent), yaw, pitch)


@kernel()
def _points_of(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    depth: NDArray[np.float32],
    eye: Vector,
    yaw: tuple[float, float],
    pitch: tuple[float, float],
) -> NDArray[np.float64]:
    """``points_of`` for an eye and the sines and cosines of its direction."""
    (yaw_sine, yaw_cosine), (pitch_sine, pitch_cosine) = yaw, pitch
    points = np.empty((len(rows), 3))
    found = 0
    for row, column in zip(rows, columns):
        along = float(depth[row, column])
        right = (column + 0.5 - _MIDDLE) / _FOCAL * along
        up = (_MIDDLE - row - 0.5) / _FOCAL * along
        level = along * pitch_cosine + up * pitch_sine
        x, z = level * yaw_sine + right * yaw_cosine, level * yaw_cosine - right * yaw_sine
        if math.hypot(x, z) <= PUT_REACH:
            points[found, 0] = x + eye[0]
            points[found, 1] = up * pitch_cosine - along * pitch_sine + eye[1]
            points[found, 2] = z + eye[2]
            found += 1
    return points[:found]


def direction_of(agent: AgentPose, right: float = 0.0, up: float = 0.0) -> Vector:
    """Unit vector in the room of the camera's (right, up, 1)."""
    yaw_sine, yaw_cosine = sine_cosine(agent.yaw)
    pitch_sine, pitch_cosine = sine_cosine(agent.pitch)
    level = pitch_cosine + up * pitch_sine
    x = yaw_sine * level + right * yaw_cosine
    y = up * pitch_cosine - pitch_sine
    z = yaw_cosine * level - right * yaw_sine
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length)


@kernel()
def sum_pixels(instances: NDArray[np.int16], length: int) -> NDArray[np.int64]:
    """(length, 3) pixels of an image that show each instance, sums of their rows and columns."""
    sums = np.zeros((length, 3), dtype=np.int64)
    height, width = instances.shape
    pixels = instances.ravel()
    words = np.zeros(width // 8 + 1, dtype=np.uint64)
    changes, ends = words.view(np.uint8), np.zeros(width + 8, dtype=np.int32)
    for row in range(height):
        # Neighbours mostly show the same thing, so runs are counted rather than pixels.
        start, line = 0, np.uint64(row * width)
        for run in range(find_runs(pixels, line, width, changes, words, ends)):
            instance, end = pixels[line + np.uint64(start)], ends[run]
            sums[instance, 0] += end - start
            sums[instance, 1] += (end - start) * row
            sums[instance, 2] += (end - start) * (start + end - 1) // 2
            start = end
    return sums


@kernel()
def pixels_of(
    instances: NDArray[np.int16], instance: int, every: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the pixels that show an instance, one of ``every`` in reading order."""
    height, width = instances.shape
    pixels = instances.ravel()
    words = np.zeros(width // 8 + 1, dtype=np.uint64)
    changes, ends = words.view(np.uint8), np.zeros(width + 8, dtype=np.int32)
    places = np.empty((2, height * width // every + 1), dtype=np.int64)
    found, passed = 0, 0
    for row in range(height):
        start, line = 0, np.uint64(row * width)
        for run in range(find_runs(pixels, line, width, changes, words, ends)):
            end = ends[run]
            if pixels[line + np.uint64(start)] == instance:
                for column in range(start, end):
                    if passed == 0:
                        places[0, found], places[1, found] = row, column
                        found += 1
                    passed = passed + 1 if passed + 1 < every else 0
            start = end
    return places[0, :found].copy(), places[1, :found].copy()
