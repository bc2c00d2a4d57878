"""The player by itself: what it answers to requests, without pipes or processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import ROOM_NUMBERS, TEST_UNSEEN_NUMBERS
from gym_clalfred.simulator.player.actions import PlayerActions
from gym_clalfred.simulator.player.dispatch import UNSUPPORTED, actions_of
from gym_clalfred.simulator.player.encoding import Encoder, Json, MessagePack
from gym_clalfred.simulator.player.faults import Fault, Kind
from gym_clalfred.simulator.player.player import Player
from tests.helpers.player_script import SCENE, Answers, Script, ask, go, near, poses_of

#: Keys that programs written for AI2-THOR look up in the entry of an object.
OBJECT_KEYS = {
    "name",
    "position",
    "rotation",
    "visible",
    "isInteractable",
    "receptacle",
    "toggleable",
    "isToggled",
    "breakable",
    "isBroken",
    "canFillWithLiquid",
    "isFilledWithLiquid",
    "fillLiquid",
    "dirtyable",
    "isDirty",
    "canBeUsedUp",
    "isUsedUp",
    "cookable",
    "isCooked",
    "temperature",
    "isHeatSource",
    "isColdSource",
    "sliceable",
    "isSliced",
    "openable",
    "isOpen",
    "openness",
    "pickupable",
    "isPickedUp",
    "moveable",
    "mass",
    "salientMaterials",
    "receptacleObjectIds",
    "distance",
    "objectType",
    "objectId",
    "assetId",
    "parentReceptacles",
    "controlledObjects",
    "isMoving",
    "axisAlignedBoundingBox",
    "objectOrientedBoundingBox",
}
AGENT_KEYS = {
    "objects",
    "agent",
    "cameraPosition",
    "fov",
    "thirdPartyCameras",
    "heldObjectPose",
    "inventoryObjects",
    "collided",
    "sceneName",
    "sceneBounds",
    "lastAction",
    "lastActionSuccess",
    "errorMessage",
    "errorCode",
    "actionReturn",
    "screenWidth",
    "screenHeight",
    "colors",
    "isSceneAtRest",
    "agentId",
    "currentTime",
}


def test_metadata_has_the_usual_keys() -> None:
    answers = ask(renderInstanceSegmentation=True)
    agent = answers.agent()
    assert set(agent) >= AGENT_KEYS
    assert len(agent["objects"]) > 50
    for entry in agent["objects"]:
        assert set(entry) >= OBJECT_KEYS
        box = entry["axisAlignedBoundingBox"]
        assert len(box["cornerPoints"]) == 8
        assert entry["pickupable"] == (entry["objectOrientedBoundingBox"] is not None)
    assert agent["sceneName"] == SCENE
    assert answers.metadata[-1]["sequenceId"] == 1


def test_the_first_frame_comes_unasked() -> None:
    script = Script([], MessagePack())
    Player(script).serve()
    assert Answers(script).metadata[0]["sequenceId"] == 0
    assert [name for name, _ in script.messages[0].images] == ["image"]


def test_containment_is_told_both_ways() -> None:
    objects = {entry["objectId"]: entry for entry in ask().agent()["objects"]}
    pairs = [(name, p) for name, e in objects.items() for p in e["parentReceptacles"] or ()]
    assert pairs
    for name, parent in pairs:
        assert name in objects[parent]["receptacleObjectIds"]


@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        ({"action": "Dance"}, "InvalidAction", "Invalid action: Dance"),
        ({"action": "MoveAhead", "speed": 1}, "InvalidArgument", "'speed'"),
        ({"action": "MoveAhead", "moveMagnitude": "far"}, "InvalidArgument", "Cannot convert"),
        ({"action": "PickupObject"}, "MissingArguments", "objectId"),
        ({"action": "TeleportFull", "x": 0.0, "y": 0.9, "z": 0.0}, "MissingArguments", "standing"),
        ({"action": "OpenObject", "objectId": "Mug|1|2|3"}, "", "appears to be invalid"),
        ({"action": "RandomizeMaterials"}, "", "not supported"),
        ({"action": "Stand"}, "", "Already standing"),
        ({"action": "UpdateThirdPartyCamera"}, "InvalidArgument", "camera id"),
        ({"action": "Reset", "sceneName": "FloorPlan999"}, "InvalidArgument", "doesn't exist"),
    ],
)
def test_wrong_requests_are_refused_with_codes(
    request_: dict[str, Any], code: str, words: str
) -> None:
    found, message = ask(request_).error()
    assert found == code
    assert words in message


def test_2_1_0_ignores_arguments_it_does_not_know() -> None:
    answers = ask({"action": "RotateRight", "speed": 1}, legacy=True)
    assert answers.agent()["lastActionSuccess"]


def test_2_1_0_takes_numbers_as_text() -> None:
    answers = ask({"action": "RotateRight", "degrees": "90"}, legacy=True)
    assert answers.agent()["agent"]["rotation"]["y"] == 90
    assert ask({"action": "RotateRight", "degrees": "90"}).error()[0] == "InvalidArgument"


def test_no_action_is_both_done_and_refused() -> None:
    assert not UNSUPPORTED & set(actions_of(PlayerActions))


def test_moves_follow_the_heading_and_stop_at_walls() -> None:
    answers = ask(
        {"action": "RotateRight"},
        {"action": "MoveAhead"},
        {"action": "MoveLeft", "moveMagnitude": 0.25},
        *({"action": "MoveAhead", "moveMagnitude": 0.5} for _ in range(30)),
    )
    start, turned, ahead, left = (answers.agent(k)["agent"] for k in (2, 3, 4, 5))
    assert turned["rotation"]["y"] == (start["rotation"]["y"] + 90) % 360
    assert ahead["position"]["x"] == pytest.approx(start["position"]["x"] + 0.25)
    assert left["position"]["z"] == pytest.approx(start["position"]["z"] + 0.25)
    assert answers.error()[1].startswith("A structure is blocking")


def test_looks_end_at_the_limits() -> None:
    up = ask(*({"action": "LookUp", "degrees": 15} for _ in range(3)))
    assert up.agent(-2)["agent"]["cameraHorizon"] == -30
    assert up.error()[0] == "LookUpCantExceedMax"
    down = ask(*({"action": "LookDown"} for _ in range(3)))
    assert down.agent(-2)["agent"]["cameraHorizon"] == 60
    assert down.error()[0] == "LookDownCantExceedMin"


def test_an_object_is_picked_up_carried_and_put_back() -> None:
    pose = near("Mug")
    mug = ask().object(pose["id"])
    receptacle = mug["parentReceptacles"][0]
    answers = ask(
        go(pose),
        {"action": "PickupObject", "objectId": pose["id"]},
        {"action": "PickupObject", "objectId": pose["id"], "forceAction": True},
        {"action": "PutObject", "objectId": receptacle, "forceAction": True},
    )
    carried = answers.agent(4)
    assert carried["inventoryObjects"] == [{"objectId": pose["id"], "objectType": "Mug"}]
    hand = carried["heldObjectPose"]["position"]
    assert answers.object(pose["id"], 4)["position"] == pytest.approx(hand)
    assert answers.object(pose["id"], 4)["isPickedUp"]
    assert not answers.agent(5)["lastActionSuccess"]
    assert answers.agent()["inventoryObjects"] == []
    assert receptacle in answers.object(pose["id"])["parentReceptacles"]


def test_what_is_sliced_stays_listed_as_sliced() -> None:
    knife = near("ButterKnife")
    apple = near("Apple")
    answers = ask(
        go(knife),
        {"action": "PickupObject", "objectId": knife["id"]},
        go(apple),
        {"action": "SliceObject", "objectId": apple["id"]},
    )
    assert answers.agent()["lastActionSuccess"], answers.agent()["errorMessage"]
    assert answers.object(apple["id"])["isSliced"]
    slices = [e for e in answers.agent()["objects"] if e["objectType"] == "AppleSliced"]
    assert len(slices) == 2


def test_poses_can_be_read_and_set_again() -> None:
    before = ask().agent()["objects"]
    poses = poses_of(before, "pickupable", "moveable")
    after = ask({"action": "SetObjectPoses", "objectPoses": poses}).agent()["objects"]
    assert [e["name"] for e in after] == [e["name"] for e in before]
    for old, new in zip(before, after):
        assert new["position"] == pytest.approx(old["position"])
    fewer = ask({"action": "SetObjectPoses", "objectPoses": poses[-3:]}).agent()["objects"]
    assert sum(e["pickupable"] for e in fewer) == 3


def test_furniture_that_is_not_named_is_taken_away_with_its_parts_except_in_2_1_0() -> None:
    bedroom = "FloorPlan301_physics"
    before = ask(scene=bedroom).agent()["objects"]
    fixed = {e["name"] for e in before if not e["moveable"] and not e["pickupable"]}
    drawers = {e["name"] for e in before if e["objectType"] == "Drawer"}
    request = {"action": "SetObjectPoses", "objectPoses": poses_of(before, "pickupable")}
    after = ask(request, scene=bedroom).agent()["objects"]
    left = {e["name"] for e in after if not e["pickupable"]}
    assert not any(e["moveable"] for e in after)
    assert left < fixed
    assert fixed - left <= drawers
    legacy = ask(request, scene=bedroom, legacy=True).agent()["objects"]
    assert [e["name"] for e in legacy] == [e["name"] for e in before]
    again = ask(request, {"action": "Reset", "sceneName": bedroom}, scene=bedroom)
    assert [e["name"] for e in again.agent()["objects"]] == [e["name"] for e in before]


@pytest.mark.parametrize("legacy", [False, True])
def test_poses_are_of_objects_that_are_there_and_can_be_moved(legacy: bool) -> None:
    fridge = next(e["name"] for e in ask().agent()["objects"] if e["objectType"] == "Fridge")
    for name in ("Dragon_1", fridge):
        request = {"action": "SetObjectPoses", "objectPoses": [{"objectName": name}]}
        assert name in ask(request, legacy=legacy).error()[1]


@pytest.mark.parametrize(
    ("change", "able", "field"),
    [
        ("CanBeDirty", "dirtyable", "isDirty"),
        ("CanBeFilled", "canFillWithLiquid", "isFilledWithLiquid"),
    ],
)
def test_2_1_0_sets_the_state_of_all_objects_and_takes_it_back(
    change: str, able: str, field: str
) -> None:
    requests = [
        {"action": "SetStateOfAllObjects", "StateChange": change, "forceAction": wanted}
        for wanted in (True, False)
    ]
    answers = ask(*requests, legacy=True)
    for number, wanted in ((3, True), (4, False)):
        entries = answers.agent(number)["objects"]
        mugs = [e[field] for e in entries if e["objectType"] in ("Mug", "Cup", "Bowl")]
        assert mugs
        assert set(mugs) == {wanted}
        assert all(e[able] for e in entries if e[field])


def test_random_arrangements_follow_their_seed() -> None:
    def places(seed: int) -> list[str]:
        answer = ask({"action": "InitialRandomSpawn", "randomSeed": seed})
        return [e["objectId"] for e in answer.agent()["objects"] if e["pickupable"]]

    assert places(1) == places(1) != places(2)


def test_interactable_poses_are_interactable() -> None:
    pose = near("Fridge", maxPoses=1)
    answers = ask(go(pose), {"action": "OpenObject", "objectId": pose["id"]})
    assert answers.agent()["lastActionSuccess"]
    assert answers.object(pose["id"])["isOpen"]


def test_paths_lead_where_they_should() -> None:
    points = ask({"action": "GetReachablePositions"}).agent()["actionReturn"]
    start, end = points[0], points[-1]
    answer = ask({"action": "GetShortestPathToPoint", "position": start, "target": end}).agent()
    corners = answer["actionReturn"]["corners"]
    assert (corners[0]["x"], corners[0]["z"]) == (start["x"], start["z"])
    assert (corners[-1]["x"], corners[-1]["z"]) == (end["x"], end["z"])


def test_questions_are_answered_alone_when_speed_is_asked_for() -> None:
    answers = ask({"action": "GetReachablePositions"}, fastActionEmit=True)
    assert answers.messages[-1].patch
    assert len(answers.metadata[-1]["actionReturn"]) > 10
    assert not ask({"action": "GetReachablePositions"}).messages[-1].patch


def test_all_rooms_are_in_the_build() -> None:
    scenes = ask({"action": "GetScenesInBuild"}).agent()["actionReturn"]
    for number in (*ROOM_NUMBERS, *TEST_UNSEEN_NUMBERS):
        assert scenes.count(f"FloorPlan{number}_physics") == 1
    last = ask(scene=scenes[-1]).agent()
    assert last["sceneName"] == scenes[-1]


def test_crouching_lowers_the_camera() -> None:
    answers = ask({"action": "Crouch"}, {"action": "Stand"})
    heights = [answers.agent(k)["cameraPosition"]["y"] for k in (2, 3, 4)]
    assert heights[1] == pytest.approx(heights[0] - 0.675)
    assert heights[2] == heights[0]
    assert not answers.agent(3)["agent"]["isStanding"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.floats(allow_nan=False, width=64)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
PARTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("encoder", "read"), [(MessagePack(), msgpack.loads), (Json(), json.loads)]
)
@given(
    first=PARTS,
    second=PARTS,
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4),
)
def test_joined_parts_read_as_one(
    encoder: Encoder,
    read: Any,
    first: dict[str, Any],
    second: dict[str, Any],
    numbers: list[float],
) -> None:
    second = {f"{key}_": value for key, value in second.items()}
    parts = [encoder.entries(first), encoder.entries(second)]
    assert read(b"".join(encoder.map(parts))) == {**first, **second}
    inner = encoder.array_of_one((encoder.value(numbers),))
    whole = encoder.map([encoder.written("x", inner)])
    assert read(b"".join(whole)) == {"x": [numbers]}
    rows = [first, second] * 2
    table = encoder.table([encoder.row(row) for row in rows[: len(numbers)]])
    # A table is filled again and again.
    for shift in range(2):
        values = numbers[shift:] + numbers[:shift]
        flags = [(k + shift) % 2 == 0 for k in range(len(values))]
        filled = table.fill(np.array(flags), np.array(values))
        assert read(b"".join(filled)) == [
            {**row, "visible": flag, "isInteractable": flag, "distance": value}
            for row, flag, value in zip(rows, flags, values)
        ]


def test_faults_are_read_and_happen_once(tmp_path: Path) -> None:
    fault = Fault.parse(f"hangs:3:{tmp_path / 'happened'}")
    assert (fault.kind, fault.at) == (Kind.HANG, 3)
    assert not fault.happens(2)
    assert fault.happens(3)
    assert not fault.happens(4)
    with pytest.raises(BadInputError, match="explodes"):
        Fault.parse("explodes")
