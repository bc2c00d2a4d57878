"""Writes a trajectory as ALFRED's ``traj_data.json``, so that tools made for ALFRED can read it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from gym_clalfred.actions import MOVE_METRES, Action
from gym_clalfred.data.alfred_reader import END_ACTION, folder_name
from gym_clalfred.data.trajectory import (
    Annotation,
    ExpertAction,
    HighStep,
    Landmark,
    RunLengthMask,
    Trajectory,
)
from gym_clalfred.errors import BadInputError
from gym_clalfred.simulator.contract import GRID_METRES, SIGHT_PIXELS, ObjectPose, Scene
from gym_clalfred.simulator.object_ids import class_of, position_of
from gym_clalfred.simulator.treatments import CLEAN, TREATMENTS
from gym_clalfred.tasks.spec import TaskSpec


def dump_trajectory(trajectory: Trajectory) -> dict[str, Any]:
    """The document as nested dicts and lists; ``parse_trajectory`` is its inverse.

    ALFRED's tools expect ids and coordinates of the objects of each step. Where the trajectory has
    none, ``complete_plan`` derives them from the expert's actions.
    """
    expected = folder_name(trajectory.task, trajectory.scene.number)
    if trajectory.folder != expected:
        raise BadInputError(
            f"trajectory {trajectory.key}: expected the folder {expected!r} for its task and scene"
        )
    plan = complete_plan(trajectory)
    high = [_high_step(index, step, trajectory) for index, step in enumerate(plan)]
    high.append(
        {
            "discrete_action": {"action": END_ACTION, "args": []},
            "high_idx": len(plan),
            "planner_action": {"action": "End", "value": 1},
        }
    )
    return {
        "images": [
            {"high_idx": action.step, "image_name": f"{index:09d}.png", "low_idx": index}
            for index, action in enumerate(trajectory.actions)
        ],
        "pddl_params": _params(trajectory.task),
        "plan": {
            "high_pddl": high,
            "low_actions": [_low_action(action) for action in trajectory.actions],
        },
        "scene": _scene(trajectory.scene),
        "task_id": trajectory.trial,
        "task_type": trajectory.task.type.value,
        "turk_annotations": {
            "anns": [
                _annotation(index, annotation)
                for index, annotation in enumerate(trajectory.annotations)
            ]
        },
    }


def encode_trajectory(trajectory: Trajectory) -> bytes:
    """The document as compact JSON; equal trajectories give equal bytes."""
    document = dump_trajectory(trajectory)
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def complete_plan(trajectory: Trajectory) -> tuple[HighStep, ...]:
    """The plan with the object ids and positions that the expert's actions imply, without NoOp."""
    plan = trajectory.plan
    if plan and plan[-1].action == END_ACTION:
        plan = plan[:-1]
    return tuple(_complete(index, step, trajectory) for index, step in enumerate(plan))


def _complete(index: int, step: HighStep, trajectory: Trajectory) -> HighStep:
    if step.action == "GotoLocation":
        return step
    kind = "PutObject" if step.action in TREATMENTS else step.action
    main = next(
        (
            action
            for action in trajectory.actions
            if action.step == index and action.action.name.startswith(kind)
        ),
        None,
    )
    if main is None:
        return step
    object_id, receptacle_id = step.object_id, step.receptacle_id
    target, receptacle = step.target, step.receptacle
    if main.action is Action.PutObject:
        receptacle = receptacle or _landmark(main.object_id)
        if step.action in TREATMENTS:
            object_id = object_id or main.object_id
            if step.action == CLEAN.step:
                target = target or _landmark(main.held_id)
        else:
            object_id = object_id or main.held_id
            receptacle_id = receptacle_id or main.object_id
            target = target or _landmark(main.held_id)
    else:
        object_id = object_id or main.object_id
        target = target or _landmark(main.object_id)
    return replace(
        step,
        object_id=object_id,
        receptacle_id=receptacle_id,
        target=target,
        receptacle=receptacle,
    )


def _landmark(object_id: str | None) -> Landmark | None:
    return Landmark(class_of(object_id), position_of(object_id)) if object_id else None


def _params(task: TaskSpec) -> dict[str, Any]:
    return {
        "mrecep_target": task.movable.name if task.movable else "",
        "object_sliced": task.sliced,
        "object_target": task.target.name,
        "parent_target": task.receptacle.name if task.receptacle else "",
        "toggle_target": task.lamp.name if task.lamp else "",
        # ALFRED has no such field.
        **({"other_targets": [one.name for one in task.others]} if task.others else {}),
    }


def _scene(scene: Scene) -> dict[str, Any]:
    start = scene.start
    return {
        "dirty_and_empty": scene.dirty_and_empty,
        "floor_plan": scene.floor_plan,
        "init_action": {
            "action": "TeleportFull",
            "horizon": start.pitch,
            "rotateOnTeleport": True,
            "rotation": start.yaw,
            "x": start.x,
            "y": start.y,
            "z": start.z,
        },
        "object_poses": [_object_pose(pose) for pose in scene.object_poses],
        "object_toggles": [
            {"isOn": is_on, "objectType": object_class.name}
            for object_class, is_on in scene.object_toggles
        ],
        "random_seed": scene.random_seed,
        "scene_num": scene.number,
    }


def _object_pose(pose: ObjectPose) -> dict[str, Any]:
    document = {
        "objectName": pose.name,
        "position": dict(zip("xyz", pose.position)),
        "rotation": dict(zip("xyz", pose.rotation)),
    }
    return document if pose.holder is None else {**document, "holder": pose.holder}


def _high_step(index: int, step: HighStep, trajectory: Trajectory) -> dict[str, Any]:
    planner: dict[str, Any] = {"action": step.action}
    if step.location is not None:
        planner["location"] = step.location
    if step.object_id is not None:
        planner["objectId"] = step.object_id
        planner["forceVisible"] = True
    if step.receptacle_id is not None:
        planner["receptacleObjectId"] = step.receptacle_id
    for key, landmark in (
        ("coordinateObjectId", step.target),
        ("coordinateReceptacleObjectId", step.receptacle),
    ):
        if landmark is not None:
            x, y, z = (value / GRID_METRES for value in landmark.position)
            planner[key] = [landmark.object_class.name, [x, x, z, z, y, y]]
    if step.action == CLEAN.step:
        cleaned = [a.held_id for a in trajectory.actions if a.step == index and a.held_id]
        if cleaned:
            planner["cleanObjectId"] = cleaned[0]
    return {
        "discrete_action": {"action": step.action, "args": list(step.args)},
        "high_idx": index,
        "planner_action": planner,
    }


def _low_action(action: ExpertAction) -> dict[str, Any]:
    api: dict[str, Any] = {"action": action.action.name}
    arguments: dict[str, Any] = {}
    if action.action.is_navigation:
        api["forceAction"] = True
        if action.action is Action.MoveAhead:
            api["moveMagnitude"] = MOVE_METRES
    elif action.action is Action.PutObject:
        api |= {
            "forceAction": True,
            "objectId": action.held_id,
            "placeStationary": True,
            "receptacleObjectId": action.object_id,
        }
    else:
        api["objectId"] = action.object_id
    if action.mask is not None:
        arguments = _mask_arguments(action.mask)
    return {
        "api_action": api,
        "discrete_action": {"action": action.action.discrete_name, "args": arguments},
        "high_idx": action.step,
    }


def _mask_arguments(mask: RunLengthMask) -> dict[str, Any]:
    left, top, right, bottom = SIGHT_PIXELS, SIGHT_PIXELS, 0, 0
    for start, length in mask.runs:
        first, last = divmod(start, SIGHT_PIXELS), divmod(start + length - 1, SIGHT_PIXELS)
        top, bottom = min(top, first[0]), max(bottom, last[0])
        wraps = first[0] != last[0]
        left = min(left, 0 if wraps else first[1])
        right = max(right, SIGHT_PIXELS - 1 if wraps else last[1])
    return {
        # All of ALFRED's boxes count rows from 1 and columns from 0.
        "bbox": [left, top + 1, right, bottom + 1],
        "mask": [list(run) for run in mask.runs],
        "point": [(left + right) // 2, (top + bottom) // 2],
    }


def _annotation(index: int, annotation: Annotation) -> dict[str, Any]:
    return {
        "assignment_id": f"annotator-{index}",
        "high_descs": list(annotation.steps),
        "task_desc": annotation.goal,
        "votes": [],
    }
