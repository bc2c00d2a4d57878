"""Compiled kernels of the light maps: soft room corners, contact shadows, light of lamps.

A receiver is a large polygon with a light map: a grid in its plane, 1 for plain light.
Every object casts on the receivers near it: its polygons are projected on the receiver's plane, a
little away from the light, weighted by how close they are, blurred and added up as integers. Taking
the object away subtracts exactly what it added.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]

#: Texels by which a shadow's edge is softened, on each side.
SOFT = 3

#: Objects smaller than this radius cast only on what is directly below them.
SMALL = np.float32(0.35)

ONE = np.float32(1.0)
ZERO = np.float32(0.0)
HALF = np.float32(0.5)
UNIT = np.float32(256.0)
PLAIN_LIGHT = np.float32(128.0)
MOST_LIGHT = np.float32(255 / 128)


@njit(cache=True, nogil=True, error_model="numpy")
def describe_receiver(
    corners: F32, normal: F32, texel: np.float32, axes: F32, frame: F32
) -> tuple[int, int]:
    """Sets a receiver's axes from its polygon; returns width and height of its map.

    Args:
        corners: (C, 3) of the polygon.
        axes: (8,) out: two axes with offsets, from world coordinates to texels.
        frame: (4,) out: plane.
    """
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


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def cast(
    sign: int,
    first: int,
    count: int,
    sphere: F32,
    light: F32,
    corners: F32,
    counts: I32,
    glow: F32,
    receivers: I32,
    axes: F32,
    frames: F32,
    maps: I32,
    base: F32,
    total: I32,
    coarse: F32,
    fine_maps: I32,
    fine: U8,
    scratch: F32,
) -> None:
    """Adds (sign 1) or takes away (-1) one object's shadow on the given receivers.

    Args:
        first, count: the object's polygons.
        glow: (N,) polygons that shine add light around them instead.
        receivers: indices into axes, frames and maps.
        maps: (R, 3) first texel, width (0 = unused), height.
        base: light without objects; total: sum of shadows; coarse: what results.
        fine_maps, fine: the same for the finer map that is drawn; see ``refine``.
        scratch: (2, S) working memory.
    """
    weights, blurred = scratch[0], scratch[1]
    radius = sphere[3]
    for index in range(len(receivers)):
        r = receivers[index]
        width, height = maps[r, 1], maps[r, 2]
        if width == 0:
            continue
        nx, ny, nz, offset = frames[r, 0], frames[r, 1], frames[r, 2], frames[r, 3]
        above = nx * sphere[0] + ny * sphere[1] + nz * sphere[2] - offset
        if above + radius < ZERO or above - radius > (
            np.float32(0.12) if radius < SMALL else np.float32(1.0)
        ):
            continue
        per_texel = np.sqrt(axes[r, 0] ** 2 + axes[r, 1] ** 2 + axes[r, 2] ** 2)
        reach = radius * per_texel + np.float32(2 * SOFT)
        a = axes[r, 0] * sphere[0] + axes[r, 1] * sphere[1] + axes[r, 2] * sphere[2] + axes[r, 3]
        b = axes[r, 4] * sphere[0] + axes[r, 5] * sphere[1] + axes[r, 6] * sphere[2] + axes[r, 7]
        if a + reach < ZERO or a - reach > width or b + reach < ZERO or b - reach > height:
            continue
        # The patch of the map that can change.
        left, top = max(0, int(a - reach)), max(0, int(b - reach))
        patch_width = min(width, int(a + reach) + 2) - left
        patch_height = min(height, int(b + reach) + 2) - top
        if patch_width <= 0 or patch_height <= 0 or patch_width * patch_height > len(weights):
            continue
        weights[: patch_width * patch_height] = ZERO
        touched = False
        shift_a = axes[r, 0] * light[0] + axes[r, 1] * light[1] + axes[r, 2] * light[2]
        shift_b = axes[r, 4] * light[0] + axes[r, 5] * light[1] + axes[r, 6] * light[2]
        for p in range(first, first + count):
            lowest, highest = np.float32(1e30), np.float32(-1e30)
            for k in range(counts[p]):
                h = nx * corners[p, k, 0] + ny * corners[p, k, 1] + nz * corners[p, k, 2] - offset
                lowest, highest = min(lowest, h), max(highest, h)
            if highest < np.float32(0.002) or lowest > np.float32(1.0):
                continue
            h = max(lowest, ZERO)
            if radius < SMALL and h > np.float32(0.15):
                continue
            weight = np.float32(0.6) * np.exp(-h * np.float32(9.0)) + np.float32(0.3) * np.exp(-h)
            away = -h * np.float32(0.3)
            touched = True
            fill(
                corners[p, : counts[p]],
                axes[r],
                np.float32(left) - away * shift_a,
                np.float32(top) - away * shift_b,
                weight,
                patch_width,
                patch_height,
                weights,
            )
        if not touched:
            continue
        blur(weights, blurred, patch_width, patch_height)
        for j in range(patch_height):
            for i in range(patch_width):
                t = maps[r, 0] + (top + j) * width + left + i
                total[t] += sign * int(weights[j * patch_width + i] * UNIT)
                coarse[t] = base[t] / (ONE + np.float32(total[t]) / UNIT)
        refine(
            left, top, left + patch_width, top + patch_height, maps[r], coarse, fine_maps[r], fine
        )


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def refine(
    left: int, top: int, right: int, bottom: int, chart: I32, coarse: F32, fine_chart: I32, fine: U8
) -> None:
    """Interpolates part of a coarse map into the fine one, from which pixels read.

    Args:
        left, top, right, bottom: texels of the coarse map that changed.
        chart, fine_chart: (3,) first texel, width, height.
        fine: bytes, ``PLAIN_LIGHT`` for plain light.
    """
    width, fine_width, fine_height = chart[1], fine_chart[1], fine_chart[2]
    times = (fine_width - 2) // (width - 2)
    share = ONE / np.float32(times)
    for j in range(max(0, (top - 1) * times), min(fine_height, bottom * times + 1)):
        b = min(j // times, chart[2] - 2)
        y = np.float32(j - b * times) * share
        for i in range(max(0, (left - 1) * times), min(fine_width, right * times + 1)):
            a = min(i // times, width - 2)
            x = np.float32(i - a * times) * share
            t = chart[0] + b * width + a
            high = coarse[t] + x * (coarse[t + 1] - coarse[t])
            t += width
            low = coarse[t] + x * (coarse[t + 1] - coarse[t])
            light = min(high + y * (low - high), MOST_LIGHT)
            fine[fine_chart[0] + j * fine_width + i] = np.uint8(light * PLAIN_LIGHT)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def fill(
    corners: F32,
    axes: F32,
    left: np.float32,
    top: np.float32,
    weight: np.float32,
    width: int,
    height: int,
    weights: F32,
) -> None:
    """Raises ``weights`` to at least ``weight`` under a projected polygon, by its bounding rows."""
    count = len(corners)
    a_low, a_high, b_low, b_high = (
        np.float32(1e30),
        np.float32(-1e30),
        np.float32(1e30),
        np.float32(-1e30),
    )
    for k in range(count):
        x, y, z = corners[k, 0], corners[k, 1], corners[k, 2]
        a = axes[0] * x + axes[1] * y + axes[2] * z + axes[3] - left
        b = axes[4] * x + axes[5] * y + axes[6] * z + axes[7] - top
        a_low, a_high = min(a_low, a), max(a_high, a)
        b_low, b_high = min(b_low, b), max(b_high, b)
    first, last = max(0, int(np.ceil(b_low - HALF))), min(height - 1, int(np.floor(b_high + HALF)))
    for j in range(first, last + 1):
        # Where the polygon, thickened by half a texel, crosses this row of texels.
        row_low, row_high = np.float32(1e30), np.float32(-1e30)
        bottom, ceiling = np.float32(j) - HALF, np.float32(j) + HALF
        for k in range(count):
            n = k + 1 if k + 1 < count else 0
            a0 = axes[0] * corners[k, 0] + axes[1] * corners[k, 1] + axes[2] * corners[k, 2]
            b0 = axes[4] * corners[k, 0] + axes[5] * corners[k, 1] + axes[6] * corners[k, 2]
            a1 = axes[0] * corners[n, 0] + axes[1] * corners[n, 1] + axes[2] * corners[n, 2]
            b1 = axes[4] * corners[n, 0] + axes[5] * corners[n, 1] + axes[6] * corners[n, 2]
            a0, a1 = a0 + axes[3] - left, a1 + axes[3] - left
            b0, b1 = b0 + axes[7] - top, b1 + axes[7] - top
            if max(b0, b1) < bottom or min(b0, b1) > ceiling:
                continue
            run = b1 - b0
            if abs(run) < np.float32(1e-6):
                row_low, row_high = min(row_low, a0, a1), max(row_high, a0, a1)
                continue
            s = min(max((bottom - b0) / run, ZERO), ONE)
            t = min(max((ceiling - b0) / run, ZERO), ONE)
            row_low = min(row_low, a0 + s * (a1 - a0), a0 + t * (a1 - a0))
            row_high = max(row_high, a0 + s * (a1 - a0), a0 + t * (a1 - a0))
        begin = max(0, int(np.ceil(row_low - HALF)))
        end = min(width - 1, int(np.floor(row_high + HALF)))
        for i in range(begin, end + 1):
            weights[j * width + i] = max(weights[j * width + i], weight)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def blur(values: F32, scratch: F32, width: int, height: int) -> None:
    """Two box blurs of radius ``SOFT`` // 2 + 1 along each axis, in place."""
    radius = SOFT // 2 + 1
    share = ONE / np.float32(2 * radius + 1)
    for _ in range(2):
        for j in range(height):
            for i in range(width):
                mean = ZERO
                for k in range(max(0, i - radius), min(width, i + radius + 1)):
                    mean += values[j * width + k]
                scratch[j * width + i] = mean * share
        for j in range(height):
            for i in range(width):
                mean = ZERO
                for k in range(max(0, j - radius), min(height, j + radius + 1)):
                    mean += scratch[k * width + i]
                values[j * width + i] = mean * share


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def bake_corners(
    receivers: I32, axes: F32, frames: F32, maps: I32, boxes: F32, planes: F32, base: F32
) -> None:
    """Darkens the room's own receivers towards the walls, floor and ceiling that they meet.

    Args:
        boxes: (S, 6) low and high corners of the room's polygons.
        planes: (S, 4) of the same polygons.
    """
    for index in range(len(receivers)):
        r = receivers[index]
        width, height = maps[r, 1], maps[r, 2]
        size = ONE / (axes[r, 0] ** 2 + axes[r, 1] ** 2 + axes[r, 2] ** 2)
        for j in range(height):
            for i in range(width):
                a, b = np.float32(i) - axes[r, 3], np.float32(j) - axes[r, 7]
                x = size * (a * axes[r, 0] + b * axes[r, 4]) + frames[r, 0] * frames[r, 3]
                y = size * (a * axes[r, 1] + b * axes[r, 5]) + frames[r, 1] * frames[r, 3]
                z = size * (a * axes[r, 2] + b * axes[r, 6]) + frames[r, 2] * frames[r, 3]
                shade = ONE
                nearest = np.float32(1e30)
                for s in range(len(boxes)):
                    facing = (
                        frames[r, 0] * planes[s, 0]
                        + frames[r, 1] * planes[s, 1]
                        + frames[r, 2] * planes[s, 2]
                    )
                    if facing > np.float32(0.9):
                        continue
                    dx = max(boxes[s, 0] - x, ZERO, x - boxes[s, 3])
                    dy = max(boxes[s, 1] - y, ZERO, y - boxes[s, 4])
                    dz = max(boxes[s, 2] - z, ZERO, z - boxes[s, 5])
                    square = dx * dx + dy * dy + dz * dz
                    nearest = min(nearest, square)
                    if square < ONE:
                        shade = min(
                            shade,
                            ONE - np.float32(0.26) * np.exp(-np.sqrt(square) * np.float32(3.2)),
                        )
                base[maps[r, 0] + j * width + i] = shade
