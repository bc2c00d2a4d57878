"""Shapes made of blocks: boards from masks laid onto their level, bodies carved out of views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.boxes import FixtureView
from gym_clalfred.data.alfred_import.camera import (
    EYE_HEIGHT,
    FOCAL,
    MIDDLE,
    NEAR,
    SAMPLES,
    STRIDE,
    bases,
    project,
)

#: Side of the cells of which boards are made, in metres.
CELL = 0.05

#: A board reaches at most this far from where it is recorded.
_REACH = 3.0

#: Share of the views of a cell that must show the board; the others have something before it.
_SHOWN = 0.3

#: Gaps of up to twice so many cells are filled.
_GAP = 3

#: A cell is open if so many samples of masks of other things are seen through it.
_LOOKED_THROUGH = 8

#: Rectangles of a board: at most so many, and none with less than this share of its cells.
_MOST_RECTANGLES = 10
_LEAST_SHARE = 0.01

#: Cells of a carved body along each side of its box.
_LAYERS = 9
_ACROSS = 10

#: Share of the views that must show a cell of a body.
_IN_BODY = 0.75

Box = tuple[float, float, float, float, float, float]


def board_rectangles(
    views: Sequence[FixtureView],
    anchor: tuple[float, float],
    level: float,
    holes: NDArray[np.float64],
    held: NDArray[np.float64],
    seen_below: NDArray[np.float64],
) -> list[tuple[float, float, float, float]]:
    """Rectangles (x0, z0, x1, z1) of a level board that masks show, the largest first.

    Args:
        views: of the board.
        anchor: x, z of its recorded position.
        level: height of its top.
        holes: (N, 2) points where it is known not to be.
        held: (N, 2) points at which things lie on it.
        seen_below: (N, 2) points through which masks show what is below it.
    """
    count = int(2 * _REACH / CELL)
    low = np.floor((np.array(anchor) - _REACH) / CELL) * CELL
    ticks = (np.arange(count) + 0.5) * CELL
    x, z = np.meshgrid(low[0] + ticks, low[1] + ticks, indexing="ij")
    points = np.stack([x.ravel(), np.full(x.size, level), z.ravel()], axis=1)
    shown, seen = _tally(points, views)
    cells = ((shown >= 1) & (shown >= _SHOWN * seen)).reshape(count, count)
    for i, j in np.floor((held - low) / CELL).astype(int):
        cells[max(i - 1, 0) : max(i + 2, 0), max(j - 1, 0) : max(j + 2, 0)] = True
    cells = _closed(cells)
    for i, j in np.floor((holes - low) / CELL).astype(int):
        cells[max(i - 1, 0) : max(i + 2, 0), max(j - 1, 0) : max(j + 2, 0)] = False
    through = np.zeros_like(cells, dtype=np.int64)
    places = np.floor((seen_below - low) / CELL).astype(int)
    places = places[((places >= 0) & (places < count)).all(axis=1)]
    np.add.at(through, (places[:, 0], places[:, 1]), 1)
    cells &= through < _LOOKED_THROUGH
    return [
        (
            round(float(low[0]) + i0 * CELL, 3),
            round(float(low[1]) + j0 * CELL, 3),
            round(float(low[0]) + i1 * CELL, 3),
            round(float(low[1]) + j1 * CELL, 3),
        )
        for i0, j0, i1, j1 in rectangles(cells)
    ]


def on_level(view: FixtureView, level: float) -> NDArray[np.float64]:
    """(N, 2) where the samples of a mask pass a level below the eye."""
    rows, columns = np.nonzero(view.samples)
    right = ((columns + 0.5) * STRIDE - MIDDLE) / FOCAL
    up = (MIDDLE - (rows + 0.5) * STRIDE) / FOCAL
    basis = bases(np.array([view.yaw], float), np.array([view.pitch], float))[0]
    along = basis[2] + right[:, None] * basis[0] + up[:, None] * basis[1]
    along = along[along[:, 1] < -1e-3]
    share = (level - EYE_HEIGHT) / along[:, 1]
    return np.stack([view.x + share * along[:, 0], view.z + share * along[:, 2]], axis=1)[share > 0]


def _closed(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells with gaps filled that are narrower than what lies before boards."""
    count = len(cells)
    grown = np.pad(cells, _GAP)
    for axis in (0, 1):
        for _ in range(_GAP):
            grown = grown | np.roll(grown, 1, axis) | np.roll(grown, -1, axis)
    for axis in (0, 1):
        for _ in range(_GAP):
            grown = grown & np.roll(grown, 1, axis) & np.roll(grown, -1, axis)
    return grown[_GAP : _GAP + count, _GAP : _GAP + count] | cells


def carved_body(views: Sequence[FixtureView], box: NDArray[np.float64]) -> list[Box]:
    """Boxes that fill what all views agree on within a box; the visual hull of the masks."""
    counts = (_ACROSS, _LAYERS, _ACROSS)
    extent = (box[3:] - box[:3]) / counts
    axes = [box[k] + (np.arange(counts[k]) + 0.5) * extent[k] for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    shown, seen = _tally(grid.reshape(-1, 3), views)
    cells = ((shown >= 1) & (shown >= _IN_BODY * seen)).reshape(counts)
    body: list[Box] = []
    for layer in range(_LAYERS):
        y0 = float(box[1] + layer * extent[1])
        for i0, j0, i1, j1 in rectangles(cells[:, layer], most=6):
            body.append(
                (
                    float(box[0] + i0 * extent[0]),
                    y0,
                    float(box[2] + j0 * extent[2]),
                    float(box[0] + i1 * extent[0]),
                    y0 + float(extent[1]),
                    float(box[2] + j1 * extent[2]),
                )
            )
    return body


def rectangles(
    cells: NDArray[np.bool_], most: int = _MOST_RECTANGLES
) -> list[tuple[int, int, int, int]]:
    """Disjoint rectangles (i0, j0, i1, j1) that cover most of the cells, the largest first."""
    left = cells.copy()
    least = max(_LEAST_SHARE * np.count_nonzero(cells), 1)
    found: list[tuple[int, int, int, int]] = []
    while len(found) < most and left.any():
        best = _largest(left)
        if (best[2] - best[0]) * (best[3] - best[1]) < least:
            break
        left[best[0] : best[2], best[1] : best[3]] = False
        found.append(best)
    return found


def _largest(cells: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """The largest rectangle of set cells, found row by row over the heights of columns."""
    heights = np.zeros(cells.shape[1], dtype=np.int64)
    best, where = 0, (0, 0, 0, 0)
    for i, row in enumerate(cells):
        heights = np.where(row, heights + 1, 0)
        stack: list[tuple[int, int]] = []
        for j, height in enumerate([*heights.tolist(), 0]):
            start = j
            while stack and stack[-1][1] >= height:
                start, tall = stack.pop()
                if tall * (j - start) > best:
                    best, where = tall * (j - start), (i + 1 - tall, start, i + 1, j)
            stack.append((start, height))
    return where


def _tally(
    points: NDArray[np.float64], views: Sequence[FixtureView]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each point, how many masks show it and how many views look there."""
    shown = np.zeros(len(points), dtype=np.int64)
    seen = np.zeros(len(points), dtype=np.int64)
    for view in views:
        eye = np.array([[view.x, EYE_HEIGHT, view.z]])
        basis = bases(np.array([view.yaw], float), np.array([view.pitch], float))
        column, row, depth = project(points[None], eye, basis)[0].T
        j, i = np.floor(column / STRIDE).astype(int), np.floor(row / STRIDE).astype(int)
        inside = (depth > NEAR) & (i >= 0) & (i < SAMPLES) & (j >= 0) & (j < SAMPLES)
        seen += inside
        shown[inside] += view.samples[i[inside], j[inside]]
    return shown, seen
