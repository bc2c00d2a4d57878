"""What the agent sees and reaches, decided on the front view at ``SIGHT_PIXELS``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    FIELD_OF_VIEW_DEGREES,
    REACH_METRES,
    SIGHT_PIXELS,
    AgentPose,
    Sight,
    Vector,
)
from gym_clalfred.simulator.embedded.placement import Gaze, sine_cosine
from gym_clalfred.simulator.embedded.things import Thing

#: An object is seen when at least so many pixels of the sight show it.
LEAST_PIXELS = 5

#: How far away things are put at most; what is put there is surely within reach.
PUT_REACH = 1.4

#: How many pixels of a mask are taken into the room to find places in view.
MOST_POINTS = 600


@dataclass(frozen=True)
class Observation:
    """A ``Sight`` with the ids that are in view whether or not they are in reach.

    ``depth`` is (300, 300) metres along the optical axis, if something is held.
    """

    sight: Sight
    in_view: frozenset[str]
    depth: NDArray[np.float32] | None = None


def observe(
    instances: NDArray[np.int16],
    object_ids: tuple[str, ...],
    things: Sequence[Thing],
    x: float,
    z: float,
    depth: NDArray[np.float32] | None = None,
) -> Observation:
    """Works out what an agent at (x, z) with a front view of ``instances`` (300, 300) sees.

    Args:
        depth: (300, 300) that belongs to it.
    """
    counts = count_pixels(instances, len(things) + 1)
    seen = [things[k] for k in np.flatnonzero(counts[1:] >= LEAST_PIXELS).tolist()]
    visible = frozenset(thing.id for thing in seen if _is_in_reach(thing, x, z))
    in_view = frozenset(thing.id for thing in seen)
    return Observation(Sight(instances, object_ids, visible), in_view, depth)


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


def gaze_at(rows: NDArray[np.int64], columns: NDArray[np.int64], agent: AgentPose) -> Gaze:
    """The line of sight through the middle of some pixels of the 300 x 300 view."""
    middle = SIGHT_PIXELS / 2
    focal = middle / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2))
    right = (float(columns.mean()) + 0.5 - middle) / focal if len(columns) else 0.0
    up = (middle - float(rows.mean()) - 0.5) / focal if len(rows) else 0.0
    return Gaze(eye_of(agent), direction_of(agent, right, up), PUT_REACH)


def points_of(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    depth: NDArray[np.float32],
    agent: AgentPose,
) -> NDArray[np.float64]:
    """(N, 3) points in the room that some pixels show, some hundreds of them, within reach.

    Args:
        rows, columns: (P,) of the pixels.
        depth: (300, 300) metres along the optical axis.
        agent: whose view it is.
    """
    every = max(len(rows) // MOST_POINTS, 1)
    rows, columns = rows[::every], columns[::every]
    middle = SIGHT_PIXELS / 2
    focal = middle / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2))
    along = depth[rows, columns].astype(np.float64)
    right = (columns + 0.5 - middle) / focal * along
    up = (middle - rows - 0.5) / focal * along
    yaw_sine, yaw_cosine = sine_cosine(agent.yaw)
    pitch_sine, pitch_cosine = sine_cosine(agent.pitch)
    level = along * pitch_cosine + up * pitch_sine
    x, z = level * yaw_sine + right * yaw_cosine, level * yaw_cosine - right * yaw_sine
    near = np.hypot(x, z) <= PUT_REACH
    offsets = np.stack([x, up * pitch_cosine - along * pitch_sine, z], axis=1)
    return offsets[near] + np.array(eye_of(agent))


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


@njit(cache=True, nogil=True)
def count_pixels(instances: NDArray[np.int16], length: int) -> NDArray[np.int64]:
    """How many pixels of an image show each instance."""
    counts = np.zeros(length, dtype=np.int64)
    pixels = instances.ravel()
    # Neighbours mostly show the same thing, so runs are counted rather than pixels.
    start, current = 0, pixels[0]
    for k in range(1, pixels.size):
        if pixels[k] != current:
            counts[current] += k - start
            start, current = k, pixels[k]
    counts[current] += pixels.size - start
    return counts


@njit(cache=True, nogil=True)
def pixels_of(
    instances: NDArray[np.int16], instance: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the pixels that show an instance, in reading order."""
    count = 0
    for pixel in instances.ravel():
        count += pixel == instance
    rows, columns = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    found = 0
    for row in range(instances.shape[0]):
        for column in range(instances.shape[1]):
            if instances[row, column] == instance:
                rows[found], columns[found] = row, column
                found += 1
    return rows, columns
