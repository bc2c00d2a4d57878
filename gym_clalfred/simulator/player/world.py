"""The embedded household with what AI2-THOR allows beyond ALFRED: free poses, cameras, commands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    GRID_METRES,
    REACH_METRES,
    SIGHT_PIXELS,
    SUCCESS,
    AgentPose,
    Failure,
    ObjectPose,
    Outcome,
    RenderOptions,
    Scene,
    Vector,
)
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.holders import Supports, find_holder
from gym_clalfred.simulator.embedded.household import DISHES, Household
from gym_clalfred.simulator.embedded.placement import Spot, sine_cosine
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Room
from gym_clalfred.simulator.embedded.scenery import hand_pose
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import (
    Observation,
    distance_to,
    eye_of,
    observe,
    sum_pixels,
)
from gym_clalfred.simulator.player.holding import WALL, blocks, in_the_way, is_seen
from gym_clalfred.simulator.player.keeping import Kept, KeptHousehold, PoseHistory, pose_of
from gym_clalfred.simulator.player.naming import fixture_names, look_of, slice_name, unique_names
from gym_clalfred.simulator.player.pictures import PlayerCamera, focal_length
from gym_clalfred.simulator.player.traits import ThorCondition

#: Coordinates that differ less are the same grid point.
_CLOSE = 1e-3

_USUAL = ThorCondition()

#: From a scene number and poses to the same poses with their holders, if they were recorded.
Recorded = Callable[[int, tuple[ObjectPose, ...]], tuple[ObjectPose, ...] | None]


def no_recording(number: int, poses: tuple[ObjectPose, ...]) -> None:
    """Of generated rooms: places tell what holds an object."""


class PlayerWorld(EmbeddedSimulator):
    """A room with an agent that may stand and look anywhere.

    Args:
        rooms: gives the room of a scene number.
        recorded: gives the poses of the recorded scene that has just these, with their holders.

    Attributes:
        reach: how far away an object may be and still be ``visible``, in metres.
        crouching: whether the camera is low.
        hidden: ids of objects that are not drawn.
        gone: names of furniture that was taken out of the room.
        masks: plain colours of objects by their ids.
        emphasized: id of the only object that pictures show.
        listed: ids of the objects that the metadata lists; ``None`` for all.
    """

    def __init__(
        self, rooms: Callable[[int], Room] = make_room, recorded: Recorded = no_recording
    ) -> None:
        super().__init__(RenderOptions(image_size=8, instances=False), self._furnished)
        self._whole_rooms, self._recorded = rooms, recorded
        self.gone: frozenset[str] = frozenset()
        self.reach = REACH_METRES
        self.crouching = False
        self.hidden: set[str] = set()
        self._conditions: dict[int, ThorCondition] = {}
        self._kept = Kept()
        self.places = PoseHistory()
        self.masks: dict[str, tuple[int, int, int]] = {}
        self.emphasized: str | None = None
        self.listed: frozenset[str] | None = None
        self.names: list[str] = []
        self.scene = Scene(1, AgentPose(0.0, AGENT_HEIGHT, 0.0, 0, 0))
        self.field_of_view = 60.0

    def enter(self, number: int) -> None:
        """Builds a room as it is by default, with the agent in its middle."""
        self.gone = frozenset()
        x, z = _middle(self._rooms(number).walkable)
        self.arrange(Scene(number, AgentPose(x, AGENT_HEIGHT, z, 0, 0)))
        self._stand(x, z, 0.0, 0.0)

    def arrange(self, scene: Scene, kept: Kept | None = None) -> None:
        """Builds a room anew with other objects in it; the agent stays where it is.

        Args:
            scene: its poses may have the names of copies, which are kept if they are unique.
            kept: what stays true of the objects; nothing by default.
        """
        at = (self._x, self._z, self._yaw, self._pitch)
        room = self._rooms(scene.number)
        poses = scene.object_poses
        if kept is None and not poses:
            poses = room.items
        names = fixture_names(room.fixtures)
        names += unique_names([pose.name for pose in poses], taken=names)
        looks = tuple(replace(pose, name=look_of(pose.name)) for pose in poses)
        before = (self.names, self._kept)
        self.names, self._kept = names, Kept() if kept is None else kept
        try:
            self.reset(replace(scene, object_poses=looks))
        except BadInputError:
            self.names, self._kept = before
            raise
        self.scene = scene
        # A rule of ALFRED's; AI2-THOR itself slices with bare hands.
        self.household.needs_knife = False
        self._carry_over()
        self.places.remember(self.household, dict(enumerate(names)))
        self._stand(*at)

    def meant_by(self, poses: tuple[ObjectPose, ...]) -> tuple[ObjectPose, ...]:
        """Poses that a client names, with what is known of them beyond the names and places."""
        number = self.scene.number
        recorded = self._recorded(number, poses)
        if recorded is not None:
            return recorded
        return tuple(self.places.find(number, pose) for pose in poses)

    def keep(self, held: bool = False, postures: bool = False) -> Kept:
        """What is true of all objects now, for ``arrange``.

        Args:
            held: whether what is held stays in the hand.
            postures: whether what is tipped stays tipped.
        """
        things = {self.name_of(t): t for t in self.household.things if t.alive}
        inverse = {thing.index: name for name, thing in things.items()}
        self.places.remember(self.household, inverse)
        in_hand = self.household.held
        return Kept(
            things,
            {inverse[k]: each for k, each in self._conditions.items() if k in inverse},
            frozenset(name for name, thing in things.items() if thing.id in self.hidden),
            inverse[in_hand.index] if held and in_hand is not None else None,
            postures,
        )

    def _carry_over(self) -> None:
        """Gives the objects of a new household the conditions of those before."""
        self.hidden.clear()
        self.masks.clear()
        self.emphasized = self.listed = None
        self._conditions.clear()
        self._sync()
        for thing in list(self.household.things):
            name = self._kept.name_for(self.names[thing.index])
            if name is None:
                continue
            if name in self._kept.conditions:
                self._conditions[thing.index] = self._kept.conditions[name]
            if name in self._kept.hidden:
                self.hide(thing.id, True)

    def items(self) -> list[Thing]:
        """The pickupable objects there are, pieces too."""
        return [t for t in self.household.things if t.alive and t.fixture is None]

    def item_poses(self) -> list[ObjectPose]:
        """Where the pickupable objects are now, by their names."""
        return [pose_of(self.household, thing, self.name_of(thing)) for thing in self.items()]

    def rearrange(self, poses: Iterable[ObjectPose], **keep: bool) -> None:
        """Builds the room anew with its pickupable objects at these poses, as they are now."""
        self.arrange(self.scene_with(poses), self.keep(**keep))

    def _make_household(self, room: Room, scene: Scene) -> Household:
        return KeptHousehold(room, scene, self.names, self._kept)

    def scene_with(self, poses: Iterable[ObjectPose]) -> Scene:
        """The present scene with its pickupable objects elsewhere."""
        return replace(self.scene, object_poses=tuple(poses))

    def name_of(self, thing: Thing) -> str:
        """AI2-THOR's ``name`` of an object; slices are named after the whole."""
        if thing.index < len(self.names):
            return self.names[thing.index]
        return slice_name(self.name_of(self.household._by_id[thing.id.rsplit("|", 1)[0]]), thing.id)

    @property
    def agent(self) -> AgentPose:
        """The agent's pose as its camera has it: lower while it crouches."""
        height = AGENT_HEIGHT - (CAMERA_ABOVE_AGENT if self.crouching else 0.0)
        return AgentPose(self._x, height, self._z, self._yaw, self._pitch)

    @property
    def stage(self) -> Stage:
        """What can be photographed, the hand included; hidden objects are not in it."""
        held = self.household.held
        if held is not None and held.id not in self.hidden:
            self._scenery.show_hand(held, self.agent)
        else:
            self._scenery.clear_hand()
        return self._scenery.stage

    def camera(self) -> PlayerCamera:
        """The agent's own camera."""
        return PlayerCamera(eye_of(self.agent), self._yaw, self._pitch, self.field_of_view)

    def look_with(self, field_of_view: float) -> None:
        """Gives the agent's camera another field of view."""
        self.field_of_view = field_of_view
        self._eye.focal = focal_length(SIGHT_PIXELS, field_of_view)
        self._observation = None

    def can_stand(self, x: float, z: float) -> bool:
        """Whether the agent fits at a point; between grid points all around must be free."""
        columns, rows = _neighbours(x), _neighbours(z)
        return all((column, row) in self._walkable for column in columns for row in rows)

    def move(self, ahead: float, right: float, force: bool = False) -> Outcome:
        """Moves relative to the agent's heading, stopping at nothing on the way.

        With ``force`` also if the held object would be pushed into something; else ``detail``
        says what that is.
        """
        sine, cosine = sine_cosine(self._yaw)
        dx, dz = ahead * sine + right * cosine, ahead * cosine - right * sine
        steps = max(math.ceil(math.hypot(dx, dz) / GRID_METRES - _CLOSE), 1)
        points: list[tuple[float, float]] = []
        for k in range(1, steps + 1):
            points.append((self._x + dx * k / steps, self._z + dz * k / steps))
            if not self.can_stand(*points[-1]):
                return Outcome(Failure.BLOCKED)
        hit = (
            None
            if force
            else self.pushes_into(*((x, z, self._yaw, self._pitch) for x, z in points))
        )
        if hit is not None:
            return Outcome(Failure.BLOCKED, hit)
        self._stand(_snap(self._x + dx), _snap(self._z + dz), self._yaw, self._pitch)
        return SUCCESS

    def turn_to(self, yaw: float, pitch: float) -> None:
        """Turns the agent and its camera."""
        self._stand(self._x, self._z, yaw, pitch)

    def place_agent(
        self, x: float, z: float, yaw: float, pitch: float, force: bool = True
    ) -> Outcome:
        """Puts the agent somewhere, if it fits there.

        Without ``force`` only if the held object does, too; mere looks are always possible.
        """
        if not self.can_stand(x, z):
            return Outcome(Failure.BLOCKED)
        there = (_snap(x), _snap(z), _whole(yaw % 360.0))
        if not force and there != (self._x, self._z, self._yaw):
            hit = self.pushes_into((*there, pitch))
            if hit is not None:
                return Outcome(Failure.BLOCKED, hit)
        self._stand(_snap(x), _snap(z), yaw, pitch)
        return SUCCESS

    def look_up_target(self, row: int, column: int) -> str | None:
        """The object at a pixel of the front view at 300 x 300."""
        sight = self.sight()
        index = int(sight.instances[row, column])
        return sight.object_ids[index - 1] if index else None

    def set_reach(self, metres: float) -> None:
        """Changes how far away an object may be and still be visible."""
        if metres != self.reach:
            self.reach = metres
            self._observation = None

    def act(self, action: Action, target: str, force: bool) -> Outcome:
        """Does an interaction; with ``force`` also on what is out of sight or reach."""
        if not force:
            return self.step(action, target)
        reach = self.reach
        self.reach = math.inf
        try:
            observation = self._observe()
            if self.household.get(target) is not None and target not in observation.sight.visible:
                sight = replace(observation.sight, visible=observation.sight.visible | {target})
                self._observation = replace(observation, sight=sight)
            return self.step(action, target)
        finally:
            self.reach = reach
            self._observation = None

    def hide(self, object_id: str, hidden: bool) -> bool:
        """Leaves an object and its contents out of the pictures, or shows it again."""
        thing = self.household.get(object_id)
        if thing is None:
            return False
        tree = list(thing.tree())
        for each in tree:
            (self.hidden.add if hidden else self.hidden.discard)(each.id)
        held = self.household.held
        if held is None or thing not in held.tree():
            self._scenery.clear_hand()
            if hidden:
                self._scenery.take_in_hand(thing)
            else:
                self._scenery.update(tree)
        return True

    def change(self, thing: Thing, **state: bool) -> None:
        """Changes what is true of an object, without any rule."""
        for name, value in state.items():
            setattr(thing, name, value)
        thing.settle()
        self.household._changed(thing)
        self._sync()

    def move_thing(self, thing: Thing, at: Vector, yaw: float, force: bool) -> str | None:
        """Puts an object with its contents somewhere; the id of what is in the way, if not."""
        household = self.household
        hit = None if force else blocks(household, thing, at, yaw)
        if hit is not None:
            return hit
        before = list(thing.holders())
        if household.held is thing:
            household.held = None
        thing.detach()
        own = {part.index for part in thing.tree()}
        others = [t for t in household.things if t.alive and t.index not in own]
        fixed = Supports([t for t in others if t.fixture is not None])
        support = find_holder(at, fixed, Supports([t for t in others if t.fixture is None]))
        thing.place = Spot(*at, yaw % 360.0)
        thing.settle()
        if support is not None:
            holder, surface = support
            x, z = holder.local(at[0], at[2])
            thing.attach(holder, surface, Spot(x, surface.y, z, (yaw - holder.yaw) % 360.0))
        household._changed(*before, *thing.tree(), *thing.holders())
        self._sync()
        return None

    def condition(self, thing: Thing) -> ThorCondition:
        """What is true of an object beyond its state in the household."""
        return self._conditions.get(thing.index, _USUAL)

    def set_condition(self, thing: Thing, condition: ThorCondition) -> None:
        """Changes what is true of an object beyond its state in the household."""
        self._conditions[thing.index] = condition
        self.household._changed(thing)

    def set_dirty(self, is_dirty: bool) -> None:
        """Makes all dishes dirty or clean."""
        for thing in self.household.things:
            if thing.alive and thing.object_class in DISHES:
                self.change(thing, is_dirty=is_dirty)

    def hand(self) -> tuple[tuple[float, float, float], float] | None:
        """Where the held object is: base centre and yaw."""
        held = self.household.held
        return None if held is None else hand_pose(held, self.agent)

    def sees_hand(self) -> bool:
        """Whether the held object can be seen: it may be forced into something."""
        return self.household.held is not None and is_seen(self.household, self.agent)

    def pushes_into(self, *poses: tuple[float, float, float, float]) -> str | None:
        """The name of what the held object would be pushed into on the way, or ``None``.

        What it is in already does not count, or the agent could not get out again.

        Args:
            poses: x, z, yaw and pitch of the agent, one after the other.
        """
        held = self.household.held
        if held is None or held.id in self.hidden:
            return None
        agent = self.agent
        already = in_the_way(self.household, agent)
        for x, z, yaw, pitch in poses:
            there = replace(agent, x=x, z=z, yaw=_whole(yaw % 360.0), pitch=_whole(pitch))
            hits = in_the_way(self.household, there) - already
            if hits:
                hit = min(hits)
                return hit if hit == WALL else self.name_of(self.household._by_id[hit])
        return None

    def free_points(self) -> list[tuple[float, float]]:
        """Grid points connected with where the agent stands, sorted."""
        start = (round(self._x / GRID_METRES), round(self._z / GRID_METRES))
        walkable = {(round(x / GRID_METRES), round(z / GRID_METRES)) for x, z in self._walkable}
        found, waiting = {start}, [start]
        while waiting:
            x, z = waiting.pop()
            for cell in ((x + 1, z), (x - 1, z), (x, z + 1), (x, z - 1)):
                if cell in walkable and cell not in found:
                    found.add(cell)
                    waiting.append(cell)
        return [(x * GRID_METRES, z * GRID_METRES) for x, z in sorted(found)]

    def recognise(self, instances: NDArray[np.int16] | None) -> None:
        """Takes a picture of the agent's own camera for its sight, if it is as good as that."""
        whole = instances is not None and instances.shape == (SIGHT_PIXELS, SIGHT_PIXELS)
        if not whole or self._observation is not None or self.held is not None or self.hidden:
            return
        assert instances is not None
        things = self.household.things
        sums = sum_pixels(instances, len(things) + 1)
        seen = observe(instances, sums, self._object_ids, things, self._x, self._z)
        self._observation = seen if self.reach == REACH_METRES else self._within_reach(seen)

    def _furnished(self, number: int) -> Room:
        """A room without what is gone and its parts; the floor below stays taken."""
        room = self._whole_rooms(number)
        if not self.gone:
            return room
        gone, fixtures = set(self.gone), []
        for fixture in room.fixtures:
            if fixture.name in gone or fixture.part_of in gone:
                gone.add(fixture.name)
            else:
                fixtures.append(fixture)
        return replace(room, fixtures=tuple(fixtures))

    def _stand(self, x: float, z: float, yaw: float, pitch: float) -> None:
        self._x, self._z = x, z
        self._yaw = _whole(yaw % 360.0)
        self._pitch = _whole(pitch)
        self._observation = None

    def _observe(self, about: ObjectClass | None = None) -> Observation:
        # AI2-THOR tells of all that is in view after every action.
        if self._observation is None:
            observation = super()._observe()
            if self.reach != REACH_METRES:
                self._observation = self._within_reach(observation)
        assert self._observation is not None
        return self._observation

    def _within_reach(self, observation: Observation) -> Observation:
        sight = observation.sight
        seen = [thing for thing in self.household.things if sight.extent(thing.id)[0]]
        near = (t.id for t in seen if distance_to(t, self._x, self._z) <= self.reach)
        visible = frozenset(near) & observation.in_view
        return replace(observation, sight=replace(sight, visible=visible))


def _middle(points: frozenset[tuple[float, float]]) -> tuple[float, float]:
    """The walkable point nearest to the middle of all of them."""
    array = np.array(sorted(points))
    nearest = np.argmin(((array - array.mean(axis=0)) ** 2).sum(axis=1))
    return float(array[nearest, 0]), float(array[nearest, 1])


def _neighbours(value: float) -> tuple[float, ...]:
    """Grid coordinates on both sides of a value, or the one it is on."""
    cell = value / GRID_METRES
    if abs(cell - round(cell)) * GRID_METRES < _CLOSE:
        return (round(cell) * GRID_METRES,)
    return math.floor(cell) * GRID_METRES, math.ceil(cell) * GRID_METRES


def _snap(value: float) -> float:
    """The value, or the grid point that it means but for rounding."""
    nearest = round(value / GRID_METRES) * GRID_METRES
    return nearest if abs(value - nearest) < _CLOSE else value


def _whole(value: float) -> int:
    """Whole angles as integers, so that all frames agree to the bit; others as they are."""
    nearest = round(value)
    return nearest if abs(value - nearest) < _CLOSE else value  # type: ignore[return-value]
