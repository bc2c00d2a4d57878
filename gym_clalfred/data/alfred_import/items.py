"""Sizes and origins of pickupable objects, measured from the masks of recorded interactions.

AI2-THOR's position of an object is its origin, which may be its base, its middle or a point beside
it. All objects of one name in a room are copies, so every mask of one tells about all. Unknown are
the extents and where the base centre lies in the object's own frame; known are the poses. They are
found by least squares on the edges of the masks, held near what is usual for the class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import import exact
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, bases, project
from gym_clalfred.data.alfred_import.usual_items import USUAL_ITEMS, USUAL_PIECES
from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.simulator.contract import SIGHT_PIXELS, Vector
from gym_clalfred.simulator.embedded.catalog import (
    Appearance,
    build_mesh,
    model_of,
    posed_size,
    style_of,
)
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import ItemShape
from gym_clalfred.simulator.embedded.slicing import PIECES, STANDING

#: Rows and columns into which masks of pickupables are divided between their edges.
CELLS = 24

#: How many masks of one name are used.
MOST_VIEWS = 16

#: How far names differ from their class: metres of the origin, logarithm of the extents.
_ORIGIN_SPREAD = 0.03
_SIZE_SPREAD = 0.25

#: How many names the usual shape of a class counts for among those that were measured.
_USUAL_COUNTS = 3

#: Spreads before anything is known of a class.
_FIRST_ORIGIN_SPREAD = 0.15
_FIRST_SIZE_SPREAD = 0.5

#: Pixels by which the edges of a fitting mask are usually off; more counts as hidden.
_PIXELS = 2.0

_STEPS = 8

#: Pieces of sliced things are measured one by one if seen so often.
LEAST_VIEWS = 5

#: The usual pieces of a class are replaced if it was seen so often.
_ENOUGH_VIEWS = 100

#: Pieces of sliced things, and those of them that stand on their edge.
SLICES = frozenset(SLICED_FORM.values())
ON_EDGE = frozenset(SLICED_FORM[whole] for whole in STANDING)
_TURNS = (0.0, 90.0, 180.0, 270.0)


@dataclass(frozen=True)
class ItemView:
    """One mask of an object in a known pose.

    Args:
        eye: the agent's x and z.
        yaw, pitch: of the camera.
        position: the object's recorded position, heights from the room's floor.
        turn: the object's recorded yaw.
        edges: left, top, right and bottom of the mask in pixels.
        cells: (CELLS, CELLS) the mask between its edges, coarsely.
    """

    eye: tuple[float, float]
    yaw: float
    pitch: float
    position: Vector
    turn: float
    edges: tuple[int, int, int, int]
    cells: NDArray[np.bool_] = field(default_factory=lambda: np.ones((CELLS, CELLS), np.bool_))

    def mask(self) -> NDArray[np.bool_]:
        """(SIGHT_PIXELS, SIGHT_PIXELS) the mask as far as its cells tell it."""
        left, top, right, bottom = self.edges
        rows = ((np.arange(top, bottom) + 0.5 - top) / (bottom - top) * CELLS).astype(int)
        columns = ((np.arange(left, right) + 0.5 - left) / (right - left) * CELLS).astype(int)
        mask = np.zeros((SIGHT_PIXELS, SIGHT_PIXELS), dtype=np.bool_)
        mask[top:bottom, left:right] = self.cells[np.ix_(rows, columns)]
        return mask


@dataclass(frozen=True)
class ItemFit:
    """A fitted shape, its error in pixels and the number of masks behind it."""

    shape: ItemShape
    error: float
    views: int


@dataclass(frozen=True)
class _Prior:
    origin: NDArray[np.float64]
    size: NDArray[np.float64]
    origin_spread: float
    size_spread: float
    turns: tuple[float, ...]


def divide(mask: NDArray[np.bool_], edges: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    """(CELLS, CELLS) the pixels in the middles of the cells of a mask."""
    left, top, right, bottom = edges
    share = (np.arange(CELLS) + 0.5) / CELLS
    rows = (top + share * (bottom - top)).astype(int)
    columns = (left + share * (right - left)).astype(int)
    return mask[np.ix_(rows, columns)]


def fit_items(views: Mapping[str, Sequence[ItemView]]) -> dict[str, ItemFit]:
    """Fits the shape of every name; first alone, then near the median of its class."""
    first = {name: _fit(name, seen, _first_prior(name)) for name, seen in views.items()}
    priors = _class_priors(first)
    fits = {}
    for name, seen in views.items():
        if _class(name) in SLICES:
            # Pieces differ from each other in where they lie, so that their class tells nothing.
            fits[name] = first[name]
            continue
        prior = priors[_class(name)]
        turns = tuple(dict.fromkeys((prior.turns[0], first[name].shape.turn)))
        fits[name] = _fit(name, seen, replace(prior, turns=turns))
    return fits


def class_shapes(fits: Mapping[str, ItemFit]) -> dict[ObjectClass, ItemShape]:
    """The median shape of every class, for names that were never seen."""
    return {
        object_class: ItemShape(_vector(prior.size), _vector(prior.origin), prior.turns[0])
        for object_class, prior in _class_priors(fits).items()
    }


def complete_pieces(fits: Mapping[str, ItemFit]) -> dict[str, ItemShape]:
    """Shapes of all pieces of sliced things.

    Pieces hide each other, so that single ones are measured badly: the pieces of a class are equal,
    and all but halves stand in a row along z, evenly spaced. Those that were hardly seen are usual.
    """
    shapes = dict(USUAL_PIECES)
    for whole, count in PIECES.items():
        name = SLICED_FORM[whole].name
        names = [f"{name}_{k}" for k in range(1, count + 1)]
        sure = {
            k: fits[piece].shape
            for k, piece in enumerate(names)
            if piece in fits and fits[piece].views >= LEAST_VIEWS
        }
        if sum(fits[names[k]].views for k in sure) < _ENOUGH_VIEWS:
            continue
        if count <= 2:
            shapes.update({names[k]: shape for k, shape in sure.items()})
            continue
        size = np.percentile([shape.size for shape in sure.values()], 75, axis=0)
        middle = np.median([shape.origin for shape in sure.values()], axis=0)
        weights = [fits[names[k]].views ** 0.5 for k in sure]
        row = [shape.origin[2] for shape in sure.values()]
        slope, start = exact.line(list(sure), row, weights) if len(sure) > 1 else (0.0, row[0])
        for k, piece in enumerate(names):
            origin = np.array([middle[0], middle[1], start + slope * k])
            shapes[piece] = ItemShape(_vector(size), _vector(origin), 0.0)
    return shapes


def _class(name: str) -> ObjectClass:
    return ObjectClass[name.split("_")[0]]


def _first_prior(name: str) -> _Prior:
    object_class = _class(name)
    usual = USUAL_ITEMS.get(object_class)
    if usual is not None:
        return _Prior(
            np.array(usual.origin),
            np.array(usual.size),
            _ORIGIN_SPREAD * 2,
            _SIZE_SPREAD,
            (usual.turn, *(t for t in _TURNS if t != usual.turn)),
        )
    size = np.array(
        posed_size(model_of(object_class).size(style_of(name)), object_class in ON_EDGE)
    )
    return _Prior(np.zeros(3), size, _FIRST_ORIGIN_SPREAD, _FIRST_SIZE_SPREAD, _TURNS)


def _class_priors(fits: Mapping[str, ItemFit]) -> dict[ObjectClass, _Prior]:
    grouped: dict[ObjectClass, list[ItemFit]] = {}
    for name, fit in fits.items():
        grouped.setdefault(_class(name), []).append(fit)
    priors = {}
    for object_class, group in grouped.items():
        weights = dict.fromkeys(_TURNS, 0)
        for fit in group:
            weights[fit.shape.turn] += fit.views
        turn = max(_TURNS, key=lambda t: weights[t])
        alike = [fit.shape for fit in group if fit.shape.turn == turn]
        usual = USUAL_ITEMS.get(object_class)
        if usual is not None and usual.turn == turn:
            alike += [usual] * _USUAL_COUNTS
        priors[object_class] = _Prior(
            np.median([shape.origin for shape in alike], axis=0),
            np.median([shape.size for shape in alike], axis=0),
            _ORIGIN_SPREAD,
            _SIZE_SPREAD,
            (turn, *(t for t in _TURNS if t != turn)),
        )
    return priors


def _fit(name: str, views: Sequence[ItemView], prior: _Prior) -> ItemFit:
    step = max(len(views) / MOST_VIEWS, 1.0)
    chosen = [views[int(k * step)] for k in range(min(len(views), MOST_VIEWS))]
    problem = _Problem(name, chosen)
    best: tuple[float, ItemFit] | None = None
    for front in prior.turns:
        cost, error, values = problem.solve(front, prior)
        # Another turn than the usual one must explain the masks clearly better.
        cost += 0.0 if front == prior.turns[0] else 2.0 + 0.1 * len(chosen)
        if best is None or cost < best[0]:
            shape = ItemShape(_vector(exact.exp(values[3:])), _vector(values[:3]), front)
            best = cost, ItemFit(shape, error, len(views))
    assert best is not None
    return best[1]


class _Problem:
    """Least squares over extents and origin for one name."""

    def __init__(self, name: str, views: Sequence[ItemView]) -> None:
        object_class, style = _class(name), style_of(name)
        size = model_of(object_class).size(style)
        look = Appearance(
            is_open=object_class is ObjectClass.Laptop, tipped=object_class in ON_EDGE
        )
        mesh = build_mesh(object_class, size, style, look)
        size = posed_size(size, look.tipped)
        used = np.arange(mesh.corners.shape[1]) < mesh.counts[:, None]
        self._unit = _outermost(mesh.corners[used].astype(np.float64) / np.array(size))
        self._eyes = np.array([(v.eye[0], EYE_HEIGHT, v.eye[1]) for v in views])
        self._basis = bases(
            np.array([v.yaw for v in views], float), np.array([v.pitch for v in views], float)
        )
        self._positions = np.array([v.position for v in views])
        self._turns = np.array([v.turn for v in views])
        self._edges = np.array([v.edges for v in views], dtype=np.float64)
        # An edge at the border of the picture says nothing of the object's.
        low, high = self._edges[:, :2] > 0, self._edges[:, 2:] < SIGHT_PIXELS
        self._counts = np.concatenate([low, high], axis=1)

    def solve(self, turn: float, prior: _Prior) -> tuple[float, float, NDArray[np.float64]]:
        """Cost, median pixel error and (origin, log size) with the object's front turned."""
        usual = np.concatenate([prior.origin, exact.log(prior.size)])
        spread = np.array([prior.origin_spread] * 3 + [prior.size_spread] * 3)
        values = usual.copy()
        for _ in range(_STEPS):
            off = self._off(values, turn)
            weights = self._counts / (1.0 + (off / (2 * _PIXELS)) ** 2) / _PIXELS**2
            jacobian = np.empty((*off.shape, 6))
            for k in range(6):
                nudged = values.copy()
                nudged[k] += 1e-4
                jacobian[..., k] = (self._off(nudged, turn) - off) / 1e-4
            normal, pull = exact.normal_equations(
                jacobian.reshape(-1, 6), weights.ravel(), off.ravel()
            )
            normal += np.diag(1.0 / (spread * spread) + 1e-6)
            pull += (values - usual) / (spread * spread)
            move = exact.solve(normal, -pull)
            values = values + np.clip(move, -0.3, 0.3)
            if np.abs(move).max() < 1e-4:
                break
        off = self._off(values, turn)
        seen = np.abs(off[self._counts])
        cost = float(exact.log1p((seen / (2 * _PIXELS)) ** 2).sum())
        cost += float((((values - usual) / spread) ** 2).sum()) / 2
        return cost, float(np.median(seen)) if len(seen) else 0.0, values

    def _off(self, values: NDArray[np.float64], turn: float) -> NDArray[np.float64]:
        """(N, 4) pixels by which the shape's edges differ from the masks'."""
        own = self._unit * exact.exp(values[3:])
        own = turned(own[None], np.array([turn])) + values[:3]
        points = turned(own, self._turns) + self._positions[:, None]
        seen = project(points, self._eyes, self._basis)[..., :2]
        edges = np.concatenate([seen.min(axis=1), seen.max(axis=1)], axis=1)
        return np.asarray(np.clip(edges, 0, SIGHT_PIXELS) - self._edges)


def base_of(position: Vector, yaw: float, shape: ItemShape) -> Vector:
    """Base centre of an object in a recorded pose."""
    dx, dz = turn(shape.origin[0], shape.origin[2], yaw)
    return position[0] + dx, position[1] + shape.origin[1], position[2] + dz


def turned(points: NDArray[np.float64], degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, P, 3) points (1 or N, P, 3) turned clockwise, seen from above, by N angles."""
    sine, cosine = (part[:, None] for part in exact.sines(degrees))
    x = points[..., 0] * cosine + points[..., 2] * sine
    z = points[..., 2] * cosine - points[..., 0] * sine
    return np.stack([x, np.broadcast_to(points[..., 1], x.shape), z], axis=-1)


def _outermost(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points that are farthest in one of many directions."""
    across = zip(*exact.sines(np.arange(0.0, 360.0, 30.0)))
    tilts = list(zip(*exact.sines(np.array([-75.0, -45.0, -15.0, 15.0, 45.0, 75.0]))))
    directions = np.array([(tc * s, ts, tc * c) for s, c in across for ts, tc in tilts])
    return points[np.unique(np.argmax(exact.along(points[:, None], directions), axis=0))]


def _vector(values: NDArray[np.float64]) -> Vector:
    x, y, z = (round(float(value), 4) for value in values)
    return x, y, z
