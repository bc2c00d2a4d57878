"""AI2-THOR 5.0.0 with the player: the same household as in this process, to the pixel."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai2thor")

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import BadInputError, UsageError
from gym_clalfred.expert.planner import solve
from gym_clalfred.simulator.contract import (
    AgentPose,
    Failure,
    ObjectState,
    RenderOptions,
    Scene,
    Simulator,
)
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.thor.checks import check_thor
from gym_clalfred.simulator.thor.link import installed_version
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.simulator import ThorSimulator
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.goals import goal_status
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.thor_players import (
    OPTIONS,
    PixelPolicy,
    distinct_trajectories,
    set_options,
    tiny,
)

FLOATS = ("position", "rotation", "size")

#: Distinct episodes of each type that are solved over the wire: 56 in all.
EPISODES_PER_TYPE = 4


@pytest.fixture(scope="module")
def tasks() -> dict[TaskType, list[Trajectory]]:
    return distinct_trajectories(EPISODES_PER_TYPE)


@pytest.fixture(scope="module")
def wire() -> Iterator[ThorSimulator]:
    simulator = ThorSimulator(RenderOptions(depth=True), options=OPTIONS)
    yield simulator
    simulator.close()


@pytest.fixture(scope="module")
def local() -> Iterator[EmbeddedSimulator]:
    simulator = EmbeddedSimulator(RenderOptions(depth=True))
    yield simulator
    simulator.close()


def assert_same_objects(wire: Simulator, local: Simulator) -> None:
    assert list(wire.objects) == list(local.objects)
    for name, state in local.objects.items():
        other = wire.objects[name]
        for field in fields(ObjectState):
            mine, theirs = getattr(state, field.name), getattr(other, field.name)
            if field.name in FLOATS:
                assert theirs == pytest.approx(mine, abs=1e-6), (name, field.name)
            else:
                assert theirs == mine, (name, field.name)


def assert_same_sight(wire: Simulator, local: Simulator) -> None:
    assert wire.sight().visible == local.sight().visible
    np.testing.assert_array_equal(wire.sight().instances, local.sight().instances)
    assert wire.sight().object_ids == local.sight().object_ids


def assert_same_frames(wire: Simulator, local: Simulator) -> None:
    theirs, mine = wire.frame(), local.frame()
    assert theirs.object_ids == mine.object_ids
    for name in ("rgb", "instances", "classes", "depth"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(mine, name), err_msg=name)


def solved(simulator: Simulator, trajectory: Trajectory) -> bool:
    return goal_status(
        trajectory.task, simulator.objects, simulator.held, lambda: simulator.sight().visible
    ).success


@pytest.mark.parametrize("kind", [TaskType.HEAT, TaskType.MOVABLE, TaskType.PICK_TWO_AND_PLACE])
def test_every_step_is_the_same_as_in_this_process(
    wire: ThorSimulator,
    local: EmbeddedSimulator,
    tasks: dict[TaskType, list[Trajectory]],
    kind: TaskType,
) -> None:
    trajectory = tasks[kind][0]
    for simulator in (wire, local):
        simulator.reset(trajectory.scene)
    np.testing.assert_array_equal(wire.reachable(), local.reachable())
    for number, done in enumerate(trajectory.actions):
        versions = wire.version
        outcomes = [each.step(done.action, done.object_id) for each in (wire, local)]
        assert outcomes[0].failure == outcomes[1].failure
        assert (wire.version > versions) == done.action.is_interaction
        assert (wire.agent, wire.held) == (local.agent, local.held)
        if done.action.is_interaction or number % 5 == 0:
            assert_same_frames(wire, local)
            assert_same_sight(wire, local)
            assert_same_objects(wire, local)
    assert solved(wire, trajectory)


def test_slices_have_masks_of_their_own(
    wire: ThorSimulator, local: EmbeddedSimulator, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    trajectory = next(t for known in tasks.values() for t in known if t.task.sliced)
    names = [done.action for done in trajectory.actions]
    for simulator in (wire, local):
        simulator.reset(trajectory.scene)
        for done in trajectory.actions[: names.index(Action.SliceObject)]:
            assert simulator.step(done.action, done.object_id).success
    before = wire.frame().object_ids
    assert_same_sight(wire, local)
    done = trajectory.actions[names.index(Action.SliceObject)]
    for simulator in (wire, local):
        assert simulator.step(done.action, done.object_id).success
    pieces = wire.frame().object_ids[len(before) :]
    assert len(pieces) > 1
    assert any(wire.sight().mask(piece).any() for piece in pieces)
    assert_same_frames(wire, local)
    assert_same_sight(wire, local)


def test_refusals_have_the_same_reasons(
    wire: ThorSimulator, local: EmbeddedSimulator, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    trajectory = tasks[TaskType.COOL][0]
    for simulator in (wire, local):
        simulator.reset(trajectory.scene)
    rng = np.random.default_rng(3)
    names = list(local.objects)
    seen = set()
    for number in range(120):
        visible = [name for name in local.objects if name in local.sight().visible]
        pool = visible if visible and number % 3 else names
        target = pool[int(rng.integers(len(pool)))]
        action = Action(int(rng.integers(len(Action) - 1)))
        outcomes = [each.step(action, target) for each in (wire, local)]
        assert outcomes[0].failure == outcomes[1].failure, (action, target)
        seen.add(outcomes[1].failure)
    assert_same_objects(wire, local)
    assert {None, Failure.NOT_VISIBLE, Failure.NOT_TOGGLEABLE} <= seen
    for target, reason in (
        (None, Failure.NO_TARGET),
        ("Mug|+99.00|+99.00|+99.00", Failure.UNKNOWN_TARGET),
    ):
        for simulator in (wire, local):
            assert simulator.step(Action.PickupObject, target).failure is reason


def test_furniture_stays_where_it_is(
    wire: ThorSimulator, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    scene = tasks[TaskType.HEAT][0].scene
    wire.reset(Scene(scene.number, scene.start))
    furniture = [name for name, entry in _entries(wire).items() if entry["moveable"]]
    before = {name: wire.objects[name] for name in furniture}
    assert any(state.object_class.name == "Microwave" for state in before.values())
    wire.reset(scene)
    for name, state in before.items():
        assert wire.objects[name].position == pytest.approx(state.position)
        assert wire.objects[name].rotation == pytest.approx(state.rotation)


def _entries(wire: ThorSimulator) -> dict[str, dict[str, Any]]:
    return {entry["objectId"]: entry for entry in wire._metadata["objects"]}


def test_toggles_and_dirt_are_restored(
    wire: ThorSimulator, local: EmbeddedSimulator, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    before = tasks[TaskType.CLEAN][0].scene
    objects = {state.object_class for state in _objects_of(local, before).values()}
    switches = [kind for kind in objects if kind.name in ("Faucet", "LightSwitch", "StoveKnob")]
    scene = Scene(
        before.number,
        before.start,
        before.object_poses,
        tuple((kind, True) for kind in sorted(switches)),
        dirty_and_empty=True,
    )
    for simulator in (wire, local):
        simulator.reset(scene)
    assert any(state.is_on for state in local.objects.values())
    assert any(state.is_dirty for state in local.objects.values())
    assert_same_objects(wire, local)


def _objects_of(simulator: Simulator, scene: Scene) -> dict[str, ObjectState]:
    simulator.reset(scene)
    return dict(simulator.objects)


@pytest.mark.parametrize("kind", list(ALFRED_TASKS))
def test_the_expert_solves_episodes_over_the_wire(
    wire: ThorSimulator, tasks: dict[TaskType, list[Trajectory]], kind: TaskType
) -> None:
    assert len(tasks[kind]) >= EPISODES_PER_TYPE
    for trajectory in tasks[kind][:EPISODES_PER_TYPE]:
        wire.reset(trajectory.scene)
        for done in trajectory.actions:
            assert wire.step(done.action, done.object_id).success
        assert solved(wire, trajectory)


@pytest.mark.parametrize("kind", [TaskType.EXAMINE, TaskType.CLEAN])
def test_the_expert_plans_over_the_wire_as_it_does_here(
    wire: ThorSimulator,
    local: EmbeddedSimulator,
    tasks: dict[TaskType, list[Trajectory]],
    kind: TaskType,
) -> None:
    trajectory = tasks[kind][1]
    plans = [
        solve(each, trajectory.scene, trajectory.task, np.random.default_rng(5))
        for each in (wire, local)
    ]
    assert plans[0] == plans[1]


def test_small_images_are_the_same_too(tasks: dict[TaskType, list[Trajectory]]) -> None:
    trajectory = tasks[TaskType.EXAMINE][0]
    render = RenderOptions(
        image_size=84, view_angles=((0, 0), (-45, 0), (45, 0), (0, -30), (0, 30))
    )
    wire, local = ThorSimulator(render, options=OPTIONS), EmbeddedSimulator(render)
    try:
        for simulator in (wire, local):
            simulator.reset(trajectory.scene)
        for done in trajectory.actions:
            for simulator in (wire, local):
                assert simulator.step(done.action, done.object_id).success
            theirs, mine = wire.frame(), local.frame()
            np.testing.assert_array_equal(theirs.rgb, mine.rgb)
            np.testing.assert_array_equal(theirs.instances, mine.instances)
        assert_same_sight(wire, local)
    finally:
        wire.close()


def test_evaluation_gives_the_same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    rollout = pytest.importorskip("clalfred.agents.acting.rollout")
    source = tiny()
    keys = [entry.key for entry in source.entries(Split.VALID_SEEN)[:3]]
    set_options(monkeypatch)
    records = {}
    for backend in ("thor", "embedded"):
        config = rollout.RolloutConfig(environments=1, backend=backend)
        found = rollout.run_episodes(PixelPolicy(), source, keys, config)
        records[backend] = sorted(found, key=lambda result: result.episode)
    assert records["thor"] == records["embedded"]
    assert len(records["thor"]) == len(keys)
    assert not any(result.error for result in records["thor"])


def test_the_agent_must_be_able_to_stand_at_the_start(
    wire: ThorSimulator, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    scene = tasks[TaskType.HEAT][0].scene
    with pytest.raises(BadInputError, match="cannot start at x 50"):
        wire.reset(Scene(scene.number, AgentPose(50.0, 0.9, 0.0, 0, 30), scene.object_poses))


def test_a_scene_with_objects_that_are_not_there_is_refused_at_once(
    wire: ThorSimulator, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    scene = tasks[TaskType.HEAT][0].scene
    wire.reset(scene)
    link = wire._link
    strange = (*scene.object_poses, replace(scene.object_poses[0], name="Dragon_1"))
    with pytest.raises(
        BadInputError, match=r"SetObjectPoses .* FloorPlan\d+: .*Dragon_1"
    ) as raised:
        wire.reset(replace(scene, object_poses=strange))
    assert "times" not in str(raised.value)
    with pytest.raises(UsageError):
        wire.step(Action.MoveAhead)
    assert wire._link is link
    wire.reset(scene)
    assert wire.agent == scene.start


def test_the_label_says_version_and_build() -> None:
    version = installed_version()
    assert ThorSimulator(options=OPTIONS).label == f"thor-{version}-clalfred-player"
    local = ThorOptions(executable="unity/thor-Linux64-local")
    assert ThorSimulator(options=local).label == f"thor-{version}-local-thor-Linux64-local"
    official = ThorSimulator(options=ThorOptions()).label
    assert official.startswith(f"thor-{version}-")
    assert len(official.rsplit("-", 1)[1]) == 8


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, with packages of his own that are called as ours are."""
    for name in ("agents", "cl", "scripts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not this one')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_the_player_runs_from_any_folder(
    elsewhere: Path, tasks: dict[TaskType, list[Trajectory]]
) -> None:
    scene = tasks[TaskType.HEAT][0].scene
    simulator = ThorSimulator(options=OPTIONS)
    try:
        simulator.reset(scene)
        assert simulator.agent == scene.start
    finally:
        simulator.close()


def test_the_player_is_that_of_this_project(elsewhere: Path) -> None:
    options = ThorOptions(executable="player --data 'my store'")
    command = shlex.split(options.command or "")
    assert command[-2:] == ["--data", "my store"]
    assert options.is_player
    assert ThorOptions(executable="python -m clalfred.scripts.player").is_player
    assert not ThorOptions(executable="python player.py").is_player
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("Usage: clalfred-player ")


def test_nothing_works_before_reset() -> None:
    simulator = ThorSimulator(options=OPTIONS)
    for ask in (lambda: simulator.agent, lambda: simulator.frame(), simulator.reachable):
        with pytest.raises(UsageError):
            ask()


def test_options_come_from_the_environment() -> None:
    assert ThorOptions.from_environment({}) == ThorOptions()
    given = {"CLALFRED_THOR_STEP_TIMEOUT": "2.5", "CLALFRED_THOR_PLATFORM": "CloudRendering"}
    options = ThorOptions.from_environment(given)
    assert (options.step_timeout, options.platform) == (2.5, "CloudRendering")
    for wrong in (
        {"CLALFRED_THOR_TRIES": "many"},
        {"CLALFRED_THOR_TRIES": "0"},
        {"CLALFRED_THOR_PLATFORM": "Amiga"},
        {"CLALFRED_THOR_TIMEOUT": "3"},
        {"CLALFRED_THOR_START_TIMEOUT": "nan"},
        {"CLALFRED_THOR_EXECUTABLE": "thor 'of mine"},
        {"CLALFRED_THOR_EXECUTABLE": " "},
    ):
        with pytest.raises(BadInputError):
            ThorOptions.from_environment(wrong)


def test_checks_stop_at_the_first_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    works = list(check_thor(OPTIONS))
    assert [check.name for check in works] == ["package", "display", "build", "frame"]
    assert all(check.passed for check in works)
    missing = ThorOptions(executable="/nowhere/thor", display=":4711")
    dead = list(check_thor(missing))
    assert [(check.name, check.passed) for check in dead[1:]] == [("display", False)]
    assert dead[-1].detail == ":4711 no X server"
    assert "Xvfb" in dead[-1].advice
    monkeypatch.setattr("gym_clalfred.simulator.thor.checks.answers", lambda display: True)
    broken = list(check_thor(missing))
    assert [check.passed for check in broken] == [True, True, False]
    assert "CLALFRED_THOR_EXECUTABLE" in broken[-1].advice
