"""What stays true of objects when a room is built anew with objects in other places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gym_clalfred.simulator.contract import ObjectPose, Scene, Vector
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import ItemShape, Room
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.player.naming import look_of
from gym_clalfred.simulator.player.traits import ThorCondition

#: Places no farther apart are the same, in metres and degrees.
SAME_METRES, SAME_DEGREES = 1e-3, 0.1

#: Decimals of a place. Ids have two, so a sum that is a bit below 0.935 would give another one.
_DECIMALS = 12

#: How many places are remembered of an object.
MOST_PLACES = 64

_STATES = ("is_open", "is_on", "is_dirty", "cleaned", "heated", "cooled", "is_sliced")


@dataclass(frozen=True)
class Kept:
    """The objects of a household by their unique names, for the household that follows.

    Args:
        things: as they were.
        conditions: what is true of them beyond the household.
        hidden: names of those that are not drawn.
        held: name of what stays in the hand.
        postures: whether what is tipped stays tipped.
    """

    things: Mapping[str, Thing] = field(default_factory=dict)
    conditions: Mapping[str, ThorCondition] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    held: str | None = None
    postures: bool = False

    def name_for(self, name: str) -> str | None:
        """The name of what an object was before; a new copy was what it is a copy of."""
        return next((each for each in (name, look_of(name)) if each in self.things), None)


class KeptHousehold(Household):
    """A household whose objects begin in the states that they had before.

    Args:
        room: what is fixed.
        scene: the pickupable objects.
        names: unique names of the fixtures, then of the objects of the scene.
        kept: of the household before.
    """

    def __init__(self, room: Room, scene: Scene, names: Sequence[str], kept: Kept) -> None:
        self._names, self._kept, self._poses = names, kept, scene.object_poses
        super().__init__(room, scene)
        for thing in self.things:
            self._restore(thing)
        held = next((t for t in self.things if names[t.index] == kept.held), None)
        if held is not None:
            self.pick_up(held)

    def _add_fixtures(self) -> None:
        super()._add_fixtures()
        # What is in an open drawer is where the open drawer is.
        for thing in self.things:
            self._restore(thing)
            thing.settle()

    def _add_items(self, poses: tuple[ObjectPose, ...]) -> None:
        # No poses mean an empty room here, not the room's default.
        super()._add_items(self._poses)

    def _restore(self, thing: Thing) -> None:
        name = self._kept.name_for(self._names[thing.index])
        before = None if name is None else self._kept.things[name]
        if before is None or before.object_class is not thing.object_class:
            return
        for state in _STATES:
            setattr(thing, state, getattr(before, state))
        if thing.is_sliced:
            thing.size, thing.style, thing.surfaces = before.size, before.style, before.surfaces
        if thing.is_sliced or self._kept.postures:
            thing.tipped = before.tipped
        thing.state = None

    def _shape_of(self, pose: ObjectPose) -> ItemShape | None:
        name = self._kept.name_for(self._names[len(self.things)])
        if name is not None and self._kept.things[name].is_sliced:
            return None
        return super()._shape_of(pose)


class PoseHistory:
    """Poses that objects have had, found by the places that the metadata told of.

    Programs read places and set them later. In measured rooms the metadata tells the centre of an
    object's base and a pose its own origin; elsewhere only what lies down needs more than its
    place.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], list[tuple[Vector, float, ObjectPose]]] = {}

    def remember(self, household: Household, names: Mapping[int, str]) -> None:
        """Takes down where the pickupable objects are, but not what is held."""
        held = household.held
        carried = set() if held is None else {part.index for part in held.tree()}
        for thing in household.things:
            plain = not household.room.shapes and not thing.tipped
            if plain or not thing.alive or thing.fixture is not None or thing.index in carried:
                continue
            name = names[thing.index]
            known = self._known.setdefault((household.room.number, name), [])
            entry = (thing.position, thing.yaw, pose_of(household, thing, name))
            if entry not in known:
                known.append(entry)
                del known[:-MOST_PLACES]

    def find(self, number: int, pose: ObjectPose) -> ObjectPose:
        """The pose that is meant by one whose place may have been read from the metadata."""
        for position, yaw, known in self._known.get((number, pose.name), ()):
            turned = abs((pose.rotation[1] - yaw + 180.0) % 360.0 - 180.0)
            if _apart(position, pose.position) > SAME_METRES or turned > SAME_DEGREES:
                continue
            if _apart(known.position, pose.position) > SAME_METRES:
                return known
            return replace(pose, holder=known.holder)
        return replace(pose, position=_rounded(pose.position))


def _rounded(position: Vector) -> Vector:
    """The place without what sums add: 0.935 for 0.9349999999999999."""
    x, y, z = (round(value, _DECIMALS) for value in position)
    return x, y, z


def _apart(a: Vector, b: Vector) -> float:
    return max(abs(x - y) for x, y in zip(a, b))


def pose_of(household: Household, thing: Thing, name: str) -> ObjectPose:
    """The pose that puts an object where it is now."""
    (x, y, z), yaw = thing.position, thing.yaw
    shape = household._measured.get(thing.index)
    if shape is not None:
        yaw -= shape.turn
        dx, dz = turn(shape.origin[0], shape.origin[2], yaw)
        x, y, z = x - dx, y - shape.origin[1], z - dz
    holder = thing.holder
    known = None
    if holder is not None and holder.fixture is not None:
        # Measured poses, and those of what lies down, say too little about what holds them.
        known = holder.id if household.room.shapes or thing.tipped else None
    return ObjectPose(name, _rounded((x, y, z)), (0.0, yaw % 360.0, 0.0), known)
