"""``clalfred-player --data``: real ALFRED's rooms over the wire."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("ai2thor")

from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.player.naming import look_of
from gym_clalfred.simulator.thor import ThorSimulator
from tests.helpers.alfred_data import alfred_data
from tests.helpers.player_script import Talk, poses_of
from tests.helpers.thor_players import OPTIONS

pytestmark = pytest.mark.alfred


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> AlfredStore:
    """All episodes of one room."""
    folder = tmp_path_factory.mktemp("rooms")
    root = alfred_data("json_2.1.0-valid_seen", folder / "data") / "json_2.1.0" / "valid_seen"
    tasks = sorted(path for path in root.iterdir() if path.is_dir())
    number = tasks[0].name.rsplit("-", 1)[1]
    part = folder / "part" / "json_2.1.0" / "valid_seen"
    part.mkdir(parents=True)
    for path in tasks:
        if path.name.rsplit("-", 1)[1] == number:
            (part / path.name).symlink_to(path)
    return AlfredStore(import_alfred(folder / "part", folder / "store", workers=1).store)


@pytest.fixture
def talk(store: AlfredStore) -> Talk:
    """A player with the rooms of the store, as the command makes it."""
    scene = f"FloorPlan{store.info.rooms[0]}_physics"
    return Talk(scene, rooms=store.lived_in_room, numbers=store.info.rooms)


def test_a_plain_reset_shows_a_room_as_an_episode_has_it(store: AlfredStore, talk: Talk) -> None:
    number = store.info.rooms[0]
    first = store.entries(Split.VALID_SEEN)[0]
    poses = store.episode(first.key).trajectory.scene.object_poses
    names = [look_of(e["name"]) for e in talk.objects if e["pickupable"]]
    assert names == [pose.name for pose in poses]
    assert len(names) > 5
    assert store.room(number).items == ()
    assert store.lived_in_room(number) is store.lived_in_room(number)


def test_names_of_recorded_rooms_are_unique_and_no_ids(talk: Talk) -> None:
    names = [entry["name"] for entry in talk.objects]
    assert len(set(names)) == len(names)
    assert not [name for name in names if "|" in name]
    assert all(e["name"].split("_")[0] == e["objectType"] for e in talk.objects)
    talk.must("Reset", sceneName=talk.agent["sceneName"])
    assert [entry["name"] for entry in talk.objects] == names


def test_recorded_rooms_are_shuffled_and_restored(talk: Talk) -> None:
    before = {e["name"]: e for e in talk.objects}
    poses = poses_of(talk.objects, "pickupable", "moveable")
    excluded = next(e for e in talk.objects if e["pickupable"])
    told = talk.must(
        "InitialRandomSpawn", numPlacementAttempts=20, excludedObjectIds=[excluded["objectId"]]
    )
    assert {e["name"] for e in talk.objects} == set(before)
    assert excluded["name"] not in told["moved"]
    assert len(told["moved"]) > 3
    for entry in talk.objects:
        near = pytest.approx(before[entry["name"]]["position"], abs=0.01)
        assert (entry["position"] == near) is (entry["name"] not in told["moved"]), entry["name"]
    talk.must("SetObjectPoses", objectPoses=poses)
    for entry in talk.objects:
        old = before[entry["name"]]
        assert entry["position"] == pytest.approx(old["position"], abs=0.01), entry["name"]
        assert entry["rotation"] == pytest.approx(old["rotation"], abs=0.1), entry["name"]
        assert entry["parentReceptacles"] == old["parentReceptacles"], entry["name"]


def test_recorded_experts_act_in_the_rooms_of_a_store(store: AlfredStore) -> None:
    from tests.simulator.thor.test_thor_simulator import (
        assert_same_frames,
        assert_same_objects,
        assert_same_sight,
    )

    options = replace(OPTIONS, executable=f"player --data {store.folder}")
    assert options.build == "clalfred-player"
    wire = ThorSimulator(RenderOptions(depth=True), options=options)
    local = EmbeddedSimulator(RenderOptions(depth=True), store.room)
    entries = {entry.key.trajectory: entry for entry in store.entries(Split.VALID_SEEN)}
    done = 0
    try:
        for entry in list(entries.values())[:3]:
            trajectory = store.episode(entry.key).trajectory
            for simulator in (wire, local):
                simulator.reset(trajectory.scene)
            assert_same_objects(wire, local)
            for count, step in enumerate(trajectory.actions):
                outcomes = [each.step(step.action, step.object_id) for each in (wire, local)]
                assert outcomes[0].failure == outcomes[1].failure, (entry.key, count, step)
                done += outcomes[1].success
                if step.action.is_interaction or count % 10 == 0:
                    assert_same_frames(wire, local)
                    assert_same_sight(wire, local)
            assert_same_objects(wire, local)
    finally:
        wire.close()
    assert done > 50
