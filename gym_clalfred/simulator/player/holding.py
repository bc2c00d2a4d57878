"""Whether what is held would be pushed into something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gym_clalfred.simulator.contract import AgentPose, Vector
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import sine_cosine, turn
from gym_clalfred.simulator.embedded.room_model import Rectangle
from gym_clalfred.simulator.embedded.scenery import hand_pose
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import eye_of

#: What is in the way if it is no object.
WALL = "A wall"

#: Boxes that share no more than this touch, in metres.
SKIN = 0.01


@dataclass(frozen=True)
class Solid:
    """An upright box: the centre of its base, its extents and its yaw."""

    base: Vector
    size: Vector
    yaw: float

    def corners(self) -> list[tuple[float, float]]:
        """(x, z) of its four corners, a little drawn in."""
        half_x, half_z = (max(self.size[k] / 2 - SKIN, 0.0) for k in (0, 2))
        found = []
        for sx, sz in ((-1, -1), (-1, 1), (1, 1), (1, -1)):
            x, z = turn(sx * half_x, sz * half_z, self.yaw)
            found.append((self.base[0] + x, self.base[2] + z))
        return found

    def meets(self, other: Solid) -> bool:
        """Whether two boxes share more than a skin."""
        low = max(self.base[1], other.base[1])
        high = min(self.base[1] + self.size[1], other.base[1] + other.size[1])
        if high - low <= SKIN:
            return False
        mine, theirs = self.corners(), other.corners()
        for yaw in (self.yaw, other.yaw):
            sine, cosine = sine_cosine(yaw)
            for across, along in ((cosine, -sine), (sine, cosine)):
                a = [x * across + z * along for x, z in mine]
                b = [x * across + z * along for x, z in theirs]
                if min(a) >= max(b) or min(b) >= max(a):
                    return False
        return True

    def contains(self, point: Vector) -> bool:
        """Whether a point is inside."""
        x, z = turn(point[0] - self.base[0], point[2] - self.base[2], -self.yaw)
        rise = point[1] - self.base[1]
        within = abs(x) < self.size[0] / 2 and abs(z) < self.size[2] / 2
        return within and 0.0 < rise < self.size[1]


def in_the_way(household: Household, agent: AgentPose) -> frozenset[str]:
    """Ids of what the held object would be in if the agent stood there; ``WALL`` for walls."""
    held = household.held
    if held is None:
        return frozenset()
    carried = {thing.index for thing in held.tree()}
    parts = list(_in_hand(held, agent))
    found = set()
    if not all(_is_indoors(part, household.room.floor) for part in parts):
        found.add(WALL)
    for thing in household.things:
        if not thing.alive or thing.hidden or thing.index in carried:
            continue
        if any(part.meets(solid) for solid in _solids(thing) for part in parts):
            found.add(thing.id)
    return frozenset(found)


def blocks(household: Household, thing: Thing, at: Vector, yaw: float) -> str | None:
    """The id of what an object would be in at a place, with its base there; ``WALL`` for walls."""
    own = {part.index for part in thing.tree()}
    solid = Solid(at, thing.size, yaw)
    if not _is_indoors(solid, household.room.floor):
        return WALL
    for other in household.things:
        if not other.alive or other.index in own:
            continue
        # What it may stand in has room for it: insides and basins are not solid.
        if other.surfaces and any(_is_on(other, s.y, s.area, at) for s in other.surfaces):
            continue
        if any(solid.meets(part) for part in _solids(other)):
            return other.id
    return None


def _is_on(holder: Thing, height: float, area: Rectangle, at: Vector) -> bool:
    """Whether a place is on a surface of an object or in the space above it."""
    x, z = holder.local(at[0], at[2])
    above = at[1] >= holder.position[1] + height - SKIN
    return above and area.x0 <= x <= area.x1 and area.z0 <= z <= area.z1


def is_seen(household: Household, agent: AgentPose) -> bool:
    """Whether the side of the held object that the agent looks at is in nothing."""
    held = household.held
    assert held is not None
    (x, y, z), _ = hand_pose(held, agent)
    width, height, depth = held.box
    eye = eye_of(agent)
    middle = (x, y + height / 2, z)
    far = max(sum((a - b) ** 2 for a, b in zip(middle, eye)) ** 0.5, 1e-9)
    share = max(far - min(width, depth) / 2, 0.0) / far
    point = tuple(b + (a - b) * share for a, b in zip(middle, eye))
    at: Vector = (point[0], point[1], point[2])
    if not _covers(household.room.floor, at[0], at[2]):
        return False
    carried = {thing.index for thing in held.tree()}
    others = (t for t in household.things if t.alive and not t.hidden and t.index not in carried)
    return not any(solid.contains(at) for thing in others for solid in _solids(thing))


def _in_hand(held: Thing, agent: AgentPose) -> Iterator[Solid]:
    """The held object and its contents where an agent would hold them."""
    (x, y, z), yaw = hand_pose(held, agent)
    for part in held.tree():
        dx, dz = turn(*held.local(part.position[0], part.position[2]), yaw)
        rise = part.position[1] - held.position[1]
        yield Solid((x + dx, y + rise, z + dz), part.box, yaw + part.yaw - held.yaw)


def _solids(thing: Thing) -> Iterator[Solid]:
    """The boxes that an object consists of: one, or those that were measured."""
    x, y, z = thing.position
    if not thing.blocks:
        yield Solid(thing.position, thing.box, thing.yaw)
        return
    for block in thing.blocks:
        middle = [(low + high) / 2 for low, high in zip(block.low, block.high)]
        size = tuple(high - low for low, high in zip(block.low, block.high))
        dx, dz = turn(middle[0], middle[2], thing.yaw)
        yield Solid((x + dx, y + block.low[1], z + dz), (size[0], size[1], size[2]), thing.yaw)


def _is_indoors(solid: Solid, floor: Iterable[Rectangle]) -> bool:
    corners = solid.corners()
    points = [*corners]
    for (x0, z0), (x1, z1) in zip(corners, [*corners[1:], corners[0]]):
        points.append(((x0 + x1) / 2, (z0 + z1) / 2))
    return all(_covers(floor, x, z) for x, z in points)


def _covers(floor: Iterable[Rectangle], x: float, z: float) -> bool:
    return any(r.x0 - SKIN <= x <= r.x1 + SKIN and r.z0 - SKIN <= z <= r.z1 + SKIN for r in floor)
