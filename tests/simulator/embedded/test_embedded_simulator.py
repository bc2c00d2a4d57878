"""The embedded simulator in the hand-made kitchen: moving, seeing, acting."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError, UsageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import (
    PITCH_RANGE,
    AgentPose,
    Failure,
    ObjectPose,
    RenderOptions,
    View,
)
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from tests import ROOT
from tests.helpers.household_room import (
    AT_FRIDGE,
    AT_MICROWAVE,
    AT_SINK,
    AT_TABLE,
    kitchen,
    on_table,
    scene,
)
from tests.helpers.random_agent import random_walk

SMALL = RenderOptions(image_size=32)


@pytest.fixture
def simulator() -> EmbeddedSimulator:
    made = EmbeddedSimulator(SMALL, kitchen)
    made.reset(scene())
    return made


@pytest.fixture(scope="module")
def shared() -> EmbeddedSimulator:
    return EmbeddedSimulator(SMALL, kitchen)


def find(simulator: EmbeddedSimulator, name: str) -> str:
    """The id of the first object of a class."""
    return next(i for i, s in simulator.objects.items() if s.object_class.name == name)


def do(simulator: EmbeddedSimulator, *steps: tuple[str, str]) -> None:
    """Actions on classes that all succeed."""
    for action, name in steps:
        outcome = simulator.step(Action[action], find(simulator, name))
        assert outcome.success, (action, name, outcome.failure)


def test_moves_a_quarter_metre_where_it_looks(simulator):
    simulator.teleport(AgentPose(-1.0, 0.9, -1.0, 0, 30))
    for yaw, moved in ((0, (0, 0.25)), (90, (0.25, 0)), (180, (0, -0.25)), (270, (-0.25, 0))):
        before = simulator.agent
        assert before.yaw == yaw
        assert simulator.step(Action.MoveAhead).success
        after = simulator.agent
        assert (after.x - before.x, after.z - before.z) == moved
        assert (after.yaw, after.pitch, after.y) == (before.yaw, before.pitch, before.y)
        simulator.step(Action.RotateRight)
    assert simulator.agent == AgentPose(-1.0, 0.9, -1.0, 0, 30)


def test_table_stops_the_agent(simulator):
    outcomes = [simulator.step(Action.MoveAhead) for _ in range(3)]
    assert outcomes[-1].failure is Failure.BLOCKED
    assert (simulator.agent.x, simulator.agent.z) in kitchen().walkable


def test_look_stops_at_its_limits(simulator):
    for action, limit in ((Action.LookDown, PITCH_RANGE[1]), (Action.LookUp, PITCH_RANGE[0])):
        for _ in range(10):
            outcome = simulator.step(action)
        assert outcome.failure is Failure.LOOK_LIMIT
        assert simulator.agent.pitch == limit


@given(
    st.lists(st.sampled_from([Action.RotateLeft, Action.RotateRight, Action.LookUp]), max_size=6)
)
@settings(max_examples=20, deadline=None)
def test_turning_and_looking_back_restores_the_view(shared, actions):
    simulator = shared
    simulator.reset(scene())
    before = simulator.frame()
    back = {
        Action.RotateLeft: Action.RotateRight,
        Action.RotateRight: Action.RotateLeft,
        Action.LookUp: Action.LookDown,
    }
    done = [action for action in actions if simulator.step(action).success]
    for action in reversed(done):
        assert simulator.step(back[action]).success
    assert simulator.agent == AT_TABLE
    assert (simulator.frame().rgb == before.rgb).all()


def test_stop_succeeds_and_changes_nothing(simulator):
    version, pose = simulator.version, simulator.agent
    assert simulator.step(Action.Stop).success
    assert (simulator.version, simulator.agent) == (version, pose)


def test_reachable_points_are_connected_and_walkable(simulator):
    points = {tuple(point) for point in simulator.reachable()}
    assert points <= kitchen().walkable
    assert (AT_TABLE.x, AT_TABLE.z) in points
    for x, z in points:
        neighbours = {(x + 0.25, z), (x - 0.25, z), (x, z + 0.25), (x, z - 0.25)}
        assert neighbours & points
        assert neighbours & kitchen().walkable <= points


def test_teleport_only_to_walkable_points(simulator):
    assert simulator.teleport(AgentPose(0.5, 0.9, -0.5, 0, 0)).failure is Failure.BLOCKED
    assert simulator.agent == AT_TABLE
    assert simulator.teleport(AT_SINK).success
    assert simulator.agent == AT_SINK


def test_closed_fridge_hides_and_forbids(simulator):
    simulator.teleport(AT_FRIDGE)
    potato = find(simulator, "Potato")
    assert potato not in simulator.sight().visible
    assert not simulator.sight().mask(potato).any()
    assert simulator.step(Action.PickupObject, potato).failure is Failure.NOT_VISIBLE
    do(simulator, ("OpenObject", "Fridge"))
    assert potato in simulator.sight().visible
    do(simulator, ("PickupObject", "Potato"))


def test_held_object_is_in_the_frame_but_not_in_the_sight(simulator):
    do(simulator, ("PickupObject", "Box"))
    box, mug = find(simulator, "Box"), find(simulator, "Mug")
    frame, sight = simulator.frame(), simulator.sight()
    for name in (box, mug):
        index = frame.object_ids.index(name) + 1
        assert not sight.mask(name).any()
        assert name not in sight.visible
        if name == box:
            rows, _ = np.nonzero(frame.instances[View.FRONT] == index)
            assert len(rows)
            assert rows.mean() > 16
    assert simulator.step(Action.PutObject, box).failure is Failure.NOT_VISIBLE
    # And the other way round: a frame after a sight shows it again.
    assert (simulator.frame().rgb == frame.rgb).all()


def test_what_is_held_moves_with_the_camera(simulator):
    do(simulator, ("PickupObject", "Apple"))
    index = simulator.frame().object_ids.index(simulator.held) + 1
    masks = []
    for action in (Action.RotateLeft, Action.MoveAhead, Action.LookDown):
        simulator.step(action)
        masks.append(simulator.frame().instances[View.FRONT] == index)
    areas = [int(mask.sum()) for mask in masks]
    assert min(areas) > 0.6 * max(areas) > 0


def test_put_object_is_where_it_can_be_seen_and_taken_again(simulator):
    for name in ("Apple", "Spoon", "Box"):
        do(simulator, ("PickupObject", name), ("PutObject", "DiningTable"))
        thing = find(simulator, name)
        assert thing in simulator.sight().visible
        assert simulator.held is None


def test_put_back_what_was_taken_changes_only_its_place(simulator):
    apple, table = find(simulator, "Apple"), find(simulator, "DiningTable")
    before = dict(simulator.objects)
    do(simulator, ("PickupObject", "Apple"), ("PutObject", "DiningTable"))
    after = dict(simulator.objects)
    assert after[apple].parents == before[apple].parents == (table,)
    assert set(after[table].contents) == set(before[table].contents)
    unchanged = {name for name in before if name not in (apple, table)}
    assert all(after[name] == before[name] for name in unchanged)


def test_clean_heat_cool_macros(simulator):
    do(simulator, ("PickupObject", "Apple"))
    simulator.teleport(AT_SINK)
    do(
        simulator,
        ("PutObject", "SinkBasin"),
        ("ToggleObjectOn", "Faucet"),
        ("ToggleObjectOff", "Faucet"),
        ("PickupObject", "Apple"),
    )
    simulator.teleport(AT_MICROWAVE)
    do(
        simulator,
        ("OpenObject", "Microwave"),
        ("PutObject", "Microwave"),
        ("CloseObject", "Microwave"),
        ("ToggleObjectOn", "Microwave"),
        ("ToggleObjectOff", "Microwave"),
        ("OpenObject", "Microwave"),
        ("PickupObject", "Apple"),
        ("CloseObject", "Microwave"),
    )
    simulator.teleport(AT_FRIDGE)
    do(
        simulator,
        ("OpenObject", "Fridge"),
        ("PutObject", "Fridge"),
        ("CloseObject", "Fridge"),
        ("OpenObject", "Fridge"),
        ("PickupObject", "Apple"),
    )
    state = simulator.objects[find(simulator, "Apple")]
    assert (state.cleaned, state.heated, state.cooled) == (True, True, True)


def test_slices_get_indices_at_the_end_and_can_be_carried(simulator):
    before = simulator.frame().object_ids
    do(simulator, ("PickupObject", "Knife"), ("SliceObject", "Bread"))
    after = simulator.frame().object_ids
    assert after[: len(before)] == before
    assert len(after) == len(before) + 8
    do(simulator, ("PutObject", "DiningTable"), ("PickupObject", "BreadSliced"))
    assert simulator.held.endswith("|BreadSliced_1")
    whole = before.index(next(name for name in before if name.startswith("Bread|"))) + 1
    assert not (simulator.sight().instances == whole).any()


def test_classes_are_the_classes_of_the_instances(simulator):
    frame = simulator.frame()
    lookup = [ObjectClass.NoObject] + [simulator.objects[i].object_class for i in frame.object_ids]
    assert (frame.classes == np.array(lookup)[frame.instances]).all()
    assert frame.classes.dtype == np.uint8
    assert len(np.unique(frame.classes)) > 5


def test_render_options_leave_out_what_is_not_wanted():
    options = RenderOptions(image_size=16, instances=False)
    plain = EmbeddedSimulator(options, kitchen)
    plain.reset(scene())
    frame = plain.frame()
    assert (frame.instances, frame.classes, frame.depth) == (None, None, None)
    assert frame.rgb.shape == (5, 16, 16, 3)
    assert plain.sight().visible


def test_frames_belong_to_the_caller(simulator):
    first = simulator.frame()
    copy = first.rgb.copy()
    simulator.step(Action.RotateLeft)
    simulator.frame()
    assert (first.rgb == copy).all()
    first.rgb[:] = 0
    first.instances[:] = 0
    simulator.step(Action.RotateRight)
    assert (simulator.frame().rgb == copy).all()


def test_sight_is_cached_until_something_changes(simulator):
    first = simulator.sight()
    assert simulator.sight() is first
    simulator.step(Action.LookDown)
    assert simulator.sight() is not first


def test_masks_lie_within_the_boxes_of_their_objects():
    """Every pixel, taken back into the room by its depth, is at the object it names."""
    size = 100
    simulator = EmbeddedSimulator(RenderOptions(image_size=size, depth=True), kitchen)
    simulator.reset(scene())
    do(simulator, ("CloseObject", "Laptop"))
    grid = (np.arange(size) + 0.5 - size / 2) / (size / 2 / np.tan(np.radians(30)))
    for pose in (AT_TABLE, AT_SINK, AT_MICROWAVE, AT_FRIDGE):
        assert simulator.teleport(pose).success
        frame = simulator.frame()
        for view, (turned, tilted) in enumerate(simulator.render.view_angles):
            yaw, pitch = np.radians(pose.yaw + turned), np.radians(pose.pitch + tilted)
            right = np.array([np.cos(yaw), 0, -np.sin(yaw)])
            ahead = np.array(
                [np.sin(yaw) * np.cos(pitch), -np.sin(pitch), np.cos(yaw) * np.cos(pitch)]
            )
            up = np.cross(ahead, right)
            rays = ahead + grid[None, :, None] * right - grid[:, None, None] * up
            eye = np.array([pose.x, pose.y + 0.675, pose.z])
            points = eye + rays * frame.depth[view][..., None]
            for index in np.unique(frame.instances[view]):
                if index == 0:
                    continue
                state = simulator.objects[frame.object_ids[index - 1]]
                offset = points[frame.instances[view] == index] - np.array(state.position)
                angle = np.radians(state.rotation[1])
                x = offset[:, 0] * np.cos(angle) - offset[:, 2] * np.sin(angle)
                z = offset[:, 0] * np.sin(angle) + offset[:, 2] * np.cos(angle)
                slack = 0.03
                assert (np.abs(x) <= state.size[0] / 2 + slack).all(), state.id
                assert (np.abs(z) <= state.size[2] / 2 + slack).all(), state.id
                assert (offset[:, 1] >= -slack).all(), state.id
                assert (offset[:, 1] <= state.size[1] + slack).all(), state.id


def test_visible_is_in_view_and_within_reach(simulator):
    simulator.teleport(replace(AT_TABLE, x=-1.0, z=-1.5, pitch=15))
    fridge = find(simulator, "Fridge")
    assert simulator.sight().mask(fridge).sum() > 100
    assert fridge not in simulator.sight().visible
    assert simulator.step(Action.OpenObject, fridge).failure is Failure.TOO_FAR
    for name in simulator.sight().visible:
        assert simulator.sight().mask(name).any()


FAILURES = {
    Failure.BLOCKED: lambda s: [s.step(Action.MoveAhead) for _ in range(9)][-1],
    Failure.LOOK_LIMIT: lambda s: [s.step(Action.LookUp) for _ in range(9)][-1],
    Failure.NO_TARGET: lambda s: s.step(Action.PickupObject),
    Failure.UNKNOWN_TARGET: lambda s: s.step(Action.PickupObject, "Mug|+09.00|+09.00|+09.00"),
    Failure.NOT_VISIBLE: lambda s: s.step(Action.PickupObject, find(s, "Potato")),
    Failure.TOO_FAR: lambda s: s.step(Action.OpenObject, find(s, "Fridge")),
    Failure.NOT_PICKUPABLE: lambda s: s.step(Action.PickupObject, find(s, "DiningTable")),
    Failure.HANDS_FULL: lambda s: [
        s.step(Action.PickupObject, find(s, name)) for name in ("Apple", "Bread")
    ][-1],
    Failure.HANDS_EMPTY: lambda s: s.step(Action.PutObject, find(s, "DiningTable")),
    Failure.NOT_RECEPTACLE: lambda s: [
        s.step(Action.PickupObject, find(s, "Apple")),
        s.step(Action.PutObject, find(s, "Bread")),
    ][-1],
    Failure.CLOSED: lambda s: [
        s.step(Action.PickupObject, find(s, "Apple")),
        s.teleport(AT_MICROWAVE),
        s.step(Action.PutObject, find(s, "Microwave")),
    ][-1],
    Failure.NO_SPACE: lambda s: [
        s.step(Action.PickupObject, find(s, "Box")),
        s.teleport(AT_MICROWAVE),
        s.step(Action.OpenObject, find(s, "Microwave")),
        s.step(Action.PutObject, find(s, "Microwave")),
    ][-1],
    Failure.NOT_OPENABLE: lambda s: s.step(Action.OpenObject, find(s, "DiningTable")),
    Failure.ALREADY_OPEN: lambda s: s.step(Action.OpenObject, find(s, "Laptop")),
    Failure.ALREADY_CLOSED: lambda s: [
        s.step(Action.CloseObject, find(s, "Laptop")) for _ in range(2)
    ][-1],
    Failure.MUST_BE_OFF: lambda s: [
        s.teleport(AT_MICROWAVE),
        s.step(Action.ToggleObjectOn, find(s, "Microwave")),
        s.step(Action.OpenObject, find(s, "Microwave")),
    ][-1],
    Failure.MUST_BE_CLOSED: lambda s: s.step(Action.PickupObject, find(s, "Laptop")),
    Failure.NOT_TOGGLEABLE: lambda s: s.step(Action.ToggleObjectOn, find(s, "Apple")),
    Failure.ALREADY_ON: lambda s: [
        s.step(Action.ToggleObjectOn, find(s, "Laptop")) for _ in range(2)
    ][-1],
    Failure.ALREADY_OFF: lambda s: s.step(Action.ToggleObjectOff, find(s, "Laptop")),
    Failure.NOT_SLICEABLE: lambda s: s.step(Action.SliceObject, find(s, "Plate")),
    Failure.NO_KNIFE: lambda s: s.step(Action.SliceObject, find(s, "Apple")),
}


@pytest.mark.parametrize("failure", [f for f in Failure if f is not Failure.SIMULATOR])
def test_every_failure_has_its_reason(simulator, failure):
    outcome = FAILURES[failure](simulator)
    assert outcome.failure is failure
    assert not outcome.success


def walk(size: int, seed: int, steps: int = 120) -> tuple[list[str], str]:
    simulator = EmbeddedSimulator(RenderOptions(image_size=size), kitchen)
    simulator.reset(scene(AT_SINK))
    return random_walk(simulator, seed, steps)


def test_image_size_does_not_change_what_happens():
    results = [walk(size, seed=3) for size in (8, 84, 300)]
    assert results[0] == results[1] == results[2]
    assert results[0][0].count("None") > 60


def test_equal_in_other_processes():
    code = """
import hashlib
from tests.helpers.household_room import kitchen, scene
from tests.helpers.random_agent import random_walk
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
simulator = EmbeddedSimulator(RenderOptions(image_size=32, depth=True), kitchen)
simulator.reset(scene())
print(random_walk(simulator, 5, 60))
frame = simulator.frame()
for array in (frame.rgb, frame.instances, frame.classes, frame.depth):
    print(hashlib.sha256(array.tobytes()).hexdigest())
"""
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_reset_forgets_everything(simulator):
    fresh = EmbeddedSimulator(SMALL, kitchen)
    fresh.reset(scene())
    do(
        simulator,
        ("CloseObject", "Laptop"),
        ("PickupObject", "Knife"),
        ("SliceObject", "Bread"),
        ("PutObject", "DiningTable"),
        ("PickupObject", "Box"),
    )
    simulator.frame()
    simulator.reset(scene())
    assert simulator.held is None
    assert dict(simulator.objects) == dict(fresh.objects)
    ours, theirs = simulator.frame(), fresh.frame()
    assert ours.object_ids == theirs.object_ids
    assert (ours.rgb == theirs.rgb).all()
    assert (ours.instances == theirs.instances).all()


def test_other_objects_in_the_same_room_replace_the_old_ones(simulator):
    poses = (on_table("Vase_a", 0.4, -0.6), ObjectPose("Mug_z", (-0.6, 0.9, 1.6)))
    simulator.reset(scene(object_poses=poses))
    fresh = EmbeddedSimulator(SMALL, kitchen)
    fresh.reset(scene(object_poses=poses))
    assert (simulator.frame().rgb == fresh.frame().rgb).all()
    movable = [i for i in simulator.objects if i.split("|")[0] in ("Vase", "Mug", "Apple")]
    assert len(movable) == 2


def test_many_rooms_in_turn():
    simulator = EmbeddedSimulator(SMALL, lambda number: rooms[number])
    rooms = {number: replace(kitchen(), number=number) for number in range(1, 8)}
    pictures = []
    for number in [*rooms, *rooms]:
        simulator.reset(replace(scene(), number=number))
        pictures.append(simulator.frame().rgb)
    assert all((picture == pictures[0]).all() for picture in pictures)


def test_calls_before_reset_say_so():
    simulator = EmbeddedSimulator(SMALL, kitchen)
    for call in (
        lambda: simulator.step(Action.Stop),
        simulator.frame,
        simulator.sight,
        simulator.reachable,
        lambda: simulator.objects,
        lambda: simulator.held,
    ):
        with pytest.raises(UsageError, match="reset"):
            call()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (AgentPose(0.5, 0.9, -0.5, 0, 30), "cannot start"),
        (AgentPose(0.5, 0.9, -1.5, 45, 30), "yaw"),
        (AgentPose(0.5, 0.9, -1.5, 0, 75), "pitch"),
    ],
)
def test_impossible_starts_are_refused_and_leave_the_scene(simulator, start, message):
    before = dict(simulator.objects)
    with pytest.raises(BadInputError, match=message):
        simulator.reset(scene(start))
    assert dict(simulator.objects) == before
    assert simulator.step(Action.RotateLeft).success
