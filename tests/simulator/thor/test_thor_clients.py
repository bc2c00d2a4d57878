"""Programs in the manner of those that people write for AI2-THOR 5.0.0, on the player."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai2thor")

from ai2thor.controller import Controller
from ai2thor.wsgi_server import WsgiServer

Values = dict[str, Any]


@pytest.fixture(scope="module")
def controller() -> Iterator[Any]:
    controller = Controller(
        local_executable_path=f"{sys.executable} -m clalfred.scripts.player",
        scene="FloorPlan28",
        agentMode="default",
        gridSize=0.25,
        visibilityDistance=1.5,
        fieldOfView=90,
        rotateStepDegrees=90,
        width=320,
        height=240,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
        renderSemanticSegmentation=True,
        x_display=":0",
    )
    yield controller
    controller.stop()


@pytest.fixture(autouse=True)
def fresh_scene(controller: Any) -> None:
    controller.reset("FloorPlan28")


def entry_of(controller: Any, object_id: str) -> Values:
    found = [e for e in controller.last_event.metadata["objects"] if e["objectId"] == object_id]
    assert len(found) == 1
    entry: Values = found[0]
    return entry


def first(controller: Any, **wanted: Any) -> Values:
    for entry in controller.last_event.metadata["objects"]:
        if all(entry[key] == value for key, value in wanted.items()):
            return dict(entry)
    raise AssertionError(f"no object with {wanted}")


def test_object_navigation_by_shortest_paths(controller: Any) -> None:
    """Teleports about, walks the corners of the shortest path, looks until the goal is visible."""
    goal = first(controller, objectType="Fridge")
    points = controller.step("GetReachablePositions").metadata["actionReturn"]
    far = max(points, key=lambda p: math.dist((p["x"], p["z"]), _place(goal)))
    event = controller.step("Teleport", position=far, rotation={"x": 0, "y": 0, "z": 0}, horizon=0)
    assert event.metadata["agent"]["position"] == pytest.approx(far)
    path = controller.step("GetShortestPath", objectType="Fridge", position=far)
    corners = path.metadata["actionReturn"]["corners"]
    for corner in corners[1:]:
        while (here := _agent(controller)) != (corner["x"], corner["z"]):
            dx, dz = corner["x"] - here[0], corner["z"] - here[1]
            heading = round(math.degrees(math.atan2(dx, dz))) % 360
            while round(controller.last_event.metadata["agent"]["rotation"]["y"]) != heading:
                assert controller.step(action="RotateRight")
            assert controller.step(action="MoveAhead")
    visible = [
        controller.step({"action": "RotateRight", "degrees": 30}) and _visible(controller, goal)
        for _ in range(12)
    ]
    assert any(visible)
    poses = controller.step("GetInteractablePoses", objectId=goal["objectId"])
    event = controller.step("TeleportFull", **poses.metadata["actionReturn"][0])
    assert _visible(controller, goal)
    assert goal["objectId"] in controller.step("GetVisibleObjects").metadata["actionReturn"]
    bounds = controller.step("GetSceneBounds").metadata["actionReturn"]
    assert bounds == event.metadata["sceneBounds"]


def test_pictures_and_masks_agree(controller: Any) -> None:
    goal = first(controller, objectType="Fridge")
    poses = controller.step("GetInteractablePoses", objectId=goal["objectId"], horizons=[0.0])
    event = controller.step("TeleportFull", **poses.metadata["actionReturn"][0])
    assert event.frame.shape == event.instance_segmentation_frame.shape == (240, 320, 3)
    assert event.depth_frame.shape == (240, 320)
    mask = event.instance_masks[goal["objectId"]]
    left, top, right, bottom = event.instance_detections2D[goal["objectId"]]
    rows, columns = np.nonzero(mask)
    assert (columns.min(), rows.min(), columns.max(), rows.max()) == (left, top, right, bottom)
    np.testing.assert_array_equal(event.class_masks["Fridge"], mask)
    colour = tuple(int(c) for c in event.instance_segmentation_frame[rows[0], columns[0]])
    assert event.color_to_object_id[colour] == goal["objectId"]
    assert 0.2 < float(event.depth_frame[mask].min()) < 2.5


def test_states_change_and_are_reported(controller: Any) -> None:
    """What household tasks beyond ALFRED's do: fill, cook, break, use up, open half."""
    for action, able, field, value, more in (
        ("BreakObject", "breakable", "isBroken", True, {}),
        ("CookObject", "cookable", "isCooked", True, {}),
        ("UseUpObject", "canBeUsedUp", "isUsedUp", True, {}),
        ("DirtyObject", "dirtyable", "isDirty", True, {}),
        ("FillObjectWithLiquid", "canFillWithLiquid", "fillLiquid", "coffee", "coffee"),
    ):
        target = first(controller, **{able: True})["objectId"]
        other = first(controller, **{able: False})["objectId"]
        arguments = {"fillLiquid": more} if more else {}
        for _ in range(2):
            event = controller.step(action, objectId=target, forceAction=True, **arguments)
            assert entry_of(controller, target)[field] == value
        assert not event.metadata["lastActionSuccess"]
        assert "already" in event.metadata["errorMessage"]
        assert not controller.step(action, objectId=other, forceAction=True, **arguments)
    filled = first(controller, isFilledWithLiquid=True)["objectId"]
    assert controller.step("EmptyLiquidFromObject", objectId=filled, forceAction=True)
    assert entry_of(controller, filled)["fillLiquid"] is None
    fridge = first(controller, objectType="Fridge")["objectId"]
    for openness in (0.5, 1.0, 0.25):
        assert controller.step("OpenObject", objectId=fridge, openness=openness, forceAction=True)
        assert entry_of(controller, fridge)["openness"] == openness
    assert controller.step("CloseObject", objectId=fridge, forceAction=True)
    assert entry_of(controller, fridge)["openness"] == 0.0
    sliced = first(controller, sliceable=True)
    assert controller.step("SliceObject", objectId=sliced["objectId"], forceAction=True)
    assert first(controller, objectType=f"{sliced['objectType']}Sliced")
    controller.reset("FloorPlan28_physics")
    assert not any(entry["isBroken"] for entry in controller.last_event.metadata["objects"])


def test_a_room_is_shuffled_and_restored(controller: Any) -> None:
    """Rearrangement: remember all poses of what can move, shuffle, put everything back."""

    def places() -> dict[str, Any]:
        objects = controller.last_event.metadata["objects"]
        return {e["name"]: e["position"] for e in objects if e["pickupable"] or e["moveable"]}

    before = places()
    poses = [
        {"objectName": e["name"], "position": e["position"], "rotation": e["rotation"]}
        for e in controller.last_event.metadata["objects"]
        if e["pickupable"] or e["moveable"]
    ]
    assert controller.step("InitialRandomSpawn", randomSeed=7, numPlacementAttempts=20)
    assert places() != before
    assert controller.step("SetObjectPoses", objectPoses=poses, placeStationary=False)
    after = places()
    assert after.keys() == before.keys()
    moved = [name for name in before if after[name] != pytest.approx(before[name], abs=0.02)]
    assert not moved


def test_what_does_not_exist_is_told_apart_from_what_is_missing_here(controller: Any) -> None:
    with pytest.raises(ValueError, match="Invalid action: MoveForward"):
        controller.step("MoveForward")
    with pytest.raises(ValueError, match="invalid argument"):
        controller.step("MoveAhead", speed=2)
    event = controller.step("RandomizeMaterials")
    assert not event
    assert "not supported by clalfred-player" in event.metadata["errorMessage"]


def test_the_other_server_of_the_package_works_too() -> None:
    controller = Controller(
        local_executable_path=f"{sys.executable} -m clalfred.scripts.player",
        server_class=WsgiServer,
        scene="FloorPlan402",
        renderInstanceSegmentation=True,
        x_display=":0",
    )
    try:
        event = controller.step("RotateRight", degrees=45)
        assert event.metadata["agent"]["rotation"]["y"] == 45
        assert event.metadata["sceneName"] == "FloorPlan402_physics"
        assert len(controller.step("GetReachablePositions").metadata["actionReturn"]) > 5
    finally:
        controller.stop()


def _agent(controller: Any) -> tuple[float, float]:
    position = controller.last_event.metadata["agent"]["position"]
    return position["x"], position["z"]


def _place(entry: Values) -> tuple[float, float]:
    return entry["position"]["x"], entry["position"]["z"]


def _visible(controller: Any, entry: Values) -> bool:
    return bool(entry_of(controller, entry["objectId"])["visible"])
