"""ALFRED's camera: where points of a room appear in a recorded 300 x 300 view.

Heights are those of the reconstructed room, whose floor is at 0. Columns and rows are continuous:
pixel k covers [k, k + 1).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import import exact
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    FIELD_OF_VIEW_DEGREES,
    SIGHT_PIXELS,
)
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT
from gym_clalfred.simulator.jit import kernel

#: Height of the camera above the floor.
EYE_HEIGHT = AGENT_HEIGHT + CAMERA_ABOVE_AGENT

FOCAL = SIGHT_PIXELS / 2 / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2))
MIDDLE = SIGHT_PIXELS / 2

#: Nothing nearer to the camera than this is projected.
NEAR = 0.05

#: Every how many pixels masks are sampled to compare silhouettes, and how many samples that is.
STRIDE = 3
SAMPLES = SIGHT_PIXELS // STRIDE

_EDGES = np.array(
    [(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1],
    dtype=np.int64,
)


def bases(yaw: NDArray[np.float64], pitch: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 3, 3) rows right, up and ahead of cameras that look along (yaw, pitch) in degrees."""
    (ys, yc), (ps, pc) = exact.sines(yaw), exact.sines(pitch)
    zero = np.zeros_like(ys)
    right = np.stack([yc, zero, -ys], axis=-1)
    up = np.stack([ps * ys, pc, ps * yc], axis=-1)
    ahead = np.stack([pc * ys, -ps, pc * yc], axis=-1)
    return np.stack([right, up, ahead], axis=-2)


def project(
    points: NDArray[np.float64], eyes: NDArray[np.float64], basis: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(N, P, 3) column, row and depth of points (N, P, 3) seen by N cameras."""
    off = points - eyes[:, None, :]
    right, up, ahead = (exact.along(off, basis[:, None, k]) for k in range(3))
    depth = np.maximum(ahead, NEAR)
    column = MIDDLE + FOCAL * right / depth
    row = MIDDLE - FOCAL * up / depth
    return np.stack([column, row, ahead], axis=-1)


def sample(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(SAMPLES, SAMPLES) every third pixel of a (300, 300) mask."""
    return mask[STRIDE // 2 :: STRIDE, STRIDE // 2 :: STRIDE]


def row_sums(samples: NDArray[np.bool_]) -> NDArray[np.int16]:
    """(..., SAMPLES, SAMPLES + 1) how many samples of a row are set before each column."""
    shape = (*samples.shape[:-1], 1)
    sums = np.cumsum(samples, axis=-1, dtype=np.int16)
    return np.concatenate([np.zeros(shape, dtype=np.int16), sums], axis=-1)


@kernel()
def _silhouette(
    corners: NDArray[np.float64],
    eye: NDArray[np.float64],
    basis: NDArray[np.float64],
    edges: NDArray[np.int64],
    lows: NDArray[np.float64],
    highs: NDArray[np.float64],
) -> None:
    """Column range, in samples, of a convex body per row of samples."""
    count = 0
    points = np.empty((32, 2))
    local = np.empty((8, 3))
    for k in range(8):
        for i in range(3):
            local[k, i] = 0.0
            for j in range(3):
                local[k, i] += basis[i, j] * (corners[k, j] - eye[j])
        if local[k, 2] >= NEAR:
            points[count, 0] = FOCAL * local[k, 0] / local[k, 2]
            points[count, 1] = -FOCAL * local[k, 1] / local[k, 2]
            count += 1
    if count < 8:
        for e in range(12):
            a, b = edges[e, 0], edges[e, 1]
            if (local[a, 2] >= NEAR) != (local[b, 2] >= NEAR):
                t = (NEAR - local[a, 2]) / (local[b, 2] - local[a, 2])
                points[count, 0] = FOCAL * (local[a, 0] + t * (local[b, 0] - local[a, 0])) / NEAR
                points[count, 1] = -FOCAL * (local[a, 1] + t * (local[b, 1] - local[a, 1])) / NEAR
                count += 1
    lows[:] = 1e9
    highs[:] = -1e9
    if count < 3:
        return
    for k in range(count):
        points[k, 0] = (points[k, 0] + MIDDLE) / STRIDE
        points[k, 1] = (points[k, 1] + MIDDLE) / STRIDE
    # Every line between two corners lies within the hull, so all of them together bound it.
    for a in range(count):
        for b in range(a + 1, count):
            ax, ay, bx, by = points[a, 0], points[a, 1], points[b, 0], points[b, 1]
            if ay > by:
                ax, ay, bx, by = bx, by, ax, ay
            first = max(int(np.ceil(ay - 0.5)), 0)
            last = min(int(np.floor(by - 0.5)), SAMPLES - 1)
            if last < first:
                continue
            slope = (bx - ax) / (by - ay)
            for row in range(first, last + 1):
                x = ax + (row + 0.5 - ay) * slope
                if x < lows[row]:
                    lows[row] = x
                if x > highs[row]:
                    highs[row] = x


@kernel()
def _agreements(
    box: NDArray[np.float64],
    eyes: NDArray[np.float64],
    basis: NDArray[np.float64],
    sums: NDArray[np.int16],
    edges: NDArray[np.int64],
    result: NDArray[np.float64],
) -> None:
    corners = np.empty((8, 3))
    for k in range(8):
        corners[k, 0] = box[3] if k & 1 else box[0]
        corners[k, 1] = box[4] if k & 2 else box[1]
        corners[k, 2] = box[5] if k & 4 else box[2]
    lows = np.empty(SAMPLES)
    highs = np.empty(SAMPLES)
    for n in range(len(eyes)):
        _silhouette(corners, eyes[n], basis[n], edges, lows, highs)
        area, common, seen = 0, 0, 0
        for row in range(SAMPLES):
            seen += sums[n, row, SAMPLES]
            low = min(max(int(np.ceil(lows[row] - 0.5)), 0), SAMPLES)
            high = min(max(int(np.floor(highs[row] - 0.5)) + 1, 0), SAMPLES)
            if high > low:
                area += high - low
                common += sums[n, row, high] - sums[n, row, low]
        union = area + seen - common
        result[n] = common / union if union > 0 else 0.0


@kernel()
def _score(
    box: NDArray[np.float64],
    anchor: NDArray[np.float64],
    usual: NDArray[np.float64],
    walked: NDArray[np.float64],
    items: NDArray[np.float64],
    rays: NDArray[np.float64],
    through: NDArray[np.float64],
    front: NDArray[np.int64],
    costs: NDArray[np.float64],
) -> float:
    """What speaks against a box; its position does not tell the level of a flat one."""
    cost = 0.0
    for k in range(3):
        low, high = box[k], box[k + 3]
        if k != 1 or high - low > 0.03:
            cost += costs[0] * max(max(low - anchor[k], anchor[k] - high), 0.0)
        cost += costs[1] * abs(np.log(high - low) - usual[k])
    cost += costs[2] * max(-box[1], 0.0)
    if costs[10] > 0.0:
        face = front[0]
        side = 2 - face % 3
        hinge = min(abs(box[side] - anchor[side]), abs(box[side + 3] - anchor[side]))
        cost += costs[10] * (abs(box[face] - anchor[face % 3]) + hinge)
        cost += costs[11] * abs((box[1] + box[4]) / 2 - anchor[1])
    if box[1] < costs[3]:
        for n in range(len(walked)):
            inside = min(
                min(walked[n, 0] - box[0], box[3] - walked[n, 0]),
                min(walked[n, 1] - box[2], box[5] - walked[n, 1]),
            )
            cost += costs[4] * min(max(inside + costs[5], 0.0), 0.5)
    away = 0.0
    for n in range(len(items)):
        for k in range(3):
            if k == 1 and costs[9] > 0.0:
                away += min(abs(items[n, 1] - box[4]), costs[9])
                continue
            slack = 0.3 if k == 1 else 0.0
            away += max(max(box[k] - items[n, k], items[n, k] - box[k + 3] - slack), 0.0)
    if len(items) > 0:
        cost += costs[6] * away / len(items)
    hits = 0
    for n in range(len(rays)):
        enter, leave, _ = _cross(box, rays[n])
        if enter < leave and leave > 0.0 and enter < 1.0:
            hits += 1
    for n in range(len(through)):
        enter, leave, face = _cross(box, through[n])
        if enter < leave and enter > 0.0 and enter < 1.0 and face != front[0]:
            hits += 1
    return cost + min(costs[7] * hits, costs[8])


@kernel()
def _cross(box: NDArray[np.float64], ray: NDArray[np.float64]) -> tuple[float, float, int]:
    """When a ray (eye, end) enters and leaves a box, and by which face: axis, +3 if the high."""
    enter, leave, face = -1e9, 1e9, -1
    for k in range(3):
        along = ray[k + 3] - ray[k]
        if abs(along) < 1e-9:
            along = 1e-9
        a, b = (box[k] - ray[k]) / along, (box[k + 3] - ray[k]) / along
        side = k
        if a > b:
            a, b = b, a
            side = k + 3
        if a > enter:
            enter, face = a, side
        if b < leave:
            leave = b
    return enter, leave, face


def box_cost(
    box: NDArray[np.float64],
    anchor: NDArray[np.float64],
    usual: NDArray[np.float64],
    walked: NDArray[np.float64],
    items: NDArray[np.float64],
    rays: NDArray[np.float64],
    through: NDArray[np.float64],
    front: int,
    costs: NDArray[np.float64],
) -> float:
    """What speaks against a box besides the masks.

    Args:
        box: x0, y0, z0, x1, y1, z1.
        anchor: (3,) recorded position.
        usual: (3,) logarithms of the usual extents.
        walked: (N, 2) points on which the agent can stand.
        items: (N, 3) base centres of what lay in or on the object.
        rays: (N, 6) eye and end of lines of sight past the object.
        through: (N, 6) eye and end of lines of sight into the object, by its front.
        front: the face that is the front: axis, +3 if at its high end; -1 if there is none.
        costs: of each departure, in the order of ``boxes._COSTS``.
    """
    return _score(box, anchor, usual, walked, items, rays, through, np.array([front]), costs)


def box_agreements(
    box: NDArray[np.float64],
    eyes: NDArray[np.float64],
    basis: NDArray[np.float64],
    sums: NDArray[np.int16],
) -> NDArray[np.float64]:
    """(N,) intersection over union of a box's silhouette and each view's mask.

    Args:
        box: x0, y0, z0, x1, y1, z1.
        eyes: (N, 3).
        basis: (N, 3, 3) of ``bases``.
        sums: (N, SAMPLES, SAMPLES + 1) of ``row_sums``.
    """
    result = np.empty(len(eyes))
    _agreements(box, eyes, basis, sums, _EDGES, result)
    return result
