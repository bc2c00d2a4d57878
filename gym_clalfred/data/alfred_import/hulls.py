"""Forms of pickupable objects, carved out of their masks where the catalogue's differs much.

A key ring or the strap of a watch look like no box that could be stretched: where the catalogue's
form agrees badly with the masks of a name, the visual hull of these masks is tried instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.blocks import rectangles
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, NEAR, bases, project
from gym_clalfred.data.alfred_import.items import (
    CELLS,
    SLICES,
    ItemFit,
    ItemView,
    base_of,
    turned,
)
from gym_clalfred.data.alfred_import.studio import Studio
from gym_clalfred.objects import PICKUPABLE, RECEPTACLES, ObjectClass
from gym_clalfred.simulator.contract import SIGHT_PIXELS, Vector
from gym_clalfred.simulator.embedded.catalog import Appearance, build_blocks, build_mesh, style_of
from gym_clalfred.simulator.embedded.room_model import Block, ItemShape

#: What holds something keeps the catalogue's form, which has an inside; pieces are alike.
CARVED = frozenset(PICKUPABLE) - frozenset(RECEPTACLES) - SLICES - {ObjectClass.Laptop}

#: How much better than the catalogue's form a hull must agree with the masks.
_CLEARLY = 0.08

#: Views by which forms are compared, and views of which a hull is carved.
_COMPARED = 6
_CARVED_FROM = 24
_LEAST_VIEWS = 3

#: Cells along the longest side of a hull; share of the views that must show a cell.
_LONGEST = 14
_SHOWN = 0.6

#: Most blocks of one layer.
_MOST_BLOCKS = 8


def carve_items(
    job: tuple[Mapping[str, ItemFit], Mapping[str, Sequence[ItemView]]],
) -> dict[str, ItemFit]:
    """The fits of some names, with blocks where a hull agrees clearly better with the masks."""
    fits, views = job
    studio = Studio(SIGHT_PIXELS)
    result = {}
    for name, fit in fits.items():
        whole = [view for view in views[name] if _is_whole(view)]
        result[name] = fit
        if ObjectClass[name.split("_")[0]] in CARVED and len(whole) >= _LEAST_VIEWS:
            result[name] = replace(fit, shape=_best_form(name, fit.shape, whole, studio))
    return result


def _best_form(name: str, shape: ItemShape, views: Sequence[ItemView], studio: Studio) -> ItemShape:
    object_class, style = ObjectClass[name.split("_")[0]], style_of(name)
    blocks = carve(shape, _some(views, _CARVED_FROM))
    if not blocks:
        return shape
    compared = _some(views, _COMPARED)
    poses = [
        (base_of(view.position, view.turn, shape), view.turn + shape.turn) for view in compared
    ]
    usual = build_mesh(object_class, shape.size, style, Appearance())
    hull = build_blocks(object_class, blocks, style)
    gain = studio.agreement_of_item(hull, poses, compared)
    gain -= studio.agreement_of_item(usual, poses, compared)
    return replace(shape, blocks=blocks) if gain > _CLEARLY else shape


def carve(shape: ItemShape, views: Sequence[ItemView]) -> tuple[Block, ...]:
    """Blocks, in the object's own frame, of what most masks show of its box."""
    size = np.array(shape.size)
    counts = np.clip(np.ceil(size / size.max() * _LONGEST), 1, _LONGEST).astype(int)
    low, step = np.array([-size[0] / 2, 0.0, -size[2] / 2]), size / counts
    axes = [low[k] + (np.arange(counts[k]) + 0.5) * step[k] for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(1, -1, 3)
    shown, seen = _tally(turned(grid, np.array([shape.turn])) + np.array(shape.origin), views)
    cells = ((shown >= 1) & (shown >= _SHOWN * seen)).reshape(tuple(counts))
    blocks: list[Block] = []
    first = 0
    for layer in range(counts[1]):
        # Layers that are alike make one block together.
        if layer + 1 < counts[1] and (cells[:, layer] == cells[:, layer + 1]).all():
            continue
        for i0, j0, i1, j1 in rectangles(cells[:, layer], most=_MOST_BLOCKS):
            corner = _vector(low + step * (i0, first, j0))
            blocks.append(Block(corner, _vector(low + step * (i1, layer + 1, j1))))
        first = layer + 1
    return tuple(blocks)


def _tally(
    points: NDArray[np.float64], views: Sequence[ItemView]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each point (1, P, 3) around the origin, how many masks show it and could show it."""
    placed = turned(points, np.array([view.turn for view in views]))
    placed = placed + np.array([view.position for view in views])[:, None]
    eyes = np.array([(view.eye[0], EYE_HEIGHT, view.eye[1]) for view in views])
    basis = bases(
        np.array([v.yaw for v in views], float), np.array([v.pitch for v in views], float)
    )
    found = project(placed, eyes, basis)
    shown = np.zeros(points.shape[1], dtype=np.int64)
    seen = np.zeros(points.shape[1], dtype=np.int64)
    for view, (column, row, depth) in zip(views, np.moveaxis(found, -1, 1)):
        left, top, right, bottom = view.edges
        seen += depth > NEAR
        j = np.floor((column - left) / (right - left) * CELLS).astype(int)
        i = np.floor((row - top) / (bottom - top) * CELLS).astype(int)
        inside = (depth > NEAR) & (i >= 0) & (i < CELLS) & (j >= 0) & (j < CELLS)
        shown[inside] += view.cells[i[inside], j[inside]]
    return shown, seen


def _is_whole(view: ItemView) -> bool:
    """Whether the border of the picture cuts nothing off."""
    left, top, right, bottom = view.edges
    return left > 0 and top > 0 and right < SIGHT_PIXELS and bottom < SIGHT_PIXELS


def _some(views: Sequence[ItemView], most: int) -> list[ItemView]:
    step = max(len(views) / most, 1.0)
    return [views[int(k * step)] for k in range(min(len(views), most))]


def _vector(values: NDArray[np.float64]) -> Vector:
    x, y, z = (round(float(value), 4) for value in values)
    return x, y, z
