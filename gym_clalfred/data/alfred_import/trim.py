"""Cuts boxes back until they hide nothing that is recorded as seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Air between a line of sight and the box that was cut back from it.
_AIR = 0.02

#: Nothing is cut by more than this share of its extent for one line of sight.
_MOST_CUT = 0.45

_LEAST_EXTENT = 0.02


def trim(
    box: NDArray[np.float64],
    past: NDArray[np.float64],
    through: NDArray[np.float64],
    front: int,
) -> NDArray[np.float64]:
    """A part of a box that lets all lines of sight pass, as far as that costs little.

    Args:
        box: x0, y0, z0, x1, y1, z1.
        past: (N, 6) eye and end of lines of sight past the object.
        through: (N, 6) eye and end of lines of sight into the object, by its front.
        front: the face that is the front: its axis, +3 if at the high end.
    """
    box = box.copy()
    for ray in through:
        cut = _enter_by_front(box, ray, front)
        if cut is not None:
            box = cut
    for ray in past:
        cut = _let_pass(box, ray)
        if cut is not None:
            box = cut
    return box


def blocks_ray(box: NDArray[np.float64], ray: NDArray[np.float64]) -> bool:
    """Whether a line of sight meets a box before it ends."""
    return _crossing(box, ray) is not None


def _crossing(
    box: NDArray[np.float64], ray: NDArray[np.float64]
) -> tuple[float, float, int] | None:
    """When a ray enters and leaves a box, as shares of its length, and the face it enters by."""
    eye, along = ray[:3], ray[3:] - ray[:3]
    along = np.where(np.abs(along) < 1e-9, 1e-9, along)
    a, b = (box[:3] - eye) / along, (box[3:] - eye) / along
    near, far = np.minimum(a, b), np.maximum(a, b)
    axis = int(np.argmax(near))
    enter, leave = float(near[axis]), float(far.min())
    if enter >= leave or leave <= 0.0 or enter >= 1.0:
        return None
    return enter, min(leave, 1.0), axis if along[axis] > 0 else axis + 3


def _let_pass(box: NDArray[np.float64], ray: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The largest part of the box that the ray passes; ``None`` if nothing need or can be cut."""
    found = _crossing(box, ray)
    if found is None:
        return None
    enter, leave, _ = found
    ends = np.array([ray[:3] + share * (ray[3:] - ray[:3]) for share in (max(enter, 0.0), leave)])
    best, least = None, _MOST_CUT
    for axis in range(3):
        extent = box[axis + 3] - box[axis]
        for face, value in (
            (axis, ends[:, axis].max() + _AIR),
            (axis + 3, ends[:, axis].min() - _AIR),
        ):
            share = abs(value - box[face]) / extent
            if share < least and (1 - share) * extent >= _LEAST_EXTENT:
                best, least = box.copy(), share
                best[face] = value
    return best


def _enter_by_front(
    box: NDArray[np.float64], ray: NDArray[np.float64], front: int
) -> NDArray[np.float64] | None:
    """The box with its front moved back to where the ray enters by another face."""
    found = _crossing(box, ray)
    if found is None or found[2] == front or found[0] <= 0.0:
        return None
    axis = front % 3
    value = ray[axis] + found[0] * (ray[axis + 3] - ray[axis])
    value += -_AIR if front >= 3 else _AIR
    extent = box[axis + 3] - box[axis]
    share = abs(value - box[front]) / extent
    if share >= _MOST_CUT or (1 - share) * extent < _LEAST_EXTENT:
        return None
    cut = box.copy()
    cut[front] = value
    return cut
