"""What masks of things that were put down tell about where they lie: how deep, how turned."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, bases, project
from gym_clalfred.data.alfred_import.hints import raise_floor, with_hints
from gym_clalfred.data.alfred_import.items import ItemView
from gym_clalfred.data.alfred_import.studio import Studio
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import SIGHT_PIXELS
from gym_clalfred.simulator.embedded.room_model import Fixture, ItemShape, Rectangle, Surface

BAR = ItemShape((0.14, 0.04, 0.06))
SHAPES = {"SoapBar_1": BAR, "DishSponge_1": BAR}


def sink() -> Fixture:
    """A basin with its rim at 0.9 m and its floor at 0.6 m."""
    surface = Surface(Rectangle(-0.3, -0.3, 0.3, 0.3), 0.01, 1.0)
    return Fixture(
        "SinkBasin|1",
        ObjectClass.SinkBasin,
        (0.0, 0.6, 0.8),
        0.0,
        (0.6, 0.3, 0.6),
        surfaces=(surface,),
    )


def seen_at(x: float, level: float, z: float, turned: bool = False) -> ItemView:
    """The mask of a bar, its longer side to the right unless it is turned."""
    width, height, depth = BAR.size
    if turned:
        width, depth = depth, width
    corners = np.array(
        [
            (x + dx * width / 2, level + dy * height, z + dz * depth / 2)
            for dx in (-1, 1)
            for dy in (0, 1)
            for dz in (-1, 1)
        ]
    )
    basis = bases(np.array([0.0]), np.array([45.0]))
    seen = project(corners[None], np.array([[0.0, EYE_HEIGHT, 0.0]]), basis)[0]
    left, top = np.floor(seen[:, :2].min(axis=0)).astype(int).tolist()
    right, bottom = np.ceil(seen[:, :2].max(axis=0)).astype(int).tolist()
    return ItemView((0.0, 0.0), 0, 45, (0, 0, 0), 0.0, (left, top, right, bottom))


@pytest.fixture(scope="module")
def studio() -> Studio:
    return Studio(SIGHT_PIXELS)


def test_a_basin_is_as_deep_as_things_in_it_look(studio: Studio) -> None:
    put = [("SoapBar_1", seen_at(x, 0.78, 0.8)) for x in (-0.1, 0.0, 0.1)]
    raised = raise_floor(sink(), put, SHAPES, math.inf, studio)
    assert raised.position[1] == pytest.approx(0.77, abs=0.045)
    assert raised.position[1] + raised.size[1] == pytest.approx(0.9)


def test_the_floor_of_a_basin_stays_below_what_lay_in_it(studio: Studio) -> None:
    put = [("SoapBar_1", seen_at(x, 0.78, 0.8)) for x in (-0.1, 0.0, 0.1)]
    assert raise_floor(sink(), put, SHAPES, 0.65, studio).position[1] <= 0.65


def test_a_basin_of_which_nothing_was_taken_keeps_its_depth(studio: Studio) -> None:
    assert raise_floor(sink(), [], SHAPES, math.inf, studio) == sink()


def test_things_of_each_class_lie_in_their_own_turn(studio: Studio) -> None:
    put = [("SoapBar_1", seen_at(x, 0.61, 0.8)) for x in (-0.1, 0.0, 0.1)]
    put.append(("DishSponge_1", seen_at(0.0, 0.61, 0.8, turned=True)))
    surfaces = with_hints(sink(), put, SHAPES, studio).surfaces
    assert surfaces is not None
    soap = surfaces[0].hint_for(ObjectClass.SoapBar)
    sponge = surfaces[0].hint_for(ObjectClass.DishSponge)
    assert soap is not None
    assert sponge is not None
    assert soap.turn % 180 == 0
    assert sponge.turn % 180 == 90
