"""What AI2-THOR says of a scene after every action."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import (
    MOVABLE_RECEPTACLES,
    OPENABLE,
    PICKUPABLE,
    RECEPTACLES,
    SLICEABLE,
    TOGGLEABLE,
    ObjectClass,
)
from gym_clalfred.simulator.contract import CAMERA_ABOVE_AGENT, AgentPose, Vector
from gym_clalfred.simulator.embedded.placement import extents, sine_cosine, turn
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Room
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import eye_of
from gym_clalfred.simulator.player import traits
from gym_clalfred.simulator.player.colours import Palette
from gym_clalfred.simulator.player.encoding import Chunks, EncodedTable, Encoder, Entries
from gym_clalfred.simulator.player.pictures import PlayerCamera
from gym_clalfred.simulator.player.world import PlayerWorld


@dataclass
class ActionResult:
    """How the last action went.

    Args:
        action: its name.
        success: whether it was done.
        message: why not.
        code: AI2-THOR's name of the kind of error.
        value: what it gives back.
        sequence: number of the request.
    """

    action: str = "Initialize"
    success: bool = True
    message: str = ""
    code: str = ""
    value: Any = None
    sequence: int = 0


@dataclass
class Screen:
    """What is rendered at what size, and the third-party cameras."""

    width: int = 300
    height: int = 300
    depth: bool = False
    instances: bool = False
    classes: bool = False
    cameras: list[PlayerCamera] = field(default_factory=list)


#: Keys that AI2-THOR's metadata always has and that say nothing here.
_UNUSED = (
    "actionFloatReturn",
    "actionFloatsReturn",
    "actionIntReturn",
    "actionStringsReturn",
    "actionVector3sReturn",
    "distances",
    "flatSurfacesOnGrid",
    "mapProperties",
    "normals",
    "visibleRange",
)


class Reporter:
    """Writes metadata; what did not change since it was last written is used again.

    Args:
        world: what to report on.
        encoder: of the protocol.
        legacy: whether to speak as 2.1.0 does.
    """

    def __init__(self, world: PlayerWorld, encoder: Encoder, legacy: bool) -> None:
        self._world = world
        self._encoder = encoder
        self._legacy = legacy
        self.depth_format = "Meters"
        self._household: object = None
        self._rows: dict[int, tuple[object, bytes]] = {}
        self._table: tuple[object, EncodedTable, NDArray[np.float64], NDArray[np.intp]] | None = (
            None
        )
        self._palette: tuple[int, Palette, Entries] | None = None
        self._bounds: Entries | None = None

    def palette(self) -> Palette:
        """The colours of the present objects."""
        return self._colours()[0]

    def write(
        self, screen: Screen, result: ActionResult, extra: dict[str, Any], shown: bool
    ) -> bytes:
        """The metadata message after an action.

        Args:
            screen: sizes and cameras.
            result: of the action.
            extra: further entries of the agent's part.
            shown: whether pictures come with it; Unity names colours only then.
        """
        encoder = self._encoder
        if self._household is not self._world.household:
            self._household = self._world.household
            self._rows.clear()
            self._table = self._palette = self._bounds = None
        cameras = [_camera_entry(k, camera) for k, camera in enumerate(screen.cameras)]
        parts = [
            encoder.entries(self._agent_entries(screen, result, cameras)),
            encoder.written("objects", self._write_objects()),
            self._scene_entries(),
            encoder.entries(extra),
        ]
        # 2.1.0 does not name colours for pictures of classes alone.
        if shown and (screen.instances or (screen.classes and not self._legacy)):
            parts.append(self._colours()[1])
        else:
            parts.append(encoder.entries({"colors": None}))
        agents = encoder.written("agents", encoder.array_of_one(encoder.map(parts)))
        envelope = {
            "thirdPartyCameras": cameras,
            "activeAgentId": 0,
            "sequenceId": result.sequence,
        }
        return b"".join(encoder.map([agents, encoder.entries(envelope)]))

    def _write_objects(self) -> Chunks:
        world = self._world
        household, agent = world.household, world.agent
        held = household.held
        # What is held moves with the agent.
        state = (household.version, None if held is None else agent, world.listed)
        if self._table is None or self._table[0] != state:
            listed = world.listed
            chosen = [t.index for t in household.things if listed is None or t.id in listed]
            indices = np.array(chosen, dtype=np.intp)
            self._table = (state, self._tabulate(chosen), self._places(), indices)
        _, table, places, indices = self._table
        seen = np.zeros(len(places), dtype=np.bool_)
        for thing in map(household.get, world.sight().visible):
            assert thing is not None
            seen[thing.index] = True
        if held is not None and world.sees_hand():
            for thing in held.tree():
                seen[thing.index] = True
        offsets = places - (agent.x, AGENT_HEIGHT, agent.z)
        return table.fill(seen[indices], np.sqrt((offsets * offsets).sum(axis=1))[indices])

    def _places(self) -> NDArray[np.float64]:
        """(N, 3) origins of all objects ever, by index."""
        household = self._world.household
        places = [thing.position for thing in household.things]
        held = household.held
        for thing in () if held is None else held.tree():
            assert held is not None
            places[thing.index] = _in_hand(self._world, held, thing)[0]
        return np.array(places, dtype=np.float64)

    def _tabulate(self, chosen: Sequence[int]) -> EncodedTable:
        """The table of some objects; those that did not change are not written again."""
        household, encoder = self._world.household, self._encoder
        held = household.held
        carried = set() if held is None else {thing.index for thing in held.tree()}
        rows = []
        for index in chosen:
            thing = household.things[index]
            state: object = thing.describe() if thing.alive else thing
            known = self._rows.get(index)
            if index in carried:
                row = encoder.row(self._describe(thing))
                self._rows.pop(index, None)
            elif known is not None and known[0] is state:
                row = known[1]
            else:
                row = encoder.row(self._describe(thing))
                self._rows[index] = (state, row)
            rows.append(row)
        return encoder.table(rows)

    def _describe(self, thing: Thing) -> dict[str, Any]:
        world, kind = self._world, thing.object_class
        held = world.household.held
        position, yaw = thing.position, thing.yaw
        is_held = thing is held
        if held is not None and thing in held.tree():
            position, yaw = _in_hand(world, held, thing)
        contents = [each.id for each in thing.tree() if each is not thing]
        parents = [holder.id for holder in thing.holders()]
        holds = kind in RECEPTACLES
        condition = world.condition(thing)
        warmth = "Hot" if thing.heated else "Cold" if thing.cooled else "RoomTemp"
        entries: dict[str, Any] = {
            "name": world.name_of(thing),
            "position": _vector(position),
            "rotation": _vector((0.0, yaw, 0.0)),
            "obstructed": False,
            "receptacle": holds,
            "toggleable": kind in TOGGLEABLE,
            "isToggled": thing.is_on,
            "breakable": kind in traits.BREAKABLE and not condition.is_unbreakable,
            "isBroken": condition.is_broken,
            "canFillWithLiquid": kind in traits.FILLABLE,
            "isFilledWithLiquid": condition.liquid is not None,
            "fillLiquid": condition.liquid,
            "dirtyable": kind in traits.DIRTYABLE or thing.is_dirty,
            "isDirty": thing.is_dirty,
            "canBeUsedUp": kind in traits.USED_UP,
            "isUsedUp": condition.is_used_up,
            "cookable": kind in traits.COOKABLE,
            "isCooked": condition.is_cooked or (thing.heated and kind in traits.COOKABLE),
            "temperature": warmth,
            "isHeatSource": kind in traits.HEAT_SOURCES,
            "isColdSource": kind in traits.COLD_SOURCES,
            "sliceable": kind in SLICEABLE,
            "isSliced": not thing.alive,
            "openable": kind in OPENABLE,
            "isOpen": thing.is_open,
            "openness": condition.openness if thing.is_open else 0.0,
            "pickupable": kind in PICKUPABLE,
            "isPickedUp": is_held,
            "moveable": kind in traits.MOVEABLE,
            "mass": traits.mass_of(kind, thing.size),
            "salientMaterials": list(traits.MATERIALS.get(kind, ())) or None,
            "receptacleObjectIds": contents if holds else None,
            "objectType": kind.name,
            "objectId": thing.id,
            "assetId": f"{kind.name}_{thing.style % 1000}",
            "parentReceptacles": parents or None,
            "controlledObjects": self._controlled(thing),
            "isMoving": False,
            "axisAlignedBoundingBox": _aligned_box(position, thing.box, yaw),
            "objectOrientedBoundingBox": None,
        }
        if kind in PICKUPABLE:
            corners = _corners(position, thing.box, yaw)
            entries["objectOrientedBoundingBox"] = {"cornerPoints": corners}
        if self._legacy:
            entries.update(_legacy_entries(thing, warmth, parents, contents, position, yaw))
        return entries

    def _controlled(self, thing: Thing) -> list[str] | None:
        if thing.object_class is not ObjectClass.StoveKnob:
            return None
        burner = self._world.household._burners.get(thing.index)
        return None if burner is None else [burner.id]

    def _agent_entries(
        self, screen: Screen, result: ActionResult, cameras: list[dict[str, Any]]
    ) -> dict[str, Any]:
        world = self._world
        agent = world.agent
        held = world.household.held
        hand = world.hand()
        pose = None
        if hand is not None:
            place, turned = _from_camera(agent, *hand)
            pose = {
                "localPosition": _vector(place),
                "localRotation": _vector(turned),
                "position": _vector(hand[0]),
                "rotation": _vector((0.0, hand[1] % 360.0, 0.0)),
            }
        inventory = [] if held is None else [_inventory_entry(held)]
        at = (agent.x, AGENT_HEIGHT, agent.z)
        return {
            "agent": {
                "name": "agent",
                "position": _vector(at),
                "rotation": _vector((0.0, float(agent.yaw), 0.0)),
                "cameraHorizon": float(agent.pitch),
                "isStanding": not world.crouching,
                "inHighFrictionArea": False,
            },
            "agentId": 0,
            "cameraPosition": _vector((agent.x, agent.y + CAMERA_ABOVE_AGENT, agent.z)),
            "cameraOrthSize": -1.0,
            "fov": world.field_of_view,
            "thirdPartyCameras": cameras,
            "heldObjectPose": pose,
            "hand": pose,
            "arm": None,
            "inventoryObjects": inventory,
            "collided": result.code == "" and not result.success and "blocking" in result.message,
            "collidedObjects": [],
            "screenWidth": screen.width,
            "screenHeight": screen.height,
            "depthFormat": self.depth_format,
            "isSceneAtRest": True,
            "lastAction": result.action,
            "lastActionSuccess": result.success,
            "errorMessage": result.message,
            "errorCode": result.code,
            "actionReturn": result.value,
            **dict.fromkeys(_UNUSED),
            "currentTime": 0.0,
            "updateCount": 0,
        }

    def _scene_entries(self) -> Entries:
        if self._bounds is None:
            room = self._world.household.room
            self._bounds = self._encoder.entries(
                {
                    "sceneName": f"FloorPlan{room.number}_physics",
                    "sceneBounds": scene_bounds(room),
                    "isOpenableGrid": None,
                    "segmentedObjectIds": None,
                    "objectIdsInBox": None,
                }
            )
        return self._bounds

    def _colours(self) -> tuple[Palette, Entries]:
        things = self._world.household.things
        if self._palette is None or self._palette[0] != len(things):
            palette = Palette(things)
            entries = self._encoder.entries({"colors": palette.colours})
            self._palette = (len(things), palette, entries)
        return self._palette[1:]


def scene_bounds(room: Room) -> dict[str, Any]:
    """The box of a whole room."""
    x0, z0 = min(r.x0 for r in room.floor), min(r.z0 for r in room.floor)
    x1, z1 = max(r.x1 for r in room.floor), max(r.z1 for r in room.floor)
    centre = ((x0 + x1) / 2, 0.0, (z0 + z1) / 2)
    return _aligned_box(centre, (x1 - x0, room.height, z1 - z0), 0.0)


def _in_hand(world: PlayerWorld, held: Thing, thing: Thing) -> tuple[Vector, float]:
    hand = world.hand()
    assert hand is not None
    (x, y, z), yaw = hand
    dx, dz = turn(*held.local(thing.position[0], thing.position[2]), yaw)
    at = (x + dx, y + thing.position[1] - held.position[1], z + dz)
    return at, (yaw + thing.yaw - held.yaw) % 360.0


def _from_camera(agent: AgentPose, at: Vector, yaw: float) -> tuple[Vector, Vector]:
    """An upright object's place and Euler angles (Unity's order) as the agent's camera has them."""
    eye = eye_of(agent)
    x, z = turn(at[0] - eye[0], at[2] - eye[2], -agent.yaw)
    y = at[1] - eye[1]
    sine, cosine = sine_cosine(agent.pitch)
    place = (x, y * cosine + z * sine, z * cosine - y * sine)
    across, along = sine_cosine(yaw - agent.yaw)
    # Rows of the rotation by the yaw that is left, seen from a camera that is tilted.
    tilt = math.asin(max(-1.0, min(1.0, -sine * along)))
    heading = math.atan2(across, cosine * along)
    roll = math.atan2(-sine * across, cosine)
    angles = [math.degrees(angle) % 360.0 for angle in (tilt, heading, roll)]
    return place, (angles[0], angles[1], angles[2])


def _inventory_entry(held: Thing) -> dict[str, Any]:
    return {"objectId": held.id, "objectType": held.object_class.name}


def _legacy_entries(
    thing: Thing,
    warmth: str,
    parents: list[str],
    contents: list[str],
    position: Vector,
    yaw: float,
) -> dict[str, Any]:
    """What 2.1.0 says of an object under other names."""
    return {
        "ObjectTemperature": warmth,
        "cameraHorizon": 0.0,
        "canChangeTempToHot": False,
        "canChangeTempToCold": False,
        "parentReceptacle": None,
        "parentReceptacles": parents,
        "receptacleObjectIds": contents,
        "receptacleCount": 0,
        "isGrabbed": False,
        "isopen": thing.is_open,
        "pivotSimObjs": [],
        "bounds3D": [],
        "objectBounds": {"objectBoundsCorners": _corner_maps(position, thing.box, yaw)},
        "moveable": thing.object_class in traits.MOVEABLE | MOVABLE_RECEPTACLES,
    }


def _camera_entry(number: int, camera: PlayerCamera) -> dict[str, Any]:
    return {
        "thirdPartyCameraId": number,
        "position": _vector(camera.position),
        "rotation": _vector((camera.pitch, camera.yaw, 0.0)),
        "fieldOfView": camera.field_of_view,
    }


def _vector(values: Vector) -> dict[str, float]:
    return {"x": float(values[0]), "y": float(values[1]), "z": float(values[2])}


def _corners(position: Vector, size: Vector, yaw: float) -> list[list[float]]:
    """Eight corners of a turned box that stands on a position."""
    corners = []
    for sx, sy, sz in itertools.product((0.5, -0.5), (0.0, 1.0), (0.5, -0.5)):
        x, z = turn(sx * size[0], sz * size[2], yaw)
        corners.append([position[0] + x, position[1] + sy * size[1], position[2] + z])
    return corners


def _corner_maps(position: Vector, size: Vector, yaw: float) -> list[dict[str, float]]:
    return [_vector((x, y, z)) for x, y, z in _corners(position, size, yaw)]


def _aligned_box(position: Vector, size: Vector, yaw: float) -> dict[str, Any]:
    width, depth = extents(size, yaw)
    box = (width, size[1], depth)
    centre = (position[0], position[1] + size[1] / 2, position[2])
    return {
        "cornerPoints": _corners(position, box, 0.0),
        "center": _vector(centre),
        "size": _vector(box),
    }
