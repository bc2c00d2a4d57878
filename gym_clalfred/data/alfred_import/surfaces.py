"""Where reconstructed fixtures hold things, and how their boxes follow from what lay there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.room import Surface

#: Furniture that holds things on its top.
TOPS = frozenset(
    {
        ObjectClass.CoffeeTable,
        ObjectClass.CounterTop,
        ObjectClass.Desk,
        ObjectClass.DiningTable,
        ObjectClass.Dresser,
        ObjectClass.Ottoman,
        ObjectClass.Shelf,
        ObjectClass.SideTable,
        ObjectClass.TVStand,
    }
)

#: How far a fitted top may be from the height at which things lie on it.
_TOP_SLACK = 0.12

#: Share of what lies on a top that may be measured below it.
_LOW_SHARE = 20


def settle_top(
    object_class: ObjectClass, box: NDArray[np.float64], bases: Sequence[Vector]
) -> NDArray[np.float64]:
    """The box with its top where things stand on it, if they do.

    Args:
        object_class: of the fixture.
        box: x0, y0, z0, x1, y1, z1.
        bases: base centres of pickupables that are recorded as being on the fixture.
    """
    if object_class not in TOPS or not len(bases):
        return box
    heights = np.array([y for _, y, _ in bases])
    # Things may lie on several levels, and in drawers below; the top is the level next to the fit.
    near = heights[np.abs(heights - box[4]) <= _TOP_SLACK]
    if not len(near):
        return box
    settled = box.copy()
    settled[4] = np.percentile(near, _LOW_SHARE)
    settled[1] = min(settled[1], settled[4] - 0.02)
    return settled


def surfaces_for(object_class: ObjectClass, size: Vector, style: int) -> tuple[Surface, ...]:
    """The surfaces of a fixture that fills a box."""
    return model_of(object_class).surfaces(size, style)
