"""A rule-based agent: it is told what to do with which class, and finds it by a map of its own.

It says what navigation alone is worth: its plan is the expert's sequence of verbs and classes, its
perception is given, and nothing is learned. It walks to where it saw the class, looks at it and
acts; what it has not seen it looks for at the nearest edge of what it knows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from clalfred.agents.semantic_map.room_map import EYE, FLOOR, OBSTACLE, RoomMap
from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.simulator.contract import REACH_METRES, View
from gym_clalfred.stream import demonstration_of

_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # by yaw in quarter turns: north, east, south, west
_CELL = 0.25


def navigator(
    env: ClAlfredEnv, key: EpisodeKey, rng: np.random.Generator
) -> Iterator[tuple[Action, int]]:
    """Does the expert's interactions one after the other, each when it has worked; then stops."""
    plan = [
        (step.action, int(step.target))
        for step in demonstration_of(env.source.episode(key), env.source).actions
        if step.action.is_interaction
    ]
    room, shown = RoomMap(), None
    action, target = Action.Stop, 0
    while plan:
        frame = env.simulator.frame()
        if shown is not None:
            worked = not np.array_equal(frame.rgb, shown)
            room.did(int(action), target, worked)
            if action.is_interaction and worked:
                plan.pop(0)
                if not plan:
                    break
        assert frame.classes is not None
        assert frame.depth is not None
        room.see(frame.classes, frame.depth)
        shown = frame.rgb
        verb, wanted = plan[0]
        action, target = _next(room, verb, wanted, frame.classes, frame.depth, rng)
        yield action, target
    yield Action.Stop, 0


def _next(
    room: RoomMap,
    verb: Action,
    wanted: int,
    classes: np.ndarray,
    depth: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Action, int]:
    """One step towards an interaction, or the interaction itself."""
    tried = room.tried()
    mine = (classes[View.FRONT] == wanted) & (depth[View.FRONT] < REACH_METRES)
    if mine.sum() >= 2 and not tried[int(verb)]:
        return verb, wanted
    cells = room.where(wanted)
    move = _towards(room, cells) if len(cells) else None
    if move is None or tried[int(move)]:
        move = _explore(room)
    if move is None or tried[int(move)]:
        left = [one for one in _MOVES if not tried[int(one)]]
        move = left[int(rng.integers(len(left)))] if left else _MOVES[int(rng.integers(3))]
    return move, 0


_MOVES = (
    Action.MoveAhead,
    Action.RotateLeft,
    Action.RotateRight,
    Action.LookDown,
    Action.LookUp,
)


def _towards(room: RoomMap, cells: np.ndarray) -> Action | None:
    """Walks to a free cell in front of the nearest of some cells, faces it, and looks at it."""
    x, z, yaw, pitch = room.pose
    paths = _paths(room)
    best: tuple[float, tuple[int, int], int, float] | None = None
    for cx, cz, height in cells:
        for (px, pz), steps in paths.items():
            dx, dz = cx - px, cz - pz
            far = np.hypot(dx, dz)
            if not 1 <= far <= REACH_METRES / _CELL - 1:
                continue
            facing = _facing(dx, dz)
            aside = abs(dz) if facing % 2 else abs(dx)
            turns = min((facing - yaw) % 4, (yaw - facing) % 4) if (px, pz) == (x, z) else 1
            cost = steps + turns + 1.5 * aside + abs(far - 3) * 0.5
            if best is None or cost < best[0]:
                down = np.degrees(np.arctan2(EYE - height, max(far, 1.0) * _CELL))
                best = cost, (px, pz), facing, float(down)
    if best is None:
        return None
    _, goal, facing, down = best
    if goal != (x, z):
        return _walk(room, goal)
    if facing != yaw:
        return Action.RotateRight if (facing - yaw) % 4 == 1 else Action.RotateLeft
    wish = int(np.clip(round(down / 15) * 15, -30, 60))
    if wish != pitch:
        return Action.LookDown if wish > pitch else Action.LookUp
    return None


def _facing(dx: float, dz: float) -> int:
    """The quarter turn that looks most directly along a direction."""
    if abs(dz) >= abs(dx):
        return 0 if dz >= 0 else 2
    return 1 if dx > 0 else 3


def _explore(room: RoomMap) -> Action | None:
    """Walks to the nearest cell beside something unknown, or looks at it."""
    x, z, yaw, _ = room.pose
    ground = room.ground
    for (px, pz), _ in sorted(_paths(room).items(), key=lambda item: item[1]):
        unknown = [side for side, (dx, dz) in enumerate(_STEPS) if ground[px + dx, pz + dz] == 0]
        if not unknown:
            continue
        if (px, pz) != (x, z):
            return _walk(room, (px, pz))
        if yaw in unknown:
            return Action.MoveAhead
        return Action.RotateRight if (unknown[0] - yaw) % 4 == 1 else Action.RotateLeft
    return None


def _paths(room: RoomMap) -> dict[tuple[int, int], int]:
    """How many steps away every free cell is that can be walked to; the agent is a cell wide."""
    x, z, *_ = room.pose
    ground, seen, waiting = room.ground, {(x, z): 0}, deque([(x, z)])
    while waiting:
        px, pz = waiting.popleft()
        for dx, dz in _STEPS:
            cell = px + dx, pz + dz
            if cell not in seen and ground[cell] == FLOOR and min(cell) > 1 and max(cell) < 78:
                seen[cell] = seen[px, pz] + 1
                waiting.append(cell)
    return seen


def _walk(room: RoomMap, goal: tuple[int, int]) -> Action | None:
    """The first step of a shortest way, or the turn before it."""
    x, z, yaw, _ = room.pose
    ground, seen, waiting = room.ground, {goal}, deque([goal])
    while waiting:
        px, pz = waiting.popleft()
        for side, (dx, dz) in enumerate(_STEPS):
            cell = px - dx, pz - dz
            if cell == (x, z):
                if side == yaw:
                    return Action.MoveAhead
                return Action.RotateRight if (side - yaw) % 4 == 1 else Action.RotateLeft
            if cell not in seen and ground[cell] not in (0, OBSTACLE):
                seen.add(cell)
                waiting.append(cell)
    return None
