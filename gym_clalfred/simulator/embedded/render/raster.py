"""Compiled kernels that find, for each pixel of a view, the nearest polygon and its inverse depth.

A polygon's 1/z is affine on the screen, so a row of it is one multiply-add and one comparison per
pixel; the loops over rows are written so that the compiler turns them into vector instructions.
float32 throughout: literals are named constants, because a bare one would widen to float64.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]

#: Nothing nearer to the eye's plane than this many metres is drawn.
NEAR = np.float32(0.02)

#: A polygon seen more edge-on than this (metres from eye to its plane) is left out.
EDGE_ON = np.float32(1e-4)

#: sine and cosine of half the field of view of 60 degrees.
SINE = np.float32(0.5)
COSINE = np.float32(0.8660254)

HALF = np.float32(0.5)
ONE = np.float32(1.0)
ZERO = np.float32(0.0)
FAR_AWAY = np.float32(1e30)

#: What the compiler may assume here. It may not reorder or fuse arithmetic: how it would do so
#: depends on what it compiles together and what it finds in numba's cache, and a pixel on an edge
#: would then belong to one object in one process and to its neighbour in another.
EXACT = {"nnan", "ninf", "nsz"}


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def find_facing(
    eye: F32, spans: I32, planes: F32, distances: F32, facing: I32, ranges: I32, exclude: int
) -> None:
    """Lists, object by object, the polygons that turn their front to the eye.

    Args:
        eye: (3,) position.
        spans: (M, 3) first polygon, number of polygons and instance per object.
        planes: (N, 4) unit normal and offset per polygon.
        distances: (N,) out, metres from the eye to the polygon's plane.
        facing: (N,) out, the polygons.
        ranges: (M, 2) out, each object's part of ``facing``.
        exclude: instance to leave out, or -1.
    """
    found = 0
    for m in range(spans.shape[0]):
        ranges[m, 0] = found
        if spans[m, 2] != exclude:
            for p in range(spans[m, 0], spans[m, 0] + spans[m, 1]):
                distance = (
                    planes[p, 0] * eye[0]
                    + planes[p, 1] * eye[1]
                    + planes[p, 2] * eye[2]
                    - planes[p, 3]
                )
                if distance > EDGE_ON:
                    distances[p] = distance
                    facing[found] = p
                    found += 1
        ranges[m, 1] = found


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def draw_view(
    eye: F32,
    basis: F32,
    size: int,
    focal: np.float32,
    spheres: F32,
    ranges: I32,
    facing: I32,
    distances: F32,
    corners: F32,
    counts: I32,
    planes: F32,
    scratch: F32,
    inverse_depth: F32,
    polygons: F32,
) -> None:
    """Fills ``inverse_depth`` and ``polygons``, both (size * size,), for one view.

    Polygons are numbered in float32, which is exact and keeps the inner loop in one kind of vector.

    Args:
        basis: (3, 3) rows right, up, forward of the camera.
        spheres: (M, 4) centre and radius per object.
        corners: (N, 8, 3) world coordinates, counter-clockwise seen from the front (left-handed).
        scratch: (4, >= size) working memory; see ``trace_edges``.
    """
    inverse_depth[:] = ZERO
    polygons[:] = -ONE
    middle = np.float32(size) * HALF
    bottom = np.float32(size)
    clipped = np.empty((10, 3), dtype=np.float32)
    rx, ry, rz = basis[0, 0], basis[0, 1], basis[0, 2]
    ux, uy, uz = basis[1, 0], basis[1, 1], basis[1, 2]
    fx, fy, fz = basis[2, 0], basis[2, 1], basis[2, 2]
    ex, ey, ez = eye[0], eye[1], eye[2]
    for m in range(spheres.shape[0]):
        first, last = ranges[m, 0], ranges[m, 1]
        if first == last:
            continue
        dx, dy, dz = spheres[m, 0] - ex, spheres[m, 1] - ey, spheres[m, 2] - ez
        radius = spheres[m, 3]
        forward = fx * dx + fy * dy + fz * dz
        if forward + radius < NEAR or radius * focal < HALF * forward:
            continue
        if abs(rx * dx + ry * dy + rz * dz) * COSINE - forward * SINE > radius:
            continue
        if abs(ux * dx + uy * dy + uz * dz) * COSINE - forward * SINE > radius:
            continue
        crosses_near = forward - radius < NEAR
        for f in range(first, last):
            p = facing[f]
            count = counts[p]
            behind = 0
            for k in range(count):
                dx, dy, dz = corners[p, k, 0] - ex, corners[p, k, 1] - ey, corners[p, k, 2] - ez
                clipped[k, 0] = rx * dx + ry * dy + rz * dz
                clipped[k, 1] = ux * dx + uy * dy + uz * dz
                clipped[k, 2] = fx * dx + fy * dy + fz * dz
                if clipped[k, 2] < NEAR:
                    behind += 1
            if crosses_near and behind > 0:
                if behind == count:
                    continue
                count = clip_near(clipped, count)
            top, low = FAR_AWAY, -FAR_AWAY
            west, east = FAR_AWAY, -FAR_AWAY
            for k in range(count):
                scale = focal / clipped[k, 2]
                x = middle + clipped[k, 0] * scale
                y = middle - clipped[k, 1] * scale
                scratch[2, k], scratch[3, k] = x, y
                top, low = min(top, y), max(low, y)
                west, east = min(west, x), max(east, x)
            first_row = max(ZERO, np.ceil(top - HALF))
            last_row = min(bottom, np.ceil(low - HALF))
            if first_row >= last_row:
                continue
            if max(ZERO, np.ceil(west - HALF)) >= min(bottom, np.ceil(east - HALF)):
                continue
            start, stop = int(first_row), int(last_row)
            trace_edges(scratch, count, start, stop)
            name = np.float32(p)
            nx, ny, nz = planes[p, 0], planes[p, 1], planes[p, 2]
            factor = -ONE / distances[p]
            slope_x = (nx * rx + ny * ry + nz * rz) * factor / focal
            slope_y = -(nx * ux + ny * uy + nz * uz) * factor / focal
            corner = (nx * fx + ny * fy + nz * fz) * factor + (slope_x + slope_y) * (HALF - middle)
            for row in range(start, stop):
                begin = max(0, int(np.ceil(scratch[0, row] - HALF)))
                end = min(size, int(np.ceil(scratch[1, row] - HALF)))
                if begin >= end:
                    continue
                base = row * size
                value = corner + slope_y * np.float32(row)
                offset = np.uint64(base)
                for column in range(np.uint32(begin), np.uint32(end)):
                    pixel = offset + np.uint64(column)
                    depth = value + slope_x * np.float32(np.int32(column))
                    before, named = inverse_depth[pixel], polygons[pixel]
                    # Arithmetic instead of a choice: a choice becomes slow masked stores.
                    nearer = np.float32(depth > before)
                    inverse_depth[pixel] = before + (depth - before) * nearer
                    polygons[pixel] = named + (name - named) * nearer


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def clip_near(points: F32, count: int) -> int:
    """Cuts a polygon in camera coordinates at the near plane in place; its new corner count."""
    source = points.copy()
    written = 0
    for k in range(count):
        n = k + 1 if k + 1 < count else 0
        here, there = source[k, 2] >= NEAR, source[n, 2] >= NEAR
        if here:
            points[written] = source[k]
            written += 1
        if here != there:
            # Both polygons at an edge must compute the same cut: always from the visible end.
            a, b = (k, n) if here else (n, k)
            t = (source[a, 2] - NEAR) / (source[a, 2] - source[b, 2])
            points[written, 0] = source[a, 0] + t * (source[b, 0] - source[a, 0])
            points[written, 1] = source[a, 1] + t * (source[b, 1] - source[a, 1])
            points[written, 2] = NEAR
            written += 1
    return written


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy", inline="always")
def trace_edges(scratch: F32, count: int, start: int, stop: int) -> None:
    """Writes where a convex polygon begins and ends on each row between ``start`` and ``stop``.

    Rows 2 and 3 of ``scratch`` hold the corners' x and y, rows 0 and 1 get the beginnings and ends.
    An edge is always walked from its upper end, so neighbours agree on it to the last bit and
    leave neither gap nor overlap.
    """
    for k in range(count):
        n = k + 1 if k + 1 < count else 0
        here, there = scratch[3, k], scratch[3, n]
        if here == there:
            continue
        side, a, b = (1, k, n) if here < there else (0, n, k)
        x0, y0, y1 = scratch[2, a], scratch[3, a], scratch[3, b]
        begin = max(start, int(np.ceil(y0 - HALF)))
        end = min(stop, int(np.ceil(y1 - HALF)))
        if begin >= end:
            continue
        slope = (scratch[2, b] - x0) / (y1 - y0)
        offset = HALF - y0
        for row in range(np.uint32(begin), np.uint32(end)):
            scratch[side, row] = x0 + (np.float32(np.int32(row)) + offset) * slope
