"""The actions of AI2-THOR that the household can do."""

# ruff: noqa: N803, N806 - parameters have AI2-THOR's names

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gym_clalfred.actions import Action
from gym_clalfred.objects import RECEPTACLES
from gym_clalfred.simulator.contract import PITCH_RANGE, SIGHT_PIXELS, Failure
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT
from gym_clalfred.simulator.player.arranging import ArrangementActions
from gym_clalfred.simulator.player.conditions import ConditionActions
from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.finding import PoseActions
from gym_clalfred.simulator.player.metadata import Screen
from gym_clalfred.simulator.player.queries import SCENE_NUMBERS
from gym_clalfred.simulator.player.refusals import (
    RefusedError,
    missing_arguments,
    refusal,
)
from gym_clalfred.simulator.player.showing import DisplayActions
from gym_clalfred.simulator.player.world import PlayerWorld

#: Where what is dropped may come to lie, as shares of the way from the feet to below the hand.
FALLS = (1.0, 0.75, 0.5, 0.25, 0.0)

NEAR_PLANE, FAR_PLANE = 0.1, 20.0

#: Fields of view at the start: of AI2-THOR today and of 2.1.0.
FIELD_OF_VIEW, LEGACY_FIELD_OF_VIEW = 90.0, 60.0

#: A turn is looked at in steps of no more than this for what the held object meets, in degrees.
SWEEP_DEGREES = 15.0

#: What an agent that stands on the floor may say its height is, in metres.
HEIGHT_TOLERANCE = 0.3

Values = dict[str, Any]


class PlayerActions(ArrangementActions, DisplayActions, PoseActions, ConditionActions):
    """What a client may ask for; every method marked with ``action`` gives ``actionReturn``.

    Args:
        world: the household.
        screen: what is rendered.
        legacy: whether the client is AI2-THOR 2.1.0.
        numbers: the scenes there are.
    """

    def __init__(
        self,
        world: PlayerWorld,
        screen: Screen,
        legacy: bool,
        numbers: Sequence[int] = SCENE_NUMBERS,
    ) -> None:
        super().__init__(world, numbers)
        self.screen = screen
        self.legacy = legacy
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
        if visibilityDistance < 0:
            raise RefusedError(f"visibilityDistance must not be negative, got {visibilityDistance}")
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
        outcome = self.world.move(ahead, right, forceAction)
        if outcome.detail:
            raise RefusedError(
                f"{outcome.detail} is blocking Agent 0 from moving with {self._held_name()}."
            )
        _check(outcome.failure)

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
        self._turn(amount if action == "RotateRight" else -amount, None, forceAction)

    @action("Rotate", "RotateLook")
    def rotate_to(
        self, rotation: dict | float, horizon: float | None = None, forceAction: bool = False
    ) -> None:
        """Turns the agent to a heading, the shorter way round."""
        by = (_yaw(rotation) - self.world.agent.yaw + 180.0) % 360.0 - 180.0
        self._turn(by, horizon, forceAction)

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
        if self.legacy or forceAction:
            # Unity's angles are of a full circle: 330 looks up by 30.
            pitch = (pitch + 180.0) % 360.0 - 180.0
        elif not low - 1e-3 <= pitch <= high + 1e-3:
            raise RefusedError(f"Each horizon must be in [{low}:{high}]. You gave {pitch}.")
        yaw = float(pose.yaw) if rotation is None else _yaw(rotation)
        place = [pose.x if at.get("x") is None else float(at["x"])]
        place.append(pose.z if at.get("z") is None else float(at["z"]))
        outcome = self.world.place_agent(place[0], place[1], yaw, pitch, forceAction)
        if outcome.detail:
            raise RefusedError("Cannot teleport due to hand object collision.")
        _check(outcome.failure)
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
        if action == "PickupObject" and self.world.held is not None:
            raise refusal(Failure.HANDS_FULL, self._thing(target).id)
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

    @action("DropHandObject", "DropHeldObject", "DropHeldObjectAhead")
    def drop(
        self,
        forceAction: bool = False,
        autoSimulation: bool = True,
        randomMagnitude: float = 0.0,
        actionSimulationSeconds: float | None = None,
        fixedDeltaTime: float | None = None,
    ) -> None:
        """Lets go of the held object, onto what is in front of the agent or to the floor."""
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
        if not self._to_the_floor(forceAction):
            raise RefusedError("nothing in front of the agent has space for the held object")

    def _to_the_floor(self, force: bool) -> bool:
        """Lets the held object fall, below the hand or nearer to the agent's feet."""
        world, held, hand = self.world, self.world.household.held, self.world.hand()
        assert held is not None
        assert hand is not None
        (x, _, z), yaw = hand
        feet = world.agent
        for share in FALLS:
            at = (feet.x + share * (x - feet.x), 0.0, feet.z + share * (z - feet.z))
            if world.move_thing(held, at, yaw, force and share == FALLS[-1]) is None:
                return True
        return False

    def _turn(self, by: float, horizon: float | None, force: bool) -> None:
        """Turns the agent, if what it holds is not pushed into something on the way."""
        world, pose = self.world, self.world.agent
        pitch = pose.pitch if horizon is None else horizon
        # More than once round meets nothing new.
        part = math.copysign(min(abs(by), 360.0), by)
        steps = max(math.ceil(abs(part) / SWEEP_DEGREES - 1e-3), 1)
        swept = [(pose.x, pose.z, pose.yaw + part * k / steps, pitch) for k in range(1, steps + 1)]
        if by and not force and world.pushes_into(*swept) is not None:
            raise RefusedError(
                f"a held item: {self._held_name()} will collide with something if agent rotates "
                f"{'right' if by > 0 else 'left'} {abs(by):g} degrees"
            )
        world.turn_to(pose.yaw + by, pitch)

    def _held_name(self) -> str:
        held = self.world.household.held
        return "" if held is None else self.world.name_of(held)

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
