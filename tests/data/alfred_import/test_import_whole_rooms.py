"""Rooms are whole: what is listed stands, what lies somewhere is held, nothing is in the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gym_clalfred.data.alfred_import.bodies import Bodies, box_of, crossed
from gym_clalfred.data.alfred_import.fittings import Site
from gym_clalfred.data.alfred_import.layouts import Layout, Standing
from gym_clalfred.data.alfred_import.listed import Place, clear_floor, front_of, place_all
from gym_clalfred.data.alfred_import.resting import common_level, settle, share_out
from gym_clalfred.data.alfred_import.rooms import Reconstruction, RoomEvidence, plain_shape
from gym_clalfred.data.alfred_import.standing import fill_in
from gym_clalfred.data.alfred_import.supports import hold_up, supported
from gym_clalfred.data.alfred_import.surfaces import surfaces_for
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.room_model import AGENT_RADIUS, Block, Fixture, Rectangle

FLOOR = np.array([(x / 4, z / 4) for x in range(-8, 9) for z in range(-8, 5)])
NO_RAYS = np.zeros((0, 6))
TABLE = "SideTable|+00.00|+00.00|+01.60"


def fixture(object_class: ObjectClass, x: float, y: float, z: float, yaw: float = 180.0) -> Fixture:
    size = model_of(object_class).size(0)
    name = f"{object_class.name}|+00.00|+00.00|{z:+06.2f}"
    surfaces = model_of(object_class).surfaces(size, 0)
    return Fixture(name, object_class, (x, y, z), yaw, size, surfaces=surfaces)


def cabinets(*xs: float, standing: Standing | None = None) -> list[Place]:
    return [Place(f"Cabinet|{x:+06.2f}|+00.40|+01.30", (x, 0.4, 1.3), standing) for x in xs]


def extents(box: np.ndarray) -> list[float]:
    return [round(float(value), 2) for value in (box[0], box[3])]


def test_listed_furniture_faces_where_it_is_used_from() -> None:
    place = Place("Desk|+00.00|+00.00|+02.00", (0.0, 0.0, 2.0), Standing(-1.0, 2.0, 90, 30))
    assert front_of(place, FLOOR, {}) == 270


def test_a_panel_faces_the_floor_though_it_is_used_from_beside() -> None:
    (place,) = cabinets(0.0, standing=Standing(-0.75, 1.0, 90, 30))
    assert front_of(place, FLOOR, {}) == 180


def test_doors_open_away_from_a_hinge_next_to_theirs() -> None:
    boxes = place_all(cabinets(0.0, 0.05), {}, FLOOR)
    left, right = (boxes[place.name][1] for place in cabinets(0.0, 0.05))
    assert extents(left)[1] <= 0.01
    assert extents(right)[0] >= 0.04


def test_a_pair_of_doors_meets_between_its_hinges() -> None:
    boxes = place_all(cabinets(0.0, 0.9), {}, FLOOR)
    left, right = (extents(boxes[place.name][1]) for place in cabinets(0.0, 0.9))
    assert left[0] >= -0.01
    assert right[1] <= 0.91
    assert left[1] <= right[0]


def test_boxes_keep_off_the_floor_on_which_agents_stand() -> None:
    box = clear_floor(np.array([-0.5, 0.0, 0.8, 0.5, 0.7, 1.8]), (0.0, 0.0, 1.6), FLOOR)
    assert box[2] > 1.0
    assert box[5] == 1.8
    high = np.array([-0.5, 1.9, 0.8, 0.5, 2.2, 1.8])
    assert (clear_floor(high, (0.0, 2.0, 1.6), FLOOR) == high).all()


def rests_on_table() -> np.ndarray:
    spots = [(x / 10, 0.83, 1.4 + z / 10) for x in range(-5, 6) for z in range(5)]
    return np.array(spots)


def test_furniture_is_as_high_and_as_wide_as_what_lies_on_it_shows() -> None:
    boxes = place_all([Place(TABLE, (0.0, 0.0, 1.6), Standing(0, 1, 0, 30))], {}, FLOOR)
    held = share_out(boxes, frozenset(), rests_on_table())
    _, box = settle(boxes, frozenset(), held, FLOOR)[TABLE]
    assert len(held[TABLE]) > 30
    assert box[4] == pytest.approx(0.83)
    assert box[0] < -0.4
    assert box[3] > 0.4


def test_few_things_tell_no_level() -> None:
    assert common_level(np.array([0.5, 0.51, 0.9])) is None
    assert common_level(np.array([0.5, 0.51, 0.5, 0.52, 0.9])) == pytest.approx(0.5, abs=0.01)


def test_what_lies_beside_a_surface_gets_one() -> None:
    table = fixture(ObjectClass.SideTable, 0.0, 0.0, 1.6)
    rests = np.array([(0.4, table.size[1], 1.6), (0.42, table.size[1], 1.7)])
    assert not supported([table], rests).any()
    fixtures, boards = hold_up([table], rests, np.zeros((0, 3)))
    assert supported(fixtures, rests).all()
    assert boards
    assert boards[0].owner == table


def test_what_lies_nowhere_gets_a_board_that_is_no_object() -> None:
    rests = np.array([(3.0, 1.2, 1.6)])
    fixtures, boards = hold_up([fixture(ObjectClass.SideTable, 0, 0, 1.6)], rests, rests)
    assert not supported(fixtures, rests).any()
    (board,) = boards
    assert board.owner is None
    assert board.box[4] == pytest.approx(1.2, abs=0.01)


def test_boards_leave_basins_open() -> None:
    basin = fixture(ObjectClass.SinkBasin, 0.0, 0.7, 1.6)
    counter = fixture(ObjectClass.CounterTop, 2.0, 0.0, 1.6)
    width = basin.size[0] / 2
    rests = np.array([(x, 0.9, 1.6) for x in (-width - 0.1, -width - 0.05, width + 0.1)])
    _, boards = hold_up([basin, counter], rests, rests)
    area = box_of(basin)
    assert boards
    for board in boards:
        assert board.box[0] >= area[3] - 0.051 or board.box[3] <= area[0] + 0.051


def worktop() -> Fixture:
    block = Block((-1.0, 0.86, -0.3), (1.0, 0.9, 0.3))
    return Fixture(
        "CounterTop|+00.00|+00.90|+01.60",
        ObjectClass.CounterTop,
        (0.0, 0.0, 1.7),
        180.0,
        (2.0, 0.9, 0.6),
        blocks=(block,),
        surfaces=(),
    )


def inside(body_low: Sequence[float], body_high: Sequence[float], box: np.ndarray) -> bool:
    low, high = np.array(body_low), np.array(body_high)
    return bool((low < box[3:] - 1e-6).all() and (box[:3] + 1e-6 < high).all())


def test_a_carcass_is_under_a_worktop_and_around_what_is_built_in() -> None:
    cabinet = fixture(ObjectClass.Cabinet, 0.0, 0.05, 1.7)
    bodies = Bodies(7, [worktop(), cabinet], FLOOR, NO_RAYS).make([])
    assert max(body.high[1] for body in bodies) == pytest.approx(0.86)
    assert min(body.low[1] for body in bodies) == 0.0
    assert not any(inside(body.low, body.high, box_of(cabinet)) for body in bodies)
    for x, z in FLOOR:
        assert not any(b.low[0] < x < b.high[0] and b.low[2] < z < b.high[2] for b in bodies)


def test_bodies_block_no_line_of_sight() -> None:
    ray = np.array([[0.0, 1.5, 0.0, 0.0, 0.1, 1.95]])
    bodies = Bodies(7, [worktop()], FLOOR, ray).make([])
    assert bodies
    for body in bodies:
        assert not crossed(np.array([*body.low, *body.high]), ray).any()


def test_an_agent_can_stand_one_step_farther_where_nothing_is() -> None:
    points = np.array([(0.0, 0.0)])
    wall = np.array([[0.3, 0.0, -1.0, 1.0, 1.0, 1.0]])
    assert fill_in(points, wall) == {(0.0, 0.0), (-0.25, 0.0), (0.0, 0.25), (0.0, -0.25)}
    overhead = np.array([[0.3, 1.9, -1.0, 1.0, 2.2, 1.0]])
    assert (0.25, 0.0) in fill_in(points, overhead)


def site(*fixtures: Fixture) -> Site:
    floor = Rectangle(-2.5, -2.5, 2.5, 2.5)
    return Site(floor, list(fixtures), np.zeros((0, 6)), FLOOR, np.zeros((0, 3)), NO_RAYS)


def test_listed_classes_without_a_place_stand_off_the_floor() -> None:
    table = fixture(ObjectClass.DiningTable, 0.0, 0.0, 1.8)
    classes = frozenset({ObjectClass.Chair, ObjectClass.Window, ObjectClass.DiningTable})
    added = site(table).add_missing(classes | {ObjectClass.Mug})
    assert {one.object_class for one in added} <= {ObjectClass.Chair, ObjectClass.Window}
    assert ObjectClass.Window in {one.object_class for one in added}
    for one in added:
        box = box_of(one)
        x, z = FLOOR.T
        near = (x > box[0] - AGENT_RADIUS) & (x < box[3] + AGENT_RADIUS)
        near &= (z > box[2] - AGENT_RADIUS) & (z < box[5] + AGENT_RADIUS)
        assert box[1] > 0.5 or not near.any()


def test_fittings_keep_out_of_lines_of_sight() -> None:
    place = site()
    (window,) = place.add_missing(frozenset({ObjectClass.Window}))
    box = box_of(window)
    end = (box[:3] + box[3:]) / 2
    again = site()
    again.rays = np.array([[0.0, 1.5, 0.0, *end]])
    (other,) = again.add_missing(frozenset({ObjectClass.Window}))
    assert other.position != window.position


def test_a_kitchen_gets_a_stove() -> None:
    counter = fixture(ObjectClass.CounterTop, 0.0, 0.0, 1.9)
    classes = frozenset({ObjectClass.StoveBurner, ObjectClass.StoveKnob})
    added = site(counter).add_missing(classes)
    kinds = [one.object_class for one in added]
    assert kinds.count(ObjectClass.StoveBurner) == 4
    assert kinds.count(ObjectClass.StoveKnob) == 4
    assert len({one.name for one in added}) == 8


def test_a_listed_receptacle_stands_though_no_mask_shows_it() -> None:
    points = frozenset((float(x), float(z)) for x, z in FLOOR)
    fridge = "Fridge|+00.00|+00.00|+01.70"
    layout = Layout(points, {fridge: Standing(0.0, 1.0, 0, 0)}, frozenset({ObjectClass.Fridge}))
    poses = {("Apple_1", (0.0, 0.5, 1.75), 0.0), ("Mug_1", (0.3, 1.3, -2.4), 0.0)}
    evidence = RoomEvidence(7, walked=set(points), poses=poses, layout=layout)
    shapes = {name: plain_shape(name) for name in ("Apple_1", "Mug_1")}
    room = Reconstruction(evidence, shapes).build()
    (one,) = [fixture for fixture in room.fixtures if fixture.name == fridge]
    assert one.yaw == 180.0
    assert one.surfaces
    assert room.walkable >= points
    assert room.bodies


def test_nothing_lies_below_the_floor_of_its_container() -> None:
    size = model_of(ObjectClass.Safe).size(0)
    (usual,) = model_of(ObjectClass.Safe).surfaces(size, 0)
    (found,) = surfaces_for(ObjectClass.Safe, size, 0, [(0.0, usual.y - 0.02, 0.0)])
    assert found.y == usual.y
