"""What a version of AI2-THOR offers to ``ThorSimulator``: actions and frames; how to choose one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.errors import BadInputError, MissingDependencyError, SimulatorError
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene, View
from gym_clalfred.simulator.jit import kernel
from gym_clalfred.simulator.thor.options import ThorOptions


@dataclass(frozen=True)
class CameraView:
    """What one camera shows; row 0 is the top.

    Args:
        rgb: (H, W, 3) uint8.
        colours: (H, W) uint32, the colours of the objects as 0xBBGGRR.
        depth: (H, W) float32 metres, or ``None``.
        table: colour (0xBBGGRR) of each object id, which AI2-THOR tells with pictures only.
    """

    rgb: NDArray[np.uint8]
    colours: NDArray[np.uint32]
    depth: NDArray[np.float32] | None
    table: dict[str, int]


@dataclass(frozen=True)
class Event:
    """What AI2-THOR says after an action.

    Args:
        metadata: of the agent.
        views: what the cameras show, the agent's first; empty if no images were asked for.
    """

    metadata: dict[str, Any]
    views: tuple[CameraView, ...]

    @property
    def success(self) -> bool:
        """Whether the action was done."""
        return bool(self.metadata["lastActionSuccess"])

    @property
    def message(self) -> str:
        """Why not."""
        return str(self.metadata.get("errorMessage") or "")


class Link(ABC):
    """A running AI2-THOR.

    Any method may raise anything when the process behind it is broken; ``ThorSimulator`` takes
    every exception as a crash but ``BadInputError`` and ``UsageError``, which no new start would
    help.

    Args:
        render: what frames have to contain.
        options: how to start and how long to wait.
    """

    #: Pixels of the side of the square screen.
    side: int

    #: AI2-THOR's version.
    version: str

    #: Where the metadata has the positions that the agent can stand at.
    positions_key: str

    #: The process, while there is one; it has ``end``.
    _controller: Any = None

    def __init__(self, render: RenderOptions, options: ThorOptions) -> None:
        self.render = render
        self.options = options

    @abstractmethod
    def load(self, scene: Scene) -> Event:
        """Loads a room and restores objects, switches and dirt; starts the process if need be."""

    @abstractmethod
    def do(self, action: str, images: bool, **arguments: Any) -> Event:
        """Does an action with this version's own arguments."""

    def move(self, metres: float) -> Event:
        """Moves the agent ahead, as ALFRED does: what it holds does not stop it, all else does."""
        return self.do("MoveAhead", images=False, moveMagnitude=metres, forceAction=True)

    @abstractmethod
    def look(self, degrees: int, pose: AgentPose) -> Event:
        """Tilts the camera, positive down."""

    @abstractmethod
    def turn(self, action: str, degrees: int) -> Event:
        """Turns the agent, whatever it holds: ``RotateLeft`` or ``RotateRight``."""

    @abstractmethod
    def put(self, held: str, receptacle: str, images: bool) -> Event:
        """Puts the held object in or on a receptacle."""

    @abstractmethod
    def teleport(self, pose: AgentPose, images: bool = False, forced: bool = False) -> Event:
        """Puts the agent at a pose; if forced, whatever it holds."""

    @abstractmethod
    def shoot(self, pose: AgentPose, held: str | None) -> tuple[CameraView, ...]:
        """The five views of an agent at its present pose."""

    @abstractmethod
    def sight(self, held: str | None) -> CameraView:
        """The agent's own view at 300 pixels or more, without what it holds."""

    def reachable(self) -> list[dict[str, float]]:
        """Where the agent can stand."""
        points: list[dict[str, float]] = self._must("GetReachablePositions").metadata[
            self.positions_key
        ]
        return points

    def close(self) -> None:
        """Ends the process; never raises."""
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.end()

    @property
    def turned_views(self) -> tuple[View, ...]:
        """The views that are not the agent's own."""
        return tuple(view for view in View if self.render.view_angles[view] != (0, 0))

    def _must(self, action: str, images: bool = False, **arguments: Any) -> Event:
        """Does an action that a sound AI2-THOR does not refuse."""
        event = self.do(action, images, **arguments)
        if not event.success:
            raise SimulatorError(f"AI2-THOR {self.version} refused {action}: {event.message}")
        return event

    def _restore_toggles(self, scene: Scene) -> None:
        toggles = [{"objectType": kind.name, "isOn": is_on} for kind, is_on in scene.object_toggles]
        if toggles:
            self._restore(scene, "SetObjectToggles", objectToggles=toggles)

    def _restore(self, scene: Scene, action: str, **arguments: Any) -> Event:
        """Does an action that brings a scene about; what is refused now always will be."""
        event = self.do(action, images=False, **arguments)
        if not event.success:
            reason = event.message or _missing_objects(scene, event) or "it gave no reason"
            raise BadInputError(
                f"AI2-THOR {self.version} refused {action} while restoring {scene.floor_plan}: "
                f"{reason.rstrip('.')}. Scenes recorded in another version may not fit"
            )
        return event


def installed_version() -> str:
    """The version of the installed ``ai2thor``."""
    try:
        import ai2thor
    except ImportError:
        raise MissingDependencyError(
            'backend="thor" needs the package ai2thor; install it with: '
            'pip install "cl-alfred-gym[thor]"'
        ) from None
    return str(ai2thor.__version__)


def make_link(render: RenderOptions, options: ThorOptions) -> Link:
    """The link for the installed version of AI2-THOR.

    Raises:
        UsageError: if the local build of the options is not there.
    """
    options.check_program()
    if int(installed_version().split(".")[0]) < 3:
        from gym_clalfred.simulator.thor.legacy import LegacyLink

        return LegacyLink(render, options)
    from gym_clalfred.simulator.thor.current import CurrentLink

    return CurrentLink(render, options)


def pack_colours(pixels: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """(H, W) colours as 0xBBGGRR from (H, W, 3 or more) bytes."""
    whole = np.zeros((*pixels.shape[:2], 4), dtype=np.uint8)
    whole[..., :3] = pixels[..., :3]
    return whole.view("<u4")[..., 0]


def colour_table(colours: dict[str, Any]) -> dict[str, int]:
    """Colours of object ids as 0xBBGGRR; class names are left out.

    Raises:
        SimulatorError: if there are none; nothing could be told from a picture.
    """
    table = {
        name: int(colour[0]) | int(colour[1]) << 8 | int(colour[2]) << 16
        for name, colour in colours.items()
        if "|" in name
    }
    if not table:
        raise SimulatorError("AI2-THOR sent a picture without the colours of its objects")
    return table


def _missing_objects(scene: Scene, event: Event) -> str:
    """Which objects of a scene AI2-THOR does not have; 2.1.0 itself does not tell."""
    known = {str(entry["name"]) for entry in event.metadata["objects"]}
    missing = sorted({pose.name for pose in scene.object_poses} - known)
    return f"no objects called {', '.join(missing)}" if missing else ""


def object_poses(scene: Scene) -> list[dict[str, Any]]:
    """``Scene.object_poses`` as AI2-THOR's ``SetObjectPoses`` wants them."""
    return [
        {
            "objectName": pose.name,
            "position": dict(zip("xyz", pose.position)),
            "rotation": dict(zip("xyz", pose.rotation)),
        }
        for pose in scene.object_poses
    ]


D = TypeVar("D", bound=np.generic)


@kernel()
def decode_colours(
    colours: NDArray[np.uint32], keys: NDArray[np.uint32], values: NDArray[np.int16]
) -> NDArray[np.int16]:
    """(H, W) instance numbers of (H, W) colours; colours that are not in ``keys`` give 0.

    Args:
        colours: any strides.
        keys: known colours, sorted.
        values: their instance numbers.
    """
    height, width = colours.shape
    result = np.empty((height, width), dtype=np.int16)
    # Neighbours mostly show the same thing, so few pixels are looked up.
    last, value = np.uint32(0xFFFFFFFF), np.int16(0)
    for row in range(height):
        for column in range(width):
            colour = colours[row, column]
            if colour != last:
                last = colour
                place = np.searchsorted(keys, colour)
                known = place < len(keys) and keys[place] == colour
                value = values[place] if known else np.int16(0)
            result[row, column] = value
    return result


def resample_nearest(images: NDArray[D], size: int) -> NDArray[D]:
    """(N, size, size) from (N, side, side), each pixel the nearest one."""
    side = images.shape[1]
    if side == size:
        return images
    source = ((np.arange(size) + 0.5) * side / size).astype(np.intp)
    return images[:, source[:, None], source[None, :]]


def resample(images: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """(N, size, size, 3) from (N, side, side, 3), each pixel the mean of what it covers."""
    from PIL import Image

    kind = Image.Resampling.BOX
    small = [np.asarray(Image.fromarray(image).resize((size, size), kind)) for image in images]
    return np.stack(small)
