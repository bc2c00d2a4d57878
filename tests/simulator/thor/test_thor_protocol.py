"""The real ``ai2thor`` 5.0.0 with the player in Unity's place, as any program would use it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai2thor")

from ai2thor.controller import Controller
from ai2thor.wsgi_server import WsgiServer

from tests.helpers.thor_players import alive, environment_with

COMMAND = f"{sys.executable} -m clalfred.scripts.player"
OPTIONS: dict[str, Any] = {
    "local_executable_path": COMMAND,
    "x_display": ":0",
    "server_timeout": 60,
    "server_start_timeout": 120,
}


@pytest.fixture(scope="module")
def controller() -> Iterator[Controller]:
    made = Controller(
        scene="FloorPlan3",
        width=300,
        height=300,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
        renderSemanticSegmentation=True,
        **OPTIONS,
    )
    yield made
    made.stop()


def test_frames_masks_and_depth_agree(controller: Controller) -> None:
    event = controller.reset("FloorPlan3")
    assert event.frame.shape == (300, 300, 3)
    assert event.depth_frame.shape == (300, 300)
    assert 0 < event.depth_frame.min() < event.depth_frame.max() < 20
    assert event.instance_masks
    for name, mask in event.instance_masks.items():
        # AI2-THOR names the class of a part by the whole: a SinkBasin's pixels are the Sink's.
        assert not (mask & ~event.class_masks[name.split("|")[0]]).any()
    for name in (e["objectId"] for e in event.metadata["objects"] if e["visible"]):
        left, top, right, bottom = event.instance_detections2D[name]
        assert event.instance_masks[name][top : bottom + 1, left : right + 1].any()


def test_visible_objects_are_within_the_visibility_distance(controller: Controller) -> None:
    near = controller.reset("FloorPlan3", visibilityDistance=1.5)
    count = sum(entry["visible"] for entry in near.metadata["objects"])
    far = controller.reset("FloorPlan3", visibilityDistance=20.0)
    assert sum(entry["visible"] for entry in far.metadata["objects"]) > count
    controller.reset("FloorPlan3", visibilityDistance=1.5)


def test_sizes_and_fields_of_view_change(controller: Controller) -> None:
    wide = controller.reset("FloorPlan3", width=320, height=240, fieldOfView=100)
    assert wide.frame.shape == (240, 320, 3)
    assert wide.metadata["fov"] == 100
    event = controller.reset("FloorPlan3", width=300, height=300, fieldOfView=60)
    assert event.frame.shape == (300, 300, 3)
    assert event.frame.std() > 5


def test_unknown_scenes_actions_and_arguments_raise(controller: Controller) -> None:
    with pytest.raises(ValueError, match="not contained in build"):
        controller.reset("FloorPlan31")
    with pytest.raises(ValueError, match="Invalid action: Dance"):
        controller.step("Dance")
    with pytest.raises(ValueError, match="'sped'"):
        controller.step("MoveAhead", sped=2)
    assert controller.step("Pass")


def test_navigation_code_finds_its_way(controller: Controller) -> None:
    controller.reset("FloorPlan3")
    points = controller.step("GetReachablePositions").metadata["actionReturn"]
    target = points[len(points) // 2]
    event = controller.step("Teleport", position=target, rotation=180, horizon=0)
    assert event
    assert event.metadata["agent"]["position"] == target
    assert event.metadata["agent"]["rotation"]["y"] == 180
    assert not controller.step("Teleport", position={"x": 50.0, "y": 0.9, "z": 0.0})
    assert controller.last_event.metadata["agent"]["position"] == target


def test_objects_can_be_used(controller: Controller) -> None:
    controller.reset("FloorPlan3")
    fridge = controller.last_event.objects_by_type("Fridge")[0]["objectId"]
    poses = controller.step("GetInteractablePoses", objectId=fridge, maxPoses=1)
    controller.step("TeleportFull", **poses.metadata["actionReturn"][0])
    assert controller.step("OpenObject", objectId=fridge, openness=1.0)
    assert controller.last_event.get_object(fridge)["isOpen"]
    inside = controller.last_event.get_object(fridge)["receptacleObjectIds"]
    assert controller.step("CloseObject", objectId=fridge)
    if inside:
        cooled = controller.last_event.get_object(inside[0])
        assert cooled["temperature"] == "Cold"


def test_third_party_cameras_have_their_own_frames(controller: Controller) -> None:
    controller.reset("FloorPlan3")
    event = controller.step("GetMapViewCameraProperties")
    event = controller.step("AddThirdPartyCamera", **event.metadata["actionReturn"])
    assert event.third_party_camera_frames[0].shape == (300, 300, 3)
    assert len(event.third_party_instance_masks[0]) > len(event.instance_masks)
    controller.reset("FloorPlan3")
    assert controller.last_event.third_party_camera_frames == []


def test_http_says_the_same_as_pipes(controller: Controller) -> None:
    event = controller.reset("FloorPlan3", fieldOfView=60)
    other = Controller(
        scene="FloorPlan3",
        server_class=WsgiServer,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
        fieldOfView=60,
        **OPTIONS,
    )
    try:
        assert other.last_event.metadata["objects"] == event.metadata["objects"]
        np.testing.assert_array_equal(other.last_event.frame, event.frame)
        np.testing.assert_array_equal(other.last_event.depth_frame, event.depth_frame)
        assert other.step("RotateRight").pose == controller.step("RotateRight").pose
    finally:
        other.stop()


CLIENT = f"""
import sys, time
from ai2thor.controller import Controller
options = {OPTIONS!r}
controller = Controller(scene="FloorPlan3", **options)
print(controller.server.unity_proc.pid, controller.server.tmp_dir.name, flush=True)
time.sleep(600)
"""


def test_the_player_ends_with_its_client_and_takes_the_pipes_along(tmp_path: Path) -> None:
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment_with(TMPDIR=str(tmp_path)),
    )
    assert client.stdout is not None
    pid, folder = client.stdout.readline().decode().split()
    client.stdout.close()
    client.kill()
    client.wait()
    for _ in range(300):
        if not alive(int(pid)) and not Path(folder).exists():
            break
        time.sleep(0.1)
    assert not alive(int(pid))
    assert not Path(folder).exists()
