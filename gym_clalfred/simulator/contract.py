"""The one contract between a household simulator and everything above it.

The environment, the tasks and the expert know a simulator only by what this file says. Object ids,
coordinates, angles and action names are AI2-THOR's: metres, y up, left-handed, yaw 0 = +z and
90 = +x, pitch (AI2-THOR's horizon) positive downwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass

GRID_METRES = 0.25
REACH_METRES = 1.5
FIELD_OF_VIEW_DEGREES = 60.0
CAMERA_ABOVE_AGENT = 0.675
PITCH_RANGE = (-30, 60)

#: Side in pixels of the view by which visibility and interaction masks are decided, whatever the
#: size of the images an agent sees. ALFRED records its masks at this size.
SIGHT_PIXELS = 300

#: An object is seen when at least so many pixels of the sight show it.
LEAST_PIXELS = 5

Vector = tuple[float, float, float]


class View(IntEnum):
    """The five views of an observation, in their order."""

    FRONT = 0
    LEFT = 1
    RIGHT = 2
    UP = 3
    DOWN = 4


@dataclass(frozen=True)
class AgentPose:
    """Where the agent stands and looks; ``y`` is the agent's own height, not the camera's."""

    x: float
    y: float
    z: float
    yaw: int
    pitch: int


@dataclass(frozen=True)
class ObjectPose:
    """Start pose of one pickupable object, as in ALFRED's ``scene.object_poses``.

    ``name`` is ALFRED's ``objectName``: the class, an underscore and a tag that stands for the
    look of the object. The same name may occur more than once; each is an object of its own.
    ``holder`` is the id of what holds the object, where that is known from elsewhere than its
    position; the object's own id says that it is in nothing that can be closed.
    """

    name: str
    position: Vector
    rotation: Vector = (0.0, 0.0, 0.0)
    holder: str | None = None

    @property
    def object_class(self) -> ObjectClass:
        """The class that the name begins with."""
        return ObjectClass[self.name.split("_")[0]]


@dataclass(frozen=True)
class Scene:
    """Everything that ``reset`` needs: ALFRED's ``scene`` entry.

    Args:
        number: AI2-THOR's scene number; ``FloorPlan{number}``.
        object_poses: all pickupable objects of the room; empty means the room's own default.
        object_toggles: classes switched on or off at the start.
        dirty_and_empty: whether dishes start dirty and empty.
        start: the agent's pose.
        random_seed: ALFRED's number for the arrangement; informative.
    """

    number: int
    start: AgentPose
    object_poses: tuple[ObjectPose, ...] = ()
    object_toggles: tuple[tuple[ObjectClass, bool], ...] = ()
    dirty_and_empty: bool = False
    random_seed: int = 0

    @property
    def floor_plan(self) -> str:
        """AI2-THOR's scene name."""
        return f"FloorPlan{self.number}"


@dataclass(frozen=True)
class ObjectState:
    """What is true of one object now.

    ``position`` is the centre of the base of the object's box; ``size`` its extents (x, y, z)
    before ``rotation`` is applied. ``parents`` are the ids of the receptacles that hold the object,
    the innermost first; ``contents`` the ids directly or indirectly in or on it. ``cleaned``,
    ``heated`` and ``cooled`` are ALFRED's marks: set once, they stay for the episode.
    """

    id: str
    object_class: ObjectClass
    position: Vector
    rotation: Vector
    size: Vector
    parents: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    is_open: bool = False
    is_on: bool = False
    is_sliced: bool = False
    is_dirty: bool = False
    cleaned: bool = False
    heated: bool = False
    cooled: bool = False


class Failure(str, Enum):
    """Why an action did not succeed; the value is written for people."""

    BLOCKED = "something is in the way"
    LOOK_LIMIT = "the camera cannot tilt further"
    NO_TARGET = "the action needs a target object"
    UNKNOWN_TARGET = "no such object exists"
    NOT_VISIBLE = "the target cannot be seen"
    TOO_FAR = "the target is more than 1.5 m away"
    NOT_PICKUPABLE = "the target cannot be picked up"
    HANDS_FULL = "something is held already"
    HANDS_EMPTY = "nothing is held"
    NOT_RECEPTACLE = "the target holds no objects"
    CLOSED = "the target is closed"
    NO_SPACE = "the target has no free space for the held object"
    NOT_OPENABLE = "the target cannot be opened or closed"
    ALREADY_OPEN = "the target is open already"
    ALREADY_CLOSED = "the target is closed already"
    MUST_BE_OFF = "the target must be switched off first"
    MUST_BE_CLOSED = "the target must be closed first"
    NOT_TOGGLEABLE = "the target cannot be switched"
    ALREADY_ON = "the target is on already"
    ALREADY_OFF = "the target is off already"
    NOT_SLICEABLE = "the target cannot be sliced"
    NO_KNIFE = "no knife is held"
    SIMULATOR = "the simulator refused the action"


@dataclass(frozen=True)
class Outcome:
    """Whether an action succeeded, and if not, why; ``detail`` is the backend's own message."""

    failure: Failure | None = None
    detail: str = ""

    @property
    def success(self) -> bool:
        """Whether the action was carried out."""
        return self.failure is None


SUCCESS = Outcome()


@dataclass(frozen=True)
class Frame:
    """What the five views show now; arrays belong to the caller.

    Args:
        rgb: (5, H, W, 3) uint8.
        instances: (5, H, W) int16; ``k > 0`` is ``object_ids[k - 1]``, 0 the room itself.
            ``None`` if the simulator was told to leave it out.
        classes: (5, H, W) uint8, values of ``ObjectClass``; ``None`` with ``instances``.
        depth: (5, H, W) float32, metres along the optical axis; ``None`` unless asked for.
        object_ids: names of the instances; an id keeps its index for the whole episode.
    """

    rgb: NDArray[np.uint8]
    instances: NDArray[np.int16] | None
    classes: NDArray[np.uint8] | None
    depth: NDArray[np.float32] | None
    object_ids: tuple[str, ...]


@dataclass(frozen=True)
class Sight:
    """The front view at ``SIGHT_PIXELS``, by which interactions are decided; no held object in it.

    Args:
        instances: (300, 300) int16 as in ``Frame``.
        object_ids: names of the instances.
        visible: ids that are in view, not hidden and within reach (AI2-THOR's ``visible``).
        sums: (N + 1, 3) number of pixels of each instance, sum of their rows and of their columns,
            from a simulator that has counted them.
    """

    instances: NDArray[np.int16]
    object_ids: tuple[str, ...]
    visible: frozenset[str]
    sums: NDArray[np.int64] | None = None

    def extent(self, object_id: str) -> tuple[int, tuple[float, float]]:
        """How many pixels show an object, and their mean row and column; (0, 0) without any."""
        if self.sums is not None and object_id in self.object_ids:
            sums = self.sums[self.object_ids.index(object_id) + 1]
            pixels, rows, columns = (int(value) for value in sums)
        else:
            places = np.nonzero(self.mask(object_id))
            pixels, rows, columns = len(places[0]), int(places[0].sum()), int(places[1].sum())
        return pixels, (rows / max(pixels, 1), columns / max(pixels, 1))

    def mask(self, object_id: str) -> NDArray[np.bool_]:
        """(300, 300) pixels that show the object; all false if it is not in view."""
        if object_id not in self.object_ids:
            return np.zeros(self.instances.shape, dtype=np.bool_)
        return self.instances == self.object_ids.index(object_id) + 1


@dataclass(frozen=True)
class RenderOptions:
    """What ``frame`` renders.

    ``view_angles`` are (yaw, pitch) offsets in degrees of the five views from the agent's own.
    """

    image_size: int = 300
    instances: bool = True
    depth: bool = False
    view_angles: tuple[tuple[float, float], ...] = field(
        default=((0, 0), (-90, 0), (90, 0), (0, -15), (0, 15))
    )


class Simulator(ABC):
    """A household that an agent can act in.

    A simulator is reset to a ``Scene``, does one action at a time and tells what is seen and true.
    It never raises for an action that cannot be done (that is an ``Outcome``); it raises
    ``SimulatorError`` when it is broken itself.
    """

    #: Backend and version, written into every result, such as ``embedded-1`` or ``thor-5.0.0``.
    label: str

    @abstractmethod
    def reset(self, scene: Scene) -> None:
        """Builds the scene and puts the agent at its start; forgets the episode before."""

    @abstractmethod
    def step(self, action: Action, target: str | None = None) -> Outcome:
        """Does one action on an object id, for Put the receptacle's. Stop does nothing."""

    @abstractmethod
    def frame(self) -> Frame:
        """Renders the five views."""

    @abstractmethod
    def sight(self, about: ObjectClass | None = None) -> Sight:
        """The view that decides what can be interacted with; cached until something changes.

        Args:
            about: the class that matters; of others, what is told may be incomplete.
        """

    @property
    @abstractmethod
    def objects(self) -> Mapping[str, ObjectState]:
        """All objects by id, in a fixed order; cached until something changes."""

    @property
    @abstractmethod
    def version(self) -> int:
        """Grows whenever an object's state may have changed (not when the agent only moves)."""

    @property
    @abstractmethod
    def agent(self) -> AgentPose:
        """The agent's pose."""

    @property
    @abstractmethod
    def held(self) -> str | None:
        """Id of the held object."""

    @abstractmethod
    def reachable(self) -> NDArray[np.float64]:
        """(N, 2) grid points x, z on which the agent can stand, all connected with the start."""

    @abstractmethod
    def teleport(self, pose: AgentPose) -> Outcome:
        """Puts the agent at a pose; for planning. The held object comes along."""

    @abstractmethod
    def close(self) -> None:
        """Frees what the simulator holds; nothing else may be called afterwards."""
