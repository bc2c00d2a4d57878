"""Shortest paths on the walkable grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES, Action
from gym_clalfred.expert.navigation import NavigationGrid, cell_of, looks
from gym_clalfred.simulator.contract import GRID_METRES, AgentPose


def grid_of(cells: set[tuple[int, int]]) -> NavigationGrid:
    return NavigationGrid(np.array(sorted(cells), dtype=np.float64).reshape(-1, 2) * GRID_METRES)


def pose(cell: tuple[int, int], yaw: int = 0, pitch: int = 30) -> AgentPose:
    return AgentPose(cell[0] * GRID_METRES, 0.9, cell[1] * GRID_METRES, yaw, pitch)


def pose_after(start: AgentPose, path: Sequence[Action]) -> AgentPose:
    """Where moves, turns and looks lead that nothing hinders."""
    x, z, yaw, pitch = start.x, start.z, start.yaw, start.pitch
    for action in path:
        if action is Action.MoveAhead:
            dx, dz = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}[yaw]
            x, z = x + dx * GRID_METRES, z + dz * GRID_METRES
        elif action in (Action.RotateLeft, Action.RotateRight):
            sign = 1 if action is Action.RotateRight else -1
            yaw = (yaw + sign * ROTATE_DEGREES) % 360
        else:
            pitch += LOOK_DEGREES if action is Action.LookDown else -LOOK_DEGREES
    return AgentPose(x, start.y, z, yaw, pitch)


OPEN_SPACE = set(itertools.product(range(5), range(5)))


def test_moves_ahead_before_it_turns_and_looks_at_the_end() -> None:
    path = grid_of(OPEN_SPACE).routes(pose((0, 0))).path(pose((2, 2), yaw=90, pitch=60))
    move = Action.MoveAhead
    assert path == (move, move, Action.RotateRight, move, move, Action.LookDown, Action.LookDown)


def test_a_detour_is_taken_around_a_wall() -> None:
    cells = OPEN_SPACE - {(2, 0), (2, 1), (2, 2), (2, 3)}
    routes = grid_of(cells).routes(pose((0, 0), yaw=90))
    path = routes.path(pose((4, 0), yaw=180))
    assert path is not None
    assert path.count(Action.MoveAhead) == 12
    assert routes.cost(pose((4, 0), yaw=180)) == len(path) == 15


def test_a_blocked_move_is_avoided() -> None:
    grid = grid_of(OPEN_SPACE)
    grid.block(pose((0, 1)))
    path = grid.routes(pose((0, 0))).path(pose((0, 2)))
    assert path is not None
    assert len(path) > 2
    assert pose_after(pose((0, 0)), path) == pose((0, 2))


def test_other_islands_and_points_off_the_grid_cannot_be_reached() -> None:
    routes = grid_of({(0, 0), (5, 5)}).routes(pose((0, 0)))
    assert routes.cost(pose((5, 5))) is None
    assert routes.path(pose((1, 0))) is None


def test_looks_go_the_right_way() -> None:
    assert looks(30, -15) == (Action.LookUp,) * 3
    assert looks(30, 45) == (Action.LookDown,)


cells_strategy = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(cells=cells_strategy, yaw=st.sampled_from([0, 90, 180, 270]), data=st.data())
def test_every_path_stays_on_the_grid_and_ends_at_its_goal(
    cells: set[tuple[int, int]], yaw: int, data: st.DataObject
) -> None:
    first = data.draw(st.sampled_from(sorted(cells)))
    last = data.draw(st.sampled_from(sorted(cells)))
    goal = pose(
        last, data.draw(st.sampled_from([0, 90, 180, 270])), data.draw(st.sampled_from([0, 60]))
    )
    routes = grid_of(cells).routes(pose(first, yaw))
    path = routes.path(goal)
    if path is None:
        assert routes.cost(goal) is None
        return
    here = pose(first, yaw)
    for count in range(1, len(path) + 1):
        here = pose_after(pose(first, yaw), path[:count])
        assert cell_of(here.x, here.z) in cells
    assert here == goal
    assert len(path) == routes.cost(goal)


@settings(max_examples=30, deadline=None)
@given(cells=cells_strategy, yaw=st.sampled_from([0, 90, 180, 270]))
def test_costs_differ_by_at_most_one_between_neighbouring_states(
    cells: set[tuple[int, int]], yaw: int
) -> None:
    """Necessary and sufficient for shortest paths, with the goal test above."""
    first = sorted(cells)[0]
    routes = grid_of(cells).routes(pose(first, yaw))
    for cell in sorted(cells):
        for heading in (0, 90, 180, 270):
            here = pose(cell, heading)
            cost = routes.cost(here)
            if cost is None:
                continue
            for action in (Action.MoveAhead, Action.RotateLeft, Action.RotateRight):
                after = pose_after(here, [action])
                if cell_of(after.x, after.z) in cells:
                    reached = routes.cost(after)
                    assert reached is not None
                    assert reached <= cost + 1
