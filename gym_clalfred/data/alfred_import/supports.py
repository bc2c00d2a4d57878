"""Gives every small thing something to rest on: more surfaces, and boards that are no objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.blocks import rectangles
from gym_clalfred.data.alfred_import.furniture import BASINS, footprint_of
from gym_clalfred.data.alfred_import.surfaces import LEVEL_SHARES, TOPS
from gym_clalfred.objects import CLOSED_AT_START, ObjectClass
from gym_clalfred.simulator.embedded.catalog.surfaces import OPEN_ABOVE
from gym_clalfred.simulator.embedded.holders import LIFTED, LOOSE
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Fixture, Rectangle, Surface

Points = NDArray[np.float64]
BoxArray = NDArray[np.float64]

#: What lies lower lies on the floor.
_ON_FLOOR = 0.06

#: How far a surface may be made wider for what lies beside it.
_WIDER = 0.3

#: Furniture may hold what is so far outside its box.
_OUTSIDE = 0.12

#: Heights that differ by less are one level; neighbours on it are closer than this.
_SAME_LEVEL = 0.05
_NEIGHBOURS = 0.35

#: A board reaches so far beyond what lies on it.
_MARGIN = 0.07
_THICKNESS = 0.025

#: Boards are made of cells of this size, and of at most so many rectangles.
_CELL = 0.05
_MOST_PATCHES = 10

#: Height of what is behind a front that nobody can open.
_COMPARTMENT = 0.16

#: Furniture whose lower parts are behind fronts; those of other furniture are open shelves.
_FRONTED = frozenset(
    {ObjectClass.CounterTop, ObjectClass.Desk, ObjectClass.Dresser, ObjectClass.SideTable}
)


@dataclass(frozen=True)
class Board:
    """Something to rest on that is no object: its box, and the fixture that it belongs to."""

    box: BoxArray
    owner: Fixture | None


def hold_up(
    fixtures: Sequence[Fixture], rests: Points, seen: Points
) -> tuple[list[Fixture], list[Board]]:
    """Fixtures with surfaces for all that rests at them, and boards for what does not.

    Args:
        fixtures: as they were made.
        rests: (N, 3) base centres of small things.
        seen: (N, 3) base centres of those that somebody looked at.
    """
    rests = np.unique(np.round(rests[rests[:, 1] > _ON_FLOOR], 2), axis=0)
    loose = rests[~supported(fixtures, rests)]
    fixtures, boards = list(fixtures), []
    owners = _owners(fixtures, loose)
    basins = [footprint_of(one) for one in fixtures if one.object_class in BASINS]
    for k in np.unique(owners[owners >= 0]):
        for points in levels(loose[owners == k]):
            for area in _patches(points, basins):
                fixture = fixtures[k]
                fixtures[k] = _with_surface(fixture, area, float(points[:, 1].min()))
                if fixture.object_class not in CLOSED_AT_START:
                    boards.append(_board_in(fixture, area, points, seen))
    for points in levels(loose[owners < 0]):
        level = float(points[:, 1].min())
        boards += [Board(_under(area, level), None) for area in _patches(points, basins)]
    return fixtures, boards


def supported(fixtures: Sequence[Fixture], rests: Points) -> NDArray[np.bool_]:
    """(N,) whether something holds each thing at the start of an episode."""
    x, y, z = rests.T
    held = np.zeros(len(rests), dtype=np.bool_)
    for fixture in fixtures:
        for surface in fixture.surfaces or ():
            area = in_room(fixture, surface.area)
            rise = y - fixture.position[1] - surface.y
            below = min(LOOSE.below, LIFTED) if surface.inside else LOOSE.below
            held |= (
                (x >= area.x0 - LOOSE.beside)
                & (x <= area.x1 + LOOSE.beside)
                & (z >= area.z0 - LOOSE.beside)
                & (z <= area.z1 + LOOSE.beside)
                & (rise >= -below)
                & (rise <= min(LOOSE.above, surface.clearance))
            )
    return held


def levels(points: Points) -> Iterator[Points]:
    """Groups of points that are on one level and next to each other."""
    left = points[np.lexsort((points[:, 2], points[:, 0], points[:, 1]))]
    while len(left):
        group = np.zeros(len(left), dtype=np.bool_)
        group[0] = True
        grew = True
        on_level = left[:, 1] - left[0, 1] <= _SAME_LEVEL
        while grew:
            near = np.abs(left[:, None, ::2] - left[None, group][..., ::2]).max(axis=2)
            grown = on_level & ((near <= _NEIGHBOURS).any(axis=1))
            grew, group = bool((grown & ~group).any()), group | grown
        yield left[group]
        left = left[~group]


def _owners(fixtures: Sequence[Fixture], points: Points) -> NDArray[np.int64]:
    """Which fixture each point belongs to; -1 for none."""
    x, y, z = points.T
    best, owners = np.full(len(points), np.inf), np.full(len(points), -1, dtype=np.int64)
    nothing = np.zeros(len(points))
    for k, fixture in enumerate(fixtures):
        if not fixture.surfaces:
            continue
        for surface in fixture.surfaces:
            area = in_room(fixture, surface.area)
            aside = np.maximum.reduce([area.x0 - x, x - area.x1, area.z0 - z, z - area.z1, nothing])
            rise = y - fixture.position[1] - surface.y
            near = (aside <= _WIDER) & (rise >= -LOOSE.below) & (rise <= LOOSE.below)
            cost = np.where(near, aside + np.abs(rise), np.inf)
            owners, best = np.where(cost < best, k, owners), np.minimum(cost, best)
        area, low = footprint_of(fixture), fixture.position[1]
        aside = np.maximum.reduce([area.x0 - x, x - area.x1, area.z0 - z, z - area.z1, nothing])
        inside = (y >= low - _SAME_LEVEL) & (y <= low + fixture.size[1] + _OUTSIDE)
        if fixture.object_class in TOPS and low < 1.0:
            inside = (y >= 0.0) & (y <= low + fixture.size[1] + _OUTSIDE)
        holds = fixture.object_class in CLOSED_AT_START | TOPS | LEVEL_SHARES.keys()
        cost = np.where(inside & (aside <= _OUTSIDE) & holds, 1.0 + aside, np.inf)
        owners, best = np.where(cost < best, k, owners), np.minimum(cost, best)
    return owners


def _patches(points: Points, basins: Sequence[Rectangle]) -> list[Rectangle]:
    """Rectangles under points of one level, not over basins."""
    low = points[:, ::2].min(axis=0) - _MARGIN
    counts = np.ceil((points[:, ::2].max(axis=0) + _MARGIN - low) / _CELL).astype(int)
    xs, zs = (low[k] + _CELL * np.arange(counts[k] + 1) for k in (0, 1))
    cells = np.zeros(counts, dtype=np.bool_)
    for x, _, z in points:
        across = (xs[1:] > x - _MARGIN) & (xs[:-1] < x + _MARGIN)
        cells |= np.outer(across, (zs[1:] > z - _MARGIN) & (zs[:-1] < z + _MARGIN))
    for basin in basins:
        across = (xs[1:] > basin.x0) & (xs[:-1] < basin.x1)
        cells &= ~np.outer(across, (zs[1:] > basin.z0) & (zs[:-1] < basin.z1))
    return [
        Rectangle(float(xs[i0]), float(zs[j0]), float(xs[i1]), float(zs[j1]))
        for i0, j0, i1, j1 in rectangles(cells, most=_MOST_PATCHES)
    ]


def _with_surface(fixture: Fixture, area: Rectangle, height: float) -> Fixture:
    """The fixture with one more surface, given in the room."""
    x, y, z = fixture.position
    xa, za = turn(area.x0 - x, area.z0 - z, -fixture.yaw)
    xb, zb = turn(area.x1 - x, area.z1 - z, -fixture.yaw)
    own = (min(xa, xb), min(za, zb), max(xa, xb), max(za, zb))
    level = height - y
    above = [s.y - level for s in fixture.surfaces or () if s.y > level + _SAME_LEVEL]
    inside = fixture.object_class in CLOSED_AT_START
    if inside:
        above.append(max(fixture.size[1] - level, 0.2))
    room = round(min([*above, OPEN_ABOVE]) - 0.01, 4)
    place = Rectangle(*(round(value, 3) for value in own))
    extra = Surface(place, round(level, 4), max(room, 0.05), inside, 0.0 if inside else 0.25)
    return replace(fixture, surfaces=(*(fixture.surfaces or ()), extra))


def _board_in(fixture: Fixture, area: Rectangle, points: Points, seen: Points) -> Board:
    """What one sees under points that rest at a fixture: a board, or a front that hides them."""
    box = _under(area, float(points[:, 1].min()))
    top = fixture.position[1] + fixture.size[1]
    hidden = fixture.object_class in _FRONTED and box[4] < top - _COMPARTMENT
    if hidden and not _any_near(points, seen):
        box[4] = min(box[4] + _COMPARTMENT, top - 0.01)
    return Board(box, fixture)


def _any_near(points: Points, seen: Points) -> bool:
    return bool((np.abs(points[:, None] - seen[None]).max(axis=2) < _SAME_LEVEL).any())


def _under(area: Rectangle, level: float) -> BoxArray:
    top = level - 0.002
    return np.array([area.x0, top - _THICKNESS, area.z0, area.x1, top, area.z1])


def in_room(fixture: Fixture, area: Rectangle) -> Rectangle:
    """A rectangle of a fixture's frame, in the room."""
    xa, za = turn(area.x0, area.z0, fixture.yaw)
    xb, zb = turn(area.x1, area.z1, fixture.yaw)
    x, _, z = fixture.position
    return Rectangle(x + min(xa, xb), z + min(za, zb), x + max(xa, xb), z + max(za, zb))
