"""Compiled kernels that find, for each pixel of a view, the nearest polygon and its inverse depth.

A polygon's 1/z is affine on the screen, so a row of it is one multiply-add and one comparison per
pixel; the loops over rows are written so that the compiler turns them into vector instructions.
float32 throughout: literals are named constants, because a bare one would widen to float64.
"""

from __future__ import annotations

import numpy as np

from gym_clalfred.simulator.embedded.render.arrays import (
    F32,
    HALF,
    LANES,
    ONE,
    U8,
    ZERO,
    Camera,
    SceneArrays,
    Scratch,
)
from gym_clalfred.simulator.jit import exact, inlined

#: Part of a view: its first row, the row after its last, and the same of columns.
Region = tuple[int, int, int, int]

#: Nothing nearer to the eye's plane than this many metres is drawn.
NEAR = np.float32(0.02)

#: A polygon seen more edge-on than this (metres from eye to its plane) is left out.
EDGE_ON = np.float32(1e-4)

#: sine and cosine of half the field of view of 60 degrees.
SINE = np.float32(0.5)
COSINE = np.float32(0.8660254)

#: Mark of objects that are carried, in the last column of ``spans``.
CARRIED = 2

FAR_AWAY = np.float32(1e30)


@exact
def find_facing(
    camera: Camera, objects: int, scene: SceneArrays, carried: bool, scratch: Scratch
) -> None:
    """Lists, object by object, the polygons that turn their front to the eye, and their corners.

    Objects that are in none of the views have none. Fills ``distances``, ``facing``, ``starts``,
    ``ranges`` and rows 0 to 2 of ``points``.

    Args:
        carried: whether to draw what is carried.
    """
    eye, bases, focal = camera.eye, camera.bases, camera.focal
    spans, spheres = scene.spans, scene.spheres
    planes, corners, counts = scene.planes, scene.corners, scene.counts
    distances, facing, starts = scratch.distances, scratch.facing, scratch.starts
    ranges, points = scratch.ranges, scratch.points
    found, length = 0, 0
    ex, ey, ez = eye[0], eye[1], eye[2]
    starts[0] = 0
    for m in range(objects):
        ranges[m, 0] = found
        seen = False
        if carried or spans[m, 3] != CARRIED:
            for v in range(len(bases)):
                seen = seen or is_in_view(eye, bases, v, focal, spheres, m)
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


@exact
def draw_view(
    camera: Camera, v: int, region: Region, objects: int, scene: SceneArrays, scratch: Scratch
) -> None:
    """Fills ``inverse_depth`` and ``polygons`` for one view, after ``find_facing``.

    Args:
        v: the view.
        region: what of the view to draw; its rows are empty beside it, and others are left alone.
    """
    eye, bases, size, focal = camera.eye, camera.bases, camera.size, camera.focal
    spheres, planes, distances = scene.spheres, scene.planes, scratch.distances
    facing, starts, ranges = scratch.facing, scratch.starts, scratch.ranges
    points, edges, limits = scratch.points, scratch.edges, scratch.limits
    inverse_depth, polygons = scratch.inverse_depth, scratch.polygons
    inverse_depth[region[0] * size : region[1] * size + LANES] = ZERO
    polygons[region[0] * size : region[1] * size + LANES] = -ONE
    middle = np.float32(size) * HALF
    topmost, bottom = np.float32(region[0]), np.float32(region[1])
    leftmost, rightmost = np.float32(region[2]), np.float32(region[3])
    partial = region != (0, size, 0, size)
    clipped = np.empty((10, 3), dtype=np.float32)
    rx, ry, rz = bases[v, 0, 0], bases[v, 0, 1], bases[v, 0, 2]
    ux, uy, uz = bases[v, 1, 0], bases[v, 1, 1], bases[v, 1, 2]
    fx, fy, fz = bases[v, 2, 0], bases[v, 2, 1], bases[v, 2, 2]
    for m in range(objects):
        first, last = ranges[m, 0], ranges[m, 1]
        if first == last or not is_in_view(eye, bases, v, focal, spheres, m):
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
                        edges[2, k] = middle + clipped[k, 0] * scale
                        edges[3, k] = middle - clipped[k, 1] * scale
                else:
                    copy_corners(points, begin, count, edges)
            else:
                copy_corners(points, begin, count, edges)
            top, low = FAR_AWAY, -FAR_AWAY
            west, east = FAR_AWAY, -FAR_AWAY
            for k in range(np.uint64(count)):
                x, y = edges[2, k], edges[3, k]
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
            trace_edges(edges, count, int(upper), int(lower))
            start, stop = np.uint64(upper), np.uint64(lower)
            for row in range(start, start + in_lanes(stop - start)):
                limits[0, row] = np.int32(max(leftmost, np.ceil(edges[0, row] - HALF)))
                limits[1, row] = np.int32(min(rightmost, np.ceil(edges[1, row] - HALF)))
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


@exact
def find_region(
    camera: Camera, objects: int, scene: SceneArrays, classes_of: U8, wanted: int, scratch: Scratch
) -> Region:
    """The part of the first view in which objects of a class can show, after ``find_facing``.

    Args:
        classes_of: (I,) class of each instance.
        wanted: the class.
    """
    basis, size, focal = camera.bases[0], camera.size, camera.focal
    spans, starts, ranges, points = scene.spans, scratch.starts, scratch.ranges, scratch.points
    middle = np.float32(size) * HALF
    top, bottom, left, right = FAR_AWAY, -FAR_AWAY, FAR_AWAY, -FAR_AWAY
    for m in range(objects):
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


@exact
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


@exact
def is_in_view(eye: F32, bases: F32, v: int, focal: np.float32, spheres: F32, m: int) -> bool:
    """Whether a sphere may show in a view, and is larger there than a pixel."""
    dx, dy, dz = spheres[m, 0] - eye[0], spheres[m, 1] - eye[1], spheres[m, 2] - eye[2]
    radius = spheres[m, 3]
    forward = bases[v, 2, 0] * dx + bases[v, 2, 1] * dy + bases[v, 2, 2] * dz
    if forward + radius < NEAR or radius * focal < HALF * forward:
        return False
    beside = abs(bases[v, 0, 0] * dx + bases[v, 0, 1] * dy + bases[v, 0, 2] * dz)
    above = abs(bases[v, 1, 0] * dx + bases[v, 1, 1] * dy + bases[v, 1, 2] * dz)
    return max(beside, above) * COSINE - forward * SINE <= radius


@inlined
def in_lanes(length: np.uint64) -> np.uint64:
    """The length, rounded up to whole vectors."""
    return (length + LANES - np.uint64(1)) & ~(LANES - np.uint64(1))


@inlined
def copy_corners(points: F32, begin: np.uint64, count: int, edges: F32) -> None:
    """Copies a polygon's corners on the screen to where ``trace_edges`` expects them."""
    for k in range(np.uint64(count)):
        edges[2, k] = points[3, begin + k]
        edges[3, k] = points[4, begin + k]


@exact
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


@inlined
def trace_edges(edges: F32, count: int, start: int, stop: int) -> None:
    """Writes where a convex polygon begins and ends on each row between ``start`` and ``stop``.

    Rows 2 and 3 of ``edges`` hold the corners' x and y, rows 0 and 1 get the beginnings and ends.
    An edge is always walked from its upper end, so neighbours agree on it to the last bit and
    leave neither gap nor overlap.
    """
    for k in range(count):
        n = k + 1 if k + 1 < count else 0
        here, there = edges[3, k], edges[3, n]
        if here == there:
            continue
        side, a, b = (1, k, n) if here < there else (0, n, k)
        x0, y0, y1 = edges[2, a], edges[3, a], edges[3, b]
        begin = max(start, int(np.ceil(y0 - HALF)))
        end = min(stop, int(np.ceil(y1 - HALF)))
        if begin >= end:
            continue
        slope = (edges[2, b] - x0) / (y1 - y0)
        offset = HALF - y0
        for row in range(np.uint32(begin), np.uint32(end)):
            edges[side, row] = x0 + (np.float32(np.int32(row)) + offset) * slope
