"""Cuts boxes back until they hide nothing that is recorded as seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import import exact
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.placement import sine_cosine
from gym_clalfred.simulator.embedded.render.mesh import Mesh

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
    growth: float = 0.0,
) -> NDArray[np.float64]:
    """A part of a box that lets all lines of sight pass, as far as that costs little.

    Args:
        box: x0, y0, z0, x1, y1, z1.
        past: (N, 6) eye and end of lines of sight past the object.
        through: (N, 6) eye and end of lines of sight into the object, by its front.
        front: the face that is the front: its axis, +3 if at the high end.
        growth: how far other faces may move outwards so that a line of sight enters by the front.
    """
    box = box.copy()
    for ray in through:
        cut = _widen_front(box, ray, front, growth)
        if cut is None:
            cut = _enter_by_front(box, ray, front)
        if cut is not None:
            box = cut
    for ray in past:
        cut = _let_pass(box, ray)
        if cut is not None:
            box = cut
    return box


def front_face(yaw: int) -> int:
    """The face of a box that is the front: its axis, +3 if at the high end."""
    return (0 if yaw % 180 else 2) + (3 if yaw in (0, 90) else 0)


def at_least(box: NDArray[np.float64], yaw: int, depth: float) -> NDArray[np.float64]:
    """The box made deeper behind its front."""
    face, deep = front_face(yaw), box.copy()
    axis = face % 3
    if face >= 3:
        deep[axis] = min(deep[axis], deep[axis + 3] - depth)
    else:
        deep[axis + 3] = max(deep[axis + 3], deep[axis] + depth)
    return deep


def blocked_by(
    mesh: Mesh, position: Vector, yaw: float, rays: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """(N,) whether an object's mesh hides the ends of lines of sight (N, 6)."""
    sine, cosine = sine_cosine(-yaw)
    local = rays.reshape(-1, 2, 3) - np.array(position)
    x = local[..., 0] * cosine + local[..., 2] * sine
    z = local[..., 2] * cosine - local[..., 0] * sine
    local = np.stack([x, local[..., 1], z], axis=-1)
    eyes, along = local[:, 0], local[:, 1] - local[:, 0]
    hidden = np.zeros(len(rays), dtype=np.bool_)
    for corners, count, normal in zip(mesh.corners, mesh.counts, mesh.normals):
        slope = exact.along(along, normal)
        facing = slope < -1e-9
        share = np.where(
            facing, exact.along(corners[0] - eyes, normal) / np.where(facing, slope, 1.0), 2.0
        )
        meets = facing & (share > 0.0) & (share < 1.0)
        points = eyes + along * share[:, None]
        sides = np.zeros((2, len(rays)), dtype=np.bool_)
        for k in range(count):
            a, b = corners[k], corners[(k + 1) % count]
            turned = exact.along(np.cross(b - a, points - a), normal)
            sides |= np.stack([turned > 1e-9, turned < -1e-9])
        hidden |= meets & ~sides.all(axis=0)
    return hidden


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


def _widen_front(
    box: NDArray[np.float64], ray: NDArray[np.float64], front: int, growth: float
) -> NDArray[np.float64] | None:
    """The box with the face by which the ray enters moved out to where it passes the front."""
    found = _crossing(box, ray)
    if found is None or found[2] % 3 == front % 3 or found[0] <= 0.0:
        return None
    axis, face = front % 3, found[2]
    share = (box[front] - ray[axis]) / (ray[axis + 3] - ray[axis])
    value = ray[face % 3] + share * (ray[face % 3 + 3] - ray[face % 3])
    value += _AIR if face >= 3 else -_AIR
    if not 0.0 < share < 1.0 or abs(value - box[face]) > growth:
        return None
    grown = box.copy()
    grown[face] = value
    return grown


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
