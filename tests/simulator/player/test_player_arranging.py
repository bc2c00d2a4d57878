"""What moves objects in the player: poses, random places, single objects; and their names."""

from __future__ import annotations

from typing import Any

import pytest

from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.embedded.audit import problems
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.player.naming import fixture_names, look_of, unique_names
from tests.helpers.cases import for_each
from tests.helpers.player_script import Talk, poses_of

KITCHEN, BEDROOM = "FloorPlan3_physics", "FloorPlan301_physics"


def places(talk: Talk) -> dict[str, dict[str, float]]:
    """Where the pickupable objects are, by name."""
    return {e["name"]: e["position"] for e in talk.objects if e["pickupable"]}


@for_each(ROOM_NUMBERS)
def test_names_are_unique_in_every_room(number: int) -> None:
    room = make_room(number)
    names = fixture_names(room.fixtures)
    names += unique_names([pose.name for pose in room.items], taken=names)
    assert len(set(names)) == len(names)
    assert [look_of(n) for n in names[len(room.fixtures) :]] == [pose.name for pose in room.items]


def test_names_of_copies_are_numbered_and_what_is_unique_is_kept() -> None:
    assert unique_names(["a", "a", "a_copy_1", "a"]) == ["a", "a_copy_2", "a_copy_1", "a_copy_3"]
    assert unique_names(["a_copy_1", "b"], taken=["b"]) == ["a_copy_1", "b_copy_1"]


@pytest.mark.parametrize("scene", [KITCHEN, BEDROOM])
def test_names_are_keys_and_stay_the_same(scene: str) -> None:
    talk = Talk(scene)
    names = [entry["name"] for entry in talk.objects]
    assert len(set(names)) == len(names)
    before = places(talk)
    copies = [name for name in before if "_copy_" in name]
    assert copies
    talk.must("SetObjectPoses", objectPoses=poses_of(talk.objects, "pickupable", "moveable")[::-1])
    assert {e["name"] for e in talk.objects} == set(names)
    for name, position in places(talk).items():
        assert position == pytest.approx(before[name], abs=1e-3), name
    talk.must("Reset", sceneName=scene)
    assert [entry["name"] for entry in talk.objects] == names


def test_pieces_of_two_objects_have_names_of_their_own() -> None:
    talk = Talk()
    for entry in [e for e in talk.objects if e["sliceable"]]:
        talk.must("SliceObject", objectId=entry["objectId"], forceAction=True)
    names = [entry["name"] for entry in talk.objects]
    assert len(set(names)) == len(names)


def state_of(entry: dict[str, Any]) -> dict[str, Any]:
    fields = ("isOpen", "openness", "isToggled", "isDirty", "isBroken", "fillLiquid", "isSliced")
    return {field: entry[field] for field in fields}


def test_setting_poses_moves_objects_and_changes_nothing_else() -> None:
    talk = Talk()
    drawer = talk.first(objectType="Drawer")["objectId"]
    fridge = talk.first(objectType="Fridge")["objectId"]
    lamp = talk.first(toggleable=True, openable=False)["objectId"]
    mug = talk.first(objectType="Mug")
    talk.must("OpenObject", objectId=drawer, openness=0.8, forceAction=True)
    talk.must("OpenObject", objectId=fridge, forceAction=True)
    talk.must("ToggleObjectOn", objectId=lamp, forceAction=True)
    talk.must("DirtyObject", objectId=mug["objectId"], forceAction=True)
    talk.must("BreakObject", objectId=mug["objectId"], forceAction=True)
    sliced = talk.first(sliceable=True)
    talk.must("SliceObject", objectId=sliced["objectId"], forceAction=True)
    before = {e["name"]: e for e in talk.objects if e["objectId"] != sliced["objectId"]}
    poses = poses_of(list(before.values()), "pickupable", "moveable")
    talk.must("SetObjectPoses", objectPoses=poses)
    assert talk.first(objectId=drawer)["openness"] == 0.8
    assert {e["name"] for e in talk.objects} == set(before)
    for entry in talk.objects:
        old = before[entry["name"]]
        assert state_of(entry) == state_of(old), entry["name"]
        assert entry["position"] == pytest.approx(old["position"], abs=0.01), entry["name"]
        assert entry["parentReceptacles"] == old["parentReceptacles"], entry["name"]


def test_what_is_in_an_open_drawer_stays_there_when_poses_are_set() -> None:
    talk = Talk("FloorPlan302_physics")
    drawers = [e for e in talk.objects if e["objectType"] == "Drawer" and e["receptacleObjectIds"]]
    assert drawers
    for drawer in drawers:
        talk.must("OpenObject", objectId=drawer["objectId"], forceAction=True)
    inside = {e["objectId"]: e["receptacleObjectIds"] for e in talk.objects if e["isOpen"]}
    talk.must("SetObjectPoses", objectPoses=poses_of(talk.objects, "pickupable", "moveable"))
    for drawer in drawers:
        held = talk.first(objectId=drawer["objectId"])["receptacleObjectIds"]
        assert len(held) == len(inside[drawer["objectId"]])


def test_refused_poses_leave_everything_as_it_is() -> None:
    talk = Talk(BEDROOM)
    names = [entry["name"] for entry in talk.objects]
    for wrong in ("Dragon_1", talk.first(objectType="Bed")["name"]):
        assert wrong in talk.refused("SetObjectPoses", objectPoses=[{"objectName": wrong}])
        assert [entry["name"] for entry in talk.objects] == names


@pytest.mark.parametrize("scene", [KITCHEN, BEDROOM])
def test_random_places_are_of_the_same_objects(scene: str) -> None:
    talk = Talk(scene)
    everything = {e["name"] for e in talk.objects}
    before = places(talk)
    told = talk.must("InitialRandomSpawn", randomSeed=3, numPlacementAttempts=20)
    after = places(talk)
    assert {e["name"] for e in talk.objects} == everything
    stayed = {name for name in before if after[name] == pytest.approx(before[name], abs=1e-3)}
    assert stayed == set(told["notMoved"])
    assert set(told["moved"]) == set(before) - stayed
    assert len(stayed) < len(before) / 4
    # Everything stands in or on something, and nothing in something else.
    assert not [e["name"] for e in talk.objects if e["pickupable"] and not e["parentReceptacles"]]
    assert not talk.agent["inventoryObjects"]


@pytest.mark.parametrize("number", [1, 26, 211, 301, 406])
def test_random_places_are_sound(number: int) -> None:
    """Nothing is in anything else, also where it is closed."""
    talk = Talk(f"FloorPlan{number}_physics")
    kind = next(e["objectType"] for e in talk.objects if e["pickupable"])
    for seed in range(3):
        copies = [{"objectType": kind, "count": 3}]
        talk.must("InitialRandomSpawn", randomSeed=seed, numDuplicatesOfType=copies)
        household = talk.world.household
        assert problems(household, set(household.objects)) == []


def test_random_places_leave_what_is_excluded() -> None:
    talk = Talk()
    items = [e for e in talk.objects if e["pickupable"]]
    free = {e["name"] for e in items[:2]}
    before = places(talk)
    excluded = [e["objectId"] for e in items[2:]]
    talk.must("InitialRandomSpawn", randomSeed=5, excludedObjectIds=excluded)
    for name, position in places(talk).items():
        assert (position == pytest.approx(before[name])) is (name not in free), name
    unknown = talk.refused("InitialRandomSpawn", excludedObjectIds=["Mug|1|2|3"])
    assert unknown == "Cannot find sim object with id 'Mug|1|2|3'"


def test_random_places_follow_their_seed_and_change_no_state() -> None:
    found = []
    for seed in (1, 1, 2, -1):
        talk = Talk()
        fridge = talk.first(objectType="Fridge")["objectId"]
        talk.must("OpenObject", objectId=fridge, openness=0.5, forceAction=True)
        talk.must("InitialRandomSpawn", randomSeed=seed)
        assert talk.first(objectId=fridge)["openness"] == 0.5
        found.append(places(talk))
    assert found[0] == found[1]
    assert found[0] != found[2] != found[3] != found[0]


def test_random_places_can_be_asked_to_be_visible_or_elsewhere() -> None:
    talk = Talk()
    talk.must("InitialRandomSpawn", randomSeed=1, forceVisible=True, numPlacementAttempts=30)
    moved = set(talk.agent["actionReturn"]["moved"])
    closed = {e["objectId"] for e in talk.objects if e["openable"] and not e["isOpen"]}
    for entry in talk.objects:
        if entry["name"] in moved:
            assert not closed & set(entry["parentReceptacles"]), entry["name"]
    talk.must("InitialRandomSpawn", randomSeed=1, excludedReceptacles=["CounterTop", "Cabinet"])
    for entry in talk.objects:
        if entry["name"] in talk.agent["actionReturn"]["moved"]:
            kinds = {parent.split("|")[0] for parent in entry["parentReceptacles"][:1]}
            assert not kinds & {"CounterTop", "Cabinet"}, entry["name"]


def test_random_places_make_copies_where_they_are_asked_for() -> None:
    talk = Talk()

    def mugs() -> list[str]:
        return [e["name"] for e in talk.objects if e["objectType"] == "Mug"]

    before = mugs()
    wanted = [{"objectType": "Mug", "count": len(before) + 2}]
    told = talk.must("InitialRandomSpawn", numDuplicatesOfType=wanted, numPlacementAttempts=50)
    assert told["copies"] == 2
    assert len(set(mugs())) == len(before) + 2
    assert set(before) < set(mugs())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"numPlacementAttempts": 0}, "must be a positive integer"),
        ({"excludedReceptacles": ["Throne"]}, "invalid Object Type used in excludedReceptacles"),
        ({"numDuplicatesOfType": [{"objectType": "Mug"}]}, "Cannot convert to: ObjectTypeCount[]"),
        ({"allowMoveable": True}, "allowMoveable is not supported by clalfred-player"),
        ({"allowFloor": True}, "allowFloor is not supported by clalfred-player"),
        ({"numRepeats": []}, "invalid argument(s): 'numRepeats'"),
        ({"colour": "red"}, "invalid argument(s): 'colour'"),
    ],
)
def test_random_places_refuse_what_they_cannot_do(arguments: dict[str, Any], words: str) -> None:
    talk = Talk()
    before = places(talk)
    assert words in talk.refused("InitialRandomSpawn", **arguments)
    assert places(talk) == before


def test_random_places_as_2_1_0_asks_for_them() -> None:
    talk = Talk(legacy=True)
    repeats = [{"type": "Apple", "count": 3}]
    free = [{"type": "Fridge", "count": 1}]
    talk.must("InitialRandomSpawn", numRepeats=repeats, minFreePerReceptacleType=free, other=1)
    assert sum(e["objectType"] == "Apple" for e in talk.objects) == 3
    moved = set(talk.agent["actionReturn"]["moved"])
    fridge = talk.first(objectType="Fridge")["objectId"]
    inside = [e["name"] for e in talk.objects if fridge in e["parentReceptacles"]]
    assert not moved & set(inside)


def test_what_is_held_is_moved_from_the_hand_unless_it_is_excluded() -> None:
    talk = Talk()
    mug = talk.first(objectType="Mug")
    talk.must("PickupObject", objectId=mug["objectId"], forceAction=True)
    talk.must("InitialRandomSpawn", excludedObjectIds=[mug["objectId"]])
    assert [e["objectType"] for e in talk.agent["inventoryObjects"]] == ["Mug"]
    assert talk.named(mug["name"])["isPickedUp"]
    talk.must("InitialRandomSpawn", numPlacementAttempts=50)
    assert not talk.agent["inventoryObjects"]
    assert talk.named(mug["name"])["parentReceptacles"]


def test_one_object_is_taken_away_and_no_other_changes() -> None:
    talk = Talk()
    apple = talk.first(objectType="Apple")
    mug = talk.first(objectType="Mug")
    talk.must("PickupObject", objectId=mug["objectId"], forceAction=True)
    fridge = talk.first(objectType="Fridge")["objectId"]
    talk.must("OpenObject", objectId=fridge, forceAction=True)
    before = places(talk)
    talk.must("RemoveFromScene", objectId=apple["objectId"])
    assert set(before) - set(places(talk)) == {apple["name"]}
    assert talk.first(objectId=fridge)["isOpen"]
    assert talk.named(mug["name"])["isPickedUp"]
    for entry in [e for e in talk.objects if e["pickupable"]]:
        talk.must("RemoveFromScene", objectId=entry["objectId"])
    assert places(talk) == {}


def test_one_object_is_moved_and_keeps_its_id() -> None:
    talk = Talk()
    mug, table = talk.first(objectType="Mug"), talk.first(objectType="CounterTop")
    apple = talk.first(objectType="Apple")
    there = apple["position"]
    reason = talk.refused("TeleportObject", objectId=mug["objectId"], position=there)
    assert reason == f"{mug['objectId']} collides with {apple['objectId']} at its new position."
    talk.must("TeleportObject", objectId=mug["objectId"], position=there, forceAction=True)
    moved = talk.first(objectId=mug["objectId"])
    assert moved["position"] == pytest.approx(there, abs=0.01)
    assert moved["parentReceptacles"] == apple["parentReceptacles"]
    outside = {"x": 50.0, "y": 1.0, "z": 0.0}
    assert "A wall" in talk.refused("TeleportObject", objectId=mug["objectId"], position=outside)
    furniture = talk.refused("TeleportObject", objectId=table["objectId"], position=there)
    assert "not supported by clalfred-player" in furniture
    talk.must("PickupObject", objectId=mug["objectId"], forceAction=True)
    held = {"objectId": mug["objectId"], "position": mug["position"]}
    assert talk.refused("TeleportObject", **held) == "Cannot teleport object while in hand."
    talk.must("TeleportObject", allowTeleportOutOfHand=True, **held)
    assert not talk.agent["inventoryObjects"]
    assert talk.named(mug["name"])["position"] == pytest.approx(mug["position"], abs=0.01)
