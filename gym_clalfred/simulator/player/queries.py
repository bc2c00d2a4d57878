"""The actions of AI2-THOR that ask rather than do, and those about cameras."""

# ruff: noqa: N803 - parameters have AI2-THOR's names

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from gym_clalfred.rooms import ROOM_NUMBERS, TEST_UNSEEN_NUMBERS
from gym_clalfred.simulator.contract import GRID_METRES, REACH_METRES, Failure, Vector
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import distance_to
from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.metadata import Screen, scene_bounds
from gym_clalfred.simulator.player.pictures import PlayerCamera
from gym_clalfred.simulator.player.refusals import (
    RefusedError,
    missing_arguments,
    refusal,
    wrong_type,
)
from gym_clalfred.simulator.player.walking import reachable_points
from gym_clalfred.simulator.player.world import PlayerWorld

#: From so far away a narrow view is as good as an orthographic one, in metres.
ORTHOGRAPHIC_DISTANCE = 100.0

#: The scenes of generated rooms: AI2-THOR's numbers, then the other rooms that a split uses.
SCENE_NUMBERS = tuple(dict.fromkeys((*ROOM_NUMBERS, *TEST_UNSEEN_NUMBERS)))

#: Headings and horizons that are tried unless a client names others.
ROTATIONS = (0.0, 90.0, 180.0, 270.0)
HORIZONS = (-30.0, 0.0, 30.0, 60.0)

Values = dict[str, Any]


class Queries:
    """Actions that leave the household as it is."""

    screen: Screen

    def __init__(self, world: PlayerWorld, numbers: Sequence[int]) -> None:
        self.world = world
        self.grid = GRID_METRES
        self.numbers = numbers
        self.map_view = False
        #: The last question for poses that a way was asked for, and its answer.
        self._remembered: tuple[Any, list[Values]] = (None, [])

    @action("GetScenesInBuild")
    def scenes(self) -> list[str]:
        """All scenes there are."""
        return [f"FloorPlan{number}_physics" for number in self.numbers]

    @action("GetReachablePositions")
    def reachable(
        self,
        gridSize: float | None = None,
        maxStepCount: int = 10000,
        directionsRelativeAgent: bool = False,
        visualize: bool = False,
        gridColor: Any = None,
    ) -> list[Values]:
        """Points that can be walked to on the grid of ``Initialize``, or on another one."""
        grid = self.grid if gridSize is None else gridSize
        points = reachable_points(self.world, grid, maxStepCount, directionsRelativeAgent)
        return [{"x": x, "y": AGENT_HEIGHT, "z": z} for x, z in points]

    @action("GetInteractablePoses")
    def interactable_poses(
        self,
        objectId: str,
        positions: list | None = None,
        rotations: list | None = None,
        horizons: list | None = None,
        standings: list | None = None,
        maxDistance: float | None = None,
        maxPoses: int = 1 << 30,
    ) -> list[Values]:
        """Poses from which an object is visible."""
        world, thing = self.world, self._thing(objectId)
        reach = world.reach if maxDistance is None else maxDistance
        points = [on_floor("GetInteractablePoses", p) for p in positions or ()]
        for name, angles in (("rotations", rotations), ("horizons", horizons)):
            if not all(isinstance(angle, (int, float)) for angle in angles or ()):
                raise wrong_type("GetInteractablePoses", name, angles, "float[]")
        near = [
            (x, z) for x, z in points or world.free_points() if distance_to(thing, x, z) <= reach
        ]
        here, crouching = world.agent, world.crouching
        found: list[Values] = []
        try:
            for (x, z), yaw, pitch, standing in itertools.product(
                near, rotations or ROTATIONS, horizons or HORIZONS, standings or (True,)
            ):
                world.crouching = not standing
                if not world.place_agent(x, z, float(yaw), float(pitch)).success:
                    continue
                if objectId in world.sight().visible:
                    pose = {"x": x, "y": AGENT_HEIGHT, "z": z, "rotation": float(yaw)}
                    found.append({**pose, "standing": bool(standing), "horizon": float(pitch)})
                    if len(found) >= maxPoses:
                        break
        finally:
            world.crouching = crouching
            world.place_agent(here.x, here.z, here.yaw, here.pitch)
        return found

    @action("GetSceneBounds")
    def bounds(self) -> Values:
        """The box of the room."""
        return scene_bounds(self.world.household.room)

    @action("GetVisibleObjects")
    def visible_objects(self, maxDistance: float | None = None) -> list[str]:
        """Ids of what the agent sees within a distance; within its reach by default."""
        world = self.world
        reach = world.reach
        try:
            world.set_reach(reach if maxDistance is None else maxDistance)
            return sorted(world.sight().visible)
        finally:
            world.set_reach(reach)

    @action("GetObjectInFrame")
    def object_in_frame(self, x: float, y: float, checkVisible: bool = False) -> str:
        """The object at a point (0 to 1) of the picture."""
        row, column = (min(max(math.floor(value * 300), 0), 299) for value in (y, x))
        found = self.world.look_up_target(row, column)
        if found is None or (checkVisible and found not in self.world.sight().visible):
            raise RefusedError(f"Unable to find an object at ({x}, {y})")
        return found

    @action("GetShortestPathToPoint")
    def path_to_point(
        self,
        target: dict | None = None,
        position: dict | None = None,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        allowedError: float = 0.0,
    ) -> Values:
        """Corners of the shortest walk to a point."""
        goal = target or {"x": x, "z": z}
        if goal.get("x") is None or goal.get("z") is None:
            raise wrong_type("GetShortestPathToPoint", "target", target, "Vector3")
        wanted = (float(goal["x"]), float(goal["z"]))
        nearest, allowed = self._nearest(*wanted), max(allowedError, GRID_METRES)
        if math.dist(nearest, wanted) > allowed:
            raise RefusedError(
                f"Target point {wanted} is not on the floor: the nearest point where an agent can "
                f"stand is {math.dist(nearest, wanted):.2f} m away, more than {allowed:g} m"
            )
        return self._path(position, [nearest])

    @action("GetShortestPath")
    def path_to_object(
        self,
        objectId: str | None = None,
        objectType: str | None = None,
        position: dict | None = None,
        rotation: dict | float | None = None,
        allowedError: float = 0.0,
    ) -> Values:
        """Corners of the shortest walk to within reach of an object; no heading is better."""
        if objectId is None and objectType is None:
            raise missing_arguments("GetShortestPath", ["objectId"])
        things = self._things(objectId, objectType)
        goals = [
            point
            for point in self.world.free_points()
            if any(distance_to(thing, *point) <= REACH_METRES for thing in things)
        ]
        return self._path(position, goals)

    @action("AddThirdPartyCamera")
    def add_camera(
        self,
        position: dict | None = None,
        rotation: dict | None = None,
        fieldOfView: float = 90.0,
        orthographic: bool = False,
        orthographicSize: float | None = None,
        skyboxColor: Any = None,
        nearClippingPlane: Any = None,
        farClippingPlane: Any = None,
        antiAliasing: Any = None,
        agentId: Any = None,
    ) -> None:
        """Adds a camera that stays where it is put."""
        base = PlayerCamera((0.0, 0.0, 0.0), 0.0, 0.0, 90.0)
        size = orthographicSize if orthographic else None
        self.screen.cameras.append(_moved(base, position, rotation, fieldOfView, size))

    @action("UpdateThirdPartyCamera")
    def update_camera(
        self,
        thirdPartyCameraId: int = 0,
        position: dict | None = None,
        rotation: dict | None = None,
        fieldOfView: float | None = None,
        orthographic: bool = False,
        orthographicSize: float | None = None,
        skyboxColor: Any = None,
        nearClippingPlane: Any = None,
        farClippingPlane: Any = None,
        antiAliasing: Any = None,
        agentId: Any = None,
    ) -> None:
        """Moves a camera."""
        cameras = self.screen.cameras
        if not 0 <= thirdPartyCameraId < len(cameras):
            raise RefusedError(
                f"The camera id must be in [0, {len(cameras)}), got {thirdPartyCameraId}",
                "InvalidArgument",
            )
        camera = cameras[thirdPartyCameraId]
        size = orthographicSize if orthographic else None
        cameras[thirdPartyCameraId] = _moved(camera, position, rotation, fieldOfView, size)

    @action("GetMapViewCameraProperties")
    def map_camera(self) -> Values:
        """A camera that sees the whole room from above."""
        room = self.world.household.room
        x0, z0 = min(r.x0 for r in room.floor), min(r.z0 for r in room.floor)
        x1, z1 = max(r.x1 for r in room.floor), max(r.z1 for r in room.floor)
        return {
            "position": {"x": (x0 + x1) / 2, "y": room.height - 0.01, "z": (z0 + z1) / 2},
            "rotation": {"x": 90.0, "y": 0.0, "z": 0.0},
            "orthographicSize": max(x1 - x0, z1 - z0) / 2,
            "orthographic": True,
        }

    @action("ToggleMapView")
    def toggle_map(self) -> None:
        """Shows the room from above instead of what the agent sees, or ends that."""
        self.map_view = not self.map_view

    def main_camera(self) -> PlayerCamera:
        """The camera whose picture is the agent's."""
        if not self.map_view:
            return self.world.camera()
        seen = self.map_camera()
        base = PlayerCamera((0.0, 0.0, 0.0), 0.0, 0.0, 90.0)
        return _moved(base, seen["position"], seen["rotation"], None, seen["orthographicSize"])

    def _thing(self, object_id: str) -> Thing:
        thing = self.world.household.get(object_id)
        if thing is None:
            raise refusal(Failure.UNKNOWN_TARGET, object_id)
        return thing

    def _things(self, object_id: str | None, object_type: str | None) -> list[Thing]:
        """The object with an id, or all of a type."""
        things = [
            thing
            for thing in self.world.household.things
            if thing.alive and (thing.id == object_id or thing.object_class.name == object_type)
        ]
        if not things:
            raise RefusedError(f"No object {object_id or object_type} in scene.")
        return things

    def _visible_or_forced(self, object_id: str, forced: bool) -> None:
        if not forced and object_id not in self.world.sight().visible:
            raise refusal(Failure.NOT_VISIBLE, object_id)

    def _nearest(self, x: float, z: float) -> tuple[float, float]:
        return min(self.world.free_points(), key=lambda p: math.dist(p, (x, z)))

    def _path(self, start: Values | None, goals: list[tuple[float, float]]) -> Values:
        agent = self.world.agent
        at = (agent.x, agent.z) if start is None else on_floor("GetShortestPath", start)
        points = set(self.world.free_points())
        first = self._nearest(*at)
        parents: dict[tuple[float, float], tuple[float, float] | None] = {first: None}
        waiting = deque([first])
        wanted = set(goals)
        while waiting:
            x, z = here = waiting.popleft()
            if here in wanted:
                return {"corners": _corner_points(_trace(here, parents))}
            for dx, dz in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                following = (x + dx * GRID_METRES, z + dz * GRID_METRES)
                if following in points and following not in parents:
                    parents[following] = here
                    waiting.append(following)
        raise RefusedError("Path to target could not be found")


def on_floor(action: str, position: Any) -> tuple[float, float]:
    """The point below a position."""
    parts: list[Any] = [position.get(k) if isinstance(position, dict) else None for k in "xz"]
    if not all(isinstance(part, (int, float)) for part in parts):
        raise wrong_type(action, "position", position, "Vector3")
    return float(parts[0]), float(parts[1])


def _trace(
    end: tuple[float, float], parents: dict[tuple[float, float], tuple[float, float] | None]
) -> list[tuple[float, float]]:
    path = [end]
    while (before := parents[path[-1]]) is not None:
        path.append(before)
    return path[::-1]


def _corner_points(path: list[tuple[float, float]]) -> list[Values]:
    """Both ends of a path and where it turns."""
    kept = []
    for k, (x, z) in enumerate(path):
        if 0 < k < len(path) - 1:
            before, after = path[k - 1], path[k + 1]
            if (x - before[0], z - before[1]) == (after[0] - x, after[1] - z):
                continue
        kept.append({"x": x, "y": 0.0, "z": z})
    return kept


def _moved(
    camera: PlayerCamera,
    position: Values | None,
    rotation: Values | None,
    field_of_view: float | None,
    orthographic_size: float | None,
) -> PlayerCamera:
    """A camera elsewhere; what is not given stays."""
    x, y, z = camera.position
    place = position or {}
    at: Vector = (
        float(place.get("x", x)),
        float(place.get("y", y)),
        float(place.get("z", z)),
    )
    turned = rotation or {}
    yaw, pitch = float(turned.get("y", camera.yaw)), float(turned.get("x", camera.pitch))
    view = camera.field_of_view if field_of_view is None else field_of_view
    if orthographic_size is not None and orthographic_size <= 0:
        raise RefusedError(
            f"orthographicSize must be positive, got {orthographic_size}", "InvalidArgument"
        )
    if not 0 < view < 180:
        raise RefusedError("fov must be set to (0, 180) noninclusive.", "InvalidArgument")
    if orthographic_size is not None:
        back, slope = ORTHOGRAPHIC_DISTANCE, math.radians(pitch)
        level = math.cos(slope) * back
        turn = math.radians(yaw)
        at = (
            at[0] - math.sin(turn) * level,
            at[1] + math.sin(slope) * back,
            at[2] - math.cos(turn) * level,
        )
        view = 2 * math.degrees(math.atan(orthographic_size / back))
    return PlayerCamera(at, yaw, pitch, view)
