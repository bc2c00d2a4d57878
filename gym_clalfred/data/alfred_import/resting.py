"""What the poses of small things tell about furniture: on what and in what they rest.

AI2-THOR puts things anywhere on its receptacles when a scene starts, and ALFRED records all poses
of all trials. Together they show how far and how high furniture reaches, whether or not somebody
ever used it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.furniture import BASINS, OPEN_ABOVE, PANELS
from gym_clalfred.data.alfred_import.listed import BoxArray, Boxes, clear_floor
from gym_clalfred.data.alfred_import.surfaces import LEVEL_SHARES, TOPS
from gym_clalfred.objects import CLOSED_AT_START, RECEPTACLES
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.object_ids import class_of

Points = NDArray[np.float64]

#: How far beside and above or below a surface a thing may lie that belongs there: of furniture that
#: masks show, and of other furniture.
_MEASURED = (0.15, 0.16)
_LISTED = (0.35, 0.3)

#: Things in a container may seem to be so far outside it.
_OUT = 0.1

#: A level is where at least so many things lie within this of each other.
_LEAST_THINGS = 4
_SAME_LEVEL = 0.04

#: Furniture reaches this far beyond what lies on it, and grows by this much at most.
_MARGIN = 0.07
_MOST_GROWTH = 0.6

#: So many things on a piece of furniture show all of it.
_SHOWS_ALL = 20

#: Nothing to sit or lie on is higher than this.
_HIGHEST_SEAT = 0.85


def share_out(boxes: Boxes, measured: Set[str], rests: Points) -> dict[str, Points]:
    """Which of the base centres (N, 3) of small things rest in or on which furniture."""
    names = [name for name in boxes if class_of(name) in RECEPTACLES]
    costs = np.full((len(names) + 1, len(rests)), 1.0)
    for k, name in enumerate(names):
        costs[k] = _distance(name, *boxes[name], name in measured, rests)
    owner = costs.argmin(axis=0)
    return {name: rests[owner == k] for k, name in enumerate(names) if (owner == k).any()}


def settle(
    boxes: Boxes, measured: Set[str], held: Mapping[str, Points], walked: Points
) -> dict[str, tuple[int, BoxArray]]:
    """The boxes with furniture as high and as far as things rest on it.

    Args:
        boxes: yaws and boxes by id.
        measured: what masks show, which tell more; it is left as it is.
        held: what rests in or on each.
        walked: (N, 2) points on which agents stand.
    """
    settled = dict(boxes)
    for name, points in held.items():
        yaw, box = boxes[name]
        object_class = class_of(name)
        if name in measured:
            continue
        if object_class in TOPS:
            box = _settle_board(box, points)
        elif object_class in LEVEL_SHARES:
            box = _settle_seat(box, points, LEVEL_SHARES[object_class])
        box = clear_floor(box, _centre(box), walked)
        settled[name] = yaw, box
    return settled


def common_level(heights: NDArray[np.float64]) -> float | None:
    """The height at which most things lie; ``None`` if there are too few."""
    if not len(heights):
        return None
    counts = (np.abs(heights[:, None] - heights[None]) <= _SAME_LEVEL).sum(axis=1)
    if counts.max() < _LEAST_THINGS:
        return None
    near = heights[np.abs(heights - heights[counts.argmax()]) <= _SAME_LEVEL]
    return float(np.percentile(near, 20))


def _distance(name: str, yaw: int, box: BoxArray, measured: bool, rests: Points) -> Points:
    """How badly things fit in or on a piece of furniture, in metres; 1 if they do not."""
    object_class, box = class_of(name), box.copy()
    x, y, z = rests.T
    if object_class in PANELS:
        axis, depth = (0 if yaw % 180 else 2), PANELS[object_class]
        if yaw in (0, 90):
            box[axis] = min(box[axis], box[axis + 3] - depth)
        else:
            box[axis + 3] = max(box[axis + 3], box[axis] + depth)
    aside = np.maximum.reduce([box[0] - x, x - box[3], box[2] - z, z - box[5], np.zeros(len(x))])
    most_aside, most_off = _MEASURED if measured else _LISTED
    if object_class in CLOSED_AT_START or object_class in OPEN_ABOVE:
        off = np.maximum.reduce([box[1] - y, y - box[4] + 0.03, np.zeros(len(y))])
        most_aside = most_off = _OUT
    elif object_class in TOPS or object_class in LEVEL_SHARES:
        level = box[1] + LEVEL_SHARES.get(object_class, 1.0) * (box[4] - box[1])
        off = np.abs(y - level)
        if object_class in LEVEL_SHARES:
            most_off = _LISTED[1]
    else:
        deep = _OUT if object_class in BASINS else 0.0
        off = np.maximum.reduce([box[1] - deep - y, y - box[4], np.zeros(len(y))])
        most_aside = most_off = _OUT
    cost = np.where((aside <= most_aside) & (off <= most_off), aside + off, 1.0)
    return np.asarray(cost)


def _settle_board(box: BoxArray, points: Points) -> BoxArray:
    level = common_level(points[:, 1])
    if level is None:
        return box
    box = box.copy()
    thickness = box[4] - box[1]
    box[4] = level
    box[1] = max(level - thickness, 0.0) if box[1] > 0.0 else 0.0
    on_it = points[np.abs(points[:, 1] - box[4]) <= 2 * _SAME_LEVEL]
    return _around(box, on_it, whole=len(on_it) >= _SHOWS_ALL)


def _settle_seat(box: BoxArray, points: Points, share: float) -> BoxArray:
    level = common_level(points[:, 1])
    if level is None or level > _HIGHEST_SEAT:
        return box
    box = box.copy()
    box[4] = box[1] + (level - box[1]) / share
    return _around(box, points, whole=False)


def _around(box: BoxArray, points: Points, whole: bool) -> BoxArray:
    """A box that reaches as far as things lie on it: at least, or exactly if they show all."""
    if not len(points):
        return box
    box = box.copy()
    for axis in (0, 2):
        low, high = points[:, axis].min() - _MARGIN, points[:, axis].max() + _MARGIN
        if whole:
            box[axis], box[axis + 3] = low, high
        else:
            box[axis] = max(min(box[axis], low), box[axis] - _MOST_GROWTH)
            box[axis + 3] = min(max(box[axis + 3], high), box[axis + 3] + _MOST_GROWTH)
    return box


def _centre(box: BoxArray) -> Vector:
    x, y, z = ((box[:3] + box[3:]) / 2).tolist()
    return x, y, z
