"""What the trajectories of a room tell about it, gathered one trajectory at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gym_clalfred.actions import LOOK_DEGREES, MOVE_METRES, ROTATE_DEGREES, Action
from gym_clalfred.data.trajectory import ExpertAction, RunLengthMask, Trajectory
from gym_clalfred.objects import CLOSED_AT_START, PICKUPABLE, ObjectClass
from gym_clalfred.simulator.contract import GRID_METRES, ObjectPose, Vector
from gym_clalfred.simulator.object_ids import class_of, format_id, position_of

#: An id names the position to the centimetre; the recorded pose may have settled a little since.
_ID_SLACK = 0.035

_AHEAD = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}


@dataclass(frozen=True)
class Sighting:
    """An interaction's target as it was recorded.

    Args:
        x, z, yaw, pitch: of the agent.
        action: what was done to the target.
        target: its id; for what was sliced the piece's.
        mask: its pixels.
        is_open: whether it was open when it was seen.
        pose: of a pickupable, or of the whole of a piece, that was still where the scene had it;
            else ``None``.
        put_in: id of the receptacle into which a pickupable had been put; else ``None``.
        put_from: x and z of the agent when it was put there.
        name: of the pickupable, moved or not; of a piece its class and number, such as
            ``BreadSliced_1``; ``None`` for fixtures.
    """

    x: float
    z: float
    yaw: int
    pitch: int
    action: Action
    target: str
    mask: RunLengthMask
    is_open: bool
    pose: ObjectPose | None = None
    put_in: str | None = None
    put_from: tuple[float, float] | None = None
    name: str | None = None


@dataclass(frozen=True)
class Holding:
    """That a fixture held a pickupable object at the start.

    Args:
        holder: class of the fixture.
        fixture: recorded position of the fixture.
        pose: of the object.
    """

    holder: ObjectClass
    fixture: Vector
    pose: ObjectPose


def name_ids(trajectory: Trajectory) -> Trajectory:
    """The trajectory with the ids of pickupables as the simulator derives them from the poses.

    AI2-THOR names an object by where it was when the scene was loaded; the recorded poses are
    where it came to rest, at times one centimetre beside that.
    """
    # A pose that is recorded twice is one object's: two in one place would hide each other.
    poses = tuple(dict.fromkeys(trajectory.scene.object_poses))
    known: dict[str, str] = {}
    names = _item_ids(poses)

    def rename(object_id: str | None) -> str | None:
        if object_id is None:
            return None
        if object_id not in known:
            known[object_id] = _nearest(object_id, poses, names)
        return known[object_id]

    actions = tuple(
        replace(act, object_id=rename(act.object_id), held_id=rename(act.held_id))
        if act.object_id
        else act
        for act in trajectory.actions
    )
    plan = tuple(
        replace(step, object_id=rename(step.object_id), receptacle_id=rename(step.receptacle_id))
        for step in trajectory.plan
    )
    scene = replace(trajectory.scene, object_poses=poses)
    return replace(trajectory, scene=scene, actions=actions, plan=plan)


def name_holders(trajectory: Trajectory) -> Trajectory:
    """The trajectory with what is known of its plan about what holds what at the start.

    The planner names the receptacle of what is picked up. An expert of a Movable task who never
    puts the target into the movable found it there: then it is the target nearest to one. An
    expert who only slices the target and is done found it where it belongs. What is taken while
    nothing is open was in nothing closed.
    """
    poses = trajectory.scene.object_poses
    holders: dict[ObjectPose, str] = {
        held.pose: format_id(held.holder, held.fixture) for held in holdings(trajectory)
    }
    task = trajectory.task
    filled = any(
        act.action is Action.PutObject and class_of(act.object_id or "") is task.movable
        for act in trajectory.actions
    )
    if task.movable is not None and not filled:
        movables = [
            (pose, name)
            for pose, name in zip(poses, _item_ids(poses))
            if pose.object_class is task.movable
        ]
        targets = [pose for pose in poses if pose.object_class is task.target]
        pairs = [
            (math.dist(a.position, b.position), a, name) for a in targets for b, name in movables
        ]
        if pairs:
            _, pose, name = min(pairs, key=lambda pair: pair[0])
            holders[pose] = name
    by_name = dict(zip(_item_ids(poses), poses))
    for name in _taken_openly(trajectory):
        if name in by_name:
            holders.setdefault(by_name[name], name)
    carried = any(act.action is Action.PutObject for act in trajectory.actions)
    if task.receptacle is not None and not carried:
        for act in trajectory.actions:
            for pose, name in zip(poses, _item_ids(poses)):
                found = holders.get(pose, name)
                if act.action is Action.SliceObject and act.object_id == name == found:
                    holders[pose] = format_id(task.receptacle, pose.position)
    if not holders:
        return trajectory
    named = tuple(replace(pose, holder=holders.get(pose)) for pose in poses)
    return replace(trajectory, scene=replace(trajectory.scene, object_poses=named))


def sightings(trajectory: Trajectory) -> Iterator[Sighting]:
    """The recorded masks of a trajectory whose ids went through ``name_ids``."""
    poses = dict(zip(_item_ids(trajectory.scene.object_poses), trajectory.scene.object_poses))
    moved: dict[str, str | None] = {}
    put_from: dict[str, tuple[float, float]] = {}
    is_open: dict[str, bool] = {}
    for (x, z, yaw, pitch), act in zip(walk(trajectory), trajectory.actions):
        target = act.object_id
        if target is None or act.mask is None:
            continue
        object_class = class_of(target)
        whole = "|".join(target.split("|")[:4])
        pose = None if {target, whole} & moved.keys() else poses.get(whole)
        name = pose.name if pose is not None else None
        if whole != target:
            name = target.split("|")[4]
        elif target in poses:
            name = poses[target].name
        yield Sighting(
            x,
            z,
            yaw,
            pitch,
            act.action,
            target,
            act.mask,
            is_open.get(target, object_class not in CLOSED_AT_START),
            pose,
            moved.get(target),
            put_from.get(target),
            name if object_class in PICKUPABLE else None,
        )
        if act.action is Action.OpenObject:
            is_open[target] = True
        elif act.action is Action.CloseObject:
            is_open[target] = False
        elif act.action is Action.PickupObject:
            moved[target] = None
        elif act.action is Action.PutObject and act.held_id is not None:
            moved[act.held_id] = target
            put_from[act.held_id] = (x, z)


def walk(trajectory: Trajectory) -> Iterator[tuple[float, float, int, int]]:
    """The agent's x, z, yaw and pitch before each action."""
    start = trajectory.scene.start
    x, z, yaw, pitch = _snap(start.x), _snap(start.z), start.yaw, start.pitch
    for act in trajectory.actions:
        yield x, z, yaw, pitch
        if act.action is Action.MoveAhead:
            dx, dz = _AHEAD[yaw]
            x, z = x + dx * MOVE_METRES, z + dz * MOVE_METRES
        elif act.action is Action.RotateRight:
            yaw = (yaw + ROTATE_DEGREES) % 360
        elif act.action is Action.RotateLeft:
            yaw = (yaw - ROTATE_DEGREES) % 360
        elif act.action is Action.LookDown:
            pitch += LOOK_DEGREES
        elif act.action is Action.LookUp:
            pitch -= LOOK_DEGREES


def stood_points(trajectory: Trajectory) -> set[tuple[float, float]]:
    """Where the expert stood, the end of the last move included."""
    last = replace(trajectory, actions=(*trajectory.actions, ExpertAction(Action.LookUp, 0)))
    return {(x, z) for x, z, _, _ in walk(last)}


def holdings(trajectory: Trajectory) -> Iterator[Holding]:
    """Which fixtures held what at the start, as far as it is recorded.

    The planner names the receptacle of what is picked up; what was taken without opening the
    container that it names was not in it. What is sliced behind an open door is in there.
    """
    ids = _item_ids(trajectory.scene.object_poses)
    for step in trajectory.plan:
        target, receptacle = step.target, step.receptacle
        if step.action != "PickupObject" or target is None or receptacle is None:
            continue
        if receptacle.object_class in PICKUPABLE:
            continue
        for pose, name in zip(trajectory.scene.object_poses, ids):
            off = max(abs(a - b) for a, b in zip(pose.position, target.position))
            if pose.object_class is target.object_class and off <= _ID_SLACK:
                hidden = receptacle.object_class in CLOSED_AT_START
                if not hidden or _was_opened(trajectory, receptacle.object_class, name):
                    yield Holding(receptacle.object_class, receptacle.position, pose)
                break
    poses = dict(zip(ids, trajectory.scene.object_poses))
    for container, item in _sliced_inside(trajectory):
        if item in poses:
            yield Holding(class_of(container), position_of(container), poses[item])


def _taken_openly(trajectory: Trajectory) -> Iterator[str]:
    """What was picked up or sliced while no container was open."""
    opened = set()
    for act in trajectory.actions:
        target = act.object_id
        if target is None:
            continue
        if act.action is Action.OpenObject and class_of(target) in CLOSED_AT_START:
            opened.add(target)
        elif act.action is Action.CloseObject:
            opened.discard(target)
        elif act.action in (Action.PickupObject, Action.SliceObject) and not opened:
            yield target


def _sliced_inside(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Containers that were open when something was sliced that had not been moved, and that."""
    opened: str | None = None
    moved = set()
    for act in trajectory.actions:
        target = act.object_id
        if target is None:
            continue
        if act.action is Action.OpenObject and class_of(target) in CLOSED_AT_START:
            opened = target
        elif act.action is Action.CloseObject:
            opened = None
        elif act.action is Action.PickupObject:
            moved.add(target)
        elif act.action is Action.SliceObject and opened is not None and target not in moved:
            yield opened, target


def _was_opened(trajectory: Trajectory, container: ObjectClass, item: str) -> bool:
    """Whether something of a class is open when an item is first acted on."""
    is_open = False
    for act in trajectory.actions:
        if act.object_id == item:
            return is_open
        if act.object_id is not None and class_of(act.object_id) is container:
            if act.action is Action.OpenObject:
                is_open = True
            elif act.action is Action.CloseObject:
                is_open = False
    return is_open


def _item_ids(poses: tuple[ObjectPose, ...]) -> list[str]:
    ids: list[str] = []
    taken = set()
    for pose in poses:
        x, y, z = pose.position
        while (object_id := format_id(pose.object_class, (x, y, z))) in taken:
            z += 0.01
        taken.add(object_id)
        ids.append(object_id)
    return ids


def _nearest(object_id: str, poses: tuple[ObjectPose, ...], names: list[str]) -> str:
    whole, *rest = object_id.split("|")[0:1] + object_id.split("|")[4:]
    base = "|".join(object_id.split("|")[:4])
    if base in names or ObjectClass[whole] not in PICKUPABLE:
        return object_id
    position = np.array(position_of(base))
    candidates = [
        (float(np.abs(position - pose.position).max()), name)
        for pose, name in zip(poses, names)
        if pose.object_class.name == whole
    ]
    distance, name = min(candidates, default=(np.inf, base))
    return "|".join((name if distance <= _ID_SLACK else base, *rest))


def _snap(value: float) -> float:
    return round(value / GRID_METRES) * GRID_METRES
