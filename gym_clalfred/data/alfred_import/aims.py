"""Where things come to lie that are put into a fixture, from the masks of picking them up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, FOCAL, MIDDLE, bases
from gym_clalfred.data.alfred_import.items import ItemView
from gym_clalfred.simulator.contract import SIGHT_PIXELS
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room import Fixture, ItemShape, Surface

#: How far beside a surface a thing may seem to lie.
_BESIDE = 0.1


def take_aim(
    fixture: Fixture,
    put: Sequence[tuple[str, ItemView]],
    shapes: Mapping[str, ItemShape],
) -> Fixture:
    """The fixture with an aim on the surface onto which most things were put.

    Args:
        fixture: with its surfaces.
        put: names and masks of what was put there before.
        shapes: by name.
    """
    if not put or not fixture.surfaces:
        return fixture
    found: dict[int, list[tuple[float, float]]] = {}
    for name, view in put:
        shape = shapes.get(name)
        spot = None if shape is None else _spot(fixture, view, shape)
        if spot is not None:
            found.setdefault(spot[0], []).append(spot[1])
    if not found:
        return fixture
    best = max(found, key=lambda k: len(found[k]))
    x, z = np.median(found[best], axis=0)
    surfaces = list(fixture.surfaces)
    surfaces[best] = replace(surfaces[best], aim=(round(float(x), 3), round(float(z), 3)))
    return replace(fixture, surfaces=tuple(surfaces))


def _spot(
    fixture: Fixture, view: ItemView, shape: ItemShape
) -> tuple[int, tuple[float, float]] | None:
    """Which surface something lies on and where, so that it looks as large as it is."""
    left, top, right, bottom = view.edges
    if left <= 0 or top <= 0 or right >= SIGHT_PIXELS or bottom >= SIGHT_PIXELS:
        return None
    basis = bases(np.array([view.yaw], float), np.array([view.pitch], float))[0]
    column, row = (left + right) / 2 - MIDDLE, (top + bottom) / 2 - MIDDLE
    ray = basis[2] + basis[0] * column / FOCAL - basis[1] * row / FOCAL
    across = (shape.size[0] + shape.size[2]) / 2
    best: tuple[float, int, tuple[float, float]] | None = None
    for k, surface in enumerate(fixture.surfaces or ()):
        # The middle of the mask shows the middle of the thing.
        fall = fixture.position[1] + surface.y + shape.size[1] / 2 - EYE_HEIGHT
        if fall * ray[1] <= 0:
            continue
        depth = fall / ray[1]
        x = view.eye[0] + ray[0] * depth - fixture.position[0]
        z = view.eye[1] + ray[2] * depth - fixture.position[2]
        x, z = turn(x, z, -fixture.yaw)
        if not _is_near(surface, x, z):
            continue
        odds = abs(np.log((right - left) * depth / FOCAL / across))
        if best is None or odds < best[0]:
            best = odds, k, (x, z)
    return None if best is None else best[1:]


def _is_near(surface: Surface, x: float, z: float) -> bool:
    area = surface.area
    return (
        area.x0 - _BESIDE <= x <= area.x1 + _BESIDE and area.z0 - _BESIDE <= z <= area.z1 + _BESIDE
    )
