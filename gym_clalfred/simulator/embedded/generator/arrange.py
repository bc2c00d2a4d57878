"""Spreads small objects over the surfaces of a room, differently in every episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.simulator.contract import ObjectPose, Vector
from gym_clalfred.simulator.embedded.catalog import fits, is_tipped, model_of, posed_size, style_of
from gym_clalfred.simulator.embedded.generator.contents import (
    ON_FLOOR,
    choose_copies,
    holders_of,
    inclination,
    item_classes,
    item_name,
)
from gym_clalfred.simulator.embedded.generator.floor_plan import box_of
from gym_clalfred.simulator.embedded.generator.sight import Sightlines
from gym_clalfred.simulator.embedded.placement import Spot, footprint, free_spot, obstacles, turn
from gym_clalfred.simulator.embedded.room_model import (
    AGENT_RADIUS,
    Demand,
    Fixture,
    Rectangle,
    Room,
    Surface,
)
from gym_clalfred.simulator.geometry import Box

#: Spots tried on one surface.
_SPOTS = 4

#: Air between two objects, so that each can be seen.
_AIR = 0.03

#: Sightlines are asked on a raster of this many metres and remembered.
_RASTER = 0.05


class ArrangementError(BadInputError):
    """The room has no space for a demanded object; the message names its class."""


def arrange(
    room: Room,
    rng: np.random.Generator,
    *,
    required: Sequence[Demand] = (),
    keep_free: frozenset[ObjectClass] = frozenset(),
) -> tuple[ObjectPose, ...]:
    """Places the room's pickupable objects where an agent can see and reach them.

    Classes and numbers are those of the room's kind; every class of the room occurs at least once
    if there is space at all. Nothing overlaps, and every pose lies exactly on its surface.

    Args:
        room: with its fixtures; its own items are ignored.
        rng: all choices come from it.
        required: demands of a task; they may name classes that the room does not usually have.
        keep_free: receptacle classes that are to stay empty, so that a task can put things there;
            used all the same for what fits nowhere else.

    Raises:
        ArrangementError: if a demand cannot be met in this room.
    """
    for demand in required:
        if demand.object_class not in PICKUPABLE or demand.count < 1:
            raise BadInputError(
                f"a demand is for at least one object of a pickupable class, got {demand}"
            )
    return _Arrangement(room, rng, required, keep_free).run()


@dataclass
class _Arrangement:
    """One arrangement while it is being made."""

    room: Room
    rng: np.random.Generator
    required: Sequence[Demand]
    keep_free: frozenset[ObjectClass]
    poses: list[ObjectPose] = field(default_factory=list)
    taken: dict[tuple[str, int], list[Rectangle]] = field(default_factory=dict)
    boxes: list[Box] = field(default_factory=list)
    copies: dict[ObjectClass, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.site = _site_of(_FixturesKey(self.room))

    def run(self) -> tuple[ObjectPose, ...]:
        wanted = {c: choose_copies(c, self.rng) for c in item_classes(self.room.number)}
        demanded: dict[ObjectClass, int] = {}
        for demand in self.required:
            count = max(demanded.get(demand.object_class, 0), demand.count)
            demanded[demand.object_class] = count
        # What a task needs comes first, then one of each class, the large ones before the small;
        # further copies only as space allows.
        for object_class in self._large_first(demanded):
            for _ in range(demanded[object_class]):
                if not self._place(object_class):
                    raise ArrangementError(
                        f"room {self.room.number} has no place for {demanded[object_class]} "
                        f"{object_class.name} where the task allows them: demand fewer, or "
                        "another class or receptacle"
                    )
        for object_class in self._large_first(wanted):
            if not self.copies.get(object_class):
                self._place(object_class)
        rest = [
            object_class
            for object_class, count in sorted(wanted.items())
            for _ in range(count - self.copies.get(object_class, 0))
        ]
        for i in self.rng.permutation(len(rest)):
            self._place(rest[i])
        return tuple(self.poses)

    def _large_first(self, classes: dict[ObjectClass, int]) -> list[ObjectClass]:
        def bulk(object_class: ObjectClass) -> float:
            width, _, depth = model_of(object_class).size(0)
            return width * depth

        return sorted(classes, key=lambda c: (-bulk(c), c))

    def _place(self, object_class: ObjectClass) -> bool:
        """Finds a place for one more object of the class; False if there is none."""
        name = item_name(self.room.number, object_class, self.copies.get(object_class, 0))
        size = model_of(object_class).size(style_of(name))
        demands = [d for d in self.required if d.object_class == object_class]
        if object_class in ON_FLOOR and not any(d.only_in for d in demands):
            pose = self._on_floor(name, size)
        else:
            pose = self._on_something(object_class, name, size, demands)
        if pose is None:
            return False
        self.poses.append(pose)
        self.copies[object_class] = self.copies.get(object_class, 0) + 1
        return True

    def _on_something(
        self, object_class: ObjectClass, name: str, size: Vector, demands: list[Demand]
    ) -> ObjectPose | None:
        possible = self.site.possible(object_class)
        if demands:
            possible = [
                entry
                for entry in possible
                if all(demand.allows(entry[0].object_class) for demand in demands)
            ]
        free, rest = possible, []
        if self.keep_free:
            free = [entry for entry in possible if entry[0].object_class not in self.keep_free]
            rest = [entry for entry in possible if entry[0].object_class in self.keep_free]
        for entries in (free, rest):
            for fixture in self._order(entries):
                pose = self._on_fixture(object_class, name, size, fixture)
                if pose is not None:
                    return pose
        return None

    def _order(self, entries: list[tuple[Fixture, float]]) -> list[Fixture]:
        """Fixtures in a random order in which the likely ones tend to come first."""
        if not entries:
            return []
        weights = np.array([weight for _, weight in entries])
        keys = -np.log(1.0 - self.rng.random(len(entries))) / np.maximum(weights, 1e-6)
        return [entries[i][0] for i in np.argsort(keys, kind="stable")]

    def _on_fixture(
        self, object_class: ObjectClass, name: str, size: Vector, fixture: Fixture
    ) -> ObjectPose | None:
        posed = posed_size(size, is_tipped(object_class, fixture.object_class))
        surfaces = self.site.surfaces[fixture.name]
        for k in self.rng.permutation(len(surfaces)):
            surface = surfaces[k]
            if posed[1] > surface.clearance:
                continue
            strict = self.site.strict[fixture.name][k]
            if surface.overhang > 0 and fits(strict, posed):
                surface = strict
            spot = self._spot(fixture, int(k), surface, posed)
            if spot is not None:
                yaw = (fixture.yaw + spot.yaw) % 360.0
                dx, dz = turn(spot.x, spot.z, fixture.yaw)
                px, py, pz = fixture.position
                position = (round(px + dx, 4), round(py + surface.y, 4), round(pz + dz, 4))
                self.boxes.append(box_of(position, posed, yaw))
                return ObjectPose(name, position, (0.0, yaw, 0.0))
        return None

    def _spot(self, fixture: Fixture, k: int, surface: Surface, posed: Vector) -> Spot | None:
        """A free, visible spot on the k-th surface of a fixture for something of those extents."""
        fixed = self.site.obstacles(fixture, k, posed[1])
        taken = self.taken.setdefault((fixture.name, k), [])
        area = surface.area
        for _ in range(_SPOTS):
            near = (
                area.x0 + float(self.rng.random()) * (area.x1 - area.x0),
                area.z0 + float(self.rng.random()) * (area.z1 - area.z0),
            )
            first = float(self.rng.integers(4)) * 90.0
            spot = free_spot(
                surface,
                posed,
                [*fixed, *taken],
                near=near,
                yaws=(first, (first + 90.0) % 360.0),
                gap=0.01 if surface.inside else _AIR,
            )
            if spot is None:
                return None
            if not surface.inside and self._collides(fixture, surface, spot, posed):
                continue
            if self.site.sees(fixture, k, spot.x, spot.z):
                taken.append(footprint(posed, spot.x, spot.z, spot.yaw))
                return spot
        return None

    def _collides(self, fixture: Fixture, surface: Surface, spot: Spot, posed: Vector) -> bool:
        """Whether something would stick into a neighbour of what it stands on."""
        dx, dz = turn(spot.x, spot.z, fixture.yaw)
        px, py, pz = fixture.position
        position = (px + dx, py + surface.y, pz + dz)
        box = box_of(position, posed, fixture.yaw + spot.yaw)
        if any(box.overlaps(other) for other in self.boxes):
            return True
        return surface.overhang > 0 and self.site.hits(fixture, box)

    def _on_floor(self, name: str, size: Vector) -> ObjectPose | None:
        """A place at a wall, off the agent's walkable points if possible."""
        candidates = self.site.floor_spots(size)
        for keep_off in (True, False):
            for i in self.rng.permutation(len(candidates)):
                x, z, yaw, aside = candidates[i]
                box = box_of((x, 0.0, z), size, yaw)
                if keep_off != aside or any(box.overlaps(other) for other in self.boxes):
                    continue
                if not self.site.sight.sees_point((x, size[1] / 2, z)):
                    continue
                self.boxes.append(box)
                return ObjectPose(name, (round(x, 4), 0.0, round(z, 4)), (0.0, yaw, 0.0))
        return None


class _RoomFrame:
    """What all arrangements of a room have in common: surfaces, obstacles, sightlines."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.sight = Sightlines(room.fixtures, sorted(room.walkable))
        self.surfaces: dict[str, tuple[Surface, ...]] = {}
        self.strict: dict[str, tuple[Surface, ...]] = {}
        self.holders: list[tuple[Fixture, float]] = []
        for fixture in room.fixtures:
            surfaces = fixture.surfaces
            if surfaces is None:
                surfaces = model_of(fixture.object_class).surfaces(fixture.size, fixture.style)
            if surfaces:
                self.surfaces[fixture.name] = surfaces
                self.strict[fixture.name] = tuple(replace(s, overhang=0.0) for s in surfaces)
                area = sum((s.area.x1 - s.area.x0) * (s.area.z1 - s.area.z0) for s in surfaces)
                self.holders.append((fixture, area))
        self._seen: dict[tuple[str, int, int, int], bool] = {}
        self._obstacles: dict[tuple[str, int, int], list[Rectangle]] = {}
        self._possible: dict[ObjectClass, list[tuple[Fixture, float]]] = {}
        self._floor_spots: dict[Vector, list[tuple[float, float, float, bool]]] = {}
        self._boxes = [box_of(f.position, f.size, f.yaw) for f in room.fixtures]

    def possible(self, object_class: ObjectClass) -> list[tuple[Fixture, float]]:
        """Fixtures that may hold a class, with how likely each is chosen."""
        if object_class not in self._possible:
            classes = holders_of(object_class)
            width, _, depth = model_of(object_class).size(0)
            # Large things go where there is much space, or small tables would be full at once.
            power = 0.5 if width * depth < 0.04 else 1.0
            self._possible[object_class] = [
                (fixture, inclination(object_class, fixture.object_class) * area**power)
                for fixture, area in self.holders
                if fixture.object_class in classes
            ]
        return self._possible[object_class]

    def obstacles(self, fixture: Fixture, surface: int, height: float) -> list[Rectangle]:
        """The parts of a surface that other fixtures block for objects up to the height."""
        tall = int(height / 0.1) + 1
        key = (fixture.name, surface, tall)
        if key not in self._obstacles:
            self._obstacles[key] = obstacles(
                fixture, self.surfaces[fixture.name][surface], 0.1 * tall, self.room.fixtures
            )
        return self._obstacles[key]

    def sees(self, fixture: Fixture, surface: int, x: float, z: float) -> bool:
        """Whether an agent can see and reach something at about that spot.

        The answer is that of the nearest raster point, so it does not depend on what was asked
        before.
        """
        i, j = round(x / _RASTER), round(z / _RASTER)
        key = (fixture.name, surface, i, j)
        if key not in self._seen:
            area = self.surfaces[fixture.name][surface]
            self._seen[key] = self.sight.sees(fixture, area, i * _RASTER, j * _RASTER)
        return self._seen[key]

    def hits(self, holder: Fixture, box: Box) -> bool:
        """Whether a box sticks into a wall or a fixture that is not part of its holder."""
        bounds = self.room.walls
        if box.x0 < min(wall.x0 for wall in bounds) or box.x1 > max(wall.x0 for wall in bounds):
            return True
        if box.z0 < min(wall.z0 for wall in bounds) or box.z1 > max(wall.z0 for wall in bounds):
            return True
        family = {holder.name, holder.part_of}
        return any(
            box.overlaps(other)
            for fixture, other in zip(self.room.fixtures, self._boxes)
            if fixture.name not in family and fixture.part_of not in family - {None}
        )

    def floor_spots(self, size: Vector) -> list[tuple[float, float, float, bool]]:
        """Places (x, z, yaw, off the walkable points) along the walls for an object."""
        if size not in self._floor_spots:
            self._floor_spots[size] = self._find_floor_spots(size)
        return self._floor_spots[size]

    def _find_floor_spots(self, size: Vector) -> list[tuple[float, float, float, bool]]:
        spots = []
        stand = np.array(sorted(self.room.walkable))
        for wall in self.room.walls:
            length = abs(wall.x1 - wall.x0) + abs(wall.z1 - wall.z0)
            along = ((wall.x1 - wall.x0) / length, (wall.z1 - wall.z0) / length)
            inward = (along[1], -along[0])
            yaw = {(0, 1): 0.0, (1, 0): 90.0, (0, -1): 180.0, (-1, 0): 270.0}[
                (round(inward[0]), round(inward[1]))
            ]
            away = size[2] / 2 + 0.02
            doors = [(o.start, o.end) for o in wall.openings if o.kind == "door"]
            for t in np.arange(size[0] / 2 + 0.02, length - size[0] / 2, 0.1):
                if any(a - size[0] / 2 < t < b + size[0] / 2 for a, b in doors):
                    continue
                x = wall.x0 + along[0] * float(t) + inward[0] * away
                z = wall.z0 + along[1] * float(t) + inward[1] * away
                box = box_of((x, 0.0, z), size, yaw)
                if any(box.overlaps(other) for other in self._boxes):
                    continue
                dx = np.maximum(np.maximum(box.x0 - stand[:, 0], stand[:, 0] - box.x1), 0.0)
                dz = np.maximum(np.maximum(box.z0 - stand[:, 1], stand[:, 1] - box.z1), 0.0)
                spots.append((x, z, yaw, bool(np.hypot(dx, dz).min() >= AGENT_RADIUS)))
        return spots


class _FixturesKey:
    """A room's fixtures as a key that is compared by identity; comparing them would be slow."""

    def __init__(self, room: Room) -> None:
        self.room = room

    def __hash__(self) -> int:
        return id(self.room.fixtures)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _FixturesKey) and self.room.fixtures is other.room.fixtures


@lru_cache(maxsize=256)
def _site_of(key: _FixturesKey) -> _RoomFrame:
    return _RoomFrame(key.room)
