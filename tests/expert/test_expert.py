"""The expert: what it may say, where it stands, and that it solves what it is asked to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.data.generate import sample_scene, sample_task
from gym_clalfred.expert.describe import describe_object, describe_place, walk_legs, walk_tilt
from gym_clalfred.expert.navigation import NavigationGrid
from gym_clalfred.expert.planner import Solution, UnsolvableError, solve
from gym_clalfred.expert.poses import ViewTarget, candidate_poses
from gym_clalfred.language.grammar_facts import Bearing, Leg, Level, Relation, Turn
from gym_clalfred.objects import ObjectClass as C
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import (
    AgentPose,
    ObjectPose,
    ObjectState,
    RenderOptions,
    Scene,
    Sight,
    Simulator,
    Vector,
)
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.geometry import Box, ahead_and_right, span_from
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskSpec, TaskType
from tests.helpers.trajectories import rooms_of

M, L, R = Action.MoveAhead, Action.RotateLeft, Action.RotateRight
HERE = AgentPose(0.0, 0.9, 0.0, 0, 30)


def thing(
    object_class: C, position: Vector, size: Vector, yaw: float = 0.0, parents: tuple[str, ...] = ()
) -> ObjectState:
    name = f"{object_class.name}|{position[0]}|{position[1]}|{position[2]}"
    return ObjectState(name, object_class, position, (0.0, yaw, 0.0), size, parents)


def house(*states: ObjectState) -> dict[str, ObjectState]:
    return {state.id: state for state in states}


def all_seen(objects: dict[str, ObjectState]) -> Sight:
    return Sight(np.zeros((300, 300), np.int16), tuple(objects), frozenset(objects))


@pytest.mark.parametrize(
    ("path", "legs"),
    [
        ((), ()),
        ((M, M), (Leg(Turn.NONE, 2),)),
        ((L, M, R, R, M, M, L), (Leg(Turn.LEFT, 1), Leg(Turn.AROUND, 2), Leg(Turn.LEFT, 0))),
        ((R, R), (Leg(Turn.AROUND, 0),)),
        ((M, Action.LookDown), (Leg(Turn.NONE, 1),)),
        ((Action.LookUp,), ()),
    ],
)
def test_legs_of_a_walk(path: tuple[Action, ...], legs: tuple[Leg, ...]) -> None:
    assert walk_legs(path) == legs


def test_tilt_of_a_walk() -> None:
    assert walk_tilt((M, Action.LookDown, Action.LookDown)) == 30
    assert walk_tilt((Action.LookUp,)) == -15


def test_boxes_turn_with_their_object() -> None:
    box = Box.of(thing(C.Bed, (1.0, 0.0, 2.0), (2.0, 0.5, 1.0), yaw=90))
    assert (box.x0, box.x1) == pytest.approx((0.5, 1.5))
    assert (box.z0, box.z1) == pytest.approx((1.0, 3.0))
    assert box.distance(1.0, 4.0) == pytest.approx(1.0)


def test_ahead_and_right_follow_the_heading() -> None:
    assert ahead_and_right(HERE, 1.0, 2.0) == pytest.approx((2.0, 1.0))
    east = AgentPose(0.0, 0.9, 0.0, 90, 0)
    assert ahead_and_right(east, 2.0, -1.0) == pytest.approx((2.0, 1.0))
    assert span_from(HERE, Box(-1, 0, 2, 1, 1, 3)) == pytest.approx((2, 3, -1, 1))


def test_left_and_right_are_said_as_seen() -> None:
    table = thing(C.SideTable, (0.0, 0.0, 1.0), (0.5, 0.6, 0.5))
    bed = thing(C.Bed, (1.2, 0.0, 1.0), (1.5, 0.6, 2.0))
    objects = house(table, bed)
    assert describe_place(objects, table.id, HERE).relations == (Relation(Bearing.LEFT, C.Bed),)
    behind = AgentPose(0.0, 0.9, 2.0, 180, 30)
    assert describe_place(objects, table.id, behind).relations == (Relation(Bearing.RIGHT, C.Bed),)


def test_far_landmarks_and_the_thing_itself_are_not_mentioned() -> None:
    sink = thing(C.SinkBasin, (0.0, 0.8, 1.0), (0.5, 0.2, 0.4))
    around = thing(C.Sink, (0.0, 0.8, 1.0), (0.6, 0.2, 0.5))
    fridge = thing(C.Fridge, (3.0, 0.0, 1.0), (0.8, 1.8, 0.8))
    assert describe_place(house(sink, around, fridge), sink.id, HERE).relations == ()


def test_cabinets_are_above_and_below() -> None:
    sink = thing(C.Sink, (0.0, 0.75, 1.0), (0.6, 0.2, 0.5))
    low = thing(C.Cabinet, (0.0, 0.1, 1.0), (0.6, 0.6, 0.6))
    high = thing(C.Cabinet, (0.0, 1.5, 1.1), (0.6, 0.6, 0.3))
    objects = house(sink, low, high)
    below = describe_place(objects, low.id, HERE)
    above = describe_place(objects, high.id, HERE)
    assert (below.level, below.relations) == (Level.LOWER, (Relation(Bearing.BELOW, C.Sink),))
    assert (above.level, above.relations) == (Level.UPPER, (Relation(Bearing.ABOVE, C.Sink),))


def test_drawers_of_a_stack_have_levels() -> None:
    stack = [thing(C.Drawer, (0.0, 0.2 * k, 1.0), (0.4, 0.2, 0.5)) for k in range(3)]
    alone = thing(C.Drawer, (2.0, 0.0, 1.0), (0.4, 0.2, 0.5))
    objects = house(*stack, alone)
    levels = [describe_place(objects, state.id, HERE).level for state in (*stack, alone)]
    assert levels == [Level.BOTTOM, Level.MIDDLE, Level.TOP, None]


def test_a_drawer_belongs_to_its_desk() -> None:
    desk = thing(C.Desk, (0.0, 0.0, 1.0), (1.4, 0.75, 0.6))
    drawer = thing(C.Drawer, (0.4, 0.5, 0.95), (0.4, 0.2, 0.5))
    told = describe_place(house(desk, drawer), drawer.id, HERE)
    assert told.relations == (Relation(Bearing.PART, C.Desk),)


def test_what_stands_on_a_counter_is_not_beside_it() -> None:
    counter = thing(C.CounterTop, (0.0, 0.0, 1.0), (2.0, 0.9, 0.6))
    toaster = thing(C.Toaster, (0.3, 0.9, 1.0), (0.3, 0.2, 0.2))
    told = describe_place(house(counter, toaster), counter.id, HERE, (0.0, 0.8))
    assert told.relations == (Relation(Bearing.BESIDE, C.Toaster),)


def test_neighbours_are_on_the_same_thing_and_seen() -> None:
    apple = thing(C.Apple, (0.0, 0.9, 1.0), (0.1, 0.1, 0.1), parents=("counter",))
    mug = thing(C.Mug, (0.25, 0.9, 1.0), (0.1, 0.1, 0.1), parents=("counter",))
    bowl = thing(C.Bowl, (-0.25, 0.9, 1.0), (0.1, 0.1, 0.1), parents=("shelf",))
    objects = house(apple, mug, bowl)
    told = describe_object(objects, apple.id, HERE, all_seen(objects))
    assert told.relations == (Relation(Bearing.LEFT, C.Mug),)
    unseen = Sight(np.zeros((300, 300), np.int16), tuple(objects), frozenset({apple.id}))
    assert describe_object(objects, apple.id, HERE, unseen).relations == ()


def test_the_best_pose_is_near_and_looks_straight_at_the_object() -> None:
    points = np.array([(x * 0.25, z * 0.25) for x in range(-8, 9) for z in range(-8, 9)])
    grid = NavigationGrid(points)
    box = Box(0.95, 0.8, 0.95, 1.05, 0.9, 1.05)
    poses = candidate_poses(grid.routes(HERE), [ViewTarget(box)])
    best = poses[0]
    ahead, right = ahead_and_right(best, 1.0, 1.0)
    assert abs(right) < 0.1
    assert 0.4 <= ahead <= 0.9
    assert all(box.distance(pose.x, pose.z) <= 1.5 for pose in poses)
    assert len(set(poses)) == len(poses)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    made = EmbeddedSimulator(RenderOptions(image_size=32, instances=False))
    yield made
    made.close()


def demonstrate(
    simulator: Simulator, number: int, task_type: TaskType, seed: int
) -> tuple[Scene, TaskSpec, Solution]:
    """The first of a few sampled tasks that the expert solves."""
    room = make_room(number)
    for attempt in range(10):
        rng = np.random.default_rng([seed, attempt])
        task = sample_task(room, task_type, rng)
        assert task is not None
        try:
            scene = sample_scene(room, task, rng)
            return scene, task, solve(simulator, scene, task, rng)
        except (UnsolvableError, ValueError):
            continue
    raise AssertionError(f"nothing of ten {task_type} could be solved in room {number}")


CASES = [(t, room_type.numbers[2]) for t in ALFRED_TASKS for room_type in rooms_of(t)]


@pytest.mark.parametrize(("task_type", "number"), CASES)
def test_plans_have_the_steps_of_their_task(
    simulator: Simulator, task_type: TaskType, number: int
) -> None:
    _, task, demonstration = demonstrate(simulator, number, task_type, seed=1)
    steps = [step.action for step in demonstration.plan if step.action != "GotoLocation"]
    first = ["PickupObject", "SliceObject", "PutObject"] if task.sliced else []
    treated = {
        TaskType.CLEAN: "CleanObject",
        TaskType.HEAT: "HeatObject",
        TaskType.COOL: "CoolObject",
    }
    rest = {
        TaskType.EXAMINE: ["PickupObject", "ToggleObject"],
        TaskType.PICK_AND_PLACE: ["PickupObject", "PutObject"],
        TaskType.PICK_TWO_AND_PLACE: ["PickupObject", "PutObject"] * 2,
        TaskType.MOVABLE: ["PickupObject", "PutObject"] * 2,
    }.get(task_type, ["PickupObject", treated.get(task_type), "PutObject"])
    assert steps == first + rest
    assert len(demonstration.facts) == len(demonstration.plan)
    numbers = [action.step for action in demonstration.actions]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(len(demonstration.plan)))


MACROS = {
    "CleanObject": "Put ToggleOn ToggleOff Pickup",
    "HeatObject": "Open Put Close ToggleOn ToggleOff Open Pickup Close",
    "CoolObject": "Open Put Close Open Pickup Close",
}


@pytest.mark.parametrize("task_type", [TaskType.CLEAN, TaskType.HEAT, TaskType.COOL])
def test_treatments_are_alfreds_macros(simulator: Simulator, task_type: TaskType) -> None:
    number = RoomType.KITCHEN.numbers[4]
    _, _, demonstration = demonstrate(simulator, number, task_type, seed=2)
    for index, step in enumerate(demonstration.plan):
        if step.action in MACROS:
            done = [a.action.name for a in demonstration.actions if a.step == index]
            assert " ".join(name.replace("Object", "") for name in done) == MACROS[step.action]
            return
    raise AssertionError("no treatment in the plan")


def test_what_is_opened_is_closed_again_and_looks_come_last(simulator: Simulator) -> None:
    for seed in range(4):
        _, _, demonstration = demonstrate(simulator, 5, TaskType.COOL, seed)
        opened: set[str | None] = set()
        for action in demonstration.actions:
            if action.action is Action.OpenObject:
                opened.add(action.object_id)
            elif action.action is Action.CloseObject:
                opened.discard(action.object_id)
        assert not opened
        for index, step in enumerate(demonstration.plan):
            if step.action == "GotoLocation":
                walk = [a.action for a in demonstration.actions if a.step == index]
                tilts = [a in (Action.LookUp, Action.LookDown) for a in walk]
                assert tilts == sorted(tilts)


def test_the_expert_is_deterministic(simulator: Simulator) -> None:
    scene, task, first = demonstrate(simulator, 7, TaskType.CLEAN, seed=3)
    again = [
        solve(simulator, scene, task, np.random.default_rng(9)),
        solve(EmbeddedSimulator(RenderOptions(16)), scene, task, np.random.default_rng(9)),
    ]
    assert again[0] == again[1]
    assert again[0].plan[-1].action == first.plan[-1].action


def test_a_goal_that_is_met_already_is_no_task(simulator: Simulator) -> None:
    scene, task, demonstration = demonstrate(simulator, 202, TaskType.PICK_AND_PLACE, seed=4)
    simulator.reset(scene)
    for action in demonstration.actions:
        assert simulator.step(action.action, action.object_id).success
    moved = next(a.held_id for a in demonstration.actions if a.held_id is not None)
    goal = simulator.objects[moved]
    # The same room with one target where the expert put it.
    extra = next(pose for pose in scene.object_poses if pose.object_class is task.target)
    rest = tuple(pose for pose in scene.object_poses if pose.object_class is not task.target)
    done = Scene(
        scene.number, scene.start, (ObjectPose(extra.name, goal.position, goal.rotation), *rest)
    )
    with pytest.raises(UnsolvableError, match="met before"):
        solve(simulator, done, task, np.random.default_rng(0))


def test_a_missing_object_is_named(simulator: Simulator) -> None:
    scene, task, _ = demonstrate(simulator, 202, TaskType.PICK_AND_PLACE, seed=4)
    rest = tuple(pose for pose in scene.object_poses if pose.object_class is not task.target)
    with pytest.raises(UnsolvableError, match=task.target.name):
        solve(simulator, Scene(scene.number, scene.start, rest), task, np.random.default_rng(0))
