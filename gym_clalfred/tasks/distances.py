"""Number of actions (moves, turns and looks) from any pose to one target pose."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.contract import GRID_METRES, AgentPose

_TURNS = 360 // ROTATE_DEGREES
_AHEAD = ((0, 1), (1, 0), (0, -1), (-1, 0))

_Cell = tuple[int, int]


def pose_of_location(location: str) -> AgentPose:
    """Reads ALFRED's ``loc|x|z|r|h``: units of 0.25 m, of 90 degrees and of 1 degree."""
    parts = location.split("|")
    try:
        if len(parts) != 5 or parts[0] != "loc":
            raise ValueError(location)
        x, z, turn, pitch = (int(part) for part in parts[1:])
    except ValueError:
        raise DataError(f"expected a location 'loc|x|z|r|h', found {location!r}") from None
    return AgentPose(x * GRID_METRES, 0.0, z * GRID_METRES, turn % _TURNS * ROTATE_DEGREES, pitch)


class PoseDistances:
    """Shortest ways to one pose over the walkable grid; one search answers for all poses.

    Args:
        walkable: (N, 2) grid points x, z.
        target: the pose to reach; if its point is not walkable the nearest one stands for it.
    """

    def __init__(self, walkable: NDArray[np.float64], target: AgentPose) -> None:
        cells = {_cell(float(x), float(z)) for x, z in walkable}
        goal = _cell(target.x, target.z)
        if goal not in cells and cells:
            goal = min(cells, key=lambda c: (abs(c[0] - goal[0]) + abs(c[1] - goal[1]), c))
        self._pitch = target.pitch
        self._actions = _search_back(cells, goal, target.yaw // ROTATE_DEGREES % _TURNS)
        self._farthest = max(self._actions.values(), default=0)

    def from_pose(self, pose: AgentPose) -> int:
        """Actions from ``pose``; a pose off the grid is as far as the farthest one on it."""
        place = (*_cell(pose.x, pose.z), pose.yaw // ROTATE_DEGREES % _TURNS)
        looks = -(-abs(pose.pitch - self._pitch) // LOOK_DEGREES)
        return self._actions.get(place, self._farthest) + int(looks)


def _cell(x: float, z: float) -> _Cell:
    return round(x / GRID_METRES), round(z / GRID_METRES)


def _search_back(cells: set[_Cell], goal: _Cell, turn: int) -> dict[tuple[int, int, int], int]:
    actions = {(*goal, turn): 0}
    queue = deque(actions)
    while queue:
        x, z, heading = place = queue.popleft()
        dx, dz = _AHEAD[heading]
        earlier = [(x, z, (heading + 1) % _TURNS), (x, z, (heading - 1) % _TURNS)]
        if (x - dx, z - dz) in cells:
            earlier.append((x - dx, z - dz, heading))
        for candidate in earlier:
            if candidate not in actions:
                actions[candidate] = actions[place] + 1
                queue.append(candidate)
    return actions
