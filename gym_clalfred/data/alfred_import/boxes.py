"""Boxes of fixed objects, found by comparing their silhouettes with recorded masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import import exact
from gym_clalfred.data.alfred_import.camera import (
    EYE_HEIGHT,
    bases,
    box_agreements,
    box_cost,
    row_sums,
)
from gym_clalfred.simulator.contract import Vector

#: How many views of one object are compared.
MOST_VIEWS = 16

_FIRST_STEP = 0.32
_LAST_STEP = 0.01
_LEAST_EXTENT = 0.02

#: Thickness of the front that is all one sees of a closed drawer.
_PLATE = 0.03

#: What departures cost, in mean intersection over union: per metre from the recorded position, per
#: unit of the logarithm of an extent, per metre below the floor; height above which the agent walks
#: under; per metre of a walked point within the box, and the margin around it; per metre between
#: the box and what lies in it; per line of sight that is blocked, and at most for all of them; the
#: distance from the top up to which things on it tell its height, 0 if they do not; of a door, per
#: metre from its hinge and from the middle of its height, 0 of other things.
_COSTS = np.array([0.5, 0.02, 2.0, 1.6, 0.1, 0.1, 0.3, 0.02, 0.6, 0.0, 0.0, 0.0])
_TELLS_TOP = 0.3
_HINGE, _MIDDLE = 1.0, 0.3


@dataclass(frozen=True)
class FixtureView:
    """One mask of a fixed object: the agent's x, z, yaw and pitch, and the sampled mask."""

    x: float
    z: float
    yaw: int
    pitch: int
    samples: NDArray[np.bool_]


@dataclass(frozen=True)
class Surroundings:
    """What else is known about the place of a box.

    Args:
        walked: (N, 2) points on which the agent can stand.
        items: (N, 3) base centres of what lay in or on the object.
        rays: (N, 6) eye and end of lines of sight past the object.
        through: (N, 6) eye and end of lines of sight into the object, by its front.
        front: the face of the box that is the front: its axis, +3 if at the high end; -1 for none.
        plate: whether only the front is seen of the object.
        flat: whether the height is known and kept.
        on_top: whether it holds things on its top.
        hinged: whether the recorded position is that of a hinge, halfway up one side of the front.
    """

    walked: NDArray[np.float64]
    items: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    rays: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 6)))
    through: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 6)))
    front: int = -1
    plate: bool = False
    flat: bool = False
    on_top: bool = False
    hinged: bool = False


@dataclass(frozen=True)
class BoxFit:
    """A box (x0, y0, z0, x1, y1, z1), how well its silhouette agrees with the masks, its score."""

    box: NDArray[np.float64]
    agreement: float
    score: float
    views: int


class BoxFitter:
    """Finds the box of one object.

    Args:
        views: where it was seen.
        anchor: the recorded position, in or at the object.
        usual: extents (x, y, z) in the room that the class usually has.
        around: what else is known.
    """

    def __init__(
        self, views: Sequence[FixtureView], anchor: Vector, usual: Vector, around: Surroundings
    ) -> None:
        chosen = spread(views)
        self._eyes = np.array([(view.x, EYE_HEIGHT, view.z) for view in chosen])
        self._basis = bases(
            np.array([view.yaw for view in chosen], float),
            np.array([view.pitch for view in chosen], float),
        )
        self._sums = row_sums(np.array([view.samples for view in chosen]))
        self._anchor = np.array(anchor, dtype=np.float64)
        self._usual = exact.log(np.array(usual, dtype=np.float64))
        self._around = around
        self._costs = _COSTS.copy()
        self._costs[9] = _TELLS_TOP if around.on_top else 0.0
        if around.hinged:
            self._costs[10:] = _HINGE, _MIDDLE
        self._views = len(views)

    def fit(self, start: NDArray[np.float64]) -> BoxFit:
        """Climbs from a first guess, moving the box and its sides in ever smaller steps."""
        box = start.astype(np.float64).copy()
        best = self._score(box)
        step = _FIRST_STEP
        while step >= _LAST_STEP:
            improved = False
            for move in _FLAT_MOVES if self._around.flat else _MOVES:
                for sign in (step, -step):
                    tried = box + sign * move
                    if (tried[3:] - tried[:3] < _LEAST_EXTENT).any():
                        continue
                    score = self._score(tried)
                    if score > best + 1e-6:
                        box, best, improved = tried, score, True
            if not improved:
                step /= 2
        return BoxFit(box, float(self.agreements(box).mean()), best, self._views)

    def agreements(self, box: NDArray[np.float64]) -> NDArray[np.float64]:
        """Intersection over union per compared view."""
        around = self._around
        if around.plate and around.front >= 0:
            box = box.copy()
            axis = around.front % 3
            if around.front >= 3:
                box[axis] = box[axis + 3] - _PLATE
            else:
                box[axis + 3] = box[axis] + _PLATE
        return box_agreements(box, self._eyes, self._basis, self._sums)

    def _score(self, box: NDArray[np.float64]) -> float:
        around = self._around
        return float(self.agreements(box).mean()) - box_cost(
            box,
            self._anchor,
            self._usual,
            around.walked,
            around.items,
            around.rays,
            around.through,
            around.front,
            self._costs,
        )


def _moves() -> list[NDArray[np.float64]]:
    moves = []
    for axis in range(3):
        low, high = np.zeros(6), np.zeros(6)
        low[axis] = high[axis + 3] = 1.0
        moves += [low + high, low, high]
    return moves


_MOVES = _moves()
_FLAT_MOVES = [move for k, move in enumerate(_MOVES) if k not in (4, 5)]


def spread(views: Sequence[FixtureView]) -> list[FixtureView]:
    """At most ``MOST_VIEWS``, as many different poses as possible."""
    by_pose: dict[tuple[float, float, int, int], list[FixtureView]] = {}
    for view in views:
        by_pose.setdefault((view.x, view.z, view.yaw, view.pitch), []).append(view)
    chosen: list[FixtureView] = []
    # Poses from which it was seen most often come first and count most.
    groups = sorted(by_pose.values(), key=len, reverse=True)
    turn = 0
    while len(chosen) < min(MOST_VIEWS, len(views)):
        for group in groups:
            if turn < len(group) and len(chosen) < MOST_VIEWS:
                chosen.append(group[turn])
        turn += 1
    return chosen
