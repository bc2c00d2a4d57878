"""Compiled kernels of the light maps: what shadows objects cast, and the maps that are drawn.

A receiver is a large polygon with a light map: a grid in its plane, 1 for plain light.
Every object casts on the receivers near it: its polygons are projected on the receiver's plane, a
little away from the light, weighted by how close they are, blurred and added up as integers. Taking
the object away subtracts exactly what it added.
"""

from __future__ import annotations

import numpy as np

from gym_clalfred.simulator.embedded.render.arrays import (
    F32,
    HALF,
    I32,
    ONE,
    U8,
    ZERO,
    LightMaps,
    SceneArrays,
)
from gym_clalfred.simulator.jit import exact, inlined, kernel

#: Texels by which a shadow's edge is softened, on each side.
SOFT = 3
BLUR = 2

#: Texels by which blurring spreads what it blurs.
SPREAD = 2 * BLUR

#: Objects smaller than this radius cast only on what is directly below them.
SMALL = np.float32(0.35)

#: Metres by which a small object's shadow fades, per metre of its height.
SOFTNESS = np.float32(0.6)

#: Texels of the drawn light map per texel of the computed one: the room's own, and objects'.
ROOM_FINER = 4
OBJECT_FINER = 3

#: Mark of objects that cast shadows, in the last column of ``spans``.
CASTING = 1

UNIT = np.float32(256.0)
PLAIN_LIGHT = np.float32(128.0)
MOST_LIGHT = np.float32(255 / 128)


@kernel(error_model="numpy")
def describe_receiver(
    p: int, r: int, texel: np.float32, scene: SceneArrays, lights: LightMaps
) -> tuple[int, int]:
    """Sets a receiver's axes and frame from its polygon; returns width and height of its map.

    Args:
        texel: metres per texel.
    """
    corners, normal = scene.corners[p, : scene.counts[p]], scene.planes[p]
    axes, frame = lights.axes[r], lights.frames[r]
    nx, ny, nz = normal[0], normal[1], normal[2]
    if abs(ny) > np.float32(0.7):
        ax, ay, az = ONE, ZERO, ZERO
        bx, by, bz = ZERO, ZERO, ONE
    else:
        length = np.sqrt(nx * nx + nz * nz)
        ax, ay, az = nz / length, ZERO, -nx / length
        bx, by, bz = ZERO, ONE, ZERO
    a_low, a_high, b_low, b_high = (
        np.float32(1e30),
        np.float32(-1e30),
        np.float32(1e30),
        np.float32(-1e30),
    )
    for k in range(len(corners)):
        x, y, z = corners[k, 0], corners[k, 1], corners[k, 2]
        a, b = ax * x + ay * y + az * z, bx * x + by * y + bz * z
        a_low, a_high = min(a_low, a), max(a_high, a)
        b_low, b_high = min(b_low, b), max(b_high, b)
    axes[0], axes[1], axes[2], axes[3] = ax / texel, ay / texel, az / texel, -a_low / texel
    axes[4], axes[5], axes[6], axes[7] = bx / texel, by / texel, bz / texel, -b_low / texel
    frame[0], frame[1], frame[2] = nx, ny, nz
    frame[3] = nx * corners[0, 0] + ny * corners[0, 1] + nz * corners[0, 2]
    width = int(np.ceil((a_high - a_low) / texel)) + 2
    height = int(np.ceil((b_high - b_low) / texel)) + 2
    return width, height


@exact
def cast(
    sign: int, slots: I32, receivers: I32, scene: SceneArrays, lights: LightMaps, scratch: F32
) -> None:
    """Adds (sign 1) or takes away (-1) the shadows of some objects on some receivers.

    Args:
        scratch: (2, S) working memory.
    """
    spans, spheres, boxes = scene.spans, scene.spheres, scene.boxes
    axes, frames, maps = lights.axes, lights.frames, lights.maps
    for m in slots:
        if spans[m, 3] == CASTING:
            for r in receivers:
                patch = find_patch(spheres, boxes, m, axes, frames, maps, r)
                if 0 < patch[2] * patch[3] <= scratch.shape[1]:
                    cast_on(sign, m, r, patch, scene, lights, scratch)


@exact
def find_patch(
    spheres: F32, boxes: F32, m: int, axes: F32, frames: F32, maps: I32, r: int
) -> tuple[int, int, int, int]:
    """Left, top, width and height of what an object can change of a map; zeros if nothing."""
    x, y, z, radius = spheres[m, 0], spheres[m, 1], spheres[m, 2], spheres[m, 3]
    width, height = maps[r, 1], maps[r, 2]
    if width == 0:
        return 0, 0, 0, 0
    nx, ny, nz, offset = frames[r, 0], frames[r, 1], frames[r, 2], frames[r, 3]
    if radius < SMALL:
        gap = boxes[m, 6] - offset
        if ny < np.float32(0.9) or gap < np.float32(-0.012) or gap > np.float32(0.1):
            return 0, 0, 0, 0
    else:
        above = nx * x + ny * y + nz * z - offset
        if above + radius < ZERO or above - radius > ONE:
            return 0, 0, 0, 0
    per_texel = np.sqrt(axes[r, 0] ** 2 + axes[r, 1] ** 2 + axes[r, 2] ** 2)
    reach = radius * per_texel + np.float32(2 * SOFT)
    a = axes[r, 0] * x + axes[r, 1] * y + axes[r, 2] * z + axes[r, 3]
    b = axes[r, 4] * x + axes[r, 5] * y + axes[r, 6] * z + axes[r, 7]
    if a + reach < ZERO or a - reach > width or b + reach < ZERO or b - reach > height:
        return 0, 0, 0, 0
    left, top = max(0, int(a - reach)), max(0, int(b - reach))
    right, bottom = min(width, int(a + reach) + 2), min(height, int(b + reach) + 2)
    return left, top, max(right - left, 0), max(bottom - top, 0)


@exact
def cast_on(
    sign: int,
    m: int,
    r: int,
    patch: tuple[int, int, int, int],
    scene: SceneArrays,
    lights: LightMaps,
    scratch: F32,
) -> None:
    """``cast`` for one object and the patch of one receiver's map that it can change."""
    maps, dirty, shadow, weights = lights.maps, lights.dirty, lights.shadow, scratch[0]
    width, height = maps[r, 1], maps[r, 2]
    left, top, patch_width, patch_height = patch
    first_row, last_row = 0, patch_height
    first_column, last_column = 0, patch_width
    if scene.spheres[m, 3] < SMALL:
        blob(scene.boxes[m], lights.axes[r], left, top, patch_width, patch_height, weights)
    else:
        weights[: patch_width * patch_height] = ZERO
        filled = project(m, r, scene, lights, left, top, patch_width, patch_height, weights)
        # What was filled, as far as blurring spreads it; the rest of the patch stays empty.
        first_column, first_row = max(filled[0] - SPREAD, 0), max(filled[1] - SPREAD, 0)
        last_column = min(filled[2] + SPREAD, patch_width)
        last_row = min(filled[3] + SPREAD, patch_height)
        if filled[0] >= filled[2]:
            return
        start = first_row * patch_width + first_column
        blur(
            weights,
            scratch[1],
            start,
            patch_width,
            last_column - first_column,
            last_row - first_row,
        )
    for j in range(first_row, last_row):
        line = maps[r, 0] + (top + j) * width + left
        for i in range(first_column, last_column):
            shadow[line + i] += sign * int(weights[j * patch_width + i] * UNIT)
    if dirty[r, 2] == 0:
        dirty[r, 0], dirty[r, 1] = width, height
    dirty[r, 0] = min(dirty[r, 0], left + first_column)
    dirty[r, 1] = min(dirty[r, 1], top + first_row)
    dirty[r, 2] = max(dirty[r, 2], left + last_column)
    dirty[r, 3] = max(dirty[r, 3], top + last_row)


@exact
def refresh(receivers: int, scene: SceneArrays, lights: LightMaps) -> None:
    """Brings the light maps that are drawn up to date with all that was cast since the last time.

    Exact arithmetic, so that a texel is the same whatever changed together with it.

    Args:
        receivers: how many there are.
    """
    maps, dirty = lights.maps, lights.dirty
    base, total, coarse = lights.base, lights.shadow, lights.coarse
    for r in range(receivers):
        left, top, right, bottom = dirty[r, 0], dirty[r, 1], dirty[r, 2], dirty[r, 3]
        if right == 0:
            continue
        dirty[r, 2], dirty[r, 3] = 0, 0
        for j in range(top, bottom):
            line = maps[r, 0] + j * maps[r, 1]
            for t in range(line + left, line + right):
                coarse[t] = base[t] / (ONE + np.float32(total[t]) / UNIT)
        refine(left, top, right, bottom, maps[r], coarse, scene.fine_maps[r], scene.fine)


@exact
def blob(box: F32, axes: F32, left: int, top: int, width: int, height: int, weights: F32) -> None:
    """Shadow of a small object on a level receiver: its rectangle with soft edges."""
    sine, cosine = box[4], box[5]
    soft = ONE / max(np.float32(0.03), SOFTNESS * (box[7] - box[6]))
    share = ONE / np.sqrt(axes[0] ** 2 + axes[1] ** 2 + axes[2] ** 2)
    for j in range(height):
        z = (np.float32(top + j) - axes[7]) * share - box[1]
        for i in range(width):
            x = (np.float32(left + i) - axes[3]) * share - box[0]
            u = max(abs(cosine * x - sine * z) - box[2], ZERO)
            v = max(abs(sine * x + cosine * z) - box[3], ZERO)
            fade = max(ONE - np.sqrt(u * u + v * v) * soft, ZERO)
            weights[j * width + i] = np.float32(0.75) * fade * fade


@exact
def project(
    m: int,
    r: int,
    scene: SceneArrays,
    lights: LightMaps,
    left: int,
    top: int,
    width: int,
    height: int,
    weights: F32,
) -> tuple[int, int, int, int]:
    """Fills what the polygons of an object cover of a receiver; left, top, right, bottom of it."""
    first, count = scene.spans[m, 0], scene.spans[m, 1]
    corners, counts, light = scene.corners, scene.counts, scene.light
    axes, frame = lights.axes[r], lights.frames[r]
    reached = (width, height, 0, 0)
    shift_a = axes[0] * light[0] + axes[1] * light[1] + axes[2] * light[2]
    shift_b = axes[4] * light[0] + axes[5] * light[1] + axes[6] * light[2]
    a, b = np.empty(16, dtype=np.float32), np.empty(16, dtype=np.float32)
    for p in range(first, first + count):
        lowest, highest = np.float32(1e30), np.float32(-1e30)
        corner_count = counts[p]
        for k in range(corner_count):
            x, y, z = corners[p, k, 0], corners[p, k, 1], corners[p, k, 2]
            h = frame[0] * x + frame[1] * y + frame[2] * z - frame[3]
            lowest, highest = min(lowest, h), max(highest, h)
            a[k] = axes[0] * x + axes[1] * y + axes[2] * z + axes[3] - np.float32(left)
            b[k] = axes[4] * x + axes[5] * y + axes[6] * z + axes[7] - np.float32(top)
        if highest < np.float32(0.002) or lowest > ONE:
            continue
        h = max(lowest, ZERO)
        weight = np.float32(0.6) * np.exp(-h * np.float32(9.0)) + np.float32(0.3) * np.exp(-h)
        if frame[1] < np.float32(0.5):
            weight *= np.float32(0.45)
        # Away from the light, but less than a hard shadow would be.
        for k in range(corner_count):
            a[k] -= np.float32(0.3) * h * shift_a
            b[k] -= np.float32(0.3) * h * shift_b
        reached = fill(a, b, corner_count, weight, width, height, weights, reached)
    return reached


@exact
def refine(
    left: int, top: int, right: int, bottom: int, chart: I32, coarse: F32, fine_chart: I32, fine: U8
) -> None:
    """Interpolates part of a coarse map into the fine one, from which pixels read.

    Args:
        left, top, right, bottom: texels of the coarse map that changed.
        chart, fine_chart: (3,) first texel, width, height.
        fine: bytes, ``PLAIN_LIGHT`` for plain light.
    """
    width, height = chart[1], chart[2]
    times = (fine_chart[1] - 2) // (width - 2)
    first, last = max(0, left - 1), min(right, width - 1)
    # The last cell of each row and column is only partly in the fine map.
    whole = min(last, width - 2)
    for b in range(max(0, top - 1), min(bottom, height - 1)):
        start = np.uint64(chart[0] + b * width)
        for j in range(b * times, min((b + 1) * times, fine_chart[2])):
            y = np.float32(j - b * times) * (ONE / np.float32(times))
            out = np.uint64(fine_chart[0] + j * fine_chart[1])
            # Lengths that the compiler knows make vector instructions.
            if times == ROOM_FINER:
                refine_cells(
                    first, whole, ROOM_FINER, ROOM_FINER, y, start, width, coarse, out, fine
                )
            else:
                refine_cells(
                    first, whole, OBJECT_FINER, OBJECT_FINER, y, start, width, coarse, out, fine
                )
            refine_cells(whole, last, 2, times, y, start, width, coarse, out, fine)


@inlined
def refine_cells(
    first: int,
    last: int,
    count: int,
    times: int,
    y: np.float32,
    start: np.uint64,
    width: int,
    coarse: F32,
    out: np.uint64,
    fine: U8,
) -> None:
    """Interpolates some cells of one row: the first ``count`` of their ``times`` fine texels."""
    share = ONE / np.float32(times)
    below = np.uint64(width)
    for a in range(np.uint64(first), np.uint64(last)):
        t = start + a
        n = t + np.uint64(1)
        here = coarse[t] + y * (coarse[t + below] - coarse[t])
        there = coarse[n] + y * (coarse[n + below] - coarse[n])
        step = (there - here) * share
        light = here
        for i in range(np.uint64(count)):
            texel = np.uint8(np.int32(min(light, MOST_LIGHT) * PLAIN_LIGHT))
            fine[out + a * np.uint64(times) + i] = texel
            light += step


@exact
def fill(
    a: F32,
    b: F32,
    count: int,
    weight: np.float32,
    width: int,
    height: int,
    weights: F32,
    reached: tuple[int, int, int, int],
) -> tuple[int, int, int, int]:
    """Raises ``weights`` to at least ``weight`` in a polygon, thickened by half a texel.

    Returns left, top, right, bottom of what was ``reached`` before and now.
    """
    left, top, right, bottom = reached
    b_low, b_high = b[0], b[0]
    for k in range(1, count):
        b_low, b_high = min(b_low, b[k]), max(b_high, b[k])
    first, last = max(0, int(np.ceil(b_low - HALF))), min(height - 1, int(np.floor(b_high + HALF)))
    for j in range(first, last + 1):
        row_low, row_high = np.float32(1e30), np.float32(-1e30)
        floor, ceiling = np.float32(j) - HALF, np.float32(j) + HALF
        for k in range(count):
            n = k + 1 if k + 1 < count else 0
            if max(b[k], b[n]) < floor or min(b[k], b[n]) > ceiling:
                continue
            run, rise = b[n] - b[k], a[n] - a[k]
            s, t = ZERO, ONE
            if abs(run) > np.float32(1e-6):
                s = min(max((floor - b[k]) / run, ZERO), ONE)
                t = min(max((ceiling - b[k]) / run, ZERO), ONE)
            row_low = min(row_low, a[k] + s * rise, a[k] + t * rise)
            row_high = max(row_high, a[k] + s * rise, a[k] + t * rise)
        begin = max(0, int(np.ceil(row_low - HALF)))
        end = min(width - 1, int(np.floor(row_high + HALF)))
        for i in range(begin, end + 1):
            weights[j * width + i] = max(weights[j * width + i], weight)
        if begin <= end:
            left, top = min(left, begin), min(top, j)
            right, bottom = max(right, end + 1), max(bottom, j + 1)
    return left, top, right, bottom


@exact
def blur(values: F32, scratch: F32, start: int, stride: int, width: int, height: int) -> None:
    """Two box blurs of radius ``BLUR`` along each axis, in place; running sums.

    Args:
        values: rows are ``stride`` apart; a part of ``width`` and ``height`` from ``start`` on.
    """
    share = ONE / np.float32(2 * BLUR + 1)
    for _ in range(2):
        for j in range(height):
            line, out = start + j * stride, j * width
            running = ZERO
            for i in range(min(BLUR, width)):
                running += values[line + i]
            for i in range(width):
                if i + BLUR < width:
                    running += values[line + i + BLUR]
                if i > BLUR:
                    running -= values[line + i - BLUR - 1]
                scratch[out + i] = running * share
        for i in range(width):
            values[start + i] = ZERO
            for j in range(min(BLUR, height)):
                values[start + i] += scratch[j * width + i]
        for j in range(height):
            line, out = j * width, start + j * stride
            above = out - stride if j > 0 else start
            for i in range(width):
                running = values[above + i]
                if j + BLUR < height:
                    running += scratch[line + BLUR * width + i]
                if j > BLUR:
                    running -= scratch[line - (BLUR + 1) * width + i]
                values[out + i] = running
        for j in range(height):
            for k in range(start + j * stride, start + j * stride + width):
                values[k] = max(values[k] * share, ZERO)
