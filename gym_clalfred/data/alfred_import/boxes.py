"""Boxes of fixed objects, found by comparing their silhouettes with recorded masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, bases, box_agreements, row_sums
from gym_clalfred.simulator.contract import Vector

#: How many views of one object are compared.
MOST_VIEWS = 16

_FIRST_STEP = 0.32
_LAST_STEP = 0.01
_LEAST_EXTENT = 0.02

#: What one unit of each departure costs, in mean intersection over union.
_ANCHOR_COST = 0.5
_SIZE_COST = 0.02
_WALK_COST = 0.1
_ITEM_COST = 0.3

#: The agent keeps this far from what it walks around, and walks under what is higher.
_MARGIN = 0.1
_HEADROOM = 1.6


@dataclass(frozen=True)
class FixtureView:
    """One mask of a fixed object: the agent's x, z, yaw and pitch, and the sampled mask."""

    x: float
    z: float
    yaw: int
    pitch: int
    samples: NDArray[np.bool_]


@dataclass(frozen=True)
class BoxFit:
    """A box (x0, y0, z0, x1, y1, z1), and how well its silhouette agrees with the masks."""

    box: NDArray[np.float64]
    agreement: float
    views: int


class BoxFitter:
    """Finds the box of one object.

    Args:
        views: where it was seen.
        anchor: the recorded position, in or at the object.
        usual: extents (x, y, z) in the room that the class usually has.
        walked: (N, 2) points on which the agent can stand.
        items: (N, 3) where things lay in or on the object.
    """

    def __init__(
        self,
        views: Sequence[FixtureView],
        anchor: Vector,
        usual: Vector,
        walked: NDArray[np.float64],
        items: NDArray[np.float64],
    ) -> None:
        chosen = _spread(views)
        self._eyes = np.array([(view.x, EYE_HEIGHT, view.z) for view in chosen])
        self._basis = bases(
            np.array([view.yaw for view in chosen], float),
            np.array([view.pitch for view in chosen], float),
        )
        self._sums = row_sums(np.array([view.samples for view in chosen]))
        self._anchor = np.array(anchor)
        self._usual = np.log(np.array(usual))
        self._walked = walked
        self._items = items
        self._views = len(views)

    def fit(self, start: NDArray[np.float64]) -> BoxFit:
        """Climbs from a first guess, moving the box and its sides in ever smaller steps."""
        box, best = start.astype(np.float64).copy(), -np.inf
        best = self._score(box)
        step = _FIRST_STEP
        while step >= _LAST_STEP:
            improved = False
            for move in _MOVES:
                for sign in (step, -step):
                    tried = box + sign * move
                    if (tried[3:] - tried[:3] < _LEAST_EXTENT).any():
                        continue
                    score = self._score(tried)
                    if score > best + 1e-6:
                        box, best, improved = tried, score, True
            if not improved:
                step /= 2
        agreement = float(self.agreements(box).mean())
        return BoxFit(box, agreement, self._views)

    def agreements(self, box: NDArray[np.float64]) -> NDArray[np.float64]:
        """Intersection over union per compared view."""
        return box_agreements(box, self._eyes, self._basis, self._sums)

    def _score(self, box: NDArray[np.float64]) -> float:
        low, high = box[:3], box[3:]
        score = float(self.agreements(box).mean())
        off = np.maximum(np.maximum(low - self._anchor, self._anchor - high), 0.0)
        score -= _ANCHOR_COST * float(off.sum())
        score -= _SIZE_COST * float(np.abs(np.log(high - low) - self._usual).sum())
        if low[1] < 0.0:
            score += 2.0 * float(low[1])
        if len(self._walked) and low[1] < _HEADROOM:
            inside = np.minimum(
                np.minimum(self._walked[:, 0] - low[0], high[0] - self._walked[:, 0]),
                np.minimum(self._walked[:, 1] - low[2], high[2] - self._walked[:, 1]),
            )
            score -= _WALK_COST * float(np.minimum(np.maximum(inside + _MARGIN, 0.0), 0.5).sum())
        if len(self._items):
            away = np.maximum(np.maximum(low - self._items, self._items - high - (0, 0.3, 0)), 0.0)
            score -= _ITEM_COST * float(away.sum()) / len(self._items)
        return score


def _moves() -> list[NDArray[np.float64]]:
    moves = []
    for axis in range(3):
        low, high = np.zeros(6), np.zeros(6)
        low[axis] = high[axis + 3] = 1.0
        moves += [low + high, low, high]
    return moves


_MOVES = _moves()


def _spread(views: Sequence[FixtureView]) -> list[FixtureView]:
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
