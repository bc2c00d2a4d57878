"""Reading and writing ``traj_data.json``: lossless, and strict with damaged files."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gym_clalfred.data.alfred_reader import folder_name, parse_trajectory
from gym_clalfred.data.alfred_writer import dump_trajectory, encode_trajectory
from gym_clalfred.data.trajectory import HighStep, RunLengthMask, Trajectory
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.tasks.spec import TaskSpec, TaskType
from tests.helpers.cases import for_each
from tests.helpers.trajectories import FAUCET, MUG, SHELF, SINK, clean_a_mug, masks, trajectories

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(encode_trajectory(clean_a_mug()))
    return made


def change(made: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Sets (or, for ``...``, removes) what a dotted path leads to."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = made
    for part in parents:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return made


@PATIENT
@given(trajectories())
def test_round_trip(trajectory: Trajectory) -> None:
    encoded = encode_trajectory(trajectory)
    assert parse_trajectory(encoded, "a file") == trajectory
    assert parse_trajectory(json.loads(encoded), "a file") == trajectory
    assert encode_trajectory(parse_trajectory(encoded, "a file")) == encoded


@PATIENT
@given(masks())
def test_masks_decode_to_what_was_encoded(mask: RunLengthMask) -> None:
    pixels = mask.decode()
    assert pixels.shape == (300, 300)
    assert pixels.sum() == sum(length for _, length in mask.runs)
    np.testing.assert_array_equal(RunLengthMask.encode(pixels).decode(), pixels)


@given(masks())
def test_box_and_point_follow_from_the_mask(mask: RunLengthMask) -> None:
    trajectory = clean_a_mug()
    actions = list(trajectory.actions)
    actions[2] = replace(actions[2], mask=mask)
    made = dump_trajectory(replace(trajectory, actions=tuple(actions)))
    written = made["plan"]["low_actions"][2]["discrete_action"]["args"]
    rows, columns = np.nonzero(mask.decode())
    left, top, right, bottom = columns.min(), rows.min(), columns.max(), rows.max()
    assert written["bbox"] == [left, top + 1, right, bottom + 1]
    assert written["point"] == [(left + right) // 2, (top + bottom) // 2]


def test_the_schema_is_alfreds() -> None:
    made = dump_trajectory(clean_a_mug())
    assert list(made) == [
        "images",
        "pddl_params",
        "plan",
        "scene",
        "task_id",
        "task_type",
        "turk_annotations",
    ]
    assert made["pddl_params"] == {
        "mrecep_target": "",
        "object_sliced": False,
        "object_target": "Mug",
        "parent_target": "Shelf",
        "toggle_target": "",
    }
    assert made["scene"]["floor_plan"] == "FloorPlan7"
    assert made["scene"]["init_action"] == {
        "action": "TeleportFull",
        "horizon": 30,
        "rotateOnTeleport": True,
        "rotation": 90,
        "x": 0.25,
        "y": 0.9,
        "z": -1.0,
    }
    goto, pick, clean, put, end = made["plan"]["high_pddl"]
    assert goto["planner_action"] == {"action": "GotoLocation", "location": "loc|4|-2|1|30"}
    assert pick["planner_action"] == {
        "action": "PickupObject",
        "objectId": MUG,
        "forceVisible": True,
        "coordinateObjectId": ["Mug", [5.0, 5.0, -1.6, -1.6, 3.6, 3.6]],
    }
    assert clean["planner_action"]["objectId"] == SINK
    assert clean["planner_action"]["cleanObjectId"] == MUG
    assert clean["planner_action"]["coordinateReceptacleObjectId"][0] == "SinkBasin"
    assert put["planner_action"]["objectId"] == MUG
    assert put["planner_action"]["receptacleObjectId"] == SHELF
    assert end["planner_action"] == {"action": "End", "value": 1}
    low = made["plan"]["low_actions"]
    assert low[0] == {
        "api_action": {"action": "MoveAhead", "forceAction": True, "moveMagnitude": 0.25},
        "discrete_action": {"action": "MoveAhead_25", "args": {}},
        "high_idx": 0,
    }
    assert low[3]["api_action"] == {
        "action": "PutObject",
        "forceAction": True,
        "objectId": MUG,
        "placeStationary": True,
        "receptacleObjectId": SINK,
    }
    assert low[4]["api_action"] == {"action": "ToggleObjectOn", "objectId": FAUCET}
    assert [image["low_idx"] for image in made["images"]] == list(range(len(low)))


def test_a_final_noop_is_implied() -> None:
    trajectory = clean_a_mug()
    with_end = replace(trajectory, plan=(*trajectory.plan, HighStep("NoOp")))
    assert encode_trajectory(with_end) == encode_trajectory(trajectory)
    without_end = change(document(), "plan.high_pddl.4", ...)
    assert parse_trajectory(without_end, "a file") == trajectory


def test_an_annotation_may_stop_one_step_short() -> None:
    short = change(document(), "turk_annotations.anns.0.high_descs.3", ...)
    assert len(parse_trajectory(short, "a file").annotations[0].steps) == 3
    with pytest.raises(DataError, match=r"anns\[0\]\.high_descs"):
        parse_trajectory(change(short, "turk_annotations.anns.0.high_descs.2", ...), "a file")


def test_folder_names() -> None:
    sliced = TaskSpec(TaskType.HEAT, ObjectClass.Potato, ObjectClass.SinkBasin, sliced=True)
    assert folder_name(sliced, 13) == "pick_heat_then_place_in_recep-PotatoSliced-None-SinkBasin-13"
    lamp = TaskSpec(TaskType.EXAMINE, ObjectClass.Book, lamp=ObjectClass.DeskLamp)
    assert folder_name(lamp, 301) == "look_at_obj_in_light-Book-None-DeskLamp-301"
    with pytest.raises(BadInputError, match="expected the folder"):
        dump_trajectory(replace(clean_a_mug(), folder="elsewhere"))


BAD = {
    "task_type": ["juggle", None, 3],
    "task_id": ["../../x", "", None, "a/b"],
    "pddl_params.object_target": ["Unicorn", "", None, "NoObject"],
    "pddl_params.parent_target": ["", "Nowhere"],
    "pddl_params.object_sliced": [True, 1, None],
    "scene.scene_num": [31, -1, True, "7", None, 10**400],
    "scene.floor_plan": ["FloorPlan8", None],
    "scene.init_action.x": [math.nan, math.inf, 1e9, "0", None, True, 10**400],
    "scene.init_action.rotation": [45, 360, 90.0, None],
    "scene.init_action.horizon": [1e3, 300, None],
    "scene.object_poses": [None, {}, 3],
    "scene.object_poses.0.objectName": ["Unicorn_1", 5, "\ud800"],
    "scene.object_poses.0.position.y": [math.nan, -1e9, None],
    "scene.object_poses.0.rotation.y": [math.inf, 1e9, []],
    "scene.object_toggles.0.objectType": ["Unicorn"],
    "scene.random_seed": [-1, 1.5],
    "plan.high_pddl": [[], None],
    "plan.high_pddl.0.high_idx": [1, -1, True],
    "plan.high_pddl.0.discrete_action.action": ["Fly", "NoOp", []],
    "plan.high_pddl.0.planner_action.location": ["loc|1|2|9|0", "loc|1e9|2|0|0", None],
    "plan.high_pddl.1.planner_action.objectId": ["Mug", "Unicorn|+00.00|+00.00|+00.00"],
    "plan.high_pddl.1.planner_action.coordinateObjectId": [["Mug", [1.0]], ["Mug"], "Mug"],
    "plan.low_actions": [[], None],
    "plan.low_actions.1.high_idx": [-1, 4],
    "plan.low_actions.0.discrete_action.action": ["Fly", "<<stop>>", ["MoveAhead_25"]],
    "plan.low_actions.0.api_action.action": ["RotateLeft"],
    "plan.low_actions.2.api_action.objectId": ["Mug|+99999.00|+00.00|+00.00", None],
    "plan.low_actions.3.api_action.receptacleObjectId": ["Sink", None],
    "plan.low_actions.2.discrete_action.args.mask": [
        [],
        None,
        [[-1, 5]],
        [[0, -5]],
        [[0, 0]],
        [[89_999, 2]],
        [[10, 5], [12, 1]],
        [[0, 1, 2]],
        [[0.0, 1]],
        [[True, 1]],
    ],
    "turk_annotations.anns": [[], None],
    "turk_annotations.anns.0.task_desc": ["  ", None],
    "turk_annotations.anns.0.high_descs.1": [7, ""],
}


OPTIONAL = ("planner_action.objectId", "planner_action.coordinateObjectId", "high_descs.1")
CASES = [(path, value) for path, values in BAD.items() for value in values] + [
    (path, ...) for path in BAD if not path.endswith(OPTIONAL)
]


@for_each(CASES)
def test_a_bad_field_is_named(path: str, value: Any) -> None:
    broken = change(document(), path, value)
    with pytest.raises(DataError) as caught:
        parse_trajectory(broken, "somewhere/traj_data.json")
    file, field, _ = str(caught.value).split(": ", maxsplit=2)
    assert file == "somewhere/traj_data.json"
    # A sliced mug is a contradiction; it is the target that is called wrong.
    blamed = {"pddl_params.object_sliced": "pddl_params.object_"}.get(path, path)
    assert field.replace("[", ".").replace("]", "").startswith(blamed)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"x"', "\ufeff{}", "[" * 100_000])
def test_text_that_is_no_trajectory(text: str) -> None:
    with pytest.raises(DataError, match="the file"):
        parse_trajectory(text, "the file")


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(DataError, match="the file"):
        parse_trajectory(b"\xff\xfe\xfa{}", "the file")


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["Mug", "\ud800", MUG, "NoOp", "PutObject"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_change_gives_a_trajectory_or_a_data_error(data: st.DataObject) -> None:
    made = document()
    for _ in range(data.draw(st.integers(1, 3))):
        place: Any = made
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            deeper = isinstance(place[key], (dict, list)) and data.draw(st.integers(0, 9)) > 0
            if not deeper:
                if data.draw(st.booleans()):
                    place[key] = data.draw(_JSON)
                else:
                    del place[key]
                break
            place = place[key]
    assert_read_or_refused(made)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_damaged_bytes_give_a_trajectory_or_a_data_error(data: st.DataObject) -> None:
    content = bytearray(encode_trajectory(clean_a_mug()))
    start = data.draw(st.integers(0, len(content)))
    content[start : start + data.draw(st.integers(0, 50))] = data.draw(st.binary(max_size=20))
    assert_read_or_refused(bytes(content[: data.draw(st.integers(0, 2 * len(content)))]))


def assert_read_or_refused(made: Any) -> None:
    try:
        trajectory = parse_trajectory(made, "a file")
    except DataError as error:
        assert str(error).startswith("a file: ")  # noqa: PT017
        return
    assert parse_trajectory(encode_trajectory(trajectory), "a file").actions == trajectory.actions
