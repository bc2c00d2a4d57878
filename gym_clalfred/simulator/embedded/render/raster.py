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

#: Part of a view: its first row, the row after its last, and the same of columns.
Region = tuple[int, int, int, int]

#: Nothing nearer to the eye's plane than this many metres is drawn.
NEAR = np.float32(0.02)

#: A polygon seen more edge-on than this (metres from eye to its plane) is left out.
EDGE_ON = np.float32(1e-4)

#: sine and cosine of half the field of view of 60 degrees.
SINE = np.float32(0.5)
COSINE = np.float32(0.8660254)

#: Inner loops do this many pixels, rows or corners at once, also beyond the end of what they are
#: for: the compiler then needs no slow loop for the rest. Working memory is longer accordingly.
LANES = np.uint64(8)

#: Mark of objects that are carried, in the last column of ``spans``.
CARRIED = 2

HALF = np.float32(0.5)
ONE = np.float32(1.0)
ZERO = np.float32(0.0)
FAR_AWAY = np.float32(1e30)

#: What the compiler may assume in all kernels. It may not reorder or fuse arithmetic: how it would
#: do so depends on what it compiles together and what it finds in numba's cache, and a pixel on an
#: edge would then belong to one object in one process and to its neighbour in another. Nor may it
#: divide by quick reciprocals, which differ between processors, and pictures with them.
EXACT = {"nnan", "ninf", "nsz"}


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def find_facing(
    eye: F32,
    bases: F32,
    focal: np.float32,
    spheres: F32,
    spans: I32,
    planes: F32,
    corners: F32,
    counts: I32,
    carried: bool,
    distances: F32,
    facing: I32,
    starts: I32,
    ranges: I32,
    points: F32,
) -> None:
    """Lists, object by object, the polygons that turn their front to the eye, and their corners.

    Objects that are in none of the views have none.

    Args:
        eye: (3,) position.
        bases: (V, 3, 3) rows right, up, forward of each camera.
        spheres: (M, 4) centre and radius per object.
        spans: (M, 4) first polygon, number of polygons, instance and whether it is carried.
        planes: (N, 4) unit normal and offset per polygon.
        corners: (N, 8, 3) world coordinates, counter-clockwise seen from the front (left-handed).
        carried: whether to draw what is carried.
        distances: (N,) out, metres from the eye to the polygon's plane.
        facing: (N,) out, the polygons.
        starts: (N + 1,) out, where each of them begins in ``points``.
        ranges: (M, 2) out, each object's part of ``facing``.
        points: (6, C) rows 0 to 2 out, the corners seen from the eye, in the room's directions.
    """
    found, length = 0, 0
    ex, ey, ez = eye[0], eye[1], eye[2]
    starts[0] = 0
    for m in range(spans.shape[0]):
        ranges[m, 0] = found
        seen = False
        if carried or spans[m, 3] != CARRIED:
            for v in range(len(bases)):
                seen = seen or is_in_view(eye, bases[v], focal, spheres[m])
        if seen:
            for p in range(spans[m, 0], spans[m, 0] + spans[m, 1]):
                distance = planes[p, 0] * ex + planes[p, 1] * ey + planes[p, 2] * ez - planes[p, 3]
                if distance > EDGE_ON:
                    distances[p] = distance
                    facing[found] = p
                    found += 1
                    for k in range(counts[p]):
                        points[0, length] = corners[p, k, 0] - ex
                        points[1, length] = corners[p, k, 1] - ey
                        points[2, length] = corners[p, k, 2] - ez
                        length += 1
                    starts[found] = length
        ranges[m, 1] = found


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def draw_view(
    eye: F32,
    basis: F32,
    size: int,
    focal: np.float32,
    region: Region,
    spheres: F32,
    ranges: I32,
    facing: I32,
    starts: I32,
    distances: F32,
    planes: F32,
    points: F32,
    scratch: F32,
    limits: I32,
    inverse_depth: F32,
    polygons: F32,
) -> None:
    """Fills ``inverse_depth`` and ``polygons``, both (size * size + LANES,), for one view.

    Polygons are numbered in float32, which is exact and keeps the inner loop in one kind of vector.

    Args:
        basis: (3, 3) rows right, up, forward of the camera.
        region: what of the view to draw; its rows are empty beside it, and others are left alone.
        spheres: (M, 4) centre and radius per object.
        points: (6, C) corners as ``find_facing`` left them; rows 3 to 5 are working memory.
        scratch: (4, >= size + LANES) working memory; see ``trace_edges``.
        limits: (2, >= size + LANES) working memory: where a polygon begins and ends on each row.
    """
    inverse_depth[region[0] * size : region[1] * size + LANES] = ZERO
    polygons[region[0] * size : region[1] * size + LANES] = -ONE
    middle = np.float32(size) * HALF
    topmost, bottom = np.float32(region[0]), np.float32(region[1])
    leftmost, rightmost = np.float32(region[2]), np.float32(region[3])
    partial = region != (0, size, 0, size)
    clipped = np.empty((10, 3), dtype=np.float32)
    rx, ry, rz = basis[0, 0], basis[0, 1], basis[0, 2]
    ux, uy, uz = basis[1, 0], basis[1, 1], basis[1, 2]
    fx, fy, fz = basis[2, 0], basis[2, 1], basis[2, 2]
    for m in range(spheres.shape[0]):
        first, last = ranges[m, 0], ranges[m, 1]
        if first == last or not is_in_view(eye, basis, focal, spheres[m]):
            continue
        dx, dy, dz = spheres[m, 0] - eye[0], spheres[m, 1] - eye[1], spheres[m, 2] - eye[2]
        ahead = fx * dx + fy * dy + fz * dz
        crosses_near = ahead - spheres[m, 3] < NEAR
        if partial and not crosses_near:
            beside, below = rx * dx + ry * dy + rz * dz, -(ux * dx + uy * dy + uz * dz)
            if not reaches(region, middle, focal, beside, below, ahead, spheres[m, 3]):
                continue
        begin = np.uint64(starts[first])
        for k in range(begin, begin + in_lanes(np.uint64(starts[last]) - begin)):
            x, y, z = points[0, k], points[1, k], points[2, k]
            ahead = fx * x + fy * y + fz * z
            scale = focal / ahead
            points[3, k] = middle + (rx * x + ry * y + rz * z) * scale
            points[4, k] = middle - (ux * x + uy * y + uz * z) * scale
            points[5, k] = ahead
        for f in range(first, last):
            p = facing[f]
            begin, count = np.uint64(starts[f]), starts[f + 1] - starts[f]
            if crosses_near:
                behind = 0
                for k in range(begin, begin + np.uint64(count)):
                    behind += points[5, k] < NEAR
                if behind == count:
                    continue
                if behind > 0:
                    for k in range(np.uint64(count)):
                        x, y, z = points[0, begin + k], points[1, begin + k], points[2, begin + k]
                        clipped[k, 0] = rx * x + ry * y + rz * z
                        clipped[k, 1] = ux * x + uy * y + uz * z
                        clipped[k, 2] = points[5, begin + k]
                    count = clip_near(clipped, count)
                    for k in range(np.uint64(count)):
                        scale = focal / clipped[k, 2]
                        scratch[2, k] = middle + clipped[k, 0] * scale
                        scratch[3, k] = middle - clipped[k, 1] * scale
                else:
                    copy_corners(points, begin, count, scratch)
            else:
                copy_corners(points, begin, count, scratch)
            top, low = FAR_AWAY, -FAR_AWAY
            west, east = FAR_AWAY, -FAR_AWAY
            for k in range(np.uint64(count)):
                x, y = scratch[2, k], scratch[3, k]
                top, low = min(top, y), max(low, y)
                west, east = min(west, x), max(east, x)
            first_row = max(topmost, np.ceil(top - HALF))
            last_row = min(bottom, np.ceil(low - HALF))
            if first_row >= last_row:
                continue
            if max(leftmost, np.ceil(west - HALF)) >= min(rightmost, np.ceil(east - HALF)):
                continue
            # Signed at first, as there is an instruction from float32 to that.
            upper, lower = np.int32(first_row), np.int32(last_row)
            trace_edges(scratch, count, int(upper), int(lower))
            start, stop = np.uint64(upper), np.uint64(lower)
            for row in range(start, start + in_lanes(stop - start)):
                limits[0, row] = np.int32(max(leftmost, np.ceil(scratch[0, row] - HALF)))
                limits[1, row] = np.int32(min(rightmost, np.ceil(scratch[1, row] - HALF)))
            name = np.float32(p)
            nx, ny, nz = planes[p, 0], planes[p, 1], planes[p, 2]
            factor = -ONE / distances[p]
            slope_x = (nx * rx + ny * ry + nz * rz) * factor / focal
            slope_y = -(nx * ux + ny * uy + nz * uz) * factor / focal
            corner = (nx * fx + ny * fy + nz * fz) * factor + (slope_x + slope_y) * (HALF - middle)
            for row in range(start, stop):
                left, right = limits[0, row], limits[1, row]
                if left >= right:
                    continue
                value = corner + slope_y * np.float32(np.int32(row))
                offset = row * np.uint64(size)
                # Whole vectors, also beyond the end, where nothing is nearer.
                for column in range(
                    np.uint64(left), np.uint64(left) + in_lanes(np.uint64(right - left))
                ):
                    pixel = offset + column
                    place = np.int32(column)
                    # Arithmetic instead of a choice: a choice becomes slow masked stores. It is
                    # exact, so that what was drawn below leaves no trace.
                    depth = (value + slope_x * np.float32(place)) * np.float32(place < right)
                    before, named = inverse_depth[pixel], polygons[pixel]
                    inverse_depth[pixel] = max(before, depth)
                    polygons[pixel] = named + (name - named) * np.float32(depth > before)


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def find_region(
    basis: F32,
    size: int,
    focal: np.float32,
    spans: I32,
    classes_of: NDArray[np.uint8],
    wanted: int,
    starts: I32,
    ranges: I32,
    points: F32,
) -> Region:
    """The part of a view in which objects of a class can show.

    Args:
        classes_of: (I,) class of each instance.
        wanted: the class.
        starts, ranges, points: as ``find_facing`` left them.
    """
    middle = np.float32(size) * HALF
    top, bottom, left, right = FAR_AWAY, -FAR_AWAY, FAR_AWAY, -FAR_AWAY
    for m in range(spans.shape[0]):
        if ranges[m, 0] == ranges[m, 1] or classes_of[spans[m, 2]] != wanted:
            continue
        for k in range(starts[ranges[m, 0]], starts[ranges[m, 1]]):
            x, y, z = points[0, k], points[1, k], points[2, k]
            ahead = basis[2, 0] * x + basis[2, 1] * y + basis[2, 2] * z
            if ahead < NEAR:
                return 0, size, 0, size
            scale = focal / ahead
            across = middle + (basis[0, 0] * x + basis[0, 1] * y + basis[0, 2] * z) * scale
            down = middle - (basis[1, 0] * x + basis[1, 1] * y + basis[1, 2] * z) * scale
            left, right = min(left, across), max(right, across)
            top, bottom = min(top, down), max(bottom, down)
    # A pixel more on each side outweighs any rounding.
    edge = np.float32(size)
    return (
        int(min(max(np.floor(top) - ONE, ZERO), edge)),
        int(min(max(np.ceil(bottom) + ONE, ZERO), edge)),
        int(min(max(np.floor(left) - ONE, ZERO), edge)),
        int(min(max(np.ceil(right) + ONE, ZERO), edge)),
    )


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def reaches(
    region: Region,
    middle: np.float32,
    focal: np.float32,
    beside: np.float32,
    below: np.float32,
    ahead: np.float32,
    radius: np.float32,
) -> bool:
    """Whether a sphere, all of it before the camera, may show in a region.

    Args:
        beside, below, ahead: its centre, seen from the camera.
    """
    # It is in the box around it, whose corners reach farthest on the screen.
    near, far = focal / (ahead - radius), focal / (ahead + radius)
    west, east, high, low = beside - radius, beside + radius, below - radius, below + radius
    return bool(
        middle + west * (near if west < ZERO else far) <= region[3]
        and middle + east * (far if east < ZERO else near) >= region[2]
        and middle + high * (near if high < ZERO else far) <= region[1]
        and middle + low * (far if low < ZERO else near) >= region[0]
    )


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy")
def is_in_view(eye: F32, basis: F32, focal: np.float32, sphere: F32) -> bool:
    """Whether a sphere may show in a view, and is larger there than a pixel."""
    dx, dy, dz, radius = sphere[0] - eye[0], sphere[1] - eye[1], sphere[2] - eye[2], sphere[3]
    forward = basis[2, 0] * dx + basis[2, 1] * dy + basis[2, 2] * dz
    if forward + radius < NEAR or radius * focal < HALF * forward:
        return False
    beside = abs(basis[0, 0] * dx + basis[0, 1] * dy + basis[0, 2] * dz)
    above = abs(basis[1, 0] * dx + basis[1, 1] * dy + basis[1, 2] * dz)
    return max(beside, above) * COSINE - forward * SINE <= radius


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy", inline="always")
def in_lanes(length: np.uint64) -> np.uint64:
    """The length, rounded up to whole vectors."""
    return (length + LANES - np.uint64(1)) & ~(LANES - np.uint64(1))


@njit(cache=True, nogil=True, fastmath=EXACT, error_model="numpy", inline="always")
def copy_corners(points: F32, begin: np.uint64, count: int, scratch: F32) -> None:
    """Copies a polygon's corners on the screen to where ``trace_edges`` expects them."""
    for k in range(np.uint64(count)):
        scratch[2, k] = points[3, begin + k]
        scratch[3, k] = points[4, begin + k]


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
