"""The embedded household as a ``Simulator``: no download, no display, no GPU."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES, Action
from gym_clalfred.errors import BadInputError, UsageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import (
    GRID_METRES,
    PITCH_RANGE,
    SIGHT_PIXELS,
    SUCCESS,
    AgentPose,
    Failure,
    Frame,
    ObjectState,
    Outcome,
    RenderOptions,
    Scene,
    Sight,
    Simulator,
)
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.household import Household, Place
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Room
from gym_clalfred.simulator.embedded.scenery import Scenery
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import (
    MOST_POINTS,
    Observation,
    eye_of,
    gaze_at,
    observe,
    pixels_of,
    points_of,
)

#: Stages kept for rooms used lately, so that going back to one is quick.
KEPT_ROOMS = 6

#: How many places are tried for one that leaves the object in view after Put.
PUT_TRIES = 6

_AHEAD = {0: (0.0, 1.0), 90: (1.0, 0.0), 180: (0.0, -1.0), 270: (-1.0, 0.0)}
_FAILED = {failure: Outcome(failure) for failure in Failure}


class EmbeddedSimulator(Simulator):
    """Rules, rooms and pictures made by this package.

    Args:
        render: what ``frame`` contains.
        rooms: gives the room of a scene number; the same number must give the same room.
    """

    label = "embedded-1"

    def __init__(
        self,
        render: RenderOptions = RenderOptions(),  # noqa: B008 - frozen, so sharing it is safe
        rooms: Callable[[int], Room] = make_room,
    ) -> None:
        self.render = render
        self._rooms = rooms
        self._renderer = Renderer(render.image_size)
        self._eye = Renderer(SIGHT_PIXELS)
        self._sceneries: dict[int, Scenery] = {}
        self._household: Household | None = None
        self._object_ids: tuple[str, ...] = ()
        self._classes = np.zeros(1, dtype=np.uint8)
        self._observation: Observation | None = None
        self._x, self._z, self._yaw, self._pitch = 0.0, 0.0, 0, 0
        self._agent: AgentPose | None = None

    def reset(self, scene: Scene) -> None:
        """Builds the scene and puts the agent at its start."""
        room = self._rooms(scene.number)
        pose = _on_grid(scene.start)
        if (pose.x, pose.z) not in room.walkable:
            raise BadInputError(
                f"the agent cannot start at x {pose.x}, z {pose.z} in room {scene.number}: "
                "expected one of the room's walkable grid points"
            )
        household = self._make_household(room, scene)
        self._household, self._walkable = household, room.walkable
        self._stand_at(pose)
        self._scenery = self._scenery_of(room)
        self._scenery.show_all(household.things)
        household.touched.clear()
        self._list_objects()

    def step(self, action: Action, target: str | None = None) -> Outcome:
        """Does one action."""
        if self._household is None:
            raise UsageError("step was called before reset")
        if action == Action.MoveAhead:
            dx, dz = _AHEAD[self._yaw]
            x, z = self._x + dx * GRID_METRES, self._z + dz * GRID_METRES
            if (x, z) not in self._walkable:
                return _FAILED[Failure.BLOCKED]
            self._x, self._z = x, z
        elif action == Action.RotateRight:
            self._yaw = (self._yaw + ROTATE_DEGREES) % 360
        elif action == Action.RotateLeft:
            self._yaw = (self._yaw - ROTATE_DEGREES) % 360
        elif action == Action.LookUp or action == Action.LookDown:
            pitch = self._pitch + (LOOK_DEGREES if action == Action.LookDown else -LOOK_DEGREES)
            if not PITCH_RANGE[0] <= pitch <= PITCH_RANGE[1]:
                return _FAILED[Failure.LOOK_LIMIT]
            self._pitch = pitch
        elif action == Action.Stop:
            return SUCCESS
        else:
            failure = self._interact(Action(action), target)
            return SUCCESS if failure is None else _FAILED[failure]
        self._observation = self._agent = None
        return SUCCESS

    def frame(self) -> Frame:
        """Renders the five views."""
        household = self._living()
        held = household.held
        if held is not None:
            self._scenery.show_hand(held, self.agent)
        options = self.render
        images = self._renderer.render(
            self._scenery.stage,
            eye_of(self.agent),
            _views_from(self._yaw, self._pitch, options.view_angles),
            depth=options.depth,
            instances=options.instances,
            classes_of=self._classes,
        )
        assert images.rgb is not None
        return Frame(
            rgb=images.rgb,
            instances=images.instances,
            classes=images.classes,
            depth=images.depth,
            object_ids=self._object_ids,
        )

    def sight(self, about: ObjectClass | None = None) -> Sight:
        """The view that decides what can be interacted with."""
        return self._observe(about).sight

    @property
    def objects(self) -> Mapping[str, ObjectState]:
        """All objects by id; a held object's position is where it was picked up."""
        return self._living().objects

    @property
    def version(self) -> int:
        """Grows whenever an object's state may have changed."""
        return self._living().version

    @property
    def agent(self) -> AgentPose:
        """The agent's pose."""
        if self._agent is None:
            self._agent = AgentPose(self._x, AGENT_HEIGHT, self._z, self._yaw, self._pitch)
        return self._agent

    @property
    def held(self) -> str | None:
        """Id of the held object."""
        held = self._living().held
        return None if held is None else held.id

    def reachable(self) -> NDArray[np.float64]:
        """(N, 2) grid points x, z that can be walked to, sorted."""
        self._living()
        start = (self._x, self._z)
        found, waiting = {start}, deque([start])
        while waiting:
            x, z = waiting.popleft()
            for dx, dz in _AHEAD.values():
                point = (x + dx * GRID_METRES, z + dz * GRID_METRES)
                if point in self._walkable and point not in found:
                    found.add(point)
                    waiting.append(point)
        return np.array(sorted(found), dtype=np.float64)

    def teleport(self, pose: AgentPose) -> Outcome:
        """Puts the agent at a pose; its height does not matter."""
        self._living()
        pose = _on_grid(pose)
        if (pose.x, pose.z) not in self._walkable:
            return _FAILED[Failure.BLOCKED]
        self._stand_at(pose)
        return SUCCESS

    def close(self) -> None:
        """Frees the stages."""
        self._sceneries.clear()
        self._household = None

    @property
    def household(self) -> Household:
        """The objects themselves, for audits and tests."""
        return self._living()

    def _make_household(self, room: Room, scene: Scene) -> Household:
        return Household(room, scene)

    def _living(self) -> Household:
        if self._household is None:
            raise UsageError("the simulator has no scene: call reset first")
        return self._household

    def _stand_at(self, pose: AgentPose) -> None:
        self._x, self._z, self._yaw, self._pitch = pose.x, pose.z, pose.yaw, pose.pitch
        self._observation = self._agent = None

    def _scenery_of(self, room: Room) -> Scenery:
        scenery = self._sceneries.pop(room.number, None)
        if scenery is None or scenery.room is not room:
            scenery = Scenery(room)
        self._sceneries[room.number] = scenery
        while len(self._sceneries) > KEPT_ROOMS:
            del self._sceneries[next(iter(self._sceneries))]
        return scenery

    def _list_objects(self) -> None:
        things = self._living().things
        self._object_ids = tuple(thing.id for thing in things)
        classes = [ObjectClass.NoObject, *(thing.object_class for thing in things)]
        self._classes = np.array(classes, dtype=np.uint8)

    def _observe(self, about: ObjectClass | None = None) -> Observation:
        if self._observation is None or not self._observation.is_about(about):
            household = self._living()
            look = self._eye.look(
                self._scenery.stage,
                eye_of(self.agent),
                (self._yaw, self._pitch),
                self._classes,
                wanted=about,
                # Only what is held can be put, and only Put asks how far away things are.
                depth=household.held is not None,
            )
            look.instances.flags.writeable = False
            self._observation = observe(
                look.instances,
                look.sums,
                self._object_ids,
                household.things,
                self._x,
                self._z,
                about,
                look.depth,
            )
        return self._observation

    def _sync(self) -> None:
        """Brings the pictures up to date with the household."""
        household = self._living()
        scenery = self._scenery
        scenery.clear_hand()
        held = household.held
        carried = set() if held is None else {thing.index for thing in held.tree()}
        scenery.update(t for t in household.touched.values() if t.index not in carried)
        if held is not None:
            scenery.take_in_hand(held)
        household.touched.clear()
        if len(household.things) != len(self._object_ids):
            self._list_objects()
        self._observation = None

    def _interact(self, action: Action, target: str | None) -> Failure | None:
        household = self._living()
        if target is None:
            return Failure.NO_TARGET
        thing = household.get(target)
        if thing is None:
            return Failure.UNKNOWN_TARGET
        observation = self._observe(thing.object_class)
        if target not in observation.sight.visible:
            return Failure.TOO_FAR if target in observation.in_view else Failure.NOT_VISIBLE
        if action == Action.PutObject:
            return self._put(thing, observation)
        failure = _RULES[action](household, thing)
        if failure is None:
            self._sync()
        return failure

    def _put(self, holder: Thing, observation: Observation) -> Failure | None:
        """Puts the held object down where it stays in view, if there is such a place."""
        household = self._living()
        held, depth = household.held, observation.depth
        if held is None or depth is None:
            return Failure.HANDS_EMPTY
        agent, sight = self.agent, observation.sight
        pixels, centre = sight.extent(holder.id)
        rows, columns = pixels_of(sight.instances, holder.index + 1, max(pixels // MOST_POINTS, 1))
        places = household.places_for_held(
            holder, gaze_at(*centre, agent), points_of(rows, columns, depth, agent)
        )
        if isinstance(places, Failure):
            return places
        for place in places[:PUT_TRIES]:
            self._put_at(holder, place)
            if held.id in self._observe(held.object_class).sight.visible:
                return None
            household.pick_up(held)
        self._put_at(holder, places[0])
        return None

    def _put_at(self, holder: Thing, place: Place) -> None:
        self._living().put_down(holder, place)
        self._sync()


_RULES: dict[Action, Callable[[Household, Thing], Failure | None]] = {
    Action.PickupObject: Household.pick_up,
    Action.OpenObject: lambda household, thing: household.set_open(thing, True),
    Action.CloseObject: lambda household, thing: household.set_open(thing, False),
    Action.ToggleObjectOn: lambda household, thing: household.set_on(thing, True),
    Action.ToggleObjectOff: lambda household, thing: household.set_on(thing, False),
    Action.SliceObject: Household.cut,
}


@lru_cache(maxsize=256)
def _views_from(
    yaw: int, pitch: int, angles: tuple[tuple[float, float], ...]
) -> tuple[tuple[float, float], ...]:
    """(yaw, pitch) of each view of an agent that looks in a direction."""
    return tuple((yaw + aside, pitch + down) for aside, down in angles)


def _on_grid(pose: AgentPose) -> AgentPose:
    """The pose with its point snapped to the grid; raises for angles the agent cannot have."""
    yaw = round(pose.yaw) % 360
    if yaw not in _AHEAD:
        raise BadInputError(f"expected a yaw of 0, 90, 180 or 270 degrees, got {pose.yaw}")
    if not PITCH_RANGE[0] <= pose.pitch <= PITCH_RANGE[1]:
        raise BadInputError(
            f"expected a pitch from {PITCH_RANGE[0]} to {PITCH_RANGE[1]} degrees, got {pose.pitch}"
        )
    x, z = (round(value / GRID_METRES) * GRID_METRES for value in (pose.x, pose.z))
    return AgentPose(x, AGENT_HEIGHT, z, yaw, round(pose.pitch))
