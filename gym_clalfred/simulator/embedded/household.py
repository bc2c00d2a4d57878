"""The household: where every object is, what state it is in, and what happens when one acts on it.

Pure rules: who sees what is decided elsewhere (``visibility``). A rule that forbids an action
returns the ``Failure`` that says why; ``None`` means that it was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import (
    KNIVES,
    OPENABLE,
    PICKUPABLE,
    RECEPTACLES,
    SLICEABLE,
    TOGGLEABLE,
    ObjectClass,
    having,
)
from gym_clalfred.simulator.contract import Failure, ObjectPose, ObjectState, Scene, Vector
from gym_clalfred.simulator.embedded.catalog import model_of, style_of
from gym_clalfred.simulator.embedded.holders import Supports, find_holder, named_holder
from gym_clalfred.simulator.embedded.placement import (
    Gaze,
    Spot,
    footprint,
    free_spot,
    obstacles,
    overlaps,
    turn,
)
from gym_clalfred.simulator.embedded.putting import (
    PILE,
    Strictness,
    area_of,
    extents_with_contents,
    hinted_spot,
    point_at,
    points_on,
)
from gym_clalfred.simulator.embedded.room_model import (
    Fixture,
    ItemShape,
    Rectangle,
    Room,
    Surface,
)
from gym_clalfred.simulator.embedded.slicing import pieces_of
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.object_ids import WHOLE_OF, format_id
from gym_clalfred.simulator.treatments import CLEAN, treatment_of

#: What is dirty in scenes that ask for dirty dishes.
DISHES = having("dish")

#: Measured things are lifted out of what they stand on by this much at most, in metres.
_MOST_LIFT = 0.1

#: What is so much taller than the inside of a container is not in it, in metres.
_TOO_TALL = 0.05

Place = tuple[Surface, Spot]

_NOTHING = np.zeros((0, 3))


class Household:
    """All objects of an episode.

    Args:
        room: what is fixed.
        scene: the pickupable objects and the states at the start.

    Attributes:
        things: every object that ever was, by index; fixtures, then items, then slices.
        held: what the agent carries.
        version: grows with every change.
        needs_knife: whether slicing takes a held knife.
        touched: things whose place or look changed since ``touched`` was last emptied.
    """

    def __init__(self, room: Room, scene: Scene) -> None:
        self.room = room
        self.things: list[Thing] = []
        self.held: Thing | None = None
        self.version = 0
        self.needs_knife = True
        self.touched: dict[int, Thing] = {}
        self._by_id: dict[str, Thing] = {}
        self._states: Mapping[str, ObjectState] | None = None
        self._measured: dict[int, ItemShape] = {}
        self._add_fixtures()
        self._fixtures = tuple(self.things)
        self._add_items(scene.object_poses or room.items)
        self._burners = self._pair_burners()
        for object_class, is_on in scene.object_toggles:
            for thing in self.things:
                if thing.object_class is object_class:
                    thing.is_on = is_on
        if scene.dirty_and_empty:
            for thing in self.things:
                thing.is_dirty = thing.object_class in DISHES

    @property
    def objects(self) -> Mapping[str, ObjectState]:
        """All objects by id, in the order of their indices."""
        if self._states is None:
            self._states = MappingProxyType(
                {thing.id: thing.state or thing.describe() for thing in self.things if thing.alive}
            )
        return self._states

    def get(self, object_id: str) -> Thing | None:
        """The object with an id, or ``None`` if there is none (any more)."""
        thing = self._by_id.get(object_id)
        return thing if thing is not None and thing.alive else None

    def pick_up(self, thing: Thing) -> Failure | None:
        """Takes a thing with its contents in the hand."""
        if thing.object_class not in PICKUPABLE:
            return Failure.NOT_PICKUPABLE
        if self.held is not None:
            return Failure.HANDS_FULL
        if thing.object_class is ObjectClass.Laptop and thing.is_open:
            return Failure.MUST_BE_CLOSED
        before = tuple(thing.holders())
        thing.detach()
        self.held = thing
        self._changed(*before, *thing.tree())
        return None

    def places_for_held(
        self, holder: Thing, gaze: Gaze, seen: NDArray[np.float64] = _NOTHING
    ) -> list[Place] | Failure:
        """Free places for the held thing, best first; or why there is none.

        Places where the agent sees the surface come first, then where its gaze meets a surface
        that it does not see, then what is next to the agent.

        Args:
            holder: where the thing should go.
            gaze: from the agent's eye to the holder.
            seen: (N, 3) points in the room of the holder's visible outside.
        """
        held = self.held
        if held is None:
            return Failure.HANDS_EMPTY
        if holder.object_class not in RECEPTACLES:
            return Failure.NOT_RECEPTACLE
        if holder.is_shut:
            return Failure.CLOSED
        if holder.tipped or holder is held or held in holder.holders():
            return Failure.NO_SPACE
        accepted = held.object_class in ACCEPTS.get(holder.object_class, ())
        accepted = accepted or bool(self.room.shapes)
        for mode in self._modes(accepted):
            places: list[tuple[bool, float, Place]] = []
            for surface in holder.surfaces:
                points = points_on(holder, surface, seen)
                spots = self._spots(holder, surface, held, gaze, points, mode)
                hint = surface.hint_for(held.object_class)
                for k, spot in enumerate(spots):
                    beside = gaze.distance_to(point_at(holder, spot))
                    # Where things are known to be put comes before all others.
                    if hint is not None and k == 0:
                        beside = -1.0 if hint.object_class is None else -2.0
                    unseen = not points and hint is None
                    places.append((unseen, beside, (surface, spot)))
            if places:
                # Within a dish the order of the surfaces is kept: the bottom before the rim.
                if holder.fixture is not None and len(holder.surfaces) > 1:
                    places.sort(key=lambda place: place[:2])
                return [place for *_, place in places]
        return Failure.NO_SPACE

    def put_down(self, holder: Thing, place: Place) -> None:
        """Puts the held thing on one of the places that ``places_for_held`` gave."""
        thing = self.held
        assert thing is not None
        self.held = None
        thing.attach(holder, *place)
        self._changed(*thing.tree(), *thing.holders())

    def set_open(self, thing: Thing, is_open: bool) -> Failure | None:
        """Opens or closes a thing."""
        if thing.object_class is ObjectClass.Box and self.room.shapes and not is_open:
            # AI2-THOR's boxes have flaps, which some recorded experts close; they hide nothing.
            return None
        if thing.object_class not in OPENABLE:
            return Failure.NOT_OPENABLE
        if thing.is_open is is_open:
            return Failure.ALREADY_OPEN if is_open else Failure.ALREADY_CLOSED
        if is_open and thing.is_on and thing.object_class is ObjectClass.Microwave:
            return Failure.MUST_BE_OFF
        thing.is_open = is_open
        thing.settle()
        self._changed(*thing.tree())
        self._treat(Action.OpenObject if is_open else Action.CloseObject, thing)
        return None

    def set_on(self, thing: Thing, is_on: bool) -> Failure | None:
        """Switches a thing on or off."""
        if thing.object_class not in TOGGLEABLE:
            return Failure.NOT_TOGGLEABLE
        if thing.is_on is is_on:
            return Failure.ALREADY_ON if is_on else Failure.ALREADY_OFF
        if is_on and thing.is_open and thing.object_class is ObjectClass.Microwave:
            return Failure.MUST_BE_CLOSED
        thing.is_on = is_on
        burner = self._burners.get(thing.index)
        if burner is not None:
            burner.is_on = is_on
            self._changed(burner)
        self._changed(thing)
        self._treat(Action.ToggleObjectOn if is_on else Action.ToggleObjectOff, thing)
        return None

    def cut(self, thing: Thing) -> Failure | None:
        """Slices a thing with the held knife; the pieces take its place."""
        if thing.object_class not in SLICEABLE:
            return Failure.NOT_SLICEABLE
        armed = self.held is not None and self.held.object_class in KNIVES
        if self.needs_knife and not armed:
            return Failure.NO_KNIFE
        holder, surface = thing.holder, thing.surface
        pieces = pieces_of(
            thing, len(self.things), self._measured.get(thing.index), self.room.shapes
        )
        thing.alive = False
        if holder is not None:
            holder.contents.remove(thing)
        for piece in pieces:
            self._register(piece)
            piece.holder, piece.surface = holder, surface
            if holder is not None:
                holder.contents.append(piece)
            piece.settle()
        self._changed(thing, *pieces, *thing.holders())
        return None

    def _treat(self, action: Action, thing: Thing) -> None:
        found = treatment_of(action, thing.id, self.objects)
        if found is None:
            return
        treatment, object_ids = found
        for object_id in object_ids:
            treated = self._by_id[object_id]
            setattr(treated, treatment.mark, True)
            if treatment is CLEAN:
                treated.is_dirty = False
            self._changed(treated)

    def _changed(self, *things: Thing) -> None:
        for thing in things:
            thing.state = None
            self.touched[thing.index] = thing
        self._states = None
        self.version += 1

    def _spots(
        self,
        holder: Thing,
        surface: Surface,
        item: Thing,
        gaze: Gaze,
        points: list[tuple[float, float]],
        mode: Strictness,
    ) -> list[Spot]:
        """Free spots on one surface: near points in its frame, the gaze, and the agent."""
        size = extents_with_contents(item, holder)
        height = holder.position[1] + surface.y
        if size[1] > self._headroom(holder, height) and not mode.lenient:
            return []
        taken = self._taken(holder, surface, size, mode.own_only)
        if mode.piled and area_of(taken) <= PILE * area_of([surface.area]):
            taken = []
        ahead, here = gaze.point_at(height), (gaze.eye[0], gaze.eye[2])
        spots: list[Spot] = []
        hint = surface.hint_for(item.object_class)
        if hint is not None:
            shape = self._measured.get(item.index)
            yaw = hint.turn + (0.0 if shape is None else shape.turn)
            spot = hinted_spot(surface, hint, yaw % 360.0, size, taken, mode.lenient)
            if spot is not None:
                spots.append(spot)
        for near in (*points, holder.local(*ahead), holder.local(*here)):
            spot = free_spot(surface, size, taken, near=near, lenient=mode.lenient)
            if spot is not None and spot not in spots:
                spots.append(spot)
        return spots

    @staticmethod
    def _headroom(holder: Thing, height: float) -> float:
        """Free height above a level in a holder that stands under something."""
        room = float("inf")
        inner = holder
        for outer in holder.holders():
            assert inner.surface is not None
            ceiling = outer.position[1] + inner.surface.y + inner.surface.clearance
            room = min(room, ceiling - height)
            inner = outer
        return room

    def _modes(self, accepted: bool) -> tuple[Strictness, ...]:
        """How strictly to look for a place, one after the other."""
        if not accepted:
            return (Strictness(),)
        if not self.room.shapes:
            return (Strictness(), Strictness(lenient=True))
        # Measured boxes reach over what AI2-THOR knows to be free, and things pile up there.
        crowded = Strictness(lenient=True, own_only=True)
        return (Strictness(), Strictness(lenient=True), crowded, replace(crowded, piled=True))

    def _taken(
        self, holder: Thing, surface: Surface, size: Vector, own_only: bool
    ) -> list[Rectangle]:
        """Footprints, in the holder's frame, of all that stands in the way on a surface.

        ``own_only`` leaves out what does not stand on this surface.
        """
        bottom = holder.position[1] + surface.y
        top = bottom + size[1]
        taken = []
        if holder.fixture is not None and not own_only:
            taken = obstacles(holder.fixture, surface, size[1], self.room.fixtures)
        reach = max(size[0], size[2])
        low_x, high_x = surface.area.x0, surface.area.x1
        low_z, high_z = surface.area.z0, surface.area.z1
        passed_over = {thing.index for thing in (holder, *holder.holders())}
        if self.held is not None:
            passed_over.update(thing.index for thing in self.held.tree())
        for thing in self.things[len(self._fixtures) :]:
            if not thing.alive or thing.hidden or thing.index in passed_over:
                continue
            if thing.surface is not surface or thing.holder is not holder:
                if own_only:
                    continue
                low = thing.position[1]
                if low >= top or low + thing.box[1] <= bottom:
                    continue
            x, z = holder.local(thing.position[0], thing.position[2])
            # Most things are far away, which is quicker to tell than what they cover.
            far = reach + thing.box[0] + thing.box[2]
            if not (low_x - far < x < high_x + far and low_z - far < z < high_z + far):
                continue
            area = footprint(thing.box, x, z, thing.yaw - holder.yaw)
            if overlaps(area, surface.area, gap=reach):
                taken.append(area)
        return taken

    def _register(self, thing: Thing) -> None:
        self._by_id[thing.id] = thing
        self.things.append(thing)
        self.touched[thing.index] = thing

    def _unique_id(self, object_class: ObjectClass, position: Vector) -> str:
        """The id of an object at a position; a twin at the same centimetre gets the next one."""
        x, y, z = position
        while (object_id := format_id(object_class, (x, y, z))) in self._by_id:
            z += 0.01
        return object_id

    def _add_fixtures(self) -> None:
        wholes = {fixture.name: fixture for fixture in self.room.fixtures}
        for fixture in self.room.fixtures:
            anchor = fixture
            if fixture.object_class in WHOLE_OF and fixture.part_of is not None:
                anchor = wholes[fixture.part_of]
            object_id = fixture.name
            if "|" not in object_id:
                object_id = self._unique_id(fixture.object_class, anchor.position)
            thing = Thing(
                index=len(self.things),
                id=object_id,
                object_class=fixture.object_class,
                size=fixture.size,
                style=fixture.style,
                surfaces=_surfaces_of(fixture),
                place=Spot(*fixture.position, fixture.yaw),
                fixture=fixture,
                blocks=fixture.blocks,
            )
            thing.settle()
            self._register(thing)

    def _add_items(self, poses: tuple[ObjectPose, ...]) -> None:
        items = [self._make_item(pose) for pose in poses]
        fixed, movable = Supports(self._fixtures), Supports(items)
        found = [find_holder(item.position, fixed, movable) for item in items]
        for k, pose in enumerate(poses):
            if pose.holder == items[k].id:
                support = found[k]
                found[k] = None if support is not None and support[1].inside else support
            elif pose.holder is not None:
                others = [thing for thing in self.things if thing is not items[k]]
                found[k] = named_holder(pose.holder, items[k].position, others) or found[k]
        order = sorted(range(len(items)), key=lambda k: items[k].position[1])
        for k in order:
            support = found[k]
            if support is None:
                continue
            holder, surface = support
            item = items[k]
            is_sure = poses[k].holder is not None
            if surface.inside and item.box[1] > surface.clearance + _TOO_TALL and not is_sure:
                continue
            x, z = holder.local(item.position[0], item.position[2])
            spot = Spot(x, surface.y, z, (item.yaw - holder.yaw) % 360.0)
            if item.index not in self._measured:
                item.attach(holder, surface, spot)
            else:
                # A measured pose is kept: not tipped, nor lowered; but nothing is in the board.
                rise = item.position[1] - holder.position[1]
                if surface.y - _MOST_LIFT <= rise < surface.y:
                    rise = surface.y
                item.attach(holder, surface, replace(spot, y=rise), tip=False)

    def _make_item(self, pose: ObjectPose) -> Thing:
        object_class = pose.object_class
        if object_class not in PICKUPABLE:
            raise BadInputError(
                f"{pose.name!r} in object_poses is not pickupable; furniture belongs to the room"
            )
        style = style_of(pose.name)
        shape = self._shape_of(pose)
        size = model_of(object_class).size(style) if shape is None else shape.size
        x, y, z, yaw = *pose.position, pose.rotation[1]
        if shape is not None:
            self._measured[len(self.things)] = shape
            dx, dz = turn(shape.origin[0], shape.origin[2], yaw)
            x, y, z, yaw = x + dx, y + shape.origin[1], z + dz, yaw + shape.turn
        item = Thing(
            index=len(self.things),
            id=self._unique_id(object_class, pose.position),
            object_class=object_class,
            size=size,
            style=style,
            surfaces=model_of(object_class).surfaces(size, style),
            place=Spot(x, y, z, yaw % 360.0),
            blocks=() if shape is None else shape.blocks,
            is_open=object_class is ObjectClass.Laptop,
        )
        item.settle()
        self._register(item)
        return item

    def _shape_of(self, pose: ObjectPose) -> ItemShape | None:
        shapes = self.room.shapes
        return shapes.get(pose.name) or shapes.get(pose.object_class.name)

    def _pair_burners(self) -> dict[int, Thing]:
        """Which burner each stove knob turns on: the n-th knob of a stove the n-th burner."""
        pairs: dict[int, Thing] = {}
        stoves = {thing.fixture.part_of for thing in self._fixtures if thing.fixture}
        for stove in sorted(stoves, key=str):
            parts = [t for t in self._fixtures if t.fixture and t.fixture.part_of == stove]
            knobs = [t for t in parts if t.object_class is ObjectClass.StoveKnob]
            burners = [t for t in parts if t.object_class is ObjectClass.StoveBurner]
            pairs.update({knob.index: burner for knob, burner in zip(knobs, burners)})
        return pairs


def _surfaces_of(fixture: Fixture) -> tuple[Surface, ...]:
    if fixture.surfaces is not None:
        return fixture.surfaces
    return model_of(fixture.object_class).surfaces(fixture.size, fixture.style)
