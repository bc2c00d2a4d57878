"""What the player makes of arguments that other people's programs send by mistake or by habit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.player_script import Talk, poses_of

NAN, INFINITE = float("nan"), float("inf")


@pytest.fixture(scope="module")
def talk() -> Talk:
    return Talk()


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("Teleport", {"position": {"x": "a", "y": 0.9, "z": 1}}),
        ("Teleport", {"position": {"x": NAN, "y": 0.9, "z": 1}}),
        ("Teleport", {"rotation": {"y": "north"}}),
        ("Teleport", {"horizon": INFINITE, "forceAction": True}),
        ("MoveAhead", {"moveMagnitude": NAN}),
        ("RotateRight", {"degrees": -INFINITE}),
        ("LookDown", {"degrees": NAN}),
        ("Initialize", {"gridSize": NAN}),
        ("Initialize", {"gridSize": INFINITE}),
        ("GetShortestPath", {"objectType": "Fridge", "position": {"x": "a", "z": 0}}),
        ("GetShortestPathToPoint", {"target": {"x": [1], "z": 0}}),
        ("AddThirdPartyCamera", {"position": {"x": True}}),
        ("AddThirdPartyCamera", {"rotation": {"y": NAN}}),
        ("AddThirdPartyCamera", {"orthographic": True, "orthographicSize": -1.0}),
        ("GetShortestPath", {"objectType": "Fridge", "position": {"y": 1.0}}),
        ("ObjectNavExpertAction", {"position": {"y": 90}}),
        ("GetInteractablePoses", {"objectId": "Fridge", "positions": [5]}),
        ("GetInteractablePoses", {"objectId": "Fridge", "rotations": ["north"]}),
        ("SetObjectPoses", {"objectPoses": ["Mug"]}),
        ("SetObjectPoses", {"objectPoses": [{"objectName": "Mug_1", "position": {"x": NAN}}]}),
        ("SetObjectToggles", {"objectToggles": ["Faucet"]}),
    ],
)
def test_what_is_no_number_or_vector_is_refused(
    talk: Talk, action: str, arguments: dict[str, Any]
) -> None:
    before = talk.do("Pass")["agent"]
    if arguments.get("objectId") == "Fridge":
        arguments = {**arguments, "objectId": talk.first(objectType="Fridge")["objectId"]}
    said = talk.refused(action, **arguments)
    assert talk.agent["errorCode"] == "InvalidArgument", said
    assert talk.agent["agent"] == before


def test_a_distance_without_end_is_refused_at_the_first_wall(talk: Talk) -> None:
    assert "blocking" in talk.refused("MoveAhead", moveMagnitude=1e12)
    assert "blocking" in talk.refused("MoveBack", moveMagnitude=1e300)


def test_many_turns_meet_no_more_than_one(talk: Talk) -> None:
    yaw = talk.do("Pass")["agent"]["rotation"]["y"]
    talk.must("RotateRight", degrees=360e6 + 90)
    assert talk.agent["agent"]["rotation"]["y"] == (yaw + 90) % 360


def test_there_is_one_agent(talk: Talk) -> None:
    before = talk.must("GetReachablePositions", agentId=0)
    place = talk.agent["agent"]
    said = talk.refused("MoveAhead", agentId=1, moveMagnitude=0.25, forceAction=True)
    assert said == "agentId 1: clalfred-player has one agent, number 0"
    assert talk.agent["agent"] == place
    assert talk.must("GetReachablePositions") == before


def test_a_negative_visibility_distance_is_refused(talk: Talk) -> None:
    assert "visibilityDistance" in talk.refused("Initialize", visibilityDistance=-1)


def test_reachable_positions_are_of_the_agents_grid() -> None:
    talk = Talk()
    usual = points(talk)
    assert points(talk, gridSize=0.25) == usual
    here = (talk.agent["agent"]["position"]["x"], talk.agent["agent"]["position"]["z"])
    for grid in (0.5, 0.1, 0.05):
        talk.must("Initialize", gridSize=grid)
        found = points(talk)
        assert here in found
        assert found == points(talk, gridSize=grid)
        for x, z in found:
            assert (x - here[0]) / grid == pytest.approx(round((x - here[0]) / grid), abs=1e-6)
            assert (z - here[1]) / grid == pytest.approx(round((z - here[1]) / grid), abs=1e-6)
            talk.must("Teleport", x=x, z=z, forceAction=True)
        talk.must("Teleport", x=here[0], z=here[1], forceAction=True)
        assert set(found) < set(usual) if grid > 0.25 else len(found) > len(usual)


def test_every_reachable_position_is_a_move_from_another() -> None:
    talk = Talk(gridSize=0.5)
    found = points(talk)
    here = (talk.agent["agent"]["position"]["x"], talk.agent["agent"]["position"]["z"])
    walked, waiting = {here}, [here]
    while waiting:
        x, z = waiting.pop()
        for yaw in (0, 90, 180, 270):
            talk.must("Teleport", x=x, z=z, rotation=float(yaw))
            talk.do("MoveAhead")
            at = talk.agent["agent"]["position"]
            if (at["x"], at["z"]) not in walked:
                walked.add((at["x"], at["z"]))
                waiting.append((at["x"], at["z"]))
    assert sorted(walked) == found


def test_reachable_positions_along_the_agents_heading() -> None:
    talk = Talk()
    talk.must("RotateRight", degrees=45.0)
    found = points(talk, directionsRelativeAgent=True)
    assert len(found) > 1
    here = talk.agent["agent"]["position"]
    for x, z in found:
        along = ((x - here["x"]) + (z - here["z"])) / 2**0.5
        assert along / 0.25 == pytest.approx(round(along / 0.25), abs=1e-6)


def test_searches_that_would_not_end_are_refused(talk: Talk) -> None:
    assert "0.02 m" in talk.refused("GetReachablePositions", gridSize=1e-9)
    assert "Too many steps" in talk.refused("GetReachablePositions", maxStepCount=1)
    assert "Too many steps" in talk.refused("GetReachablePositions", maxStepCount=1, gridSize=0.1)


def test_a_path_may_say_the_heading_it_begins_with(talk: Talk) -> None:
    start = talk.must("GetReachablePositions")[0]
    plain = talk.must("GetShortestPath", objectType="Fridge", position=start)
    turned = {"x": 0, "y": 90, "z": 0}
    assert plain == talk.must(
        "GetShortestPath", objectType="Fridge", position=start, rotation=turned
    )
    talk.refused("GetShortestPath", position=start)
    assert talk.agent["errorCode"] == "MissingArguments"


def test_a_path_to_where_there_is_no_floor_is_refused(talk: Talk) -> None:
    goal = talk.must("GetReachablePositions")[-1]
    talk.must("GetShortestPathToPoint", target={**goal, "x": goal["x"] + 0.1})
    assert "not on the floor" in talk.refused("GetShortestPathToPoint", target={"x": 50, "z": 50})
    talk.must("GetShortestPathToPoint", target={"x": 50, "z": 50}, allowedError=100.0)


def test_moveable_furniture_may_be_skipped() -> None:
    talk = Talk()
    kinds = {e["objectType"] for e in talk.objects if e["moveable"]}
    assert kinds
    poses = poses_of(talk.objects, "pickupable")
    physics = {"placeStationary": False, "enablePhysicsJitter": True, "forceRigidbodySleep": True}
    talk.must("SetObjectPoses", objectPoses=poses, skipMoveable=True, **physics)
    assert {e["objectType"] for e in talk.objects if e["moveable"]} == kinds
    talk.must("SetObjectPoses", objectPoses=poses, **physics)
    assert not [e for e in talk.objects if e["moveable"] and not e["pickupable"]]


@pytest.mark.parametrize("scene", [3, 12, 205, 310, 424])
def test_objects_put_where_they_are_keep_their_ids(scene: int) -> None:
    talk = Talk(f"FloorPlan{scene}_physics")
    before = {e["name"]: (e["objectId"], e["parentReceptacles"]) for e in talk.objects}
    talk.must("SetObjectPoses", objectPoses=poses_of(talk.objects, "pickupable", "moveable"))
    assert {e["name"]: (e["objectId"], e["parentReceptacles"]) for e in talk.objects} == before
    gone = next(e for e in talk.objects if e["pickupable"])
    talk.must("RemoveFromScene", objectId=gone["objectId"])
    del before[gone["name"]]
    assert {e["name"]: e["objectId"] for e in talk.objects} == {n: v[0] for n, v in before.items()}


def points(talk: Talk, **arguments: Any) -> list[tuple[float, float]]:
    return [(p["x"], p["z"]) for p in talk.must("GetReachablePositions", **arguments)]
