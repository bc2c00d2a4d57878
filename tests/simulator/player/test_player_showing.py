"""Actions of the player about what is shown, told, breakable, and how to get there."""

from __future__ import annotations

import numpy as np
import pytest

from gym_clalfred.simulator.player.player import BACKGROUND
from gym_clalfred.simulator.player.showing import BLACK, MAGENTA
from tests.helpers.player_script import Talk


def rgb(talk: Talk) -> np.ndarray:
    return np.frombuffer(talk.images["image"], np.uint8).reshape(-1, 3)


def in_sight(talk: Talk, kind: str) -> str:
    """Has the agent look at an object of a class."""
    name = str(talk.first(objectType=kind)["objectId"])
    talk.must("TeleportFull", **talk.must("GetInteractablePoses", objectId=name, maxPoses=1)[0])
    return name


def test_the_metadata_tells_of_chosen_objects_only() -> None:
    talk = Talk()
    everything = talk.objects
    mug = in_sight(talk, "Mug")
    chosen = [mug, talk.first(objectType="Fridge")["objectId"]]
    talk.must("SetObjectFilter", objectIds=chosen)
    assert {e["objectId"] for e in talk.objects} == set(chosen)
    assert talk.first(objectId=mug)["visible"]
    assert talk.first(objectId=mug)["distance"] < 2.0
    talk.must("PickupObject", objectId=mug)
    assert len(talk.objects) == 2
    talk.must("SetObjectFilter", objectIds=[])
    assert talk.objects == []
    assert "appears to be invalid" in talk.refused("SetObjectFilter", objectIds=["Mug|1|2|3"])
    talk.must("ResetObjectFilter")
    assert len(talk.objects) == len(everything)
    talk.must("SetObjectFilter", objectIds=[])
    talk.must("Reset", sceneName="FloorPlan3_physics")
    assert len(talk.objects) == len(everything)


def test_a_masked_object_is_plain_black_until_it_is_unmasked() -> None:
    talk = Talk(renderInstanceSegmentation=True)
    fridge = in_sight(talk, "Fridge")
    before, ids = rgb(talk).copy(), talk.images["image_ids"]
    colour = next(c["color"] for c in talk.agent["colors"] if c["name"] == fridge)
    mine = (np.frombuffer(ids, np.uint8).reshape(-1, 3) == colour).all(axis=1)
    assert mine.sum() > 1000
    talk.must("MaskObject", objectId=fridge)
    assert (rgb(talk)[mine] == BLACK).all()
    np.testing.assert_array_equal(rgb(talk)[~mine], before[~mine])
    assert talk.images["image_ids"] == ids
    talk.must("UnmaskObject", objectId=fridge)
    np.testing.assert_array_equal(rgb(talk), before)


def test_an_emphasised_object_is_all_that_is_seen() -> None:
    talk = Talk()
    fridge = in_sight(talk, "Fridge")
    before = rgb(talk).copy()
    other = talk.first(objectType="Mug")["objectId"]
    for name in (other, fridge):
        talk.must("EmphasizeObject", objectId=name)
        colours = {tuple(int(v) for v in c) for c in np.unique(rgb(talk), axis=0)}
        assert colours <= {MAGENTA, BACKGROUND}
    assert colours == {MAGENTA, BACKGROUND}
    talk.must("UnemphasizeAll")
    np.testing.assert_array_equal(rgb(talk), before)
    for action in ("EmphasizeObject", "MaskObject"):
        assert "appears to be invalid" in talk.refused(action, objectId="Mug|1|2|3")


def test_what_is_unbreakable_does_not_break() -> None:
    talk = Talk()
    mug = talk.first(objectType="Mug")["objectId"]
    talk.must("MakeAllObjectsUnbreakable")
    assert not any(entry["breakable"] for entry in talk.objects)
    assert "unbreakable" in talk.refused("BreakObject", objectId=mug, forceAction=True)
    talk.must("MakeObjectBreakable", objectId=mug)
    assert [e["objectId"] for e in talk.objects if e["breakable"]] == [mug]
    talk.must("BreakObject", objectId=mug, forceAction=True)
    assert talk.first(objectId=mug)["isBroken"]
    talk.must("MakeObjectsOfTypeUnbreakable", objectType="Plate")
    talk.must("ChangeOpenSpeed", x=2.0)


@pytest.mark.parametrize("action", ["MoveHandDelta", "MoveHandAhead", "PushObject"])
def test_what_is_not_done_here_says_so(action: str) -> None:
    reason = Talk().refused(action, x=0.1, y=0.0, z=0.0)
    assert reason == f"{action} is not supported by clalfred-player"


def test_positions_are_those_of_the_poses_in_lists() -> None:
    talk = Talk()
    mug = talk.first(objectType="Mug")["objectId"]
    lists = talk.must("PositionsFromWhichItemIsInteractable", objectId=mug)
    assert set(lists) == {"x", "y", "z", "rotation", "standing", "horizon"}
    poses = [dict(zip(lists, values)) for values in zip(*lists.values())]
    assert len({len(values) for values in lists.values()}) == 1
    assert {pose["standing"] for pose in poses} == {True, False}
    for pose in poses[:: max(len(poses) // 6, 1)]:
        talk.must("TeleportFull", **pose)
        assert talk.first(objectId=mug)["visible"]
    points = [{"x": pose["x"], "y": pose["y"], "z": pose["z"]} for pose in poses[:1]]
    fewer = talk.must(
        "PositionsFromWhichItemIsInteractable", objectId=mug, positions=points, horizon=30
    )
    assert set(fewer["horizon"]) <= {30.0}
    assert set(fewer["x"]) <= {points[0]["x"]}


@pytest.mark.parametrize("kind", ["Fridge", "Mug", "Sink"])
def test_the_expert_leads_to_where_an_object_is_visible(kind: str) -> None:
    talk = Talk()
    goal = talk.first(objectType=kind)["objectId"]
    points = talk.must("GetReachablePositions")
    for start in (points[0], points[-1]):
        talk.must("Teleport", position=start, rotation=0, horizon=0)
        for _ in range(80):
            following = talk.must("ObjectNavExpertAction", objectId=goal)
            if following is None:
                break
            talk.must(following)
        assert talk.first(objectId=goal)["visible"]


def test_the_expert_leads_to_a_point() -> None:
    talk = Talk()
    points = talk.must("GetReachablePositions")
    talk.must("Teleport", position=points[0], rotation=270, horizon=0)
    steps = 0
    while (following := talk.must("ObjectNavExpertAction", position=points[-1])) is not None:
        talk.must(following)
        steps += 1
        assert steps < 100
    assert talk.agent["agent"]["position"] == pytest.approx(points[-1])
    assert "objectId" in talk.refused("ObjectNavExpertAction")
    assert "No object Dragon" in talk.refused("ObjectNavExpertAction", objectType="Dragon")
