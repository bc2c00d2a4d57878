"""The player: answers a client's requests until the client is gone."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import SIGHT_PIXELS
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.simulator.player.actions import FAR_PLANE, NEAR_PLANE, PlayerActions
from gym_clalfred.simulator.player.colours import colour_bounds, paint_flipped
from gym_clalfred.simulator.player.dispatch import call
from gym_clalfred.simulator.player.faults import Fault, Kind, misbehave
from gym_clalfred.simulator.player.metadata import ActionResult, Reporter, Screen
from gym_clalfred.simulator.player.pictures import CameraRenderers, Channels, Picture
from gym_clalfred.simulator.player.queries import SCENE_NUMBERS
from gym_clalfred.simulator.player.refusals import RefusedError
from gym_clalfred.simulator.player.transport import Buffer, Image, Message, Transport
from gym_clalfred.simulator.player.world import PlayerWorld, Recorded, no_recording

#: Questions whose answer may be sent alone, with ``fastActionEmit``.
_QUESTIONS = frozenset(
    [
        "GetReachablePositions",
        "GetInteractablePoses",
        "GetScenesInBuild",
        "GetShortestPath",
        "GetShortestPathToPoint",
        "GetObjectInFrame",
        "GetMapViewCameraProperties",
    ]
)

#: What is seen where everything is hidden.
BACKGROUND = (255, 255, 255)

#: 2.1.0 sees no farther, in metres; later versions see to the far plane of their camera.
LEGACY_DEPTH = 10.0


class Player:
    """Serves one client.

    Args:
        transport: the connection.
        legacy: whether the client is AI2-THOR 2.1.0.
        rooms: gives the room of a scene number.
        width: of the pictures, until the client changes it.
        height: of the pictures, until the client changes it.
        fault: misbehaviour for tests.
        numbers: the scenes there are; the first is loaded before a client asks for one.
        client: version of the client's package, if it is known. Packages do not tell it. Those
            from 4 on read masks of four bytes and depth in floats; three bytes of each are slower
            and understood by all.
        recorded: gives the poses of the recorded scene that has just these, with their holders.
    """

    def __init__(
        self,
        transport: Transport,
        legacy: bool = False,
        rooms: Callable[[int], Room] = make_room,
        width: int = 300,
        height: int = 300,
        fault: Fault | None = None,
        numbers: Sequence[int] = SCENE_NUMBERS,
        client: str | None = None,
        recorded: Recorded = no_recording,
    ) -> None:
        self._wide = not legacy and client is not None and int(client.split(".")[0]) >= 4
        self._farthest = LEGACY_DEPTH if legacy else FAR_PLANE - NEAR_PLANE
        self._transport = transport
        self._legacy = legacy
        self._fault = fault
        self._world = PlayerWorld(rooms, recorded)
        self._screen = Screen(width, height)
        self._studio = CameraRenderers()
        self._reporter = Reporter(self._world, transport.encoder, legacy)
        if not self._wide and not legacy:
            self._reporter.depth_format = "Normalized"
        self._actions = PlayerActions(self._world, self._screen, legacy, numbers)
        self._actions.reset(self._actions.scenes()[0])

    def serve(self) -> None:
        """Answers requests until the client is gone."""
        result, count = ActionResult(), 0
        request: dict[str, Any] = {}
        try:
            while True:
                message = self._answer(result, request)
                fault = self._fault
                if fault is not None and fault.happens(count, bool(message.images)):
                    self._spoil(fault.kind, message)
                following = self._transport.exchange(message)
                if not following:
                    return
                request = following
                if request.get("action") == "GetScenesInBuild":
                    # Packages after 2.1.0 ask this, and measure depth by the camera's planes.
                    self._farthest = FAR_PLANE - NEAR_PLANE
                count += 1
                result = self._do(request)
        finally:
            self._transport.close()

    def _do(self, request: dict[str, Any]) -> ActionResult:
        result = ActionResult(
            str(request.get("action")), sequence=int(request.get("sequenceId", 0))
        )
        try:
            result.value = call(self._actions, request, strict=not self._legacy)
        except RefusedError as error:
            result.success, result.message, result.code = False, str(error), error.code
        except Exception:
            # Unity, too, answers when an action breaks; the client is told what happened.
            result.success, result.message = False, traceback.format_exc()
            result.code = "UnhandledException"
        return result

    def _answer(self, result: ActionResult, request: dict[str, Any]) -> Message:
        if self._can_patch(result):
            return Message(self._patch(result), patch=True)
        images: list[Image] = []
        extra: dict[str, Any] = {}
        if request.get("renderImage", True):
            images, extra = self._render()
        if self._legacy:
            extra.setdefault("colorBounds", None)
            extra["reachablePositions"] = None
            if result.action == "GetReachablePositions":
                extra["reachablePositions"] = result.value
        return Message(self._reporter.write(self._screen, result, extra, bool(images)), images)

    def _can_patch(self, result: ActionResult) -> bool:
        fast = self._actions.fast and self._transport.can_patch
        return fast and result.success and result.action in _QUESTIONS

    def _patch(self, result: ActionResult) -> bytes:
        return self._transport.encoder.value(
            {
                "lastAction": result.action,
                "lastActionSuccess": result.success,
                "errorMessage": result.message,
                "errorCode": result.code,
                "actionReturn": result.value,
                "agentId": 0,
            }
        )

    def _render(self) -> tuple[list[Image], dict[str, Any]]:
        """The images of all cameras, in the order of the protocol, and the boxes of colours."""
        screen = self._screen
        # What is visible is told of every picture; seeing it in this one is cheaper than looking.
        masks = self._world.masks
        named = screen.instances or screen.classes or self._sees_all() or bool(masks)
        pictures = self._studio.shoot(
            self._world.stage,
            [self._actions.main_camera(), *screen.cameras],
            screen.width,
            screen.height,
            Channels(screen.depth, named),
        )
        if not self._actions.map_view:
            self._world.recognise(pictures[0].instances)
        images: list[Image] = []
        extra: dict[str, Any] = {}
        for k, picture in enumerate(pictures):
            rgb, depth, ids, classes = _FIELDS[k > 0]
            if masks:
                self._paint(picture)
            images.append((rgb, _flipped(picture.rgb)))
            if screen.depth:
                images.append((depth, self._depth(picture)))
            if screen.instances:
                palette = self._reporter.palette().instances
                images.append((ids, self._coloured(picture, palette)))
                if k == 0 and not self._wide:
                    assert picture.instances is not None
                    extra["colorBounds"] = colour_bounds(picture.instances, palette)
            if screen.classes:
                colours = self._coloured(picture, self._reporter.palette().classes)
                images.append((classes, colours))
        return images, extra

    def _paint(self, picture: Picture) -> None:
        """Shows masked objects in plain colours, and of an emphasised one nothing else."""
        world, instances = self._world, picture.instances
        assert instances is not None
        for name, colour in world.masks.items():
            thing = world.household.get(name)
            if thing is None:
                continue
            mine = instances == thing.index + 1
            if name == world.emphasized:
                picture.rgb[~mine] = BACKGROUND
            picture.rgb[mine] = colour

    def _sees_all(self) -> bool:
        screen, world = self._screen, self._world
        whole = (screen.width, screen.height) == (SIGHT_PIXELS, SIGHT_PIXELS)
        return whole and world.held is None and not screen.cameras

    def _coloured(self, picture: Picture, palette: NDArray[np.uint32]) -> Buffer:
        assert picture.instances is not None
        return paint_flipped(picture.instances, palette, 4 if self._wide else 3).data.cast("B")

    def _depth(self, picture: Picture) -> Buffer:
        assert picture.depth is not None
        if self._wide:
            return _flipped(picture.depth)
        share = np.clip(picture.depth / np.float64(self._farthest), 0.0, 1.0) * (1 << 24)
        whole = np.minimum(share, (1 << 24) - 1).astype(np.uint32)
        channels = [(whole >> shift) & 0xFF for shift in (16, 8, 0)]
        return _flipped(np.stack(channels, axis=-1).astype(np.uint8))

    def _spoil(self, kind: Kind, message: Message) -> None:
        """Does to a message, or before it, what a test asks for."""
        if kind is Kind.TRUNCATED:
            self._transport.send_damaged(message)
            misbehave(Kind.HANG)
        if kind is Kind.WRONG_SIZE:
            message.images = [(name, content[:-7]) for name, content in message.images]
        misbehave(kind)


#: Fields of the agent's camera and of third-party cameras: RGB, depth, ids, classes.
_FIELDS = {
    False: ("image", "image_depth", "image_ids", "image_classes"),
    True: (
        "image-thirdParty-camera",
        "image_thirdParty_depth",
        "image_thirdParty_image_ids",
        "image_thirdParty_classes",
    ),
}


def _flipped(image: NDArray[Any]) -> Buffer:
    """Row-major bytes, the bottom row first."""
    return np.ascontiguousarray(image[::-1]).data.cast("B")
