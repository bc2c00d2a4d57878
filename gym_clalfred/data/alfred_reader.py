"""Reads ALFRED's ``traj_data.json``.

Reading is strict about everything the project uses and ignores the rest: a file either gives a
``Trajectory`` that the simulator, the tasks and the agent can use, or one ``DataError`` that names
the file and the field. Masks stay run-length coded until somebody decodes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from operator import add, gt
from typing import Any, TypeVar

from gym_clalfred.actions import Action
from gym_clalfred.data.fields import LARGEST_METRES, Field
from gym_clalfred.data.trajectory import (
    Annotation,
    ExpertAction,
    HighStep,
    Landmark,
    RunLengthMask,
    Trajectory,
)
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.objects import LAMPS, MOVABLE_RECEPTACLES, SLICED_FORM, ObjectClass
from gym_clalfred.rooms import is_room
from gym_clalfred.simulator.contract import (
    GRID_METRES,
    SIGHT_PIXELS,
    AgentPose,
    ObjectPose,
    Scene,
    Vector,
)
from gym_clalfred.simulator.object_ids import class_of, position_of
from gym_clalfred.simulator.treatments import TREATMENTS
from gym_clalfred.tasks.spec import TaskSpec, task_types

#: The step ALFRED puts at the end of most plans; it is implied in a ``Trajectory``.
END_ACTION = "NoOp"

#: Names of high-level steps.
HIGH_ACTIONS = (
    "GotoLocation",
    "PickupObject",
    "PutObject",
    "SliceObject",
    *TREATMENTS,
    "ToggleObject",
)

_TRIAL = re.compile(r"[A-Za-z0-9_]{1,100}")
_LOCATION = re.compile(r"loc\|-?[0-9]{1,4}\|-?[0-9]{1,4}\|[0-3]\|-?[0-9]{1,2}")
_CLASS_NAMES = frozenset(ObjectClass.__members__) - {ObjectClass.NoObject.name}
_PIXELS = SIGHT_PIXELS * SIGHT_PIXELS

_Name = TypeVar("_Name")


def folder_name(task: TaskSpec, number: int) -> str:
    """ALFRED's folder of a task: ``<type>-<object>-<movable|None>-<receptacle|lamp>-<scene>``."""
    place = task.lamp or task.receptacle
    other = task.movable or next(iter(task.others), None)
    names = [one.name if one else "None" for one in (task.goal_class, other, place)]
    return "-".join([task.type.value, *names, str(number)])


def parse_trajectory(document: str | bytes | Mapping[str, Any], name: str) -> Trajectory:
    """Reads a trajectory.

    Args:
        document: the file's text, or what ``json`` made of it.
        name: how to call the file in errors.

    Raises:
        DataError: naming the file and the field that is not as ALFRED writes it.
    """
    if isinstance(document, (str, bytes)):
        root = Field.parse(document, name)
    else:
        root = Field(dict(document), name)
    task = _task(root)
    scene = _scene(root["scene"])
    plan = _plan(root["plan"]["high_pddl"])
    trial = root["task_id"]
    if not _TRIAL.fullmatch(trial.text()):
        trial.fail("a name of letters, digits and underscores")
    return Trajectory(
        folder=folder_name(task, scene.number),
        trial=trial.text(),
        task=task,
        scene=scene,
        plan=plan,
        actions=_actions(root["plan"]["low_actions"], len(plan)),
        annotations=_annotations(root["turk_annotations"]["anns"], len(plan)),
    )


def _task(root: Field) -> TaskSpec:
    types = {kind.value: kind for kind in task_types()}
    task_type = _named(root["task_type"], types, "a task type")
    params = root["pddl_params"]
    target = _class(params["object_target"])
    sliced = params["object_sliced"].flag()
    if sliced and target not in SLICED_FORM:
        params["object_target"].fail("a class that can be sliced, as object_sliced is true")

    def given(param: str, key: str) -> ObjectClass | None:
        return _class(params[key]) if param in task_type.params else None

    receptacle = given("receptacle", "parent_target")
    lamp = given("lamp", "toggle_target")
    if lamp is not None and lamp not in LAMPS:
        params["toggle_target"].fail("a lamp")
    movable = given("movable", "mrecep_target")
    if movable is not None and movable not in MOVABLE_RECEPTACLES:
        params["mrecep_target"].fail("a movable receptacle")
    others = params["other_targets"] if "others" in task_type.params else ()
    return TaskSpec(
        task_type, target, receptacle, movable, lamp, sliced, tuple(map(_class, others))
    )


def _scene(scene: Field) -> Scene:
    number = scene["scene_num"]
    if type(number.value) is not int or not is_room(number.value):
        number.fail("the number of a room (1-30, 201-230, 301-330, 401-430 or of four digits)")
    plan = scene["floor_plan"]
    if plan.value != f"FloorPlan{number.value}":
        plan.fail(f"'FloorPlan{number.value}', as scene_num says")
    start = scene["init_action"]
    yaw = start["rotation"]
    if yaw.integer(0, 270) % 90:
        yaw.fail("0, 90, 180 or 270")
    return Scene(
        number=number.value,
        start=AgentPose(
            x=start["x"].metres(),
            y=start["y"].metres(),
            z=start["z"].metres(),
            yaw=yaw.value,
            pitch=start["horizon"].integer(-90, 90),
        ),
        object_poses=tuple(_object_pose(pose) for pose in scene["object_poses"]),
        object_toggles=tuple(
            (_class(toggle["objectType"]), toggle["isOn"].flag())
            for toggle in scene["object_toggles"]
        ),
        dirty_and_empty=scene["dirty_and_empty"].flag(),
        random_seed=scene["random_seed"].integer(0, 2**63 - 1),
    )


def _object_pose(pose: Field) -> ObjectPose:
    name = pose["objectName"]
    if name.text().split("_")[0] not in _CLASS_NAMES:
        name.fail("a name that begins with an object class and an underscore")
    position, rotation = pose["position"], pose["rotation"]
    return ObjectPose(
        name=name.value,
        position=(position["x"].metres(), position["y"].metres(), position["z"].metres()),
        rotation=(rotation["x"].degrees(), rotation["y"].degrees(), rotation["z"].degrees()),
        holder=_optional_id(pose, "holder"),
    )


def _plan(steps: Field) -> tuple[HighStep, ...]:
    plan: list[HighStep] = []
    for step in steps:
        step["high_idx"].integer(len(plan), len(plan))
        discrete, planner = step["discrete_action"], step["planner_action"]
        action = discrete["action"]
        if action.value == END_ACTION:
            if len(plan) != len(steps.value) - 1:
                action.fail("NoOp only as the last step")
            break
        if not isinstance(action.value, str) or action.value not in HIGH_ACTIONS:
            action.fail("one of " + ", ".join((*HIGH_ACTIONS, END_ACTION)))
        location = None
        if action.value == "GotoLocation":
            location = planner["location"]
            if not _LOCATION.fullmatch(location.text()):
                location.fail("'loc|x|z|r|h' with whole numbers")
        plan.append(
            HighStep(
                action=action.value,
                args=tuple(argument.text() for argument in discrete["args"]),
                location=location.value if location else None,
                object_id=_optional_id(planner, "objectId"),
                receptacle_id=_optional_id(planner, "receptacleObjectId"),
                target=_landmark(planner, "coordinateObjectId"),
                receptacle=_landmark(planner, "coordinateReceptacleObjectId"),
            )
        )
    if not plan:
        steps.fail("at least one step")
    return tuple(plan)


def _landmark(planner: Field, key: str) -> Landmark | None:
    """ALFRED's ``[class, [x, x, z, z, y, y]]`` in units of 0.25 m."""
    if key not in planner:
        return None
    pair = list(planner[key])
    if len(pair) != 2:
        planner[key].fail("a class and its coordinates")
    numbers = [number.metres() * GRID_METRES for number in pair[1]]
    if len(numbers) != 6:
        pair[1].fail("six coordinates x, x, z, z, y, y")
    position: Vector = (numbers[0], numbers[4], numbers[2])
    return Landmark(_class(pair[0]), position)


def _actions(low_actions: Field, steps: int) -> tuple[ExpertAction, ...]:
    actions: list[ExpertAction] = []
    step = 0
    for low in low_actions:
        step = low["high_idx"].integer(step, steps - 1)
        actions.append(_action(low, step))
    if not actions:
        low_actions.fail("at least one action")
    return tuple(actions)


def _action(low: Field, step: int) -> ExpertAction:
    discrete, api = low["discrete_action"], low["api_action"]
    action = _named(discrete["action"], _DISCRETE_ACTIONS, "an action of ALFRED")
    if api["action"].value != action.name:
        api["action"].fail(f"{action.name!r}, as discrete_action says")
    if action.is_navigation:
        return ExpertAction(action, step)
    target = _object_id(api["objectId"])
    held = None
    if action is Action.PutObject:
        target, held = _object_id(api["receptacleObjectId"]), target
    return ExpertAction(action, step, target, held, _mask(discrete["args"]["mask"]))


def _mask(mask: Field) -> RunLengthMask:
    """Checks whole lists at a time: runs are most of what a file holds."""
    runs = mask.value
    if not isinstance(runs, list) or not runs:
        mask.fail("a list of [start, length] with at least one pixel")
    pairs = set(map(type, runs)) == {list} and set(map(len, runs)) == {2}
    numbers = list(chain.from_iterable(runs)) if pairs else []
    starts, lengths = numbers[::2], numbers[1::2]
    if not pairs or set(map(type, numbers)) != {int}:
        mask.fail("a list of [start, length] in whole numbers")
    ends = list(map(add, starts, lengths))
    if starts[0] < 0 or min(lengths) <= 0 or ends[-1] > _PIXELS or any(map(gt, ends, starts[1:])):
        mask.fail(f"rising runs of pixels within {SIGHT_PIXELS} x {SIGHT_PIXELS}")
    return RunLengthMask(tuple(zip(starts, lengths)))


def _annotations(anns: Field, steps: int) -> tuple[Annotation, ...]:
    annotations = []
    for ann in anns:
        descriptions = ann["high_descs"]
        instructions = tuple(description.words() for description in descriptions)
        # 27 of ALFRED's annotations stop one step short.
        if len(instructions) not in (steps, steps - 1):
            raise DataError(
                f"{descriptions.file}: {descriptions.path}: expected one instruction for each of "
                f"the {steps} steps (or one fewer), found {len(instructions)}"
            )
        annotations.append(Annotation(ann["task_desc"].words(), instructions))
    if not annotations:
        anns.fail("at least one annotation")
    return tuple(annotations)


def _class(field: Field) -> ObjectClass:
    if not isinstance(field.value, str) or field.value not in _CLASS_NAMES:
        field.fail("an object class")
    return ObjectClass[field.value]


def _object_id(field: Field) -> str:
    if not _is_object_id(field.text()):
        field.fail("an object id such as 'Mug|-01.20|+00.90|+02.05'")
    return field.text()


@lru_cache(maxsize=10_000)
def _is_object_id(text: str) -> bool:
    try:
        known = class_of(text) is not ObjectClass.NoObject
        near = max(map(abs, position_of(text))) <= LARGEST_METRES
    except BadInputError:
        return False
    return known and near and text.isascii() and text.split("|")[0] in _CLASS_NAMES


def _optional_id(parent: Field, key: str) -> str | None:
    return _object_id(parent[key]) if key in parent else None


def _named(field: Field, values: Mapping[str, _Name], expected: str) -> _Name:
    if not isinstance(field.value, str) or field.value not in values:
        field.fail(f"{expected}: one of {', '.join(values)}")
    return values[field.value]


_DISCRETE_ACTIONS = {action.discrete_name: action for action in Action if action is not Action.Stop}
