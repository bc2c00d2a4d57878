"""Where things come to lie that are put into a fixture, from the masks of picking them up again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, FOCAL, MIDDLE, bases
from gym_clalfred.data.alfred_import.items import ItemView
from gym_clalfred.data.alfred_import.studio import Studio, form_of
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import SIGHT_PIXELS
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Fixture, ItemShape, PlacementHint, Surface

#: How far beside a surface a thing may seem to lie.
_BESIDE = 0.1

#: Landings closer to each other than this are the same.
_SAME = 0.04

#: Views by which turns are compared.
_COMPARED = 6

_TURNS = (0.0, 90.0, 180.0, 270.0)

#: Steps in which the floor of a basin is raised, the least depth that is left, and how much better
#: things in it must look then.
_RAISED_BY = 0.02
_LEAST_DEPTH = 0.04
_BETTER = 0.01


@dataclass(frozen=True)
class _Landing:
    """Where something came to lie: the surface's index, x and z in the fixture's frame."""

    object_class: ObjectClass
    surface: int
    x: float
    z: float
    view: ItemView
    shape: ItemShape


def with_hints(
    fixture: Fixture,
    put: Sequence[tuple[str, ItemView]],
    shapes: Mapping[str, ItemShape],
    studio: Studio,
) -> Fixture:
    """The fixture with hints where things of each class were mostly put.

    AI2-THOR takes the first place that is free, in an order that only depends on the receptacle
    and where the agent stands, so that things of one size always land at the same place.

    Args:
        fixture: with its surfaces.
        put: names and masks of what was put there before.
        shapes: by name.
        studio: in which turns are compared.
    """
    landings = [landing for name, view in put for landing in _landing(fixture, name, view, shapes)]
    if not landings:
        return fixture
    groups: dict[ObjectClass | None, list[_Landing]] = {None: landings}
    for landing in landings:
        groups.setdefault(landing.object_class, []).append(landing)
    hints: dict[int, list[PlacementHint]] = {}
    for object_class, group in groups.items():
        place = _most_common(group)
        x, z = np.mean([(one.x, one.z) for one in place], axis=0)
        turned, _ = _common_turn(fixture, group, studio)
        hint = PlacementHint(object_class, round(float(x), 3), round(float(z), 3), turned)
        hints.setdefault(place[0].surface, []).append(hint)
    surfaces = tuple(
        replace(surface, hints=tuple(hints.get(k, ())))
        for k, surface in enumerate(fixture.surfaces or ())
    )
    return replace(fixture, surfaces=surfaces)


def raise_floor(
    fixture: Fixture,
    put: Sequence[tuple[str, ItemView]],
    shapes: Mapping[str, ItemShape],
    lowest: float,
    studio: Studio,
) -> Fixture:
    """A basin, as deep as what was put into it looks.

    Args:
        fixture: the basin as deep as it may be.
        put: names and masks of what was put there before.
        shapes: by name.
        lowest: the height below which its floor must stay.
        studio: in which levels are compared.
    """
    best, result = 0.0, fixture
    most = min(fixture.size[1] - _LEAST_DEPTH, lowest - fixture.position[1])
    for step in range(int(max(most, 0.0) / _RAISED_BY) + 1):
        tried = _raised(fixture, step * _RAISED_BY)
        groups: dict[ObjectClass, list[_Landing]] = {}
        for name, view in put:
            for landing in _landing(tried, name, view, shapes):
                groups.setdefault(landing.object_class, []).append(landing)
        agreement = sum(_common_turn(tried, group, studio)[1] for group in groups.values())
        if agreement > best + (_BETTER * len(groups) if step else 0.0):
            best, result = agreement, tried
    return result


def _raised(fixture: Fixture, by: float) -> Fixture:
    x, y, z = fixture.position
    width, height, depth = fixture.size
    size = (width, round(height - by, 4), depth)
    return replace(fixture, position=(x, round(y + by, 4), z), size=size)


def _landing(
    fixture: Fixture, name: str, view: ItemView, shapes: Mapping[str, ItemShape]
) -> list[_Landing]:
    shape = shapes.get(name)
    spot = None if shape is None else _spot(fixture, view, shape)
    if shape is None or spot is None:
        return []
    return [_Landing(ObjectClass[name.split("_")[0]], spot[0], *spot[1], view, shape)]


def _most_common(landings: Sequence[_Landing]) -> list[_Landing]:
    """The landings at the place where most of them are."""
    places = [
        [
            other
            for other in landings
            if other.surface == one.surface
            and abs(other.x - one.x) <= _SAME
            and abs(other.z - one.z) <= _SAME
        ]
        for one in landings
    ]
    return max(places, key=len)


def _common_turn(
    fixture: Fixture, landings: Sequence[_Landing], studio: Studio
) -> tuple[float, float]:
    """The turn, in the fixture's frame, in which things look most like their masks, and how."""
    step = max(len(landings) / _COMPARED, 1.0)
    chosen = [landings[int(k * step)] for k in range(min(len(landings), _COMPARED))]
    best, result = -1.0, 0.0
    for tried in _TURNS:
        total = 0.0
        for one in chosen:
            dx, dz = turn(one.x, one.z, fixture.yaw)
            level = (fixture.surfaces or ())[one.surface].y
            x, y, z = fixture.position
            yaw = fixture.yaw + tried + one.shape.turn
            mesh = form_of(one.object_class, one.shape)
            total += studio.agreement_of_item(
                mesh, [((x + dx, y + level, z + dz), yaw)], [one.view]
            )
        if total > best + 1e-6:
            best, result = total, tried
    return result, best / len(chosen)


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
        odds = abs(math.log((right - left) * depth / FOCAL / across))
        if best is None or odds < best[0]:
            best = odds, k, (x, z)
    return None if best is None else best[1:]


def _is_near(surface: Surface, x: float, z: float) -> bool:
    area = surface.area
    return (
        area.x0 - _BESIDE <= x <= area.x1 + _BESIDE and area.z0 - _BESIDE <= z <= area.z1 + _BESIDE
    )
