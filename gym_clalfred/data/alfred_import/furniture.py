"""From boxes to fixtures: depth of containers, heights of tops, and the shape that fits best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.blocks import Box, board_rectangles, carved_body, on_level
from gym_clalfred.data.alfred_import.boxes import BoxFitter, FixtureView, Surroundings, spread
from gym_clalfred.data.alfred_import.studio import Studio
from gym_clalfred.data.alfred_import.surfaces import (
    HOLDS_PANELS,
    TOPS,
    covers,
    keep_out,
    settle_top,
    surfaces_for,
    surfaces_on,
)
from gym_clalfred.data.alfred_import.trim import at_least, blocked_by, front_face, trim
from gym_clalfred.objects import CLOSED_AT_START, ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import (
    BOARD,
    MIRRORED,
    NO_SHELVES,
    ONE_DOOR,
    Appearance,
    build_blocks,
    build_mesh,
    model_of,
    style_of,
)
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Block, Fixture, Rectangle, Surface
from gym_clalfred.simulator.object_ids import class_of

#: Classes of which only the front is seen while they are closed, with their usual depth.
PANELS = {ObjectClass.Cabinet: 0.36, ObjectClass.Drawer: 0.45}

#: Furniture with a back that may be used from any side, and how much better another turn must be.
WITH_BACK = frozenset({ObjectClass.Toilet, ObjectClass.Bed, ObjectClass.Sofa, ObjectClass.ArmChair})
_OTHER_TURN = 0.03

#: So many things show where a worktop is.
_SHOWS_BOARD = 12

#: Other containers, with the depth that they have at least.
_LEAST_DEPTHS = {
    ObjectClass.Fridge: 0.45,
    ObjectClass.Microwave: 0.28,
    ObjectClass.Safe: 0.25,
}

#: Hollow things into which one looks from above.
OPEN_ABOVE = frozenset({ObjectClass.GarbageCan, ObjectClass.LaundryHamper})

#: How far below what lies in a container its bottom is.
_BOTTOM = 0.02
_DEEPER = 0.5

#: How far a container reaches behind what lies in it, and how deep it is at most.
_BEHIND_ITEM = 0.08
_MOST_DEPTH = 0.7

#: How far a cabinet's knob stands out from its door.
_KNOB = 0.014

#: How far a cabinet reaches beyond what is seen of its door, which a worktop may cover.
_MOST_GROWTH = 0.15

#: Hollow things that are let into others, with the least depth of their inside.
BASINS = {ObjectClass.SinkBasin: 0.14, ObjectClass.BathtubBasin: 0.25}

#: How much better a measured shape must agree with the masks than the catalogue's.
_LOOKS_COUNT = 0.08

#: The same for a carved hull, which looks like nothing.
_HULL_COUNTS = 0.16

#: Views compared when shapes are chosen.
_VIEWS = 8

#: Other shapes of its class that an openable thing may have.
_TRIED_STYLES = 3

_THICKNESS = 0.04

#: Basins are let into boards by at most so much above their level.
_LET_IN = 0.05

#: Samples of masks that must be seen through a board, farther than this from its edges.
_SEEN_THROUGH = 60
_RIM = 0.06

#: What lies on a board is at most so far from its level.
_ON_TOP = 0.05

#: Air under what was hidden, and the least height of a plain block.
_CLEAR = 0.005
_LEAST_BLOCK = 0.02


#: Eye and end of a line of sight to a pickupable, its base centre, and the id of what holds it.
LineOfSight = tuple[Vector, Vector, Vector, str | None]


class Maker:
    """Makes the fixtures of one room.

    Args:
        views: masks by fixture id and whether it was open.
        bases: base centres of what lay in or on each fixture.
        sights: lines of sight to pickupables.
        boxes: of all fixtures, as fitted.
        unit: name of the make of built-in furniture, for its style.
        rests: base centres of all small things that seem to rest in or on each fixture; they tell
            its surfaces, and its form if no mask shows it.
    """

    def __init__(
        self,
        views: Mapping[tuple[str, bool], Sequence[FixtureView]],
        bases: Mapping[str, Sequence[Vector]],
        sights: Sequence[LineOfSight],
        boxes: Mapping[str, NDArray[np.float64]],
        unit: str,
        rests: Mapping[str, Sequence[Vector]],
    ) -> None:
        self._views = views
        seen = {name for name, _ in views}
        self._rests = {name: [*bases.get(name, ()), *rests.get(name, ())] for name in boxes}
        self._bases = {
            name: list(bases.get(name, ())) if name in seen else self._rests[name] for name in boxes
        }
        self._sights = sights
        self._boxes = boxes
        self._unit = unit
        self._studio = Studio()

    def make(self, name: str, yaw: int, box: NDArray[np.float64], around: Surroundings) -> Fixture:
        """The fixture that fills a box, cut back from all lines of sight."""
        object_class = class_of(name)
        held = self._bases.get(name, [])
        outside = [base for _, _, base, holder in self._sights if holder != name]
        box = settle_top(object_class, box, [*held, *outside])
        if object_class in PANELS:
            box = self._deepen(name, yaw, box)
        elif object_class in _LEAST_DEPTHS:
            box = hold_inside(at_least(box, yaw, _LEAST_DEPTHS[object_class]), yaw, held)
        if object_class in BASINS:
            box, high = hold_inside(box, yaw, held), box[4]
            box[4] = high
            box[1] = min(box[1], box[4] - BASINS[object_class])
        if object_class not in TOPS:
            box = box.copy()
            box[1] = max(min([box[1], *self.lows(name, box)]), min(box[1], 0.0))
        if object_class not in BASINS:
            growth = self._growth(box) if around.hinged else 0.0
            box = trim(box, around.rays, around.through, around.front, growth)
        if around.hinged:
            box[around.front] += _KNOB if around.front >= 3 else -_KNOB
        low, high = box[:3], box[3:]
        width, height, depth = (round(float(v), 3) for v in high - low)
        if yaw % 180:
            width, depth = depth, width
        position = (
            round(float(low[0] + high[0]) / 2, 4),
            round(float(low[1]), 4),
            round(float(low[2] + high[2]) / 2, 4),
        )
        style = style_of(self._make_of(name, box))
        if object_class is ObjectClass.CounterTop:
            style |= BOARD
        if object_class in CLOSED_AT_START:
            style |= NO_SHELVES
        size = _buildable(object_class, (width, height, depth), style)
        style = self._choose_style(name, position, yaw, size, style)
        bases = [_to_own(base, position, yaw) for base in self._rests.get(name, [])]
        surfaces = surfaces_for(object_class, size, style, bases)
        if object_class in CLOSED_AT_START:
            beside = [_to_own(base, position, yaw) for base in outside]
            surfaces = tuple(keep_out(surface, beside) for surface in surfaces)
        blocks: tuple[Block, ...] = ()
        if object_class not in CLOSED_AT_START:
            blocks = self._choose_blocks(name, position, yaw, size, style, surfaces)
        fixture = Fixture(
            name, object_class, position, float(yaw), size, style, surfaces=surfaces, blocks=blocks
        )
        if blocks and object_class in TOPS:
            return _around_blocks(fixture)
        return self._uncover(fixture)

    def _make_of(self, name: str, box: NDArray[np.float64]) -> str:
        """The name that decides the looks: drawers match what they are in, units each other."""
        object_class = class_of(name)
        if object_class is ObjectClass.CounterTop:
            return self._unit
        if object_class not in PANELS:
            return name
        middle = (box[:3] + box[3:]) / 2
        for other, body in self._boxes.items():
            inside = (body[:3] < middle + _RIM).all() and (middle - _RIM < body[3:]).all()
            if class_of(other) in HOLDS_PANELS and inside:
                return other
        return self._unit

    def lows(self, name: str, box: NDArray[np.float64]) -> list[float]:
        """Heights below which the bottom of what holds things must be."""
        inside = list(self._bases.get(name, []))
        if class_of(name) in BASINS:
            # What lies in the open part of a basin is in it, unless it is known to be elsewhere.
            free = [base for _, _, base, holder in self._sights if holder is None]
            inside += [b for b in free if box[0] < b[0] < box[3] and box[2] < b[2] < box[5]]
        return [y - _BOTTOM for _, y, _ in inside if box[1] - _DEEPER < y < box[4]]

    def _growth(self, box: NDArray[np.float64]) -> float:
        """How far a cabinet may reach beyond what is seen of its door: not into basins above."""
        room = [
            other[4] - BASINS[class_of(name)] - box[4]
            for name, other in self._boxes.items()
            if class_of(name) in BASINS
            and (box[:3] < other[3:])[::2].all()
            and (other[:3] < box[3:])[::2].all()
            and other[4] > box[4]
        ]
        return max(min([_MOST_GROWTH, *room]), 0.0)

    def _uncover(self, fixture: Fixture) -> Fixture:
        """The fixture, or a plain block of it if its shape hides what lies on it."""
        own = [sight for sight in self._sights if sight[3] == fixture.name]
        if fixture.object_class in CLOSED_AT_START or fixture.object_class in BASINS or not own:
            return fixture
        if fixture.blocks:
            mesh = build_blocks(fixture.object_class, fixture.blocks, fixture.style)
        else:
            mesh = build_mesh(fixture.object_class, fixture.size, fixture.style, Appearance())
        rays = np.array([(*eye, *end) for eye, end, _, _ in own])
        hidden = blocked_by(mesh, fixture.position, fixture.yaw, rays)
        if not hidden.any():
            return fixture
        lows = [base[1] for (_, _, base, _), hides in zip(own, hidden) if hides]
        level = max(min(lows) - fixture.position[1] - _CLEAR, _LEAST_BLOCK)
        width, _, depth = fixture.size
        block = Block((-width / 2, 0.0, -depth / 2), (width / 2, level, depth / 2))
        top = surfaces_on([block], level)
        kept = tuple(s for s in fixture.surfaces or () if s.y > level + _CLEAR)
        size = (width, round(level, 4), depth)
        return replace(fixture, size=size, blocks=(block,), surfaces=(*top, *kept))

    def _deepen(self, name: str, yaw: int, box: NDArray[np.float64]) -> NDArray[np.float64]:
        """The box of a drawer or cabinet behind the front that is seen of it while closed."""
        object_class = class_of(name)
        depth = PANELS[object_class]
        views = self._views.get((name, True), [])
        axis = 0 if yaw % 180 else 2
        outwards = 1.0 if yaw in (0, 90) else -1.0
        front = box[axis + 3] if outwards > 0 else box[axis]
        if object_class is ObjectClass.Drawer and views:
            fitter = BoxFitter(views, (0, 0, 0), (1, 1, 1), Surroundings(np.zeros((0, 2))))
            best = -1.0
            for slide in np.arange(0.2, 0.5, 0.02):
                pulled = box.copy()
                pulled[axis], pulled[axis + 3] = sorted((front, front + outwards * slide))
                agreement = float(fitter.agreements(pulled).mean())
                if agreement > best:
                    best, depth = agreement, slide / model_of(object_class).slide((1, 1, 1), True)
        for item in self._bases.get(name, []):
            depth = max(depth, min(outwards * (front - item[axis]) + _BEHIND_ITEM, _MOST_DEPTH))
        deep = box.copy()
        deep[axis], deep[axis + 3] = sorted((front, front - outwards * depth))
        return deep

    def _choose_style(self, name: str, position: Vector, yaw: int, size: Vector, style: int) -> int:
        """The style whose open state agrees best with the masks: on which side the hinge is."""
        object_class = class_of(name)
        views = spread(self._views.get((name, True), []))[:_VIEWS]
        if object_class not in CLOSED_AT_START or object_class is ObjectClass.Drawer or not views:
            return style
        others = [style_of(f"{name}{k}") | NO_SHELVES for k in range(_TRIED_STYLES)]
        if object_class is ObjectClass.Cabinet:
            others = [style | ONE_DOOR]
        elif object_class is ObjectClass.Microwave:
            others = []
        best, chosen = -1.0, style
        for base in (style, *others):
            for tried in (base, base | MIRRORED):
                mesh = build_mesh(object_class, size, tried, Appearance(is_open=True))
                agreement = self._studio.agreement(mesh, position, yaw, views)
                if agreement > best:
                    best, chosen = agreement, tried
        return chosen

    def _choose_blocks(
        self,
        name: str,
        position: Vector,
        yaw: int,
        size: Vector,
        style: int,
        surfaces: Sequence[Surface],
    ) -> tuple[Block, ...]:
        """A measured shape, if one agrees clearly better with the masks than the catalogue's."""
        object_class = class_of(name)
        views = spread(self._views.get((name, True), []))[:_VIEWS]
        if not views:
            return self._board_under(name, position, yaw, size)
        mesh = build_mesh(object_class, size, style, Appearance())
        best = self._studio.agreement(mesh, position, yaw, views) + _LOOKS_COUNT
        if object_class in TOPS and self._is_seen_through(name, position, yaw, size):
            best = -1.0
        chosen: tuple[Block, ...] = ()
        for k, boxes in enumerate(self._measured(name, position, yaw, size, views)):
            blocks = tuple(_own(box, position, yaw) for box in boxes)
            # A shape that fills the place of what lies on it cannot be right.
            if not blocks or (object_class not in TOPS and covers(blocks, surfaces)):
                continue
            mesh = build_blocks(object_class, blocks, style)
            agreement = self._studio.agreement(mesh, position, yaw, views)
            agreement -= (_HULL_COUNTS - _LOOKS_COUNT) * (k > 0)
            if agreement > best:
                best, chosen = agreement, blocks
        return chosen

    def _board_under(
        self, name: str, position: Vector, yaw: int, size: Vector
    ) -> tuple[Block, ...]:
        """A worktop that no mask shows, where things lie on it."""
        if class_of(name) is not ObjectClass.CounterTop:
            return ()
        if len(self._bases.get(name, [])) < _SHOWS_BOARD:
            return ()
        boxes = self._measured(name, position, yaw, size, ())
        return tuple(_own(box, position, yaw) for box in boxes[0])

    def _measured(
        self,
        name: str,
        position: Vector,
        yaw: int,
        size: Vector,
        views: Sequence[FixtureView],
    ) -> list[list[Box]]:
        object_class = class_of(name)
        x0, z0, x1, z1 = _area(position, yaw, size)
        top = position[1] + size[1]
        if object_class in TOPS:
            near = [b for b in self._bases.get(name, []) if abs(b[1] - top) < _ON_TOP]
            held = np.array(near, dtype=np.float64).reshape(-1, 3)[:, ::2]
            anchor = (position[0], position[2])
            seen = self._seen_below(name, top)
            found = board_rectangles(views, anchor, top, self._holes(top), held, seen)
            return [[(r[0], top - _THICKNESS, r[1], r[2], top, r[3]) for r in found]]
        if object_class in BASINS:
            return []
        if object_class in WITH_BACK:
            return []
        whole = (x0, position[1], z0, x1, top, z1)
        margin = np.array([-0.02, -0.02, -0.02, 0.02, 0.02, 0.02])
        return [[whole], carved_body(views, np.array(whole) + margin)]

    def _holes(self, level: float) -> NDArray[np.float64]:
        """(N, 2) where lines of sight pass a level, so that nothing can be there."""
        points = []
        for eye, end, _, _ in self._sights:
            if eye[1] > level > end[1]:
                share = (eye[1] - level) / (eye[1] - end[1])
                points.append([a + share * (b - a) for a, b in zip(eye, end)][::2])
        return np.array(points, dtype=np.float64).reshape(-1, 2)

    def _is_seen_through(self, name: str, position: Vector, yaw: int, size: Vector) -> bool:
        """Whether a plain board would hide what masks show below it."""
        x0, z0, x1, z1 = _area(position, yaw, size)
        x, z = self._seen_below(name, position[1] + size[1]).T
        inside = (np.minimum(x - x0, x1 - x) > _RIM) & (np.minimum(z - z0, z1 - z) > _RIM)
        return int(np.count_nonzero(inside)) >= _SEEN_THROUGH

    def _seen_below(self, name: str, level: float) -> NDArray[np.float64]:
        """(N, 2) where masks of what is below a level are seen through it."""
        points = [np.zeros((0, 2))]
        for (other, _), views in self._views.items():
            box = self._boxes.get(other)
            if other == name or box is None or box[4] > level + _LET_IN:
                continue
            points += [on_level(view, level) for view in spread(views)[:_VIEWS]]
        return np.concatenate(points)


def _around_blocks(fixture: Fixture) -> Fixture:
    """The fixture with its box around its blocks, which may reach farther than the fit."""
    area, (x, y, z) = footprint_of(replace(fixture, size=(0.0, 0.0, 0.0))), fixture.position
    middle = (round((area.x0 + area.x1) / 2, 4), y, round((area.z0 + area.z1) / 2, 4))
    dx, dz = turn(x - middle[0], z - middle[2], -fixture.yaw)
    width, depth = area.x1 - area.x0, area.z1 - area.z0
    if fixture.yaw % 180:
        width, depth = depth, width
    blocks = tuple(
        Block(
            _rounded((b.low[0] + dx, b.low[1], b.low[2] + dz)),
            _rounded((b.high[0] + dx, b.high[1], b.high[2] + dz)),
        )
        for b in fixture.blocks
    )
    size = (round(width, 3), fixture.size[1], round(depth, 3))
    surfaces = surfaces_on(blocks, fixture.size[1])
    return replace(fixture, position=middle, size=size, blocks=blocks, surfaces=surfaces)


def turn_to_masks(
    studio: Studio, name: str, yaw: int, box: NDArray[np.float64], views: Sequence[FixtureView]
) -> int:
    """The yaw with which something that has a back looks most like its masks."""
    best, chosen = -1.0, yaw
    for tried in (yaw, (yaw + 90) % 360, (yaw + 180) % 360, (yaw + 270) % 360):
        width, height, depth = (float(v) for v in box[3:] - box[:3])
        size = (depth, height, width) if tried % 180 else (width, height, depth)
        size = _buildable(class_of(name), _rounded(size), style_of(name))
        middle = ((box[0] + box[3]) / 2, float(box[1]), (box[2] + box[5]) / 2)
        mesh = build_mesh(class_of(name), size, style_of(name), Appearance())
        agreement = studio.agreement(mesh, middle, tried, spread(views)[:_VIEWS])
        if agreement > best + (_OTHER_TURN if best >= 0 else 0.0):
            best, chosen = agreement, tried
    return chosen


def hold_inside(box: NDArray[np.float64], yaw: int, held: Sequence[Vector]) -> NDArray[np.float64]:
    """The box of a container made so large that it holds what was in it, behind its front."""
    face, grown = front_face(yaw), box.copy()
    for item in held:
        low, high = np.array(item) - _BEHIND_ITEM, np.array(item) + _BEHIND_ITEM
        low[1], high[1] = item[1] - _BOTTOM, item[1] + 2 * _BEHIND_ITEM
        # What is far from the box is recorded as being in it by mistake.
        if (np.maximum(box[:3] - low, high - box[3:]) > _DEEPER).any():
            continue
        (high if face >= 3 else low)[face % 3] = item[face % 3]
        grown[:3], grown[3:] = np.minimum(grown[:3], low), np.maximum(grown[3:], high)
    grown[1] = max(grown[1], min(box[1], 0.0))
    return grown


def footprint_of(fixture: Fixture) -> Rectangle:
    """Of a fixture whose yaw is a multiple of 90 degrees, with all its blocks."""
    x0, z0, x1, z1 = _area(fixture.position, fixture.yaw, fixture.size)
    for block in fixture.blocks:
        for corner in (block.low, block.high):
            x, z = turn(corner[0], corner[2], fixture.yaw)
            x, z = x + fixture.position[0], z + fixture.position[2]
            x0, z0, x1, z1 = min(x0, x), min(z0, z), max(x1, x), max(z1, z)
    return Rectangle(x0, z0, x1, z1)


def _area(position: Vector, yaw: float, size: Vector) -> tuple[float, float, float, float]:
    width, _, depth = size
    if yaw % 180:
        width, depth = depth, width
    x, _, z = position
    return x - width / 2, z - depth / 2, x + width / 2, z + depth / 2


def _own(box: Box, position: Vector, yaw: float) -> Block:
    """A box of the room in the frame of an object."""
    x0, z0 = turn(box[0] - position[0], box[2] - position[2], -yaw)
    x1, z1 = turn(box[3] - position[0], box[5] - position[2], -yaw)
    low = (min(x0, x1), box[1] - position[1], min(z0, z1))
    high = (max(x0, x1), box[4] - position[1], max(z0, z1))
    return Block(_rounded(low), _rounded(high))


def _to_own(point: Vector, position: Vector, yaw: float) -> Vector:
    x, z = turn(point[0] - position[0], point[2] - position[2], -yaw)
    return x, point[1] - position[1], z


def _rounded(point: Vector) -> Vector:
    x, y, z = (round(value, 3) for value in point)
    return x, y, z


def _buildable(object_class: ObjectClass, size: Vector, style: int) -> Vector:
    """The size, or the next larger one of which the catalogue can build all states."""
    for growth in range(200):
        x, y, z = (round(extent + 0.003 * growth, 3) for extent in size)
        try:
            for is_open in (False, True):
                build_mesh(object_class, (x, y, z), style, Appearance(is_open=is_open))
                build_mesh(object_class, (x, y, z), style, Appearance(is_open=is_open, is_on=True))
        except ValueError:
            continue
        if _are_proper(surfaces_for(object_class, (x, y, z), style, ())):
            return x, y, z
    return model_of(object_class).size(style)


def _are_proper(surfaces: Sequence[Surface]) -> bool:
    return all(s.area.x0 < s.area.x1 and s.area.z0 < s.area.z1 for s in surfaces)
