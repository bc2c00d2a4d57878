"""Puts a room together from what its trajectories tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.boxes import BoxFit, BoxFitter, FixtureView
from gym_clalfred.data.alfred_import.surfaces import settle_top, surfaces_for
from gym_clalfred.objects import CLOSED_AT_START, ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import GRID_METRES, Vector
from gym_clalfred.simulator.embedded.catalog import BOARD, Look, build_mesh, model_of, style_of
from gym_clalfred.simulator.embedded.generator.decor import make_decor
from gym_clalfred.simulator.embedded.room import (
    Fixture,
    ItemShape,
    Rectangle,
    Room,
    Surface,
    Wall,
)
from gym_clalfred.simulator.object_ids import class_of, position_of

#: Distance from what stands outermost to the walls.
_TO_WALL = 0.3

_LEAST_HEIGHT = 2.5

#: Classes of which AI2-THOR's object is only the board on top, with its usual thickness.
_BOARDS = {ObjectClass.CounterTop: 0.06, ObjectClass.Shelf: 0.03}

#: Classes of which only the front is seen while they are closed, with their usual depth.
_PANELS = {ObjectClass.Cabinet: 0.36, ObjectClass.Drawer: 0.45}

#: How far a container reaches behind what lies in it, and how deep it is at most.
_BEHIND_ITEM = 0.08
_MOST_DEPTH = 0.7


@dataclass
class RoomEvidence:
    """Everything known of one room; heights are from its floor.

    Args:
        number: of the scene.
        rise: what has to be added to recorded heights.
        walked: grid points on which the agent can stand.
        views: masks of fixtures by id and whether they were open.
        access: recorded yaws from which a fixture is used, by id.
        items: recorded positions of pickupables that lay in or on a fixture, by fixture id.
    """

    number: int
    rise: float = 0.0
    walked: set[tuple[float, float]] = field(default_factory=set)
    views: dict[tuple[str, bool], list[FixtureView]] = field(default_factory=dict)
    access: dict[str, Counter[int]] = field(default_factory=dict)
    items: dict[str, list[Vector]] = field(default_factory=dict)

    def position_of(self, fixture: str) -> Vector:
        """Recorded position of a fixture."""
        x, y, z = position_of(fixture)
        return x, y + self.rise, z


def reconstruct(evidence: RoomEvidence, shapes: Mapping[str, ItemShape]) -> Room:
    """The room that explains the evidence."""
    fixtures = []
    for fixture in sorted(evidence.access):
        fitted = fit_fixture(evidence, fixture)
        if fitted is not None:
            fixtures.append(make_fixture(evidence, fixture, fitted))
    return assemble(evidence, fixtures, shapes)


def fit_fixture(evidence: RoomEvidence, name: str) -> BoxFit | None:
    """The box of a fixture, or ``None`` if it was never seen."""
    object_class = class_of(name)
    views: Sequence[FixtureView] = []
    for is_open in (object_class not in CLOSED_AT_START, object_class in CLOSED_AT_START):
        views = views or evidence.views.get((name, is_open), [])
    if not views:
        return None
    width, height, depth = model_of(object_class).size(0)
    height = _BOARDS.get(object_class, height)
    if facing(evidence, name) % 180:
        width, depth = depth, width
    x, y, z = evidence.position_of(name)
    items = np.array(evidence.items.get(name, []), dtype=np.float64).reshape(-1, 3)
    walked = np.array(sorted(evidence.walked))
    fitter = BoxFitter(views, (x, y, z), (width, height, depth), walked, items)
    best: BoxFit | None = None
    for low in _first_heights(object_class, y, height):
        start = np.array(
            [x - width / 2, low, z - depth / 2, x + width / 2, low + height, z + depth / 2]
        )
        fitted = fitter.fit(start)
        if best is None or fitted.agreement > best.agreement + 0.01:
            best = fitted
    return best


def facing(evidence: RoomEvidence, name: str) -> int:
    """Yaw of a fixture's front: towards where it is mostly used from."""
    yaw, _ = evidence.access[name].most_common(1)[0]
    return (yaw + 180) % 360


def make_fixture(evidence: RoomEvidence, name: str, fitted: BoxFit) -> Fixture:
    """The fixture that fills a box."""
    object_class = class_of(name)
    yaw = facing(evidence, name)
    box = settle_top(object_class, fitted.box, evidence.items.get(name, []))
    if object_class in _PANELS:
        box = deepen(evidence, name, box)
    low, high = box[:3], box[3:]
    width, height, depth = (round(float(v), 3) for v in high - low)
    if yaw % 180:
        width, depth = depth, width
    position = (
        round(float(low[0] + high[0]) / 2, 4),
        round(float(low[1]), 4),
        round(float(low[2] + high[2]) / 2, 4),
    )
    style = style_of(name)
    if object_class is ObjectClass.CounterTop:
        style |= BOARD
    size = _buildable(object_class, (width, height, depth), style)
    surfaces = surfaces_for(object_class, size, style)
    return Fixture(name, object_class, position, float(yaw), size, style, surfaces=surfaces)


def deepen(evidence: RoomEvidence, name: str, box: NDArray[np.float64]) -> NDArray[np.float64]:
    """The box of a drawer or cabinet behind the front that is seen of it while it is closed."""
    object_class, yaw = class_of(name), facing(evidence, name)
    depth = _PANELS[object_class]
    views = evidence.views.get((name, True), [])
    axis = 0 if yaw % 180 else 2
    outwards = 1.0 if yaw in (0, 90) else -1.0
    front = box[axis + 3] if outwards > 0 else box[axis]
    if object_class is ObjectClass.Drawer and views:
        fitter = BoxFitter(views, (0, 0, 0), (1, 1, 1), np.zeros((0, 2)), np.zeros((0, 3)))
        best = -1.0
        for slide in np.arange(0.1, 0.6, 0.02):
            pulled = box.copy()
            pulled[axis], pulled[axis + 3] = sorted((front, front + outwards * slide))
            agreement = float(fitter.agreements(pulled).mean())
            if agreement > best:
                best, depth = agreement, slide / model_of(object_class).slide((1, 1, 1), True)
    for item in evidence.items.get(name, []):
        depth = max(depth, min(outwards * (front - item[axis]) + _BEHIND_ITEM, _MOST_DEPTH))
    deep = box.copy()
    deep[axis], deep[axis + 3] = sorted((front, front - outwards * depth))
    return deep


def _buildable(object_class: ObjectClass, size: Vector, style: int) -> Vector:
    """The size, or the next larger one of which the catalogue can build all states."""
    for growth in range(200):
        x, y, z = (round(extent + 0.003 * growth, 3) for extent in size)
        try:
            for is_open in (False, True):
                build_mesh(object_class, (x, y, z), style, Look(is_open=is_open))
                build_mesh(object_class, (x, y, z), style, Look(is_open=is_open, is_on=True))
        except ValueError:
            continue
        if _are_proper(surfaces_for(object_class, (x, y, z), style)):
            return x, y, z
    return model_of(object_class).size(style)


def _are_proper(surfaces: Sequence[Surface]) -> bool:
    return all(s.area.x0 < s.area.x1 and s.area.z0 < s.area.z1 for s in surfaces)


def assemble(
    evidence: RoomEvidence, fixtures: Sequence[Fixture], shapes: Mapping[str, ItemShape]
) -> Room:
    """The room with a floor and walls around everything in it."""
    points = np.array(sorted(evidence.walked))
    low, high = points.min(axis=0) - GRID_METRES, points.max(axis=0) + GRID_METRES
    height = _LEAST_HEIGHT
    for fixture in fixtures:
        box = footprint_of(fixture)
        low = np.minimum(low, (box.x0, box.z0))
        high = np.maximum(high, (box.x1, box.z1))
        height = max(height, fixture.position[1] + fixture.size[1] + _TO_WALL)
    x0, z0, x1, z1 = (round(float(v), 2) for v in (*(low - _TO_WALL), *(high + _TO_WALL)))
    walls = (
        Wall(x0, z0, x0, z1),
        Wall(x0, z1, x1, z1),
        Wall(x1, z1, x1, z0),
        Wall(x1, z0, x0, z0),
    )
    rng = np.random.default_rng([evidence.number])
    return Room(
        number=evidence.number,
        floor=(Rectangle(x0, z0, x1, z1),),
        walls=walls,
        height=round(height, 2),
        fixtures=tuple(fixtures),
        walkable=frozenset(evidence.walked),
        items=(),
        decor=make_decor(RoomType.of(evidence.number), rng),
        shapes=dict(shapes),
    )


def footprint_of(fixture: Fixture) -> Rectangle:
    """Of a fixture whose yaw is a multiple of 90 degrees."""
    width, _, depth = fixture.size
    if fixture.yaw % 180:
        width, depth = depth, width
    x, _, z = fixture.position
    return Rectangle(x - width / 2, z - depth / 2, x + width / 2, z + depth / 2)


def _first_heights(object_class: ObjectClass, y: float, height: float) -> NDArray[np.float64]:
    """Heights of the base to start from: on the floor, or around the recorded position."""
    if object_class in _BOARDS:
        return np.array([y - height])
    if y < height:
        return np.array([0.0, max(y - height / 2, 0.0)])
    return np.array([y - height / 2, y])
