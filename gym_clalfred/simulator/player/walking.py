"""Where the agent can walk to on a grid of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gym_clalfred.simulator.contract import GRID_METRES
from gym_clalfred.simulator.embedded.placement import sine_cosine
from gym_clalfred.simulator.player.refusals import RefusedError

if TYPE_CHECKING:
    from gym_clalfred.simulator.player.world import PlayerWorld

#: The finest grid whose points are listed, in metres; a large room has 200,000 of them.
FINEST_GRID = 0.02

Point = tuple[float, float]


def reachable_points(
    world: PlayerWorld, grid: float, steps: float, relative: bool = False
) -> list[Point]:
    """Points that steps of one size lead to, sorted; the agent's own point is one of them.

    Args:
        world: the household.
        grid: length of a step in metres.
        steps: the search is refused beyond so many steps a square metre, as in AI2-THOR.
        relative: whether steps go along the agent's heading instead of the room's axes.
    """
    if grid < FINEST_GRID:
        raise RefusedError(f"gridSize {grid}: clalfred-player lists no grid below {FINEST_GRID} m")
    if grid == GRID_METRES and not relative:
        found = world.free_points()
        if len(found) > steps / grid**2:
            raise _too_many()
        return found
    sine, cosine = sine_cosine(world.agent.yaw) if relative else (0.0, 1.0)
    x, z = world.agent.x, world.agent.z

    def place(column: float, row: float) -> Point:
        across, ahead = column * grid, row * grid
        return x + across * cosine + ahead * sine, z + ahead * cosine - across * sine

    # A long step is looked at in parts, as a move is.
    parts = math.ceil(grid / GRID_METRES - 1e-3)
    shares = [k / parts for k in range(1, parts + 1)]
    cells, waiting = {(0, 0)}, [(0, 0)]
    while waiting:
        column, row = waiting.pop()
        if len(cells) > steps / grid**2:
            raise _too_many()
        for right, ahead in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            cell = (column + right, row + ahead)
            if cell not in cells and all(
                world.can_stand(*place(column + share * right, row + share * ahead))
                for share in shares
            ):
                cells.add(cell)
                waiting.append(cell)
    return sorted(place(*cell) for cell in cells)


def _too_many() -> RefusedError:
    return RefusedError("Too many steps taken in GetReachablePositions.")
