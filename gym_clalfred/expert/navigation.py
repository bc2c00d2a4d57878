"""Shortest paths of moves, turns and looks on the grid of points where the agent can stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES, Action
from gym_clalfred.simulator.contract import GRID_METRES, AgentPose

#: A grid point in units of ``GRID_METRES``.
Cell = tuple[int, int]

_HEADINGS = 360 // ROTATE_DEGREES
_AHEAD: tuple[Cell, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))
_UNSEEN = -1


def cell_of(x: float, z: float) -> Cell:
    """The grid point nearest to a position."""
    return round(x / GRID_METRES), round(z / GRID_METRES)


def looks(pitch: int, wanted: int) -> tuple[Action, ...]:
    """The looks that tilt the camera from one pitch to another."""
    count = (wanted - pitch) // LOOK_DEGREES
    return (Action.LookDown,) * count if count > 0 else (Action.LookUp,) * -count


@dataclass(frozen=True)
class Routes:
    """All shortest paths from one pose, every action costing 1.

    Among paths of equal length the one that moves ahead earliest is taken, then the one that turns
    left; the camera tilts only at the end, where it is needed.
    """

    grid: NavigationGrid
    start: AgentPose
    _distance: NDArray[np.int32]
    _parent: NDArray[np.int32]

    def cost(self, pose: AgentPose) -> int | None:
        """Number of actions to a pose, or ``None`` if it cannot be reached."""
        state = self.grid.state(pose)
        if state is None or self._distance[state] == _UNSEEN:
            return None
        return int(self._distance[state]) + len(looks(self.start.pitch, pose.pitch))

    def path(self, pose: AgentPose) -> tuple[Action, ...] | None:
        """The actions to a pose, or ``None`` if it cannot be reached."""
        if self.cost(pose) is None:
            return None
        state = self.grid.state(pose)
        assert state is not None
        actions: list[Action] = []
        while self._distance[state] > 0:
            before = int(self._parent[state])
            actions.append(self.grid.action_between(before, state))
            state = before
        return (*reversed(actions), *looks(self.start.pitch, pose.pitch))


class NavigationGrid:
    """The points where the agent can stand, and which moves between them are known to fail.

    Args:
        points: (N, 2) positions x, z, multiples of ``GRID_METRES``.
    """

    def __init__(self, points: NDArray[np.float64]) -> None:
        cells = sorted({cell_of(float(x), float(z)) for x, z in points})
        self.cells: tuple[Cell, ...] = tuple(cells)
        self._index = {cell: index for index, cell in enumerate(cells)}
        self._ahead = np.full((len(cells), _HEADINGS), _UNSEEN, dtype=np.int32)
        for index, (cx, cz) in enumerate(cells):
            for heading, (dx, dz) in enumerate(_AHEAD):
                self._ahead[index, heading] = self._index.get((cx + dx, cz + dz), _UNSEEN)

    def __contains__(self, cell: object) -> bool:
        return cell in self._index

    def state(self, pose: AgentPose) -> int | None:
        """Number of a place and heading, or ``None`` off the grid."""
        index = self._index.get(cell_of(pose.x, pose.z))
        return None if index is None else index * _HEADINGS + self._heading(pose.yaw)

    def action_between(self, before: int, after: int) -> Action:
        """The action that leads from one state to a neighbouring one."""
        if before // _HEADINGS != after // _HEADINGS:
            return Action.MoveAhead
        quarter = (after - before) % _HEADINGS
        return Action.RotateRight if quarter == 1 else Action.RotateLeft

    def block(self, pose: AgentPose) -> None:
        """Remembers that the agent cannot move ahead from a pose."""
        index = self._index.get(cell_of(pose.x, pose.z))
        if index is not None:
            self._ahead[index, self._heading(pose.yaw)] = _UNSEEN

    def routes(self, start: AgentPose) -> Routes:
        """Breadth-first search from a pose over places and headings."""
        states = len(self.cells) * _HEADINGS
        ahead = self._ahead.tolist()
        distance = [_UNSEEN] * states
        parent = [_UNSEEN] * states
        first = self.state(start)
        if first is not None:
            distance[first] = 0
            level = [first]
            steps = 0
            while level:
                steps += 1
                following: list[int] = []
                for state in level:
                    index, heading = divmod(state, _HEADINGS)
                    base = state - heading
                    moved = ahead[index][heading]
                    for after in (
                        moved * _HEADINGS + heading if moved != _UNSEEN else state,
                        base + (heading - 1) % _HEADINGS,
                        base + (heading + 1) % _HEADINGS,
                    ):
                        if distance[after] == _UNSEEN:
                            distance[after] = steps
                            parent[after] = state
                            following.append(after)
                level = following
        return Routes(self, start, np.array(distance, np.int32), np.array(parent, np.int32))

    @staticmethod
    def _heading(yaw: int) -> int:
        return round(yaw / ROTATE_DEGREES) % _HEADINGS
