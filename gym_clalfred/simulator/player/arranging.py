"""Actions that move, switch or take away objects of the room without the agent's hands."""

# ruff: noqa: N803 - parameters have AI2-THOR's names

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import PICKUPABLE, TOGGLEABLE, ObjectClass
from gym_clalfred.simulator.contract import ObjectPose
from gym_clalfred.simulator.player import traits
from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.keeping import pose_of
from gym_clalfred.simulator.player.naming import unique_names
from gym_clalfred.simulator.player.queries import Queries
from gym_clalfred.simulator.player.refusals import (
    RefusedError,
    invalid_arguments,
    missing_arguments,
    unsupported,
    wrong_type,
)
from gym_clalfred.simulator.player.spawning import Wishes, shuffle

Values = dict[str, Any]


class ArrangementActions(Queries):
    """Where objects are, and what is switched on."""

    legacy: bool

    @action("RemoveFromScene")
    def remove(self, objectId: str) -> None:
        """Takes a pickupable object away for good."""
        thing = self._thing(objectId)
        if thing.fixture is not None:
            raise unsupported("RemoveFromScene of furniture")
        name = self.world.name_of(thing)
        kept = [pose for pose in self.world.item_poses() if pose.name != name]
        self.world.rearrange(kept, held=True, postures=True)

    @action("SetObjectPoses")
    def set_poses(
        self,
        objectPoses: list,
        placeStationary: bool = True,
        enablePhysicsJitter: bool = False,
        forceRigidbodySleep: bool = False,
        skipMoveable: bool = False,
    ) -> None:
        """Puts exactly these pickupable objects in the room, as they are; all others go.

        In 5.0.0 moveable furniture goes too unless it is named or skipped; what is named stays
        where it is. The arguments about physics change nothing.
        """
        if not objectPoses:
            return
        for entry in objectPoses:
            if not isinstance(entry, dict):
                raise wrong_type("SetObjectPoses", "objectPoses", entry, "ObjectPose[]")
        world = self.world
        moveable: dict[str, str] = {}
        if not self.legacy:
            fixtures = world.household.room.fixtures
            pairs = zip(world.names, fixtures)
            moveable = {n: f.name for n, f in pairs if f.object_class in traits.MOVEABLE}
        named = set(moveable) if skipMoveable else {e.get("objectName") for e in objectPoses}
        entries = [entry for entry in objectPoses if entry.get("objectName") not in moveable]
        kept, before = world.keep(), world.gone
        poses = world.meant_by(tuple(map(_object_pose, entries)))
        world.gone = before | {fixture for name, fixture in moveable.items() if name not in named}
        try:
            world.arrange(world.scene_with(poses), kept)
        except BadInputError as error:
            world.gone = before
            raise RefusedError(str(error), "InvalidArgument") from None

    @action("SetObjectToggles")
    def set_toggles(self, objectToggles: list) -> None:
        """Switches all objects of some types on or off."""
        wanted = {}
        for entry in objectToggles:
            if not isinstance(entry, dict):
                raise wrong_type("SetObjectToggles", "objectToggles", entry, "ObjectToggle[]")
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
        action: str,
        randomSeed: int = 0,
        forceVisible: bool = False,
        numPlacementAttempts: int = 5,
        placeStationary: bool = True,
        excludedObjectIds: list | None = None,
        excludedReceptacles: list | None = None,
        numDuplicatesOfType: list | None = None,
        allowMoveable: bool = False,
        allowFloor: bool = False,
        numRepeats: list | None = None,
        minFreePerReceptacleType: list | None = None,
    ) -> Values:
        """Moves the pickupable objects to places chosen at random; ``actionReturn`` names them.

        What finds no new place stays where it is, as in AI2-THOR, and is listed. The last two
        arguments are 2.1.0's.
        """
        old = {"numRepeats": numRepeats, "minFreePerReceptacleType": minFreePerReceptacleType}
        given = [name for name, value in old.items() if value is not None]
        if given and not self.legacy:
            raise invalid_arguments(action, given, _SPAWN_ARGUMENTS, given)
        if allowMoveable or allowFloor:
            raise unsupported(f"{action} with {'allowMoveable' if allowMoveable else 'allowFloor'}")
        if numPlacementAttempts <= 0:
            raise RefusedError("numPlacementAttempts must be a positive integer.")
        for name in excludedObjectIds or ():
            if self.world.household.get(str(name)) is None:
                raise RefusedError(f"Cannot find sim object with id '{name}'")
        wishes = Wishes(
            seed=abs(randomSeed) * 2 + (randomSeed < 0),
            outside=forceVisible,
            attempts=numPlacementAttempts,
            excluded=frozenset(map(str, excludedObjectIds or ())),
            closed_to=frozenset(
                _kind(each, "excludedReceptacles") for each in _all(excludedReceptacles)
            ),
            counts=_counts(action, "numDuplicatesOfType", numDuplicatesOfType or numRepeats),
            free=_counts(action, "minFreePerReceptacleType", minFreePerReceptacleType),
        )
        return self._shuffle(wishes)

    @action("TeleportObject")
    def teleport_object(
        self,
        objectId: str,
        position: dict | None = None,
        rotation: dict | float | None = None,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        forceAction: bool = False,
        allowTeleportOutOfHand: bool = False,
        makeUnbreakable: bool = False,
    ) -> None:
        """Moves a pickupable object, upright, to a place; it keeps its id."""
        world, thing = self.world, self._thing(objectId)
        at: Values = position if position is not None else {"x": x, "y": y, "z": z}
        if any(at.get(axis) is None for axis in "xyz"):
            raise missing_arguments("TeleportObject", ["position"])
        if thing.fixture is not None:
            raise unsupported("TeleportObject of furniture")
        if thing is world.household.held and not allowTeleportOutOfHand:
            raise RefusedError("Cannot teleport object while in hand.")
        place = (float(at["x"]), float(at["y"]), float(at["z"]))
        yaw = thing.yaw
        if isinstance(rotation, dict):
            yaw = float(rotation.get("y", yaw))
        elif rotation is not None:
            yaw = rotation
        hit = world.move_thing(thing, place, yaw, forceAction)
        if hit is not None:
            raise RefusedError(f"{objectId} collides with {hit} at its new position.")
        if makeUnbreakable:
            condition = world.condition(thing)
            world.set_condition(thing, replace(condition, is_unbreakable=True))

    def _shuffle(self, wishes: Wishes) -> Values:
        world = self.world
        names = {thing.index: world.name_of(thing) for thing in world.items()}
        kept = world.keep(held=True)
        moved = shuffle(world.household, wishes)
        for copy, original in moved.copies:
            names[copy.index] = names[original.index]
        household, items = world.household, world.items()
        unique = unique_names([names[thing.index] for thing in items])
        poses = [pose_of(household, thing, name) for thing, name in zip(items, unique)]
        in_hand = household.held
        kept = replace(
            kept,
            things={**kept.things, **dict(zip(unique, items))},
            held=None if in_hand is None else names[in_hand.index],
            postures=True,
        )
        world.arrange(world.scene_with(poses), kept)
        if not moved.placed and moved.left:
            raise RefusedError(f"None of {len(moved.left)} objects found another place.")
        return {
            "moved": sorted(names[thing.index] for thing in moved.placed),
            "notMoved": sorted(names[thing.index] for thing in moved.left),
            "copies": len(moved.copies),
        }


_SPAWN_ARGUMENTS = (
    "randomSeed",
    "forceVisible",
    "placeStationary",
    "numDuplicatesOfType",
    "excludedReceptacles",
    "excludedObjectIds",
    "numPlacementAttempts",
)


def _all(values: list | None) -> list:
    return [] if values is None else values


def _kind(name: object, argument: str) -> ObjectClass:
    kind = ObjectClass.__members__.get(str(name))
    if kind is None:
        raise RefusedError(f"invalid Object Type used in {argument} array: {name}")
    return kind


def _counts(action: str, argument: str, entries: list | None) -> dict[ObjectClass, int]:
    """Numbers by class from entries with ``objectType`` (2.1.0: ``type``) and ``count``."""
    counts = {}
    for entry in _all(entries):
        named = isinstance(entry, Mapping) and (entry.get("objectType") or entry.get("type"))
        count = entry.get("count") if named else None
        if not isinstance(count, int) or count < 0:
            raise wrong_type(action, argument, entry, "ObjectTypeCount[]")
        counts[_kind(named, argument)] = count
    return counts


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
