"""The actions of AI2-THOR that the household can do."""

# ruff: noqa: N803, N806 - parameters have AI2-THOR's names

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import PICKUPABLE, RECEPTACLES, TOGGLEABLE, ObjectClass
from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.contract import PITCH_RANGE, SIGHT_PIXELS, Failure, ObjectPose
from gym_clalfred.simulator.embedded.generator.arrange import ArrangementError, arrange
from gym_clalfred.simulator.embedded.room import AGENT_HEIGHT
from gym_clalfred.simulator.player import traits
from gym_clalfred.simulator.player.conditions import Conditions
from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.metadata import Screen
from gym_clalfred.simulator.player.refusals import (
    RefusedError,
    missing_arguments,
    refusal,
    unsupported,
    wrong_type,
)
from gym_clalfred.simulator.player.world import World

NEAR_PLANE, FAR_PLANE = 0.1, 20.0

#: Fields of view at the start: of AI2-THOR today and of 2.1.0.
FIELD_OF_VIEW, LEGACY_FIELD_OF_VIEW = 90.0, 60.0

#: What an agent that stands on the floor may say its height is, in metres.
HEIGHT_TOLERANCE = 0.3

Values = dict[str, Any]


class Actions(Conditions):
    """What a client may ask for; every method marked with ``action`` gives ``actionReturn``.

    Args:
        world: the household.
        screen: what is rendered.
        legacy: whether the client is AI2-THOR 2.1.0.
        numbers: the scenes there are.
    """

    def __init__(
        self,
        world: World,
        screen: Screen,
        legacy: bool,
        numbers: Sequence[int] = ROOM_NUMBERS,
    ) -> None:
        super().__init__(world, numbers)
        self.screen = screen
        self.legacy = legacy
        self.grid = 0.25
        self.turn_degrees = 90.0
        self.fast = False

    @action("Reset")
    def reset(self, sceneName: str) -> None:
        """Loads a scene."""
        number = sceneName.removesuffix("_physics").removeprefix("FloorPlan")
        if not number.isdecimal() or int(number) not in self.numbers:
            raise RefusedError(
                f"Scene '{sceneName}' doesn't exist in this build", "InvalidArgument"
            )
        world, screen = self.world, self.screen
        world.crouching = self.map_view = False
        world.reach = 1.5
        world.enter(int(number))
        world.look_with(LEGACY_FIELD_OF_VIEW if self.legacy else FIELD_OF_VIEW)
        screen.cameras.clear()
        screen.depth = screen.instances = screen.classes = False

    @action("Initialize")
    def initialize(
        self,
        gridSize: float = 0.25,
        visibilityDistance: float = 1.5,
        fieldOfView: float | None = None,
        rotateStepDegrees: float = 90.0,
        agentMode: str = "default",
        agentCount: int = 1,
        fastActionEmit: bool = False,
        **rest: Any,
    ) -> Values:
        """Sets up the agent and what is rendered; other parameters do not matter here."""
        if agentMode != "default" or agentCount != 1:
            raise RefusedError("clalfred-player has one agent, of agentMode 'default'")
        if gridSize <= 0:
            raise RefusedError(f"grid size must be positive, got {gridSize}")
        if fieldOfView is not None and not 0 < fieldOfView < 180:
            raise RefusedError("fov must be set to (0, 180) noninclusive.")
        self.grid, self.turn_degrees, self.fast = gridSize, rotateStepDegrees, fastActionEmit
        self.world.reach = visibilityDistance
        default = LEGACY_FIELD_OF_VIEW if self.legacy else FIELD_OF_VIEW
        self.world.look_with(default if fieldOfView is None else fieldOfView)
        screen = self.screen
        screen.depth = bool(rest.get("renderDepthImage"))
        screen.instances = _any(rest, "renderInstanceSegmentation", "renderObjectImage")
        screen.classes = _any(rest, "renderSemanticSegmentation", "renderClassImage")
        return {"cameraNearPlane": NEAR_PLANE, "cameraFarPlane": FAR_PLANE}

    @action("ChangeResolution")
    def change_resolution(self, x: float, y: float) -> None:
        """Changes the size of the pictures."""
        if not (1 <= x <= 4096 and 1 <= y <= 4096):
            raise RefusedError(f"resolution {x} x {y} is out of range")
        self.screen.width, self.screen.height = int(x), int(y)

    @action("ChangeQuality")
    def change_quality(self, quality: str) -> None:
        """There is only one quality."""

    @action("Pass", "Done", "Noop", "PausePhysicsAutoSim", "UnpausePhysicsAutoSim")
    def do_nothing(self) -> None:
        """Nothing moves by itself here."""

    @action("AdvancePhysicsStep")
    def advance(self, timeStep: float = 0.02) -> None:
        """Nothing moves by itself here."""

    @action("MoveAhead", "MoveBack", "MoveLeft", "MoveRight")
    def move(
        self,
        action: str,
        moveMagnitude: float | None = None,
        noise: float = 0.0,
        forceAction: bool = False,
        allowAgentsToIntersect: bool = False,
    ) -> None:
        """Moves the agent relative to its heading."""
        amount = moveMagnitude or self.grid
        ahead = {"MoveAhead": amount, "MoveBack": -amount}.get(action, 0.0)
        right = {"MoveRight": amount, "MoveLeft": -amount}.get(action, 0.0)
        _check(self.world.move(ahead, right).failure)

    @action("RotateLeft", "RotateRight")
    def rotate(
        self,
        action: str,
        degrees: float | None = None,
        forceAction: bool = False,
        rotation: dict | float | None = None,
    ) -> None:
        """Turns the agent."""
        amount = self.turn_degrees if degrees is None else degrees
        pose = self.world.agent
        self.world.turn_to(pose.yaw + (amount if action == "RotateRight" else -amount), pose.pitch)

    @action("Rotate", "RotateLook")
    def rotate_to(self, rotation: dict | float, horizon: float | None = None) -> None:
        """Turns the agent to a heading."""
        pitch = self.world.agent.pitch if horizon is None else horizon
        self.world.turn_to(_yaw(rotation), pitch)

    @action("LookUp", "LookDown")
    def look(self, action: str, degrees: float = 30.0, forceAction: bool = False) -> None:
        """Tilts the camera."""
        pose = self.world.agent
        pitch = pose.pitch + (degrees if action == "LookDown" else -degrees)
        low, high = PITCH_RANGE
        if pitch < low - 1e-3:
            raise RefusedError(
                f"can't look up beyond {-low} degrees above the forward horizon",
                "LookUpCantExceedMax",
            )
        if pitch > high + 1e-3:
            raise RefusedError(
                f"can't look down beyond {high} degrees below the forward horizon",
                "LookDownCantExceedMin",
            )
        self.world.turn_to(pose.yaw, pitch)

    @action("Crouch", "Stand")
    def crouch(self, action: str) -> None:
        """Lowers or raises the camera."""
        crouching = action == "Crouch"
        if self.world.crouching is crouching:
            raise RefusedError(f"Already {'crouching' if crouching else 'standing'}")
        self.world.crouching = crouching
        self.world.turn_to(self.world.agent.yaw, self.world.agent.pitch)

    @action("Teleport", "TeleportFull")
    def teleport(
        self,
        action: str,
        position: dict | None = None,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        rotation: dict | float | None = None,
        horizon: float | None = None,
        standing: bool | None = None,
        forceAction: bool = False,
        rotateOnTeleport: bool = False,
    ) -> None:
        """Puts the agent somewhere; ``TeleportFull`` wants everything said."""
        at: Values = position if position is not None else {"x": x, "y": y, "z": z}
        if action == "TeleportFull":
            needed = {"position": at.get("x"), "rotation": rotation, "horizon": horizon}
            if not self.legacy:
                needed["standing"] = standing
            missing = [name for name, value in needed.items() if value is None]
            if missing:
                raise missing_arguments(action, missing)
        pose = self.world.agent
        height = AGENT_HEIGHT if at.get("y") is None else float(at["y"])
        if abs(height - AGENT_HEIGHT) > HEIGHT_TOLERANCE and not forceAction:
            raise RefusedError(f"{action} target y value is not on the floor: {height}")
        pitch = float(pose.pitch if horizon is None else horizon)
        low, high = PITCH_RANGE
        if not self.legacy and not low - 1e-3 <= pitch <= high + 1e-3:
            raise RefusedError(f"Each horizon must be in [{low}:{high}]. You gave {pitch}.")
        yaw = float(pose.yaw) if rotation is None else _yaw(rotation)
        place = [pose.x if at.get("x") is None else float(at["x"])]
        place.append(pose.z if at.get("z") is None else float(at["z"]))
        _check(self.world.place_agent(place[0], place[1], yaw, pitch).failure)
        if standing is not None:
            self.world.crouching = not standing

    @action(
        "PickupObject",
        "OpenObject",
        "CloseObject",
        "ToggleObjectOn",
        "ToggleObjectOff",
        "SliceObject",
    )
    def interact(
        self,
        action: str,
        objectId: str | None = None,
        x: float | None = None,
        y: float | None = None,
        forceAction: bool = False,
        openness: float | None = None,
        moveMagnitude: float | None = None,
        forceVisible: bool = False,
    ) -> None:
        """Acts on an object named by its id or by a point (0 to 1) of the picture."""
        if openness is not None and not 0.0 <= openness <= 1.0:
            raise RefusedError("openness must be in [0:1]", "InvalidArgument")
        target = self._target(action, objectId, x, y)
        if action == "OpenObject" and openness == 0.0:
            action = "CloseObject"
        force = forceAction or forceVisible
        if action == "OpenObject":
            self._open(target, 1.0 if openness is None else openness, force)
        else:
            self._act(Action[action], target, force)

    @action("PutObject")
    def put(
        self,
        objectId: str | None = None,
        receptacleObjectId: str | None = None,
        x: float | None = None,
        y: float | None = None,
        forceAction: bool = False,
        placeStationary: bool = True,
        putNearXY: bool = False,
        randomSeed: int = 0,
        maxDistance: float | None = None,
    ) -> None:
        """Puts the held object in or on a receptacle; 2.1.0 names the held object too."""
        if receptacleObjectId is not None and objectId is not None:
            held = self.world.held
            if held is None:
                raise refusal(Failure.HANDS_EMPTY)
            if held != objectId:
                raise RefusedError(f"{objectId} is not in hand", "ObjectNotInInventory")
            objectId = receptacleObjectId
        self._act(Action.PutObject, self._target("PutObject", objectId, x, y), forceAction)

    @action("DropHandObject", "DropHeldObject")
    def drop(self, forceAction: bool = False, autoSimulation: bool = True) -> None:
        """Lets go of the held object, onto what is in front of the agent."""
        world = self.world
        if world.held is None:
            raise refusal(Failure.HANDS_EMPTY)
        sight = world.sight()
        seen = [name for name in sight.object_ids if name in sight.visible]
        for name in seen:
            if world.objects[name].object_class not in RECEPTACLES:
                continue
            if world.act(Action.PutObject, name, force=False).success:
                return
        raise RefusedError("no free surface in front of the agent to drop the object on")

    @action("HideObject", "DisableObject", "UnhideObject", "EnableObject")
    def hide(self, action: str, objectId: str) -> None:
        """Leaves an object out of the pictures, or shows it again."""
        if not self.world.hide(objectId, action in ("HideObject", "DisableObject")):
            raise refusal(Failure.UNKNOWN_TARGET, objectId)

    @action("RemoveFromScene")
    def remove(self, objectId: str) -> None:
        """Takes a pickupable object away for good."""
        thing = self._thing(objectId)
        first = len(self.world.household.room.fixtures)
        if thing.index < first or thing.index >= len(self.world.names):
            raise unsupported("RemoveFromScene of furniture")
        kept = [p for p in self.world.item_poses() if p.position != thing.position]
        self.world.arrange(self.world.scene_with(kept))

    @action("SetObjectPoses")
    def set_poses(self, objectPoses: list, placeStationary: bool = True) -> None:
        """Puts exactly these pickupable objects in the room; all others go.

        In 5.0.0 moveable furniture goes too unless it is named; what is named stays where it is.
        """
        if not objectPoses:
            return
        world = self.world
        moveable: set[str] = set()
        if not self.legacy:
            fixtures = world.household.room.fixtures
            moveable = {f.name for f in fixtures if f.object_class in traits.MOVEABLE}
        named = {entry.get("objectName") for entry in objectPoses}
        entries = [entry for entry in objectPoses if entry.get("objectName") not in moveable]
        poses = tuple(map(_object_pose, entries))
        world.gone |= moveable - named
        try:
            world.arrange(world.scene_with(poses))
        except BadInputError as error:
            raise RefusedError(str(error), "InvalidArgument") from None

    @action("SetObjectToggles")
    def set_toggles(self, objectToggles: list) -> None:
        """Switches all objects of some types on or off."""
        wanted = {}
        for entry in objectToggles:
            kind = ObjectClass.__members__.get(str(entry.get("objectType")))
            if kind is None or kind not in TOGGLEABLE:
                raise RefusedError(f"no toggleable object type {entry.get('objectType')!r}")
            wanted[kind] = bool(entry.get("isOn"))
        self.world.scene = replace(self.world.scene, object_toggles=tuple(wanted.items()))
        for thing in self.world.household.things:
            if thing.object_class in wanted:
                self.world.change(thing, is_on=wanted[thing.object_class])

    @action("InitialRandomSpawn", "RandomInitialize")
    def spawn(
        self,
        randomSeed: int = 0,
        forceVisible: bool = False,
        numPlacementAttempts: int = 5,
        placeStationary: bool = True,
        **rest: Any,
    ) -> None:
        """Arranges the pickupable objects at random."""
        room = self.world.household.room
        try:
            poses = arrange(room, np.random.default_rng(randomSeed))
        except ArrangementError as error:
            raise RefusedError(str(error)) from None
        self.world.arrange(self.world.scene_with(poses))

    def _open(self, target: str, openness: float, force: bool) -> None:
        """Opens an object a part of the way; an open one may be opened more or less."""
        world, thing = self.world, self._thing(target)
        condition = world.condition(thing)
        differs = condition.openness != openness
        if thing.is_open and differs:
            self._visible_or_forced(target, force)
        else:
            self._act(Action.OpenObject, target, force)
        if differs:
            world.set_condition(thing, replace(condition, openness=openness))

    def _act(self, what: Action, target: str, force: bool) -> None:
        _check(self.world.act(what, target, force).failure, target)

    def _target(self, name: str, object_id: str | None, x: float | None, y: float | None) -> str:
        if object_id is not None:
            return object_id
        if x is None or y is None:
            raise missing_arguments(name, ["objectId"])
        if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
            raise RefusedError("x and y must be in [0:1]", "InvalidArgument")
        last = SIGHT_PIXELS - 1
        row, column = (math.floor(value * last) for value in (y, x))
        found = self.world.look_up_target(row, column)
        if found is None:
            raise RefusedError(f"no object at ({x}, {y})")
        return found


def _check(failure: Failure | None, target: str = "") -> None:
    if failure is not None:
        raise refusal(failure, target)


def _any(rest: Values, *names: str) -> bool:
    return any(bool(rest.get(name)) for name in names)


def _yaw(rotation: Values | float) -> float:
    return float(rotation.get("y", 0.0) if isinstance(rotation, dict) else rotation)


def _object_pose(entry: Values) -> ObjectPose:
    name = str(entry.get("objectName"))
    kind = ObjectClass.__members__.get(name.split("_")[0])
    if kind is None or kind not in PICKUPABLE:
        raise RefusedError(f"No object of name {name} found in scene.")
    try:
        position, rotation = (
            tuple(float((entry.get(key) or {}).get(axis, 0.0)) for axis in "xyz")
            for key in ("position", "rotation")
        )
    except (TypeError, ValueError, AttributeError):
        raise wrong_type("SetObjectPoses", "objectPoses", entry, "ObjectPose[]") from None
    x, y, z = position
    return ObjectPose(name, (x, y, z), (rotation[0], rotation[1], rotation[2]))
