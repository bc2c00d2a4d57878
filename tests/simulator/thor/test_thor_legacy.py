"""AI2-THOR 2.1.0, ALFRED's own version, in a virtual environment of its own.

The tests here run this file again in that environment, where ``ai2thor`` is 2.1.0 and everything
else is what this environment has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gym_clalfred.tasks import ALFRED_TASKS
from tests import ROOT
from tests.helpers.thor_versions import python_with

pytestmark = pytest.mark.slow

VERSION = "2.1.0"


@pytest.fixture(scope="module")
def legacy_python() -> Path:
    """The interpreter of the environment with 2.1.0."""
    return python_with(VERSION)


def run(python: Path, function: str, folder: Path | None = None, **variables: str) -> Any:
    """What a function of this file returns when it runs with 2.1.0, in a folder."""
    code = (
        "import json, tests.simulator.thor.test_thor_legacy as tests\n"
        f"print('RESULT', json.dumps(tests.{function}()), flush=True)"
    )
    environment = {**os.environ, **variables, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [str(python), "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        cwd=folder,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(lines[-1].removeprefix("RESULT "))


def use_the_package_itself() -> dict[str, Any]:
    """A program as people wrote them for 2.1.0; it knows nothing of this project."""
    from ai2thor.controller import Controller

    controller = Controller()
    controller.local_executable_path = f"{sys.executable} -m clalfred.scripts.player"
    controller.check_x_display = lambda display: None
    controller.start(player_screen_width=300, player_screen_height=300)
    controller.reset("FloorPlan3")
    event = controller.step(
        {
            "action": "Initialize",
            "gridSize": 0.25,
            "renderDepthImage": True,
            "renderClassImage": True,
            "renderObjectImage": True,
        }
    )
    found: dict[str, Any] = {
        "shape": event.frame.shape,
        "depth": float(event.depth_frame.max()),
        "classes": event.class_segmentation_frame.shape,
    }
    visible = [entry for entry in event.metadata["objects"] if entry["visible"]]
    found["visible"] = len(visible)
    found["masked"] = sum(entry["objectId"] in event.instance_masks for entry in visible)
    found["turned"] = controller.step({"action": "RotateRight"}).pose_discrete[2]
    found["looked"] = controller.step({"action": "LookDown"}).pose_discrete[3]
    points = controller.step({"action": "GetReachablePositions"}).metadata["reachablePositions"]
    found["points"] = len(points)
    last = points[-1]
    event = controller.step(
        {"action": "TeleportFull", **last, "rotation": 90.0, "horizon": 15, "unknown": 1}
    )
    found["teleported"] = event.metadata["lastActionSuccess"]
    found["horizon"] = event.metadata["agent"]["cameraHorizon"]
    try:
        controller.step({"action": "Dance"})
    except ValueError as error:
        found["dance"] = str(error)
    controller.stop()
    return found


def restore_as_alfred_does() -> dict[str, Any]:
    """ALFRED's own way: a subclass of the controller that starts itself and restores a scene."""
    from ai2thor.controller import Controller

    class ThorEnv(Controller):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(quality="MediumCloseFitShadows")
            self.local_executable_path = f"{sys.executable} -m clalfred.scripts.player"
            self.start(x_display="0", player_screen_height=300, player_screen_width=300)

        def check_x_display(self, x_display: str) -> None:
            """Where xdpyinfo is installed, the package would insist on an X server."""

        def kinds(self, name: str) -> dict[str, Any]:
            entries: list[dict[str, Any]] = self.last_event.metadata["objects"]
            return next(entry for entry in entries if entry["objectType"] == name)

        def do(self, action: str, **arguments: Any) -> bool:
            event = self.step({"action": action, **arguments})
            return bool(event.metadata["lastActionSuccess"])

    env = ThorEnv()
    env.reset("FloorPlan28")
    env.do("Initialize", gridSize=0.25, cameraY=0.675, renderImage=True, renderObjectImage=True)
    movable = [e for e in env.last_event.metadata["objects"] if e["pickupable"]]
    poses = [
        {"objectName": e["name"], "position": e["position"], "rotation": e["rotation"]}
        for e in movable
        if e["objectType"] != "Pot"
    ]
    found: dict[str, Any] = {"restored": []}
    toggles = [{"objectType": "Faucet", "isOn": True}]
    found["restored"].append(env.do("SetObjectToggles", objectToggles=toggles))
    for change, wanted in (("CanBeDirty", True), ("CanBeFilled", False)):
        done = env.do("SetStateOfAllObjects", StateChange=change, forceAction=wanted)
        found["restored"].append(done)
    found["restored"].append(env.do("SetObjectPoses", objectPoses=poses))
    left = [e["name"] for e in env.last_event.metadata["objects"] if e["pickupable"]]
    found["left"] = sorted(left) == sorted(pose["objectName"] for pose in poses)
    found["fewer"] = len(poses) < len(movable)
    found["on"], found["dirty"] = env.kinds("Faucet")["isToggled"], env.kinds("Plate")["isDirty"]
    kettle, fridge = env.kinds("Kettle")["objectId"], env.kinds("Fridge")["objectId"]
    forced = {"forceAction": True, "forceVisible": True}
    found["acts"] = [
        env.do("PickupObject", objectId=kettle, **forced),
        env.do("OpenObject", objectId=fridge, moveMagnitude=1.0, **forced),
        env.do("PutObject", objectId=kettle, receptacleObjectId=fridge, **forced),
        env.do("CloseObject", objectId=fridge, **forced),
    ]
    found["inside"] = env.kinds("Kettle")["parentReceptacles"] == [fridge]
    env.stop()
    return found


def compare_with_this_process() -> dict[str, Any]:
    """Replays two episodes of each type, with sliced food if there is any, here and there."""
    import numpy as np

    from gym_clalfred.actions import Action
    from gym_clalfred.simulator.contract import RenderOptions
    from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
    from gym_clalfred.simulator.thor.simulator import ThorSimulator
    from tests.helpers.thor_players import OPTIONS, tiny, trajectories
    from tests.simulator.thor.test_thor_simulator import (
        assert_same_objects,
        assert_same_sight,
        solved,
    )

    wire, local = ThorSimulator(options=OPTIONS), EmbeddedSimulator(RenderOptions())
    solutions = compared = pieces = 0
    for known in trajectories(tiny()).values():
        slicing = [t for t in known if any(a.action is Action.SliceObject for a in t.actions)]
        for trajectory in [*slicing[:1], *(t for t in known if t not in slicing)][:2]:
            for simulator in (wire, local):
                simulator.reset(trajectory.scene)
            for step, done in enumerate(trajectory.actions):
                for simulator in (wire, local):
                    assert simulator.step(done.action, done.object_id).success
                if not (done.action.is_interaction or step % 10 == 0):
                    continue
                assert (wire.agent, wire.held) == (local.agent, local.held)
                assert_same_objects(wire, local)
                assert_same_sight(wire, local)
                theirs, mine = wire.frame(), local.frame()
                # What is held is only in the agent's own view: it would turn with the agent.
                views = slice(0, 5 if wire.held is None else 1)
                np.testing.assert_array_equal(theirs.rgb[views], mine.rgb[views])
                np.testing.assert_array_equal(theirs.instances[views], mine.instances[views])
                compared += 1
                sliced = (n for n in wire.sight().visible if wire.objects[n].is_sliced)
                pieces += sum(bool(wire.sight().mask(name).any()) for name in sliced)
            solutions += solved(wire, trajectory)
    wire.close()
    return {"label": wire.label, "solutions": solutions, "compared": compared, "pieces": pieces}


def start_beside_other_builds() -> dict[str, Any]:
    """Starts what stands for the downloaded build, in a home folder with another one."""
    from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
    from gym_clalfred.simulator.thor import legacy
    from gym_clalfred.simulator.thor.options import ThorOptions

    class NoScreen(legacy._WatchedLegacyController):
        def check_x_display(self, x_display: str) -> None:
            """The player draws on none."""

    legacy._WatchedLegacyController = NoScreen  # type: ignore[misc]
    build = Path(legacy.ai2thor.controller.Controller().executable_path())
    build.parent.mkdir(parents=True)
    build.write_text(f'#!/bin/sh\nexec {sys.executable} -m clalfred.scripts.player "$@"\n')
    build.chmod(0o755)
    other = build.parents[1] / "thor-Linux64-f0825767cd50d69f666c7f282e54abfe58f1e917"
    other.mkdir()
    link = legacy.LegacyLink(RenderOptions(), ThorOptions(start_timeout=120))
    objects = link.load(Scene(3, AgentPose(0.0, 0.9, 0.0, 0, 30))).metadata["objects"]
    link.close()
    return {"objects": len(objects), "left": [build.exists(), other.exists()]}


def load_dirty_and_empty() -> dict[str, Any]:
    """Loads a kitchen with dishes that are dirty and empty."""
    from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
    from gym_clalfred.simulator.thor.legacy import LegacyLink
    from tests.helpers.thor_players import OPTIONS

    link = LegacyLink(RenderOptions(), OPTIONS)
    scene = Scene(28, AgentPose(0.0, 0.9, 0.0, 0, 30), dirty_and_empty=True)
    entries = link.load(scene).metadata["objects"]
    link.close()
    names = ("Bowl", "Cup", "Mug", "Plate")
    return {
        "dirty": [entry["isDirty"] for entry in entries if entry["objectType"] in names],
        "filled": [entry["name"] for entry in entries if entry["isFilledWithLiquid"]],
    }


def break_in_mid_episode() -> dict[str, Any]:
    """Has the player misbehave and goes on with the next episode."""
    import numpy as np

    from gym_clalfred.actions import Action
    from gym_clalfred.data.trajectory import Split
    from gym_clalfred.env import ClAlfredEnv
    from tests.helpers.thor_players import session_members, tiny

    source = tiny()
    keys = [entry.key for entry in source.entries(Split.TRAIN)[:2]]
    env = ClAlfredEnv(backend="thor", image_size=64, source=source)
    env.reset(options={"episode": keys[0]})
    leader = env.simulator._link._controller.unity_pid  # type: ignore[attr-defined]
    info: dict[str, Any] = {}
    for _ in range(40):
        _, _, terminated, _, info = env.step(np.array([Action.RotateRight, 0]))
        if terminated:
            break
    left = session_members(leader)
    env.reset(options={"episode": keys[1]})
    *_, after = env.step(np.array([Action.RotateLeft, 0]))
    env.close()
    return {"crashed": info.get("crashed"), "left": left, "after": after["action_success"]}


def test_programs_for_2_1_0_run_unchanged(legacy_python: Path) -> None:
    found = run(legacy_python, "use_the_package_itself")
    assert found["shape"] == [300, 300, 3]
    assert found["classes"] == [300, 300, 3]
    assert 500 < found["depth"] <= 5000
    assert found["visible"] == found["masked"] > 0
    assert (found["turned"], found["looked"]) == (1, 30)
    assert found["points"] > 10
    assert found["teleported"]
    assert found["horizon"] == 15
    assert found["dance"] == "Invalid action: Dance"


def test_a_scene_is_restored_as_alfred_does(legacy_python: Path) -> None:
    found = run(legacy_python, "restore_as_alfred_does")
    assert found["restored"] == [True] * 4
    assert found["left"]
    assert found["fewer"]
    assert found["on"]
    assert found["dirty"]
    assert found["acts"] == [True] * 4
    assert found["inside"]


def test_the_expert_solves_episodes_and_all_is_as_in_this_process(legacy_python: Path) -> None:
    found = run(legacy_python, "compare_with_this_process")
    assert found["label"] == "thor-2.1.0-clalfred-player"
    assert found["solutions"] == 2 * len(ALFRED_TASKS)
    assert found["compared"] > 80
    assert found["pieces"] > 1


def test_dishes_are_dirty_and_empty(legacy_python: Path) -> None:
    found = run(legacy_python, "load_dirty_and_empty")
    assert len(found["dirty"]) > 1
    assert all(found["dirty"])
    assert found["filled"] == []


def test_the_player_runs_from_any_folder(legacy_python: Path, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "__init__.py").touch()
    assert run(legacy_python, "load_dirty_and_empty", folder=tmp_path)["dirty"]


def test_other_builds_are_left_alone(legacy_python: Path, tmp_path: Path) -> None:
    found = run(legacy_python, "start_beside_other_builds", HOME=str(tmp_path))
    assert found["objects"] > 50
    assert found["left"] == [True, True]


@pytest.mark.parametrize("kind", ["dies", "hangs", "truncated", "wrong-size"])
def test_a_fault_fails_the_episode_and_the_next_one_works(
    legacy_python: Path, kind: str, tmp_path: Path
) -> None:
    found = run(
        legacy_python,
        "break_in_mid_episode",
        CLALFRED_PLAYER_FAULT=f"{kind}:30:{tmp_path / 'happened'}",
        CLALFRED_THOR_EXECUTABLE="player",
        CLALFRED_THOR_STEP_TIMEOUT="5",
        CLALFRED_THOR_BACK_OFF="0.01",
    )
    assert found == {"crashed": True, "left": [], "after": True}
