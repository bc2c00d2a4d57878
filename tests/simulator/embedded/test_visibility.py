"""Camera geometry, reach and pixel counts, apart from any renderer."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.simulator.contract import SIGHT_PIXELS, AgentPose
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import Gaze
from gym_clalfred.simulator.embedded.visibility import (
    LEAST_PIXELS,
    PUT_REACH,
    direction_of,
    distance_to,
    gaze_at,
    observe,
    pixels_of,
    points_of,
    sum_pixels,
)
from tests.helpers.household_room import kitchen, scene

FOCAL = 259.8076
yaws = st.sampled_from([0, 90, 180, 270])
pitches = st.sampled_from(range(-30, 61, 15))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 50)), min_size=1, max_size=30))
def test_counting_and_finding_pixels_agree_with_numpy(runs):
    image = np.concatenate([np.full(n, value, dtype=np.int16) for value, n in runs])
    image = np.stack([image, image[::-1]])
    for value, sums in enumerate(sum_pixels(image, 7).tolist()):
        rows, columns = np.nonzero(image == value)
        assert sums == [len(rows), rows.sum(), columns.sum()]
    for every in (1, 4):
        for found, expected in zip(pixels_of(image, 3, every), np.nonzero(image == 3), strict=True):
            assert (found == expected[::every]).all()


@pytest.mark.parametrize(
    ("yaw", "pitch", "expected"),
    [
        (0, 0, (0, 0, 1)),
        (90, 0, (1, 0, 0)),
        (180, 30, (0, -0.5, -math.sqrt(0.75))),
        (270, -30, (-math.sqrt(0.75), 0.5, 0)),
    ],
)
def test_camera_looks_where_the_angles_say(yaw, pitch, expected):
    assert direction_of(AgentPose(0, 0.9, 0, yaw, pitch)) == pytest.approx(expected)


@given(
    yaw=yaws,
    pitch=pitches,
    x=st.floats(-0.5, 0.5),
    y=st.floats(-0.5, 0.5),
    z=st.floats(0.4, 1.0),
)
def test_pixels_go_back_to_the_points_they_show(yaw, pitch, x, y, z):
    """A point in camera coordinates, drawn and taken back, is the point again."""
    agent = AgentPose(1.0, 0.9, -2.0, yaw, pitch)
    ahead = np.array(direction_of(agent))
    right = np.array([math.cos(math.radians(yaw)), 0, -math.sin(math.radians(yaw))])
    up = np.cross(ahead, right)
    column, row = math.floor(150 + FOCAL * x / z), math.floor(150 - FOCAL * y / z)
    if not (0 <= column < 300 and 0 <= row < 300):
        return
    rows, columns = np.array([row]), np.array([column])
    depth = np.full((SIGHT_PIXELS, SIGHT_PIXELS), z, dtype=np.float32)
    point = np.array([1.0, 1.575, -2.0]) + x * right + y * up + z * ahead
    found = points_of(rows, columns, depth, agent)
    if math.hypot(point[0] - 1.0, point[2] + 2.0) < PUT_REACH - 0.02:
        assert found[0] == pytest.approx(point, abs=z / FOCAL)
    gaze = gaze_at(row, column, agent)
    assert gaze.distance_to(tuple(point)) <= 2 * z / FOCAL


def test_gaze_meets_levels_within_reach():
    down = Gaze((0.0, 1.5, 0.0), (0.0, -math.sqrt(0.5), math.sqrt(0.5)), 1.2)
    assert down.point_at(0.5) == pytest.approx((0.0, 1.0))
    assert down.point_at(0.0) == pytest.approx((0.0, 1.2))
    assert down.point_at(2.0) == pytest.approx((0.0, 1.2))
    level = Gaze((0.0, 1.5, 0.0), (1.0, 0.0, 0.0), 1.2)
    assert level.point_at(0.5) == pytest.approx((1.2, 0.0))


def test_reach_is_measured_to_the_nearest_point_of_the_turned_box():
    household = Household(kitchen(), scene())
    table = next(t for t in household.things if t.object_class.name == "DiningTable")
    assert distance_to(table, 0.5, -0.6) == 0.0
    assert distance_to(table, 0.5, -1.55) == pytest.approx(0.5)
    assert distance_to(table, 1.5, -1.45) == pytest.approx(0.5)
    stove = next(t for t in household.things if t.fixture and t.fixture.name == "CounterTop_s")
    # Turned by 90 degrees: its depth of 0.6 lies along x.
    assert distance_to(stove, -1.0, 0.0) == pytest.approx(0.4)


def test_visible_needs_enough_pixels_and_reach():
    household = Household(kitchen(), scene())
    things = household.things
    ids = tuple(thing.id for thing in things)
    table = next(t for t in things if t.object_class.name == "DiningTable")
    fridge = next(t for t in things if t.object_class.name == "Fridge")
    apple = next(t for t in things if t.object_class.name == "Apple")
    view = np.zeros((SIGHT_PIXELS, SIGHT_PIXELS), dtype=np.int16)
    view[0, : LEAST_PIXELS - 1] = apple.index + 1
    view[1, :LEAST_PIXELS] = table.index + 1
    view[2] = fridge.index + 1
    sums = sum_pixels(view, len(things) + 1)
    seen = observe(view, sums, ids, things, 0.5, -1.5)
    assert seen.in_view == {table.id, fridge.id}
    assert seen.sight.visible == {table.id}
    about_fridges = observe(view, sums, ids, things, 0.5, -1.5, fridge.object_class)
    assert about_fridges.in_view == {fridge.id}
    assert [about_fridges.is_about(one.object_class) for one in (fridge, table)] == [True, False]
    assert not about_fridges.is_about(None)
