"""Free spots: on the surface, overlapping nothing, nearest first, found whenever one exists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.placement import (
    GAP,
    extents,
    footprint,
    free_spot,
    obstacles,
    overlaps,
    turn,
)
from gym_clalfred.simulator.embedded.room_model import Fixture, Rectangle, Surface

TABLE = Surface(Rectangle(-0.6, -0.4, 0.6, 0.4), y=0.8, clearance=1.0)
SHELF = Surface(Rectangle(-0.3, -0.2, 0.3, 0.2), y=0.5, clearance=0.3, inside=True)

sides = st.floats(0.02, 0.5)
sizes = st.tuples(sides, st.floats(0.01, 0.25), sides)
points = st.tuples(st.floats(-2, 2), st.floats(-2, 2))


def test_turn_maps_the_front_to_sine_and_cosine():
    for yaw in (0.0, 30.0, 90.0, 180.0, 270.0, 291.5):
        x, z = turn(0.0, 1.0, yaw)
        assert x == pytest.approx(np.sin(np.radians(yaw)), abs=1e-12)
        assert z == pytest.approx(np.cos(np.radians(yaw)), abs=1e-12)


def test_quarter_turns_are_exact():
    assert turn(1.0, 0.0, 90.0) == (0.0, -1.0)
    assert turn(1.0, 2.0, 180.0) == (-1.0, -2.0)
    assert extents((0.3, 0.1, 0.7), 90.0) == (0.7, 0.3)


@given(size=sizes, yaw=st.floats(-720, 720))
def test_footprint_bounds_all_corners(size, yaw):
    area = footprint(size, 1.0, 2.0, yaw)
    for sx in (-1, 1):
        for sz in (-1, 1):
            x, z = turn(sx * size[0] / 2, sz * size[2] / 2, yaw)
            assert area.x0 - 1e-9 <= 1.0 + x <= area.x1 + 1e-9
            assert area.z0 - 1e-9 <= 2.0 + z <= area.z1 + 1e-9


def test_empty_surface_gives_the_preferred_point():
    spot = free_spot(TABLE, (0.1, 0.1, 0.1), near=(0.2, -0.1))
    assert (spot.x, spot.y, spot.z, spot.yaw) == (0.2, 0.8, -0.1, 0.0)


def test_preferred_point_outside_is_clamped_to_full_support():
    spot = free_spot(TABLE, (0.2, 0.1, 0.1), near=(5.0, 5.0))
    assert (spot.x, spot.z) == pytest.approx((0.5, 0.35))


def test_nearest_spot_beside_what_is_there():
    taken = [footprint((0.2, 0.1, 0.2), 0.0, 0.0)]
    spot = free_spot(TABLE, (0.1, 0.1, 0.1), taken, near=(0.05, 0.0))
    assert (spot.x, spot.z) == pytest.approx((0.1 + 0.05 + GAP, 0.0))


def test_too_tall_only_when_lenient():
    tall = (0.1, 0.5, 0.1)
    assert free_spot(SHELF, tall) is None
    assert free_spot(SHELF, tall, lenient=True) is not None


def test_overhang_is_the_share_that_the_surface_allows():
    board = (1.0, 0.05, 0.9)
    wide = Surface(Rectangle(-0.4, -0.4, 0.4, 0.4), y=0.5, clearance=1.0, overhang=0.25)
    walled = Surface(Rectangle(-0.4, -0.4, 0.4, 0.4), y=0.5, clearance=1.0, overhang=0.0)
    assert free_spot(wide, board, near=(9.0, 0.0)).x == pytest.approx(0.4 - 0.25)
    assert free_spot(walled, board) is None


def test_giant_stands_alone_only_when_lenient():
    giant = (2.0, 0.1, 0.5)
    assert free_spot(SHELF, giant) is None
    assert free_spot(SHELF, giant, lenient=True).yaw == 0.0
    assert free_spot(SHELF, giant, [footprint((0.1, 0.1, 0.1), 0, 0)], lenient=True) is None


def test_turns_when_only_turned_it_fits():
    slot = Surface(Rectangle(-0.05, -0.5, 0.05, 0.5), y=0.0, clearance=1.0, inside=True)
    assert free_spot(slot, (0.8, 0.05, 0.08)).yaw == 90.0


@given(st.lists(st.tuples(sizes, points), min_size=1, max_size=12))
def test_successive_spots_never_overlap_and_are_supported(requests):
    taken = []
    for size, near in requests:
        spot = free_spot(TABLE, size, taken, near=near)
        if spot is None:
            continue
        area = footprint(size, spot.x, spot.z, spot.yaw)
        assert not any(overlaps(area, other, GAP - 1e-6) for other in taken)
        width, depth = (TABLE.overhang * extent for extent in extents(size, spot.yaw))
        assert area.x0 >= TABLE.area.x0 - width - 1e-6
        assert area.x1 <= TABLE.area.x1 + width + 1e-6
        assert area.z0 >= TABLE.area.z0 - depth - 1e-6
        assert area.z1 <= TABLE.area.z1 + depth + 1e-6
        assert TABLE.area.x0 <= spot.x <= TABLE.area.x1
        assert TABLE.area.z0 <= spot.z <= TABLE.area.z1
        taken.append(area)


@given(
    taken=st.lists(st.tuples(sizes, points), max_size=6),
    size=st.tuples(st.floats(0.05, 0.3), st.just(0.1), st.floats(0.05, 0.3)),
    near=points,
)
def test_no_sampled_free_point_is_nearer_than_the_answer(taken, size, near):
    areas = [footprint(s, x / 3, z / 4) for s, (x, z) in taken]
    spot = free_spot(SHELF, size, areas, near=near, yaws=(0.0,))
    best = np.inf if spot is None else np.hypot(spot.x - near[0], spot.z - near[1])
    for x in np.linspace(-0.3 + size[0] / 2, 0.3 - size[0] / 2, 9):
        for z in np.linspace(-0.2 + size[2] / 2, 0.2 - size[2] / 2, 9):
            if not any(overlaps(footprint(size, x, z), area, GAP) for area in areas):
                assert np.hypot(x - near[0], z - near[1]) >= best - 1e-6


def test_fixtures_standing_on_or_hanging_over_a_surface_take_space():
    counter = Fixture("CounterTop_1", ObjectClass.CounterTop, (1, 0, 2), 90, (2.0, 0.9, 0.6))
    top = Surface(Rectangle(-1.0, -0.3, 1.0, 0.3), y=0.9, clearance=0.5)
    microwave = Fixture("Microwave_1", ObjectClass.Microwave, (1, 0.9, 2.5), 90, (0.5, 0.3, 0.4))
    cabinet = Fixture("Cabinet_1", ObjectClass.Cabinet, (0.9, 1.4, 1.5), 90, (0.4, 0.6, 0.3))
    drawer = Fixture("Drawer_1", ObjectClass.Drawer, (1, 0.6, 2), 90, (0.4, 0.3, 0.6))
    basin = Fixture("SinkBasin_1", ObjectClass.SinkBasin, (1, 0.75, 1.2), 90, (0.4, 0.15, 0.4))
    room = [counter, microwave, cabinet, drawer, basin]
    # The front of a holder with yaw 90 is +x, so its own +x is the room's -z.
    low = [(area.x0, area.x1) for area in obstacles(counter, top, 0.2, room)]
    assert low == [pytest.approx((-0.75, -0.25)), pytest.approx((0.6, 1.0))]
    assert len(obstacles(counter, top, 0.6, room)) == 3
    bottom = Surface(Rectangle(-0.2, -0.2, 0.2, 0.2), y=0.01, clearance=0.5)
    assert obstacles(basin, bottom, 0.3, room) == []
