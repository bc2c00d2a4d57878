"""AI2-THOR 2.1.0, the version ALFRED was made with: HTTP, dict actions, one camera.

It was written for Flask and numpy of 2019. What breaks with those of today is put right here,
before the package's own server is made.
"""

from __future__ import annotations

import io
import json
import os
import threading
import time
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Any

import ai2thor.controller
import ai2thor.server
import numpy as np

from gym_clalfred.errors import SimulatorError
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    GRID_METRES,
    REACH_METRES,
    SIGHT_PIXELS,
    AgentPose,
    RenderOptions,
    Scene,
    View,
)
from gym_clalfred.simulator.thor.link import (
    CameraView,
    Event,
    Link,
    colour_table,
    installed_version,
    object_poses,
    pack_colours,
)
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.processes import SimulatorSlot, Supervised
from gym_clalfred.simulator.thor.states import pose_of

#: How often a waiting reader looks whether the process still lives, in seconds.
PULSE = 0.1

#: An agent nearer than this to where it should be is there, in metres.
CLOSE = 0.01

#: AI2-THOR 2.1.0 gives depth in millimetres.
MILLIMETRES = np.float32(0.001)


class LegacyLink(Link):
    """Drives 2.1.0's ``ai2thor.controller.Controller``."""

    positions_key = "reachablePositions"

    def __init__(self, render: RenderOptions, options: ThorOptions) -> None:
        super().__init__(render, options)
        # This version has no smaller screen, and cannot change its size.
        self.side = max(SIGHT_PIXELS, render.image_size)
        self.version = installed_version()
        self._controller: _WatchedLegacyController | None = None

    def load(self, scene: Scene) -> Event:
        """Loads a room and restores it, in the order of ALFRED's own code."""
        if self._controller is None:
            self._controller = _WatchedLegacyController(self)
        self._controller.load(scene.floor_plan)
        self._must(
            "Initialize",
            gridSize=GRID_METRES,
            cameraY=CAMERA_ABOVE_AGENT,
            visibilityDistance=REACH_METRES,
            renderDepthImage=self.render.depth,
            renderClassImage=False,
            renderObjectImage=True,
            makeAgentsVisible=False,
        )
        self._restore_toggles(scene)
        if scene.dirty_and_empty:
            # Here ``forceAction`` is the state that is wanted: dirty, and not filled.
            for change, wanted in (("CanBeDirty", True), ("CanBeFilled", False)):
                self._restore(scene, "SetStateOfAllObjects", StateChange=change, forceAction=wanted)
        if scene.object_poses:
            return self._restore(scene, "SetObjectPoses", objectPoses=object_poses(scene))
        return self.do("Pass", images=False)

    def do(self, action: str, images: bool, **arguments: Any) -> Event:
        """Does an action."""
        assert self._controller is not None
        request = {"action": action, "renderImage": images, **arguments}
        return self._event(self._controller.ask(request), images)

    def look(self, degrees: int, pose: AgentPose) -> Event:
        """Tilts the camera by teleporting: this version's own looks are of 30 degrees."""
        return self.teleport(AgentPose(pose.x, pose.y, pose.z, pose.yaw, pose.pitch + degrees))

    def turn(self, action: str, degrees: int) -> Event:
        """Turns the agent, always by 90 degrees."""
        return self.do(action, images=False, forceAction=True)

    def put(self, held: str, receptacle: str, images: bool) -> Event:
        """Puts the held object down."""
        return self.do(
            "PutObject",
            images,
            objectId=held,
            receptacleObjectId=receptacle,
            forceAction=True,
            placeStationary=True,
        )

    def teleport(self, pose: AgentPose, images: bool = False, forced: bool = False) -> Event:
        """Puts the agent at a pose."""
        force = {"forceAction": True} if forced else {}
        return self.do("TeleportFull", images, **_placed(pose), **force)

    def shoot(self, pose: AgentPose, held: str | None) -> tuple[CameraView, ...]:
        """The five views: the agent turns and turns back, whatever it holds.

        What is held would turn with the agent, so it is left out of all views but the agent's own.
        """
        if held is not None:
            self._must("HideObject", objectId=held)
        views = {
            view: self._shot(pose, *self.render.view_angles[view]).views[0]
            for view in self.turned_views
        }
        if held is not None:
            self._must("UnhideObject", objectId=held)
        back = self._shot(pose)
        _check_place(pose_of(back.metadata), pose)
        return tuple(views.get(view, back.views[0]) for view in View)

    def sight(self, held: str | None) -> CameraView:
        """The agent's own view without what it holds."""
        if held is None:
            return self.do("Pass", images=True).views[0]
        view = self._must("HideObject", images=True, objectId=held).views[0]
        self._must("UnhideObject", objectId=held)
        return view

    def _shot(self, pose: AgentPose, yaw: float = 0.0, pitch: float = 0.0) -> Event:
        """What an agent at a pose sees that turns its head."""
        turned = _placed(pose, yaw, pitch)
        return self._must("TeleportFull", images=True, forceAction=True, **turned)

    def _event(self, event: Any, images: bool) -> Event:
        views: tuple[CameraView, ...] = ()
        if images:
            depth = event.depth_frame * MILLIMETRES if self.render.depth else None
            colours = pack_colours(event.instance_segmentation_frame)
            table = colour_table(event.object_id_to_color)
            views = (CameraView(event.frame, colours, depth, table),)
        return Event(event.metadata, views)


def _placed(pose: AgentPose, yaw: float = 0.0, pitch: float = 0.0) -> dict[str, Any]:
    return {
        "x": pose.x,
        "y": pose.y,
        "z": pose.z,
        "rotateOnTeleport": True,
        "rotation": float(pose.yaw + yaw),
        "horizon": float(pose.pitch + pitch),
    }


def _check_place(found: AgentPose, wanted: AgentPose) -> None:
    """Raises ``SimulatorError`` if the agent is not where it should be."""
    apart = [getattr(found, axis) - getattr(wanted, axis) for axis in "xyz"]
    turned = (found.yaw, found.pitch) != (wanted.yaw, wanted.pitch)
    if turned or max(map(abs, apart)) > CLOSE:
        raise SimulatorError(
            f"the agent did not come back from looking around: it is at {found}, not {wanted}"
        )


class _FrameQueue(Queue[Any]):
    """The queue of frames; waiting for one ends when the process does, or at a deadline."""

    def __init__(self) -> None:
        super().__init__(maxsize=1)
        self.process: Supervised | None = None
        self.deadline = 0.0

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """The next frame; 2.1.0 itself would ask for it for ever."""
        while True:
            try:
                return super().get(block=True, timeout=PULSE)
            except Empty:
                code = None if self.process is None else self.process.poll()
                if code is not None:
                    raise SimulatorError(f"the AI2-THOR process ended (exit code {code})") from None
                if time.monotonic() > self.deadline:
                    raise TimeoutError("AI2-THOR did not answer in time") from None


def _answer_request(self: Any) -> None:
    """Answers one request and leaves the connection open.

    Unity relies on its one connection to stay. Werkzeug closes it since 2.1.2, and what it reads
    to drain the connection before would be the next request.
    """
    started: list[Any] = []

    def start_response(status: str, headers: Any, error: Any = None) -> None:
        started[:] = [status, headers]

    body = b"".join(self.server.app(self.make_environ(), start_response))
    status, headers = started
    code, _, reason = status.partition(" ")
    socket, self.wfile = self.wfile, io.BytesIO()
    self.send_response(int(code), reason)
    for name, value in headers:
        self.send_header(name, value)
    self.send_header("Connection", "keep-alive")
    self.end_headers()
    answer, self.wfile = self.wfile.getvalue() + body, socket
    # In one piece: in two, the second would wait for the first to be acknowledged.
    self.wfile.write(answer)
    self.wfile.flush()


def repair() -> None:
    """Puts right what breaks in 2.1.0 with the Flask, Werkzeug and numpy of today.

    Its classes are changed in place: they call each other by their global names.
    """
    server: Any = ai2thor.server
    handler = server.ThorRequestHandler
    if getattr(handler, "run_wsgi", None) is _answer_request:
        return

    def default(self: Any, value: Any) -> Any:
        # numpy 2 has no ``asscalar`` any more.
        return (
            value.item() if isinstance(value, np.generic) else json.JSONEncoder.default(self, value)
        )

    def process_colours(self: Any) -> None:
        # The masks of all objects take most of the time of a step, and are not used here.
        pass

    handler.run_wsgi = _answer_request
    server.NumpyAwareEncoder.default = default
    server.Event.process_colors_ids = process_colours


#: AI2-THOR has no types of its own.
_ControllerBase: Any = ai2thor.controller.Controller


class _WatchedLegacyController(_ControllerBase):
    """2.1.0's controller with a process that we watch."""

    def __init__(self, link: LegacyLink) -> None:
        repair()
        self._options = link.options
        super().__init__(quality=link.options.quality)
        self.request_queue = _FrameQueue()
        self.local_executable_path = link.options.command
        self._slot: SimulatorSlot | None = SimulatorSlot(link.options)
        try:
            self.request_queue.deadline = time.monotonic() + link.options.start_timeout
            display = link.options.display
            self.start(
                player_screen_width=link.side,
                player_screen_height=link.side,
                x_display=None if display is None else display.lstrip(":"),
            )
        except BaseException:
            self.end()
            raise

    def load(self, scene: str) -> None:
        """Loads a scene."""
        self._arm()
        self.reset(scene)

    def ask(self, request: dict[str, Any]) -> Any:
        """Does an action."""
        self._arm()
        return self.step(request)

    def end(self) -> None:
        """Ends the process and the server, however far either has come."""
        process = self.request_queue.process
        if process is not None:
            process.end()
        # The server may be waiting for an action of ours.
        with suppress(Full):
            self.response_queue.put_nowait({})
        if self.server is not None:
            closing = threading.Thread(target=self._close_server, daemon=True)
            closing.start()
            closing.join(2.0)
        if self._slot is not None:
            self._slot.release()
            self._slot = None

    def prune_releases(self) -> None:
        """Leaves the user's other builds alone, newer versions' among them."""

    def check_x_display(self, x_display: str) -> None:
        """Checks the display, unless a local build runs without one."""
        if self._options.display is not None or self._options.command is None:
            super().check_x_display(x_display)

    def _arm(self) -> None:
        self.request_queue.deadline = time.monotonic() + self._options.step_timeout

    def _close_server(self) -> None:
        self.server.wsgi_server.shutdown()
        self.server.wsgi_server.server_close()

    def _start_unity_thread(
        self, env: dict[str, str], width: int, height: int, host: str, port: int, *_: Any
    ) -> None:
        env["AI2THOR_CLIENT_TOKEN"] = self.server.client_token = os.urandom(16).hex()
        env["AI2THOR_HOST"] = host
        env["AI2THOR_PORT"] = str(port)
        env["AI2THOR_SERVER_SIDE_SCREENSHOT"] = "True"
        command = self.unity_command(width, height, headless=False)
        folder = os.path.join(self.base_dir(), "log")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "unity.log"), "ab") as log:
            process = Supervised(command, env, log)
        self.request_queue.process = process
        self.unity_pid = process.popen.pid
