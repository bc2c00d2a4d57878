"""What furniture stands on: carcasses under worktops, legs under boards, shelves under things.

These boxes belong to the room and are no objects. They keep off the walkable floor and off every
recorded line of sight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.blocks import rectangles
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT
from gym_clalfred.data.alfred_import.furniture import BASINS, footprint_of
from gym_clalfred.data.alfred_import.supports import Board, in_room
from gym_clalfred.data.alfred_import.trim import front_face, trim
from gym_clalfred.objects import CLOSED_AT_START, ObjectClass
from gym_clalfred.simulator.embedded.catalog.shapes import choose_unit
from gym_clalfred.simulator.embedded.catalog.style import style_of
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.render.mesh import Paint, Texture
from gym_clalfred.simulator.embedded.room_model import Body, Fixture

BoxArray = NDArray[np.float64]

#: Cells of which carcasses are made, in metres.
_CELL = 0.05

#: How far carcasses are behind the edges of the board above.
_INSET = 0.03

#: Air around points on which agents stand.
_AIR = 0.12

#: Smaller boxes are left out.
_LEAST = 0.015

#: Furniture whose board has legs; what else has a board has a carcass.
_ON_LEGS = frozenset(
    {
        ObjectClass.CoffeeTable,
        ObjectClass.Desk,
        ObjectClass.DiningTable,
        ObjectClass.SideTable,
    }
)
_ON_CARCASS = frozenset({ObjectClass.CounterTop, ObjectClass.Dresser, ObjectClass.TVStand})
_LEG = 0.05

#: Boards under nothing but air are on plinths up to this height, above it they hang at the wall.
_PLINTH = 0.6


#: Thickness of side panels, and of the rim of a bathtub.
_PANEL = 0.02
_DEEPEST_SHELF = 0.6
_RIM = 0.06

#: How far casings are behind the knobs of the doors that are built into them, and how far they
#: reach from the faces that they cover.
_BEHIND_FRONT = 0.03
_VENEER = 0.003

_CERAMIC = Paint((236, 236, 232))


class Bodies:
    """Makes the bodies of one room.

    Args:
        number: of the room; its built-in furniture is all of one make.
        fixtures: of the room.
        walked: (N, 2) points on which agents stand.
        rays: (N, 6) eyes and ends of lines of sight that nothing may block.
    """

    def __init__(
        self,
        number: int,
        fixtures: Sequence[Fixture],
        walked: NDArray[np.float64],
        rays: NDArray[np.float64],
    ) -> None:
        self._unit = choose_unit(style_of(unit_name(number)))
        self._fixtures = fixtures
        self._walked = walked
        self._rays = rays
        self._solids = [
            _with_surfaces(fixture)
            for fixture in fixtures
            if fixture.object_class in CLOSED_AT_START or fixture.object_class in BASINS
        ]

    def make(self, boards: Sequence[Board]) -> tuple[Body, ...]:
        """The bodies under furniture and under boards."""
        bodies: list[Body] = []
        for fixture in self._fixtures:
            if not fixture.blocks and fixture.object_class is not ObjectClass.CounterTop:
                continue
            if fixture.object_class in _ON_CARCASS:
                boxes, paint = list(self._carcass(fixture)), self._paint_of(fixture)
            elif fixture.object_class in _ON_LEGS:
                boxes, paint = list(self._legs(fixture)), self._paint_of(fixture)
            else:
                continue
            bodies += [_body(box, paint) for box in self._clear(boxes)]
        for box in self._clear(list(self._uprights())):
            bodies.append(_body(box, self._unit))
        for box in self._casings():
            if not crossed(box, self._rays).any():
                bodies.append(_body(box, self._unit))
        for box in self._clear(list(self._tubs())):
            bodies.append(_body(box, _CERAMIC))
        for board in boards:
            paint = self._unit if board.owner is None else self._paint_of(board.owner)
            box = board.box.copy()
            if board.owner is None and box[4] <= _PLINTH and not self._is_walked(box):
                box[1] = 0.0
            bodies += [_body(one, paint) for one in self._clear([box])]
        return tuple(bodies)

    def _paint_of(self, fixture: Fixture) -> Paint:
        if fixture.object_class is ObjectClass.CounterTop:
            return self._unit
        return choose_unit(fixture.style)

    def _clear(self, boxes: Sequence[BoxArray]) -> Iterator[BoxArray]:
        """The boxes cut back from lines of sight; what still blocks one is left out."""
        for box in boxes:
            cut = trim(box, self._rays[crossed(box, self._rays)], np.zeros((0, 6)), -1)
            if (cut[3:] - cut[:3] >= _LEAST).all() and not crossed(cut, self._rays).any():
                yield cut

    def _is_walked(self, box: BoxArray) -> bool:
        x, z = self._walked.T
        near = (x > box[0] - _AIR) & (x < box[3] + _AIR) & (z > box[2] - _AIR) & (z < box[5] + _AIR)
        return bool(near.any())

    def _uprights(self) -> Iterator[BoxArray]:
        """Side panels of shelves that are above each other; they stand if the lowest is low."""
        shelves = [box_of(f) for f in self._fixtures if f.object_class is ObjectClass.Shelf]
        left = sorted(shelves, key=lambda box: tuple(box))
        while left:
            group = [one for one in left if _mostly_over(one, left[0])]
            left = [one for one in left if not any(one is taken for taken in group)]
            boxes = np.array(group)
            low, high = boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)
            bottom = 0.0 if low[1] < _PLINTH else float(low[1])
            axis = 0 if high[0] - low[0] >= high[2] - low[2] else 2
            deep = high[2 - axis] - low[2 - axis] > _DEEPEST_SHELF
            if deep or high[1] - bottom < 0.1 or len(group) < 2:
                continue
            for side in (low[axis] - _PANEL, high[axis]):
                panel = np.array([low[0], bottom, low[2], high[0], high[1], high[2]])
                panel[axis], panel[axis + 3] = side, side + _PANEL
                if bottom > 0.0 or not self._is_walked(panel):
                    yield panel

    def _casings(self) -> Iterator[BoxArray]:
        """What covers cabinets but for their doors, and basins but for their insides."""
        for fixture in self._fixtures:
            box = box_of(fixture)
            if fixture.object_class is ObjectClass.Cabinet:
                front = front_face(int(fixture.yaw))
                box[front] += -_BEHIND_FRONT if front >= 3 else _BEHIND_FRONT
                side = 2 - front % 3
                faces = [side, side + 3, *([1] if box[1] > EYE_HEIGHT else [])]
                faces += [4] if box[4] < EYE_HEIGHT else []
                inwards = 0.0
            elif fixture.object_class is ObjectClass.SinkBasin:
                faces, inwards = [0, 2, 3, 5], -_VENEER
            else:
                continue
            for face in faces:
                panel = box.copy()
                low, high = (inwards, 2 * _VENEER) if face >= 3 else (2 * _VENEER, inwards)
                panel[face % 3], panel[face % 3 + 3] = box[face] - low, box[face] + high
                yield panel

    def _tubs(self) -> Iterator[BoxArray]:
        """What is around and under basins that are in no worktop."""
        tops = [box_of(f) for f in self._fixtures if f.object_class is ObjectClass.CounterTop]
        for fixture in self._fixtures:
            if fixture.object_class not in BASINS:
                continue
            x0, y0, z0, x1, y1, z1 = basin = box_of(fixture)
            if any(_overlap(basin, top) for top in tops):
                continue
            if fixture.object_class is ObjectClass.SinkBasin:
                dx, dz = (x1 - x0) / 4, (z1 - z0) / 4
                yield np.array([x0 + dx, 0.0, z0 + dz, x1 - dx, y0, z1 - dz])
                continue
            rim = _RIM
            yield np.array([x0 - rim, 0.0, z0 - rim, x0, y1, z1 + rim])
            yield np.array([x1, 0.0, z0 - rim, x1 + rim, y1, z1 + rim])
            yield np.array([x0, 0.0, z0 - rim, x1, y1, z0])
            yield np.array([x0, 0.0, z1, x1, y1, z1 + rim])

    def _legs(self, fixture: Fixture) -> Iterator[BoxArray]:
        """Four legs under the largest block of a board."""
        x0, bottom, z0, x1, _, z1 = max(
            _parts(fixture), key=lambda b: (b[3] - b[0]) * (b[5] - b[2])
        )
        for x in (x0 + _INSET, x1 - _INSET - _LEG):
            for z in (z0 + _INSET, z1 - _INSET - _LEG):
                leg = np.array([x, 0.0, z, x + _LEG, bottom, z + _LEG])
                if not self._is_walked(leg):
                    yield leg

    def _carcass(self, fixture: Fixture) -> Iterator[BoxArray]:
        """Boxes that fill the space under a board, but for what is built in there."""
        for part in _parts(fixture):
            area = part.copy()
            area[[0, 2]] += _INSET
            area[[3, 5]] -= _INSET
            bottom = float(part[1])
            if bottom < 0.2 or (area[3:] - area[:3] < _CELL)[::2].any():
                continue
            inside = [s for s in self._solids if _overlap(s, area)]
            cuts = sorted(
                {0.0, bottom, *(v for s in inside for v in (s[1], s[4]) if 0 < v < bottom)}
            )
            for low, high in pairwise(cuts):
                yield from self._layer(area, low, high, inside)

    def _layer(
        self, area: BoxArray, low: float, high: float, solids: Sequence[BoxArray]
    ) -> Iterator[BoxArray]:
        """Boxes of a carcass between two heights."""
        if high - low < _LEAST:
            return
        counts = [max(int((area[k + 3] - area[k]) / _CELL), 1) for k in (0, 2)]
        xs = np.linspace(area[0], area[3], counts[0] + 1)
        zs = np.linspace(area[2], area[5], counts[1] + 1)
        free = np.ones(counts, dtype=np.bool_)
        for s in solids:
            if s[1] < high - 1e-6 and s[4] > low + 1e-6:
                across = (xs[1:] > s[0]) & (xs[:-1] < s[3])
                free &= ~np.outer(across, (zs[1:] > s[2]) & (zs[:-1] < s[5]))
        for x, z in self._walked:
            across = (xs[1:] > x - _AIR) & (xs[:-1] < x + _AIR)
            free &= ~np.outer(across, (zs[1:] > z - _AIR) & (zs[:-1] < z + _AIR))
        for x, z in self._sight_points(area, low, high):
            across = (xs[1:] > x - _CELL) & (xs[:-1] < x + _CELL)
            free &= ~np.outer(across, (zs[1:] > z - _CELL) & (zs[:-1] < z + _CELL))
        for i0, j0, i1, j1 in rectangles(free, most=6):
            yield np.array([xs[i0], low, zs[j0], xs[i1], high, zs[j1]])

    def _sight_points(self, area: BoxArray, low: float, high: float) -> NDArray[np.float64]:
        """(N, 2) where lines of sight pass through a layer, a cell apart."""
        box = np.array([area[0], low, area[2], area[3], high, area[5]])
        points = [np.zeros((0, 2))]
        for ray in self._rays[crossed(box, self._rays)]:
            along = np.where(np.abs(ray[3:] - ray[:3]) < 1e-9, 1e-9, ray[3:] - ray[:3])
            a, b = (box[:3] - ray[:3]) / along, (box[3:] - ray[:3]) / along
            enter = max(float(np.minimum(a, b).max()), 0.0)
            leave = min(float(np.maximum(a, b).min()), 1.0)
            count = int(math.hypot(along[0], along[2]) * (leave - enter) / _CELL) + 2
            shares = np.linspace(enter, leave, count)
            points.append(ray[[0, 2]] + shares[:, None] * along[::2])
        return np.concatenate(points)


def _mostly_over(a: BoxArray, b: BoxArray) -> bool:
    """Whether most of the smaller of two areas is above or below the other."""
    shared = np.minimum(a[3:], b[3:]) - np.maximum(a[:3], b[:3])
    areas = [(c[3] - c[0]) * (c[5] - c[2]) for c in (a, b)]
    common = max(shared[0], 0.0) * max(shared[2], 0.0)
    return bool(common > 0.5 * min(areas))


def unit_name(number: int) -> str:
    """Of the make of a room's built-in furniture, for its style."""
    return f"unit-{number}"


def crossed(box: BoxArray, rays: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(N,) which lines of sight pass through a box."""
    eyes, along = rays[:, :3], rays[:, 3:] - rays[:, :3]
    along = np.where(np.abs(along) < 1e-9, 1e-9, along)
    a, b = (box[:3] - eyes) / along, (box[3:] - eyes) / along
    enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    return np.asarray((enter < leave) & (leave > 0.0) & (enter < 1.0))


def box_of(fixture: Fixture) -> BoxArray:
    """The box of a fixture in the room, with all its blocks."""
    area, low = footprint_of(fixture), fixture.position[1]
    return np.array([area.x0, low, area.z0, area.x1, low + fixture.size[1], area.z1])


def _with_surfaces(fixture: Fixture) -> BoxArray:
    """The box of a fixture and of all that may lie in it."""
    box = box_of(fixture)
    if fixture.object_class in BASINS:
        for surface in fixture.surfaces or ():
            area = in_room(fixture, surface.area)
            box[[0, 2]] = np.minimum(box[[0, 2]], (area.x0 - _RIM, area.z0 - _RIM))
            box[[3, 5]] = np.maximum(box[[3, 5]], (area.x1 + _RIM, area.z1 + _RIM))
        box[4] += 0.5
    return box


def _parts(fixture: Fixture) -> list[BoxArray]:
    """The blocks of a board in the room; the whole if it has none."""
    if not fixture.blocks:
        return [box_of(fixture)]
    parts = []
    for block in fixture.blocks:
        xa, za = turn(block.low[0], block.low[2], fixture.yaw)
        xb, zb = turn(block.high[0], block.high[2], fixture.yaw)
        x, y, z = fixture.position
        parts.append(
            np.array(
                [
                    x + min(xa, xb),
                    y + block.low[1],
                    z + min(za, zb),
                    x + max(xa, xb),
                    y + block.high[1],
                    z + max(za, zb),
                ]
            )
        )
    return parts


def _overlap(a: BoxArray, b: BoxArray) -> bool:
    return bool(a[0] < b[3] and b[0] < a[3] and a[2] < b[5] and b[2] < a[5])


def _body(box: BoxArray, paint: Paint) -> Body:
    x0, y0, z0, x1, y1, z1 = (round(float(v), 3) for v in box)
    return Body((x0, y0, z0), (x1, y1, z1), paint.colour, Texture(paint.texture).name.lower())
