"""What the agent holds in the player: where it is, and what it keeps the agent from doing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gym_clalfred.simulator.player.holding import WALL, in_the_way
from tests.helpers.player_script import Talk

TURNS = ("RotateLeft", "RotateRight")


def holding(kind: str, scene: str = "FloorPlan3_physics", **more: Any) -> tuple[Talk, str]:
    """A player whose agent holds an object of a class."""
    talk = Talk(scene, **more)
    name = talk.first(objectType=kind)["objectId"]
    talk.must("PickupObject", objectId=name, forceAction=True)
    return talk, name


def hits(talk: Talk) -> frozenset[str]:
    return in_the_way(talk.world.household, talk.world.agent)


def stand_freely(talk: Talk) -> None:
    """Somewhere where what is held is in nothing, with a way ahead."""
    for point in talk.must("GetReachablePositions"):
        for yaw in (0, 90, 180, 270):
            arguments = {"position": point, "rotation": yaw, "horizon": 0}
            talk.do("Teleport", forceAction=True, **arguments)
            if not hits(talk):
                return
    raise AssertionError("what is held is in something everywhere")


def test_moves_stop_before_what_is_held_is_in_something() -> None:
    talk, pot = holding("Pot")
    stand_freely(talk)
    reasons, rng = set(), np.random.default_rng(0)
    for step in range(300):
        action = "MoveAhead" if rng.random() < 0.7 else TURNS[int(rng.integers(2))]
        before = talk.agent["agent"]
        talk.do(action)
        assert not hits(talk), (step, action)
        if not talk.agent["lastActionSuccess"]:
            assert talk.agent["agent"] == before
            reasons.add(talk.agent["errorMessage"])
    name = name_of(talk, pot)
    assert any(text.endswith(f"from moving with {name}.") for text in reasons)
    assert any(f"a held item: {name} will collide" in text for text in reasons)


def test_forced_moves_and_turns_take_what_is_held_along() -> None:
    talk, pot = holding("Pot")
    stand_freely(talk)
    forced = 0
    for step in range(200):
        action = "MoveAhead" if step % 3 else "RotateRight"
        talk.do(action)
        if talk.agent["lastActionSuccess"] or "structure" in talk.agent["errorMessage"]:
            continue
        assert name_of(talk, pot) in talk.agent["errorMessage"]
        forced += 1
        talk.must(action, forceAction=True)
        assert hits(talk)
        # It can be pulled out again without force.
        talk.must("MoveBack" if action == "MoveAhead" else "RotateLeft")
        assert not hits(talk)
    assert forced > 2


def name_of(talk: Talk, object_id: str) -> str:
    return str(talk.first(objectId=object_id)["name"])


def facing_a_wall(talk: Talk) -> dict[str, Any]:
    """Where to stand so that what is held would be in a wall."""
    for point in talk.must("GetReachablePositions"):
        for yaw in (0, 90, 180, 270):
            arguments = {"position": point, "rotation": yaw, "horizon": 0}
            talk.do("Teleport", forceAction=True, **arguments)
            if WALL in hits(talk) and not talk.first(isPickedUp=True)["visible"]:
                return arguments
    raise AssertionError("no wall is near enough")


def test_teleports_do_not_put_what_is_held_into_walls() -> None:
    talk, pot = holding("Pot")
    there = facing_a_wall(talk)
    stand_freely(talk)
    assert talk.first(objectId=pot)["visible"]
    before = talk.agent["agent"]
    reason = talk.refused("Teleport", **there)
    assert reason == "Cannot teleport due to hand object collision."
    assert talk.agent["agent"] == before
    talk.must("Teleport", forceAction=True, **there)
    assert not talk.first(objectId=pot)["visible"]
    # A mere look is always possible, and so is every other direction that is free.
    talk.must("TeleportFull", standing=True, **{**there, "horizon": 30})
    talk.must("LookUp")


def test_what_is_visible_of_what_is_held_has_pixels() -> None:
    talk, pot = holding("Pot", renderInstanceSegmentation=True)
    seen = hidden = 0
    for point in talk.must("GetReachablePositions")[::3]:
        for yaw in (0, 90, 180, 270):
            talk.do("Teleport", position=point, rotation=yaw, horizon=0, forceAction=True)
            colours = {c["name"]: c["color"] for c in talk.agent["colors"]}
            pixels = np.frombuffer(talk.images["image_ids"], np.uint8).reshape(-1, 3)
            count = int((pixels == colours[pot]).all(axis=1).sum())
            if talk.first(objectId=pot)["visible"]:
                assert count > 100
                seen += 1
            else:
                hidden += count == 0
    assert seen > 10
    assert hidden > 0


@pytest.mark.parametrize("horizon", [-30, 0, 30, 60])
def test_the_held_pose_is_told_from_the_camera(horizon: int) -> None:
    talk, _ = holding("Mug")
    stand_freely(talk)
    for yaw in (0, 90, 225):
        talk.must("Rotate", rotation={"x": 0, "y": yaw, "z": 0}, horizon=horizon, forceAction=True)
        pose = talk.agent["heldObjectPose"]
        local, world = pose["localPosition"], pose["position"]
        camera = talk.agent["cameraPosition"]
        # Ahead of the camera and below its middle, wherever it looks.
        assert local["x"] == pytest.approx(0.0, abs=1e-6)
        assert local["z"] > 0.3
        assert local["y"] < 0.0
        length = math.dist([local[a] for a in "xyz"], [0, 0, 0])
        assert length == pytest.approx(
            math.dist([world[a] for a in "xyz"], [camera[a] for a in "xyz"])
        )
    level = [math.cos(math.radians(horizon)), math.sin(math.radians(horizon))]
    # Back in the room's frame, the height is that of the object.
    height = local["y"] * level[0] - local["z"] * level[1]
    assert camera["y"] + height == pytest.approx(world["y"])
    if horizon == 0:
        assert pose["localRotation"]["x"] == pose["localRotation"]["z"] == 0.0


def test_a_full_hand_is_told_before_anything_else() -> None:
    talk, mug = holding("Mug")
    other = talk.first(objectType="Apple")["objectId"]
    for target in (mug, other):
        for force in (False, True):
            reason = talk.refused("PickupObject", objectId=target, forceAction=force)
            assert reason.startswith("Agent hand has something in it already!")
            assert talk.agent["errorCode"] == "InventoryFull"
    assert "appears to be invalid" in talk.refused("PickupObject", objectId="Mug|1|2|3")


def test_a_forced_horizon_is_an_angle_of_the_full_circle() -> None:
    talk = Talk()
    pose = {"position": talk.agent["agent"]["position"], "rotation": 0, "standing": True}
    assert "Each horizon" in talk.refused("TeleportFull", horizon=330, **pose)
    talk.must("TeleportFull", horizon=330, forceAction=True, **pose)
    assert talk.agent["agent"]["cameraHorizon"] == -30
    talk.must("TeleportFull", horizon=390, forceAction=True, **pose)
    assert talk.agent["agent"]["cameraHorizon"] == 30


@pytest.mark.parametrize("action", ["DropHandObject", "DropHeldObjectAhead"])
def test_what_is_held_is_dropped_ahead(action: str) -> None:
    talk, mug = holding("Mug")
    counter = talk.first(objectType="CounterTop")["objectId"]
    poses = talk.must("GetInteractablePoses", objectId=counter, horizons=[30])
    for pose in poses:
        talk.must("TeleportFull", forceAction=True, **pose)
        arguments = {} if action == "DropHandObject" else {"randomMagnitude": 0.0}
        talk.do(action, forceAction=True, **arguments)
        if talk.agent["lastActionSuccess"]:
            break
    assert not talk.agent["inventoryObjects"]
    assert talk.first(objectId=mug)["parentReceptacles"]
    assert "hand is empty" in talk.refused(action)


def test_what_finds_no_surface_falls_to_the_floor() -> None:
    talk, mug = holding("Mug")
    point = talk.must("GetReachablePositions")[0]
    talk.must("TeleportFull", **point, rotation=0, horizon=330, standing=True, forceAction=True)
    talk.must("DropHandObject", forceAction=True)
    dropped = talk.first(objectId=mug)
    assert not dropped["isPickedUp"]
    assert dropped["position"]["y"] < 0.15
    assert math.dist([dropped["position"][k] for k in "xz"], [point[k] for k in "xz"]) < 1.0
    talk.must("TeleportFull", **point, rotation=0, horizon=60, standing=True, forceAction=True)
    talk.must("PickupObject", objectId=mug)
