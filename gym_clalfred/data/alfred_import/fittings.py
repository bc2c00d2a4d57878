"""Classes that ALFRED lists for a room without a place: put where such things usually are.

Only classes of which nothing else is in the room get a fixture. It stands off the walkable floor,
off other furniture and off every recorded line of sight, or is left out where nothing is free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.bodies import box_of, crossed
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import model_of, style_of
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import AGENT_RADIUS, Fixture, Rectangle
from gym_clalfred.simulator.object_ids import format_id

BoxArray = NDArray[np.float64]

#: Height of the middle of what hangs at a wall.
_ON_WALL = {
    ObjectClass.Window: 1.5,
    ObjectClass.Blinds: 1.5,
    ObjectClass.Curtains: 1.2,
    ObjectClass.Mirror: 1.5,
    ObjectClass.Painting: 1.6,
    ObjectClass.Poster: 1.6,
    ObjectClass.LightSwitch: 1.2,
    ObjectClass.ShowerHead: 1.9,
    ObjectClass.TowelHolder: 1.2,
    ObjectClass.HandTowelHolder: 1.3,
    ObjectClass.ToiletPaperHanger: 0.7,
}

#: What stands on furniture, and on which.
_ON_TOP = {
    ObjectClass.Toaster: (ObjectClass.CounterTop,),
    ObjectClass.CoffeeMachine: (ObjectClass.CounterTop,),
    ObjectClass.Television: (ObjectClass.TVStand, ObjectClass.Dresser, ObjectClass.SideTable),
    ObjectClass.DeskLamp: (ObjectClass.Desk, ObjectClass.SideTable, ObjectClass.Dresser),
    ObjectClass.Lamp: (ObjectClass.SideTable, ObjectClass.Dresser, ObjectClass.Desk),
}

#: What stands on the floor, and next to what.
_ON_FLOOR = {
    ObjectClass.Chair: (ObjectClass.DiningTable, ObjectClass.Desk, ObjectClass.CounterTop),
    ObjectClass.Toilet: (),
    ObjectClass.Bed: (),
    ObjectClass.Sofa: (),
    ObjectClass.ArmChair: (),
    ObjectClass.FloorLamp: (ObjectClass.Sofa, ObjectClass.ArmChair),
    ObjectClass.HousePlant: (),
    ObjectClass.GarbageCan: (),
    ObjectClass.LaundryHamper: (),
    ObjectClass.Ottoman: (),
    ObjectClass.Safe: (),
    ObjectClass.ShowerDoor: (),
    ObjectClass.ShowerGlass: (),
    ObjectClass.ShowerCurtain: (),
}

#: Grid on which places are looked for, and at how many of them lines of sight are compared.
_GRID = 0.1
_TRIED = 120

#: Air around a fitting; distance from the wall of what hangs there.
_AIR = 0.03
_OFF_WALL = 0.005

#: Extents of a stove in a worktop.
_STOVE = (0.56, 0.02, 0.5)

#: Things at a wall keep so far from each other; what stands so near before one hides it.
_APART = 0.25
_HIDES = 0.8


@dataclass
class Site:
    """A room in which fittings are put.

    Args:
        floor: its outline.
        fixtures: that are there already.
        bodies: (N, 6) boxes that are no objects.
        walkable: (N, 2) points on which agents stand.
        rests: (N, 3) base centres of small things.
        rays: (N, 6) lines of sight that nothing may block.
    """

    floor: Rectangle
    fixtures: list[Fixture]
    bodies: BoxArray
    walkable: BoxArray
    rests: BoxArray
    rays: BoxArray

    def add_missing(self, classes: frozenset[ObjectClass]) -> list[Fixture]:
        """Fixtures of the listed classes that the room lacks."""
        there = {fixture.object_class for fixture in self.fixtures}
        added: list[Fixture] = []
        for object_class in sorted(classes - there - PICKUPABLE):
            for find in self._finders(object_class):
                found = find(object_class)
                if found is not None:
                    self.fixtures.append(found)
                    added.append(found)
        added += self._stove(classes)
        return added

    def _stove(self, classes: frozenset[ObjectClass]) -> list[Fixture]:
        """Burners on a free part of a worktop, if none is known, and knobs before burners."""
        burners = [f for f in self.fixtures if f.object_class is ObjectClass.StoveBurner]
        added: list[Fixture] = []
        if ObjectClass.StoveBurner in classes and not burners:
            tops = [f for f in self.fixtures if f.object_class is ObjectClass.CounterTop]
            places = sorted(place for top in tops for place in self._on(top, _STOVE))
            for _, (x, y, z), yaw in places[:1]:
                for a, b in ((-0.14, -0.12), (0.14, -0.12), (-0.14, 0.12), (0.14, 0.12)):
                    dx, dz = turn(a, b, float(yaw))
                    added.append(_fixture(ObjectClass.StoveBurner, (x + dx, y, z + dz), yaw))
            burners = added[:]
        knobs = any(f.object_class is ObjectClass.StoveKnob for f in self.fixtures)
        if ObjectClass.StoveKnob in classes and burners and not knobs:
            x, y, z = np.mean([burner.position for burner in burners], axis=0).tolist()
            nearest = self.walkable[np.hypot(*(self.walkable - (x, z)).T).argmin()] - (x, z)
            yaw = round(math.degrees(math.atan2(*nearest)) / 90) * 90 % 360
            for k in range(4):
                dx, dz = turn(0.09 * (k - 1.5), 0.33, float(yaw))
                place = (x + dx, y - 0.07, z + dz)
                added.append(_fixture(ObjectClass.StoveKnob, place, yaw))
        self.fixtures += added
        return added

    def _finders(
        self, object_class: ObjectClass
    ) -> Iterator[Callable[[ObjectClass], Fixture | None]]:
        if object_class in _ON_WALL:
            yield self._at_wall
        elif object_class in _ON_TOP:
            yield self._on_top
        elif object_class in _ON_FLOOR:
            yield self._on_floor

    def _solids(self) -> BoxArray:
        boxes = [box_of(fixture) for fixture in self.fixtures]
        return np.concatenate([np.array(boxes).reshape(-1, 6), self.bodies])

    def _first_clear(
        self, object_class: ObjectClass, places: Sequence[tuple[float, Vector, int]]
    ) -> Fixture | None:
        """A fixture at the cheapest place (cost, base centre, yaw) where nothing is in the way."""
        solids = self._solids()
        size = model_of(object_class).size(style_of(object_class.name))
        tried = 0
        for _, position, yaw in sorted(places):
            box = _box_at(position, size, yaw)
            if _meets(box, solids):
                continue
            tried += 1
            if tried > _TRIED:
                return None
            if not crossed(box, self.rays).any():
                return _fixture(object_class, position, yaw)
        return None

    def _at_wall(self, object_class: ObjectClass) -> Fixture | None:
        size = model_of(object_class).size(style_of(object_class.name))
        low = max(_ON_WALL[object_class] - size[1] / 2, 0.0)
        places = []
        for x, z, yaw in _along_walls(self.floor, size[0], size[2] / 2 + _OFF_WALL):
            box = _box_at((x, low, z), size, yaw)
            places.append((self._hidden(box, yaw), (x, round(low, 3), z), yaw))
        return self._first_clear(object_class, places)

    def _hidden(self, box: BoxArray, yaw: int) -> float:
        """How much stands before a box at a wall, or next to it there."""
        reach = box.copy()
        axis = 0 if yaw % 180 else 2
        reach[2 - axis] -= _APART
        reach[5 - axis] += _APART
        if yaw in (0, 90):
            reach[axis + 3] += _HIDES
        else:
            reach[axis] -= _HIDES
        solids = self._solids()
        return float(np.count_nonzero(_overlaps(reach, solids)))

    def _on_top(self, object_class: ObjectClass) -> Fixture | None:
        size = model_of(object_class).size(style_of(object_class.name))
        for wanted in _ON_TOP[object_class]:
            places = []
            for fixture in self.fixtures:
                if fixture.object_class is wanted:
                    places += list(self._on(fixture, size))
            found = self._first_clear(object_class, places)
            if found is not None:
                return found
        return None

    def _on(self, fixture: Fixture, size: Vector) -> Iterator[tuple[float, Vector, int]]:
        """Places on a fixture, away from where small things lie, at its back."""
        yaw = int(fixture.yaw)
        for surface in (fixture.surfaces or ())[:4]:
            area, level = surface.area, fixture.position[1] + surface.y
            if surface.inside or level < 0.3:
                continue
            near = self.rests[np.abs(self.rests[:, 1] - level) < 0.1]
            for a in np.arange(area.x0 + size[0] / 2, area.x1 - size[0] / 2 + 1e-6, _GRID):
                for b in np.arange(area.z0 + size[2] / 2, area.z1 - size[2] / 2 + 1e-6, _GRID):
                    dx, dz = turn(float(a), float(b), fixture.yaw)
                    x, z = fixture.position[0] + dx, fixture.position[2] + dz
                    taken = np.hypot(near[:, 0] - x, near[:, 2] - z) < max(size[0], size[2]) / 2
                    cost = float(np.count_nonzero(taken)) + 0.1 * float(b - area.z0)
                    yield cost, (round(x, 3), round(level + 0.001, 3), round(z, 3)), yaw

    def _on_floor(self, object_class: ObjectClass) -> Fixture | None:
        size = model_of(object_class).size(style_of(object_class.name))
        near = [
            np.array(fixture.position)[::2]
            for fixture in self.fixtures
            if fixture.object_class in _ON_FLOOR[object_class]
        ]
        places = []
        for x in np.arange(self.floor.x0 + 0.15, self.floor.x1 - 0.15, _GRID):
            for z in np.arange(self.floor.z0 + 0.15, self.floor.z1 - 0.15, _GRID):
                for yaw in (0, 90, 180, 270):
                    box = _box_at((float(x), 0.0, float(z)), size, yaw)
                    if not self._is_free_floor(box):
                        continue
                    cost = self._floor_cost(box, yaw, near)
                    places.append((cost, (round(float(x), 3), 0.0, round(float(z), 3)), yaw))
        return self._first_clear(object_class, places)

    def _is_free_floor(self, box: BoxArray) -> bool:
        floor, (x, z) = self.floor, self.walkable.T
        within = box[0] > floor.x0 and box[3] < floor.x1 and box[2] > floor.z0 and box[5] < floor.z1
        if not within:
            return False
        dx = np.maximum.reduce([box[0] - x, x - box[3], np.zeros(len(x))])
        dz = np.maximum.reduce([box[2] - z, z - box[5], np.zeros(len(z))])
        return not bool((np.hypot(dx, dz) < AGENT_RADIUS).any())

    def _floor_cost(self, box: BoxArray, yaw: int, near: Sequence[BoxArray]) -> float:
        """Small next to what it belongs to, else at a wall with its back, near the floor."""
        x, z = (box[0] + box[3]) / 2, (box[2] + box[5]) / 2
        walked = np.hypot(self.walkable[:, 0] - x, self.walkable[:, 1] - z)
        dx, dz = turn(0.0, 1.0, float(yaw))
        ahead = self.walkable[int(walked.argmin())] - (x, z)
        facing = 0.0 if ahead[0] * dx + ahead[1] * dz > 0 else 1.0
        if near:
            return facing + float(min(np.hypot(*(place - (x, z))) for place in near))
        floor = self.floor
        back = {0: box[2] - floor.z0, 180: floor.z1 - box[5], 90: box[0] - floor.x0}
        return facing + float(back.get(yaw, floor.x1 - box[3])) + 0.5 * float(walked.min())


def _fixture(object_class: ObjectClass, position: Vector, yaw: int) -> Fixture:
    x, y, z = (round(float(value), 3) for value in position)
    name = format_id(object_class, (x, y, z))
    size = model_of(object_class).size(style_of(object_class.name))
    surfaces = model_of(object_class).surfaces(size, style_of(name))
    return Fixture(
        name, object_class, (x, y, z), float(yaw), size, style_of(name), surfaces=surfaces
    )


def _along_walls(floor: Rectangle, width: float, off: float) -> Iterator[tuple[float, float, int]]:
    """Places (x, z, yaw) with the back at a wall."""
    for x in np.arange(floor.x0 + width / 2 + 0.1, floor.x1 - width / 2 - 0.1, _GRID):
        yield round(float(x), 3), round(floor.z0 + off, 3), 0
        yield round(float(x), 3), round(floor.z1 - off, 3), 180
    for z in np.arange(floor.z0 + width / 2 + 0.1, floor.z1 - width / 2 - 0.1, _GRID):
        yield round(floor.x0 + off, 3), round(float(z), 3), 90
        yield round(floor.x1 - off, 3), round(float(z), 3), 270


def _box_at(position: Vector, size: Vector, yaw: int) -> BoxArray:
    width, height, depth = size if yaw % 180 == 0 else (size[2], size[1], size[0])
    x, y, z = position
    return np.array([x - width / 2, y, z - depth / 2, x + width / 2, y + height, z + depth / 2])


def _overlaps(box: BoxArray, others: BoxArray) -> NDArray[np.bool_]:
    meets = (box[:3] < others[:, 3:]) & (others[:, :3] < box[3:])
    return np.asarray(meets.all(axis=1))


def _meets(box: BoxArray, others: BoxArray) -> bool:
    air = np.array([-_AIR, 0.0, -_AIR, _AIR, 0.0, _AIR])
    return bool(_overlaps(box + air, others).any())
