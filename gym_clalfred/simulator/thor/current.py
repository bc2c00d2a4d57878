"""AI2-THOR since version 3 (tried with 5.0.0): named pipes, third-party cameras."""

from __future__ import annotations

import errno
import gc
import os
import select
import struct
import time
from contextlib import suppress
from typing import Any

import ai2thor
import ai2thor.controller
import ai2thor.fifo_server
import ai2thor.platform
import numpy as np

from gym_clalfred.errors import SimulatorError
from gym_clalfred.simulator.contract import (
    FIELD_OF_VIEW_DEGREES,
    GRID_METRES,
    REACH_METRES,
    SIGHT_PIXELS,
    AgentPose,
    RenderOptions,
    Scene,
    View,
)
from gym_clalfred.simulator.embedded.household import DISHES
from gym_clalfred.simulator.thor.link import CameraView, Event, Link, colour_table, object_poses
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.processes import SimulatorSlot, Supervised

#: How often a waiting reader looks whether the process still lives, in seconds.
PULSE = 0.1

#: A camera nearer than this to where it should be is there, in metres.
CLOSE = 0.01

#: Nothing AI2-THOR sends in one field is longer; a longer one is not a message.
MOST_BYTES = 1 << 28


class CurrentLink(Link):
    """Drives ``ai2thor.controller.Controller``."""

    version = str(ai2thor.__version__)
    positions_key = "actionReturn"

    def __init__(self, render: RenderOptions, options: ThorOptions) -> None:
        super().__init__(render, options)
        self.side = render.image_size
        self._controller: _WatchedController | None = None
        self._cameras_at: AgentPose | None = None
        self._has_cameras = False

    def load(self, scene: Scene) -> Event:
        """Loads a room and restores it."""
        self._cameras_at = None
        self._has_cameras = False
        if self._controller is None:
            self._controller = _WatchedController(self, scene.floor_plan)
        else:
            self._controller.reset(scene.floor_plan)
        self._restore_toggles(scene)
        if scene.object_poses:
            entries = self._controller.last_event.metadata["objects"]
            poses = [*object_poses(scene), *_furniture_poses(scene, entries)]
            self._restore(scene, "SetObjectPoses", objectPoses=poses, placeStationary=True)
        if scene.dirty_and_empty:
            self._soil_dishes(scene)
        return self.do("Pass", images=False)

    def do(self, action: str, images: bool, **arguments: Any) -> Event:
        """Does an action."""
        assert self._controller is not None
        event = self._controller.step(action=action, renderImage=images, **arguments)
        return self._event(event, images)

    def look(self, degrees: int, pose: AgentPose) -> Event:
        """Tilts the camera; nothing forces this version to if what is held is in the way."""
        action = "LookDown" if degrees > 0 else "LookUp"
        return self.do(action, images=False, degrees=abs(degrees))

    def turn(self, action: str, degrees: int) -> Event:
        """Turns the agent."""
        return self.do(action, images=False, degrees=degrees, forceAction=True)

    def put(self, held: str, receptacle: str, images: bool) -> Event:
        """Puts the held object down; the object that is named is the receptacle."""
        return self.do("PutObject", images, objectId=receptacle, placeStationary=True)

    def teleport(self, pose: AgentPose, images: bool = False, forced: bool = False) -> Event:
        """Puts the agent at a pose."""
        return self.do(
            "TeleportFull",
            images,
            position={"x": pose.x, "y": pose.y, "z": pose.z},
            rotation={"x": 0.0, "y": float(pose.yaw), "z": 0.0},
            horizon=float(pose.pitch),
            standing=True,
            **({"forceAction": True} if forced else {}),
        )

    def shoot(self, pose: AgentPose, held: str | None) -> tuple[CameraView, ...]:
        """The five views; the cameras follow the agent, the last one to move takes the pictures."""
        turned = self.turned_views
        if not self._has_cameras:
            # Not before they are needed: every picture is one of all cameras.
            for view in turned:
                self._must("AddThirdPartyCamera", **_placed(self._eye(), pose, self._angle(view)))
            self._has_cameras, self._cameras_at = True, pose
        event = None
        if self._cameras_at != pose:
            event = self._move_cameras(pose)
            self._cameras_at = pose
        if event is None:
            event = self.do("Pass", images=True)
        others = iter(event.views[1:])
        return tuple(next(others) if view in turned else event.views[0] for view in View)

    def sight(self, held: str | None) -> CameraView:
        """The agent's own view at 300 pixels without what it holds."""
        resized = self.side != SIGHT_PIXELS
        if held is not None:
            self._must("HideObject", objectId=held)
        if resized:
            self._must("ChangeResolution", x=SIGHT_PIXELS, y=SIGHT_PIXELS)
        view = self.do("Pass", images=True).views[0]
        if resized:
            self._must("ChangeResolution", x=self.side, y=self.side)
        if held is not None:
            self._must("UnhideObject", objectId=held)
        return view

    def _move_cameras(self, pose: AgentPose) -> Event | None:
        """Has the cameras follow the agent; all pictures come with the last of them."""
        assert self._controller is not None
        eye, turned = self._eye(), self.turned_views
        event = None
        for number, view in enumerate(turned):
            moved = {"thirdPartyCameraId": number, **_placed(eye, pose, self._angle(view))}
            if number < len(turned) - 1:
                self._controller.do_unread("UpdateThirdPartyCamera", **moved)
            else:
                event = self.do("UpdateThirdPartyCamera", images=True, **moved)
        for camera in event.metadata["thirdPartyCameras"] if event is not None else ():
            if any(abs(camera["position"][axis] - eye[axis]) > CLOSE for axis in "xyz"):
                raise SimulatorError(f"a camera did not follow the agent: {camera}")
        return event

    def _soil_dishes(self, scene: Scene) -> None:
        names = {kind.name for kind in DISHES}
        objects = self.do("Pass", images=False).metadata["objects"]
        for entry in objects:
            if entry["objectType"] not in names:
                continue
            chosen = {"objectId": entry["objectId"], "forceAction": True}
            if entry["dirtyable"] and not entry["isDirty"]:
                self._restore(scene, "DirtyObject", **chosen)
            if entry.get("isFilledWithLiquid"):
                self._restore(scene, "EmptyLiquidFromObject", **chosen)

    def _angle(self, view: View) -> tuple[float, float]:
        return self.render.view_angles[view]

    def _eye(self) -> dict[str, float]:
        assert self._controller is not None
        eye: dict[str, float] = self._controller.last_event.metadata["cameraPosition"]
        return eye

    def _event(self, event: Any, images: bool) -> Event:
        views = []
        if images:
            frames = [event.frame, *event.third_party_camera_frames]
            masks = [event.instance_masks, *event.third_party_instance_masks]
            depths = [event.depth_frame, *event.third_party_depth_frames]
            table = colour_table(event.object_id_to_color)
            for k, frame in enumerate(frames):
                colours = masks[k].instance_segmentation_frame_uint32 & np.uint32(0xFFFFFF)
                depth = depths[k] if self.render.depth else None
                views.append(CameraView(frame[..., :3], colours, depth, table))
        return Event(event.metadata, tuple(views))


def _furniture_poses(scene: Scene, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where all is that can be pushed but not picked up, as ``SetObjectPoses`` wants it.

    This version takes away what can be moved and is not named, be it a microwave or a table.
    """
    named = {pose.name for pose in scene.object_poses}
    return [
        {"objectName": entry["name"], "position": entry["position"], "rotation": entry["rotation"]}
        for entry in entries
        if entry["moveable"] and not entry["pickupable"] and entry["name"] not in named
    ]


def _placed(eye: dict[str, float], pose: AgentPose, angle: tuple[float, float]) -> dict[str, Any]:
    yaw, pitch = angle
    return {
        "position": dict(eye),
        "rotation": {"x": float(pose.pitch + pitch), "y": float(pose.yaw + yaw), "z": 0.0},
        "fieldOfView": FIELD_OF_VIEW_DEGREES,
    }


#: AI2-THOR has no types of its own.
_ControllerBase: Any = ai2thor.controller.Controller
_ServerBase: Any = ai2thor.fifo_server.FifoServer


class _WatchedController(_ControllerBase):
    """AI2-THOR's controller with a process that we watch.

    Args:
        link: whose options and sizes to use.
        scene: the first one.
    """

    server: Any

    def __init__(self, link: CurrentLink, scene: str) -> None:
        self._options = link.options
        self._process: Supervised | None = None
        self._ended = False
        self._slot: SimulatorSlot | None = SimulatorSlot(link.options)
        chosen: dict[str, Any] = {}
        if link.options.command is not None:
            chosen["local_executable_path"] = link.options.command
        if link.options.platform is not None:
            chosen["platform"] = getattr(ai2thor.platform, link.options.platform)
        try:
            super().__init__(
                quality=link.options.quality,
                width=link.side,
                height=link.side,
                x_display=link.options.display,
                scene=scene,
                server_timeout=link.options.step_timeout,
                server_start_timeout=link.options.start_timeout,
                gridSize=GRID_METRES,
                snapToGrid=True,
                visibilityDistance=REACH_METRES,
                fieldOfView=FIELD_OF_VIEW_DEGREES,
                renderInstanceSegmentation=True,
                renderDepthImage=link.render.depth,
                **chosen,
            )
        except BaseException:
            self.end()
            raise

    def do_unread(self, action: str, **arguments: Any) -> None:
        """Does an action without pictures and does not look at the answer.

        Reading metadata is the dearest part of a step, and of most camera moves it says nothing.
        """
        self.server.send({"action": action, "renderImage": False, **arguments})
        self.server.skip_message()

    def end(self) -> None:
        """Ends the process and removes what belongs to it."""
        self._ended = True
        if self.server is not None:
            with suppress(Exception):
                self.server.stop()
        if self._process is not None:
            self._process.end()
        if self._slot is not None:
            self._slot.release()
            self._slot = None

    def _build_server(self, host: str, port: int, width: int, height: int) -> None:
        if self.server is None:
            self.server = _Server(width, height, self.server_timeout, self.depth_format)

    def prune_releases(self) -> None:
        """Leaves the user's other builds alone."""

    def unity_command(self, width: int, height: int, headless: bool) -> list[str]:
        """The command line; the choice of a GPU only matters, and only works, in the cloud."""
        if self._build.platform is not ai2thor.platform.CloudRendering:
            self.gpu_device = None
        command: list[str] = super().unity_command(width, height, headless)
        return command

    def _start_unity_thread(
        self, env: dict[str, str], width: int, height: int, server_params: dict[str, str], *_: Any
    ) -> None:
        if self._ended:
            raise SimulatorError("the simulator was closed while it started")
        env["AI2THOR_CLIENT_TOKEN"] = self.server.client_token = os.urandom(16).hex()
        env["AI2THOR_SERVER_TYPE"] = self.server.server_type
        env["AI2THOR_SERVER_SIDE_SCREENSHOT"] = "True"
        # For ``clalfred-player``; Unity's build belongs to one version of the package.
        env["CLALFRED_PLAYER_CLIENT"] = CurrentLink.version
        for key, value in server_params.items():
            env["AI2THOR_" + key.upper()] = value
        command = self.unity_command(width, height, self.headless)
        launch = self._build.platform.launch_env(width, height, self.x_display)
        env.update({key: value for key, value in launch.items() if value is not None})
        os.makedirs(self.log_dir, exist_ok=True)
        with open(os.path.join(self.log_dir, "unity.log"), "ab") as log:
            self._process = Supervised(command, env, log)
        self.server.watch(self._process)
        self.server.unity_proc = self._process.popen
        self.unity_pid = self._process.popen.pid


class _Server(_ServerBase):
    """The pipes, read with one deadline per message, and only while the process lives.

    AI2-THOR's own reader waits for ever for a process that dies before it opens its pipe, and
    spins until the time-out when it dies later.
    """

    server_pipe: Any
    client_pipe: Any

    def __init__(self, width: int, height: int, timeout: float, depth_format: Any) -> None:
        super().__init__(width, height, timeout, depth_format)
        self._process: Supervised | None = None
        self._deadline = 0.0

    def watch(self, process: Supervised) -> None:
        """Says which process is at the other end."""
        self._process = process

    def stop(self) -> None:
        """Ends the process and removes the pipes."""
        for pipe in (self.client_pipe, self.server_pipe):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self.client_pipe = self.server_pipe = None
        if self._process is not None:
            self._process.end()
        self.tmp_dir.cleanup()

    def skip_message(self) -> None:
        """Reads a message and forgets it."""
        self._deadline = time.monotonic() + float(self.timeout)
        while True:
            header = self._read_with_timeout(self.server_pipe, self.header_size, None)
            kind, length = struct.unpack(self.header_format, header)
            if kind == ai2thor.fifo_server.FieldType.END_OF_MESSAGE:
                return
            self._read_with_timeout(self.server_pipe, length, None)

    def _recv_message(self, timeout: float | None) -> Any:
        self._deadline = time.monotonic() + float(self.timeout if timeout is None else timeout)
        if self.server_pipe is None:
            handle = os.open(self.server_pipe_path, os.O_RDONLY | os.O_NONBLOCK)
            self.server_pipe = os.fdopen(handle, "rb", buffering=0)
        # Reading metadata makes so many small objects that collecting garbage would take longer.
        collecting = gc.isenabled()
        gc.disable()
        try:
            metadata, files = super()._recv_message(timeout)
        finally:
            if collecting:
                gc.enable()
        if metadata is None:
            raise SimulatorError("AI2-THOR sent a message without metadata")
        return metadata, files

    def _read_with_timeout(self, server_pipe: Any, message_size: int, timeout: Any) -> bytes:
        if message_size > MOST_BYTES:
            raise SimulatorError(f"AI2-THOR announced a field of {message_size} bytes")
        handle = server_pipe.fileno()
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        parts = []
        while message_size > 0:
            self._check()
            if not poll.poll(PULSE * 1000):
                continue
            part = os.read(handle, message_size)
            if not part:
                # The writer is gone; what it wrote before has been read.
                self._check(gone=True)
            parts.append(part)
            message_size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _send_message(self, message_type: int, body: bytes) -> None:
        self._deadline = time.monotonic() + float(self.timeout)
        while self.client_pipe is None:
            try:
                handle = os.open(self.client_pipe_path, os.O_WRONLY | os.O_NONBLOCK)
                self.client_pipe = os.fdopen(handle, "wb", buffering=0)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                self._check()
                time.sleep(0.002)
        self._last_action_message = body
        view = memoryview(self._create_header(message_type, body) + body + self.eom_header)
        poll = select.poll()
        poll.register(self.client_pipe.fileno(), select.POLLOUT)
        while view:
            self._check()
            if poll.poll(PULSE * 1000):
                view = view[os.write(self.client_pipe.fileno(), view) :]

    def _check(self, gone: bool = False) -> None:
        code = None if self._process is None else self._process.poll()
        if gone or code is not None:
            raise SimulatorError(
                f"the AI2-THOR process ended (exit code {code}); its log is "
                "~/.ai2thor/log/unity.log"
            )
        if time.monotonic() > self._deadline:
            raise TimeoutError("AI2-THOR did not answer in time")
