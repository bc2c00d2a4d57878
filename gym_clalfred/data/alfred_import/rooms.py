"""Puts a room together from what its trajectories tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.bodies import Bodies, box_of, unit_name
from gym_clalfred.data.alfred_import.boxes import (
    BoxFit,
    BoxFitter,
    FixtureView,
    Surroundings,
    spread,
)
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, FOCAL, MIDDLE, STRIDE, bases
from gym_clalfred.data.alfred_import.evidence import Holding
from gym_clalfred.data.alfred_import.fittings import Site
from gym_clalfred.data.alfred_import.furniture import (
    BASINS,
    OPEN_ABOVE,
    PANELS,
    WITH_BACK,
    LineOfSight,
    Maker,
    turn_to_masks,
)
from gym_clalfred.data.alfred_import.hints import raise_floor, with_hints
from gym_clalfred.data.alfred_import.items import SLICES, ItemView, base_of
from gym_clalfred.data.alfred_import.layouts import Layout
from gym_clalfred.data.alfred_import.listed import Boxes, Place, place_all
from gym_clalfred.data.alfred_import.resting import settle, share_out
from gym_clalfred.data.alfred_import.standing import fill_in
from gym_clalfred.data.alfred_import.studio import Studio
from gym_clalfred.data.alfred_import.supports import hold_up
from gym_clalfred.data.alfred_import.surfaces import TOPS
from gym_clalfred.data.alfred_import.trim import front_face
from gym_clalfred.objects import CLOSED_AT_START, ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import SIGHT_PIXELS, Vector
from gym_clalfred.simulator.embedded.catalog import model_of, style_of
from gym_clalfred.simulator.embedded.generator.decor import make_decor
from gym_clalfred.simulator.embedded.room_model import (
    AGENT_RADIUS,
    Body,
    Fixture,
    ItemShape,
    Rectangle,
    Room,
    Wall,
)
from gym_clalfred.simulator.object_ids import class_of, format_id, position_of

#: Distance from what stands outermost to the walls.
_TO_WALL = 0.06

_LEAST_HEIGHT = 2.5

#: Classes of which AI2-THOR's object is only the board on top, with its usual thickness.
_BOARDS = {ObjectClass.CounterTop: 0.06, ObjectClass.Shelf: 0.03}

#: How much better another front than the usual one must explain what is seen.
_OTHER_FRONT = 0.04

#: What rests on nothing and is lower than this stands or leans on the floor.
_MOST_GROUNDED = 0.8

#: Views of each fixture that no other fixture may hide.
_RAYS_TO_FIXTURE = 4

#: The face through which one sees into what is open above.
_TOP_FACE = 4

#: The mask of a basin is that of its opening.
_OPENING = 0.02

#: Where the opening of a basin usually is.
_BASIN_LEVELS = {ObjectClass.SinkBasin: 0.85, ObjectClass.BathtubBasin: 0.45}

#: A recorded position names the fixture that is at most this far from it.
_SAME_PLACE = 0.06
_SAME_BASIN = 0.8


@dataclass(frozen=True)
class SeenItem:
    """A mask of a pickupable, and whether it had been put somewhere before.

    Args:
        name: of the object.
        view: of its mask; the position is meaningless if it was put somewhere.
        put_in: the receptacle's id, or ``None`` if it was where the scene had it.
        put_from: x and z of the agent when it was put there.
    """

    name: str
    view: ItemView
    put_in: str | None = None
    put_from: tuple[float, float] = (0.0, 0.0)


@dataclass
class RoomEvidence:
    """Everything known of one room; heights are from its floor.

    Args:
        number: of the scene.
        rise: what has to be added to recorded heights.
        walked: grid points on which experts stood.
        views: masks of fixtures by id and whether they were open.
        access: recorded yaws from which a fixture is used, by id.
        seen: masks of pickupables.
        held: which fixtures held what at the start.
        poses: name, recorded position and yaw of pickupables at the starts of all trials.
        layout: what ALFRED's layout files tell.
    """

    number: int
    rise: float = 0.0
    walked: set[tuple[float, float]] = field(default_factory=set)
    views: dict[tuple[str, bool], list[FixtureView]] = field(default_factory=dict)
    access: dict[str, Counter[int]] = field(default_factory=dict)
    seen: list[SeenItem] = field(default_factory=list)
    held: list[Holding] = field(default_factory=list)
    poses: set[tuple[str, Vector, float]] = field(default_factory=set)
    layout: Layout = field(default_factory=Layout)

    def position_of(self, fixture: str) -> Vector:
        """Recorded position of a fixture."""
        x, y, z = position_of(fixture)
        return x, y + self.rise, z

    @property
    def names(self) -> set[str]:
        """Of all pickupables."""
        return {name for name, _, _ in self.poses}

    def facing(self, fixture: str) -> int:
        """Yaw of a fixture's front: towards where it is mostly used from."""
        yaw, _ = self.access[fixture].most_common(1)[0]
        return (yaw + 180) % 360


class Reconstruction:
    """One room in the making.

    Args:
        evidence: what is known of it.
        shapes: of all its pickupables by name, as measured, heights as recorded.
    """

    def __init__(self, evidence: RoomEvidence, shapes: Mapping[str, ItemShape]) -> None:
        self.evidence = evidence
        self.shapes = {name: _raised(shape, evidence.rise) for name, shape in shapes.items()}
        self._walked = np.array(sorted(evidence.walked | evidence.layout.points))
        self._places = self._find_places()
        self._studio = Studio()
        self._holder_at: dict[Vector, str] = {}
        self.bases = self._bases()
        self._sights = self._find_sights()
        self._put: dict[str, list[tuple[str, ItemView]]] = {}
        for seen in evidence.seen:
            if seen.put_in is not None:
                self._put.setdefault(seen.put_in, []).append((seen.name, seen.view))

    def build(self) -> Room:
        """The room that explains the evidence."""
        fitted = {name: self.fit(name) for name in sorted(self.evidence.access)}
        found = {name: fit for name, fit in fitted.items() if fit is not None}
        rest = [place for name, place in sorted(self._places.items()) if name not in found]
        measured = frozenset(found)
        found = place_all(rest, found, self._walked)
        self._ground(found, measured)
        rests = self._rests()
        found = dict(settle(found, measured, share_out(found, measured, rests), self._walked))
        resting = share_out(found, measured, rests)
        boxes = {name: box for name, (_, box) in found.items()}
        studio = Studio(SIGHT_PIXELS)
        number, unit = self.evidence.number, unit_name(self.evidence.number)
        held = {name: _vectors(points) for name, points in resting.items()}
        maker = Maker(self.evidence.views, self.bases, self._sights, boxes, unit, held)
        views = {name: self._rays_to(name, box) for name, (_, box) in found.items()}
        fixtures = []
        for name, (yaw, box) in found.items():
            around = self._surroundings(name, yaw, box)
            others = [ray for other, rays in views.items() if other != name for ray in rays]
            past = np.concatenate([around.rays, np.array(others).reshape(-1, 6)])
            fixture = maker.make(name, yaw, box, replace(around, rays=past))
            put = self._put.get(name, [])
            if fixture.object_class in BASINS:
                lowest = min(maker.lows(name, box_of(fixture)), default=math.inf)
                fixture = raise_floor(fixture, put, self.shapes, lowest, studio)
            fixtures.append(with_hints(fixture, put, self.shapes, studio))
        seen = np.array([base for _, _, base, _ in self._sights]).reshape(-1, 3)
        fixtures, boards = hold_up(fixtures, rests, seen)
        rays = [ray for some in views.values() for ray in some]
        rays += [np.array([*eye, *end]) for eye, end, _, _ in self._sights]
        lines = np.array(rays).reshape(-1, 6)
        bodies = Bodies(number, fixtures, self._walked, lines).make(boards)
        return self._assemble(fixtures, bodies, rests, lines)

    def _rays_to(self, name: str, box: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Lines of sight to the middles of a fixture's masks, as far as its box."""
        rays = []
        views = [
            view for key, part in self.evidence.views.items() if key[0] == name for view in part
        ]
        for view in spread(views)[:_RAYS_TO_FIXTURE]:
            row, column = _middle(view.samples)
            basis = bases(np.array([view.yaw], float), np.array([view.pitch], float))[0]
            right, up = (column * STRIDE - MIDDLE) / FOCAL, (MIDDLE - row * STRIDE) / FOCAL
            eye = np.array([view.x, EYE_HEIGHT, view.z])
            along = basis[2] + right * basis[0] + up * basis[1]
            along = np.where(np.abs(along) < 1e-9, 1e-9, along)
            a, b = (box[:3] - eye) / along, (box[3:] - eye) / along
            enter = float(np.minimum(a, b).max())
            if enter < float(np.maximum(a, b).min()) and enter > 0.0:
                rays.append(np.concatenate([eye, eye + along * (enter - 0.02)]))
        return rays

    def fit(self, name: str) -> tuple[int, NDArray[np.float64]] | None:
        """Yaw and box of a fixture, or ``None`` if it was never seen."""
        object_class = class_of(name)
        views: Sequence[FixtureView] = []
        for is_open in (object_class not in CLOSED_AT_START, object_class in CLOSED_AT_START):
            views = views or self.evidence.views.get((name, is_open), [])
        if not views:
            return None
        usual = self.evidence.facing(name)
        best_yaw, best = usual, self._fit(name, usual, views)
        if object_class in CLOSED_AT_START:
            # A door may be used from beside it.
            for yaw in ((usual + 90) % 360, (usual + 270) % 360):
                tried = self._fit(name, yaw, views)
                if tried.score > best.score + _OTHER_FRONT:
                    best_yaw, best = yaw, tried
        if object_class in WITH_BACK:
            best_yaw = turn_to_masks(self._studio, name, best_yaw, best.box, views)
        return best_yaw, best.box

    def _fit(self, name: str, yaw: int, views: Sequence[FixtureView]) -> BoxFit:
        object_class = class_of(name)
        width, height, depth = model_of(object_class).size(0)
        height = _OPENING if object_class in BASINS else _BOARDS.get(object_class, height)
        if yaw % 180:
            width, depth = depth, width
        x, y, z = self.evidence.position_of(name)
        around = self._surroundings(name, yaw)
        fitter = BoxFitter(views, (x, y, z), (width, height, depth), around)
        best: BoxFit | None = None
        lows = list(_first_heights(object_class, y, height))
        if object_class in TOPS:
            levels = [base[1] for base in self.bases.get(name, [])]
            lows += [y - height, *([float(np.median(levels)) - height] if levels else [])]
        middles = [(x, z)]
        if object_class is ObjectClass.Cabinet:
            # Its position is that of its hinge, on one side or the other.
            lows = [y - height / 2]
            middles = [(x + dx, z + dz) for dx, dz in _beside_hinge(width, depth, yaw)]
        for low, (mx, mz) in product(lows, middles):
            start = np.array(
                [mx - width / 2, low, mz - depth / 2, mx + width / 2, low + height, mz + depth / 2]
            )
            fitted = fitter.fit(start)
            if best is None or fitted.score > best.score + 0.01:
                best = fitted
        assert best is not None
        return best

    def _ground(self, boxes: Boxes, measured: frozenset[str]) -> None:
        """Lowers shapes that nobody measured onto the floor where they rest on nothing else."""
        places: dict[str, set[Vector]] = {}
        for name, (x, y, z), _ in self.evidence.poses:
            places.setdefault(name, set()).add((round(x, 1), y + self.evidence.rise, round(z, 1)))
        for name, where in sorted(places.items()):
            shape = self.shapes[name]
            if len({(x, z) for x, _, z in where}) > 1 or shape.origin[1] != self.evidence.rise:
                continue
            lowest = min(where, key=lambda place: place[1])
            if lowest[1] < _MOST_GROUNDED and not share_out(boxes, measured, np.array([lowest])):
                x, y, z = shape.origin
                self.shapes[name] = replace(shape, origin=(x, round(y - lowest[1], 4), z))

    def _rests(self) -> NDArray[np.float64]:
        """(N, 3) base centres of all small things at the starts of all trials."""
        points = [
            base_of(position, yaw, self.shapes[name])
            for name, position, yaw in sorted(self.evidence.poses)
        ]
        return np.array(points, dtype=np.float64).reshape(-1, 3)

    def _find_places(self) -> dict[str, Place]:
        """Furniture that ALFRED lists, and what its plans name as the holder of something."""
        evidence = self.evidence
        places = {
            name: Place(name, evidence.position_of(name), standing)
            for name, standing in evidence.layout.receptacles.items()
        }
        known: dict[ObjectClass, list[Vector]] = {}
        for name in sorted({*places, *evidence.access}):
            known.setdefault(class_of(name), []).append(position_of(name))
        for held in evidence.held:
            near = known.setdefault(held.holder, [])
            # A plan's position of a basin is not that of its id.
            if held.holder in BASINS or _is_near(held.fixture, near):
                continue
            near.append(held.fixture)
            name = format_id(held.holder, held.fixture)
            places[name] = Place(name, evidence.position_of(name))
        return places

    def _bases(self) -> dict[str, list[Vector]]:
        """Base centres of what is recorded as being in or on each fixture."""
        names = sorted({*self.evidence.access, *self._places})
        places = np.array([position_of(name) for name in names]).reshape(-1, 3)
        bases: dict[str, list[Vector]] = {}
        for held in self.evidence.held:
            # The id of a basin names the whole, which the planner's position is not of.
            slack = _SAME_BASIN if held.holder in BASINS else _SAME_PLACE
            off = np.abs(places - held.fixture).max(axis=1)
            for k in np.argsort(off):
                if off[k] > slack or class_of(names[k]) is held.holder:
                    break
            else:
                continue
            if off[k] > slack:
                continue
            pose = held.pose
            base = base_of(pose.position, pose.rotation[1], self.shapes[pose.name])
            self._holder_at[_key(base)] = names[k]
            bases.setdefault(names[k], []).append(base)
        return bases

    def _surroundings(
        self, name: str, yaw: int, box: NDArray[np.float64] | None = None
    ) -> Surroundings:
        """What is known about the place of a fixture besides its masks.

        What is seen within the box of a container, and not known to be elsewhere, is in it.
        """
        object_class = class_of(name)
        past: list[tuple[float, ...]] = []
        through: list[tuple[float, ...]] = []
        for eye, end, _, holder in self._sights:
            if holder == name and object_class not in TOPS:
                if object_class in CLOSED_AT_START or object_class in OPEN_ABOVE:
                    through.append((*eye, *end))
            elif not (holder is None and object_class in CLOSED_AT_START and _is_in(box, end)):
                past.append((*eye, *end))
        return Surroundings(
            self._walked,
            np.array(self.bases.get(name, []), dtype=np.float64).reshape(-1, 3),
            np.array(past, dtype=np.float64).reshape(-1, 6),
            np.array(through, dtype=np.float64).reshape(-1, 6),
            front=_TOP_FACE if object_class in OPEN_ABOVE else front_face(yaw),
            plate=object_class in PANELS,
            flat=object_class in BASINS,
            on_top=object_class in TOPS,
            hinged=object_class is ObjectClass.Cabinet,
        )

    def _find_sights(self) -> list[LineOfSight]:
        """The lines of sight to pickupables where the scene had them."""
        sights: list[LineOfSight] = []
        for seen in self.evidence.seen:
            if seen.put_in is not None or ObjectClass[seen.name.split("_")[0]] in SLICES:
                continue
            shape, view = self.shapes[seen.name], seen.view
            x, y, z = base_of(view.position, view.turn, shape)
            holder = self._holder_at.get(_key((x, y, z)))
            # What is in a drawer comes out with it, so that it was seen elsewhere.
            if holder is None or class_of(holder) is not ObjectClass.Drawer:
                eye = (view.eye[0], EYE_HEIGHT, view.eye[1])
                sights.append((eye, (x, y + shape.size[1] / 2, z), (x, y, z), holder))
        return sights

    def _assemble(
        self,
        fixtures: list[Fixture],
        bodies: tuple[Body, ...],
        rests: NDArray[np.float64],
        rays: NDArray[np.float64],
    ) -> Room:
        """The room with a floor and walls around everything in it, and what else belongs there."""
        carcass = np.array([[*body.low, *body.high] for body in bodies]).reshape(-1, 6)
        boxes = np.array([box_of(one) for one in fixtures]).reshape(-1, 6)
        solids = np.concatenate([boxes, carcass])
        walkable = fill_in(self._walked, solids)
        points = np.array(sorted(walkable))
        spots = [points - AGENT_RADIUS, points + AGENT_RADIUS, rests[:, ::2]]
        spots += [solids[:, [0, 2]], solids[:, [3, 5]]]
        low, high = np.concatenate(spots).min(axis=0), np.concatenate(spots).max(axis=0)
        height = float(solids[:, 4].max(initial=_LEAST_HEIGHT - _TO_WALL)) + _TO_WALL
        x0, z0, x1, z1 = (round(float(v), 2) for v in (*(low - _TO_WALL), *(high + _TO_WALL)))
        walls = (
            Wall(x0, z0, x0, z1),
            Wall(x0, z1, x1, z1),
            Wall(x1, z1, x1, z0),
            Wall(x1, z0, x0, z0),
        )
        number, floor = self.evidence.number, Rectangle(x0, z0, x1, z1)
        site = Site(floor, list(fixtures), carcass, points, rests, rays)
        site.add_missing(self.evidence.layout.classes)
        return Room(
            number=number,
            floor=(floor,),
            walls=walls,
            height=round(height, 2),
            fixtures=tuple(site.fixtures),
            walkable=walkable,
            items=(),
            decor=make_decor(RoomType.of(number), np.random.default_rng([number])),
            shapes=self.shapes,
            bodies=bodies,
        )


def _is_in(box: NDArray[np.float64] | None, point: Vector) -> bool:
    return box is not None and bool((box[:3] < point).all() and (point < box[3:]).all())


def _vectors(points: NDArray[np.float64]) -> list[Vector]:
    return [(float(x), float(y), float(z)) for x, y, z in points]


def _is_near(point: Vector, others: Sequence[Vector]) -> bool:
    return any(max(abs(a - b) for a, b in zip(point, o)) <= _SAME_PLACE for o in others)


def _raised(shape: ItemShape, rise: float) -> ItemShape:
    x, y, z = shape.origin
    return replace(shape, origin=(x, round(y + rise, 4), z))


def _key(point: Vector) -> Vector:
    x, y, z = (round(value, 3) for value in point)
    return x, y, z


def _first_heights(object_class: ObjectClass, y: float, height: float) -> NDArray[np.float64]:
    """Heights of the base to start from: on the floor, or around the recorded position."""
    if object_class in _BOARDS:
        return np.array([y - height])
    if object_class in BASINS:
        return np.array([y, y + 0.1, _BASIN_LEVELS[object_class]])
    if y < height:
        return np.array([0.0, max(y - height / 2, 0.0)])
    return np.array([y - height / 2, y])


def _beside_hinge(width: float, depth: float, yaw: int) -> tuple[tuple[float, float], ...]:
    """From a hinge to the middle of a box on either side of it; extents in the room."""
    behind = -0.5 if yaw in (0, 90) else 0.5
    if yaw % 180:
        return (behind * width, depth / 2), (behind * width, -depth / 2)
    return (width / 2, behind * depth), (-width / 2, behind * depth)


def _middle(samples: NDArray[np.bool_]) -> tuple[float, float]:
    """Row and column of the set sample nearest to the middle of all."""
    places = np.argwhere(samples)
    if not len(places):
        return samples.shape[0] / 2, samples.shape[1] / 2
    nearest = places[np.argmin(np.abs(places - places.mean(axis=0)).sum(axis=1))]
    return float(nearest[0]) + 0.5, float(nearest[1]) + 0.5


def plain_shape(name: str) -> ItemShape:
    """For classes that no mask shows: half the catalogue's size, so that it hides little."""
    x, y, z = model_of(ObjectClass[name.split("_")[0]]).size(style_of(name))
    return ItemShape((round(x / 2, 4), round(y / 2, 4), round(z / 2, 4)))
