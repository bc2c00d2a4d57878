"""Compiled kernels that turn the nearest polygon of each pixel into colour, depth and instance.

A row is a sequence of runs that show one polygon each. Everything about a polygon is then affine in
the pixel's column, before the division by 1/z: texture coordinates, place in the light map, light.
Texture, light and colour multiply in display space, where gamma has been applied to each already.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.render.placing import (
    COLOUR,
    DENSITY,
    GRADIENT,
    TILE,
    U,
    V,
)

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
U32 = NDArray[np.uint32]
U8 = NDArray[np.uint8]

#: Pixels whose texture is read at one level of detail.
CHUNK = 32

#: Pixels between two evaluations of the light, which is interpolated in between.
STEP = 4

HALF = np.float32(0.5)
ONE = np.float32(1.0)
ZERO = np.float32(0.0)
BRIGHTEST = np.float32(255.0)
PER_LIGHT = np.float32(1 / 128)
PER_TEXEL = np.float32(1 / 204)
UNSEEN_DEPTH = np.float32(100.0)


@njit(cache=True, nogil=True, fastmath=True)
def project_axis(
    axis: F32, eye: F32, basis: F32, focal: np.float32, middle: np.float32, out: F32
) -> None:
    """Writes how ``axis . point + offset`` varies over the screen on a polygon.

    ``out`` (4,) becomes (per column, per row, at pixel 0, constant): the value at depth z is
    ``z * (out[0] * column + out[1] * row + out[2]) + out[3]``.
    """
    a, b, c = axis[0], axis[1], axis[2]
    per_column = (a * basis[0, 0] + b * basis[0, 1] + c * basis[0, 2]) / focal
    per_row = -(a * basis[1, 0] + b * basis[1, 1] + c * basis[1, 2]) / focal
    ahead = a * basis[2, 0] + b * basis[2, 1] + c * basis[2, 2]
    out[0] = per_column
    out[1] = per_row
    out[2] = ahead + (per_column + per_row) * (HALF - middle)
    out[3] = a * eye[0] + b * eye[1] + c * eye[2] + axis[3]


@njit(cache=True, nogil=True, fastmath=True)
def light_at(
    z: np.float32,
    a: F32,
    b: F32,
    column: np.float32,
    row: np.float32,
    first: int,
    width: int,
    height: int,
    lightmap: U8,
) -> np.float32:
    """Bilinear light of a receiver at one pixel."""
    x = z * (a[0] * column + a[1] * row + a[2]) + a[3]
    y = z * (b[0] * column + b[1] * row + b[2]) + b[3]
    x = min(max(x, ZERO), np.float32(width - 2))
    y = min(max(y, ZERO), np.float32(height - 2))
    i, j = int(x), int(y)
    x, y = x - np.float32(i), y - np.float32(j)
    at = first + j * width + i
    top = np.float32(lightmap[at]) * (ONE - x) + np.float32(lightmap[at + 1]) * x
    low = np.float32(lightmap[at + width]) * (ONE - x) + np.float32(lightmap[at + width + 1]) * x
    return (top * (ONE - y) + low * y) * PER_LIGHT


@njit(cache=True, nogil=True, fastmath=True)
def shade_view(
    eye: F32,
    basis: F32,
    size: int,
    focal: np.float32,
    stamp: int,
    inverse_depth: F32,
    polygons: I32,
    distances: F32,
    paints: F32,
    patterns: I32,
    receivers_of: I32,
    receiver_axes: F32,
    receiver_maps: I32,
    lightmap: U8,
    texels: U32,
    levels: I32,
    terms: F32,
    seen: I32,
    packed: U32,
    shades: F32,
    rgb: U8,
) -> None:
    """Colours one view.

    Args:
        stamp: differs from view to view; tells which rows of ``terms`` are this view's.
        receivers_of: (N,) light map of a polygon or -1.
        receiver_axes: (R, 8) two axes with offsets, world to texels of the light map.
        receiver_maps: (R, 3) first texel, width, height.
        texels: all levels of all textures, red | green << 8 | blue << 16.
        levels: (T, L) first texel of each level of each texture.
        terms: (N, 20) working memory: ``project_axis`` of u, v, gradient and the map's axes.
        seen: (N,) working memory: the stamp of the view whose terms are valid.
        packed, shades: (size + CHUNK,) working memory for a row.
        rgb: (size * size * 3,) out.
    """
    middle = np.float32(size) * HALF
    most = levels.shape[1] - 1
    for row in range(size):
        names = polygons[row * size : (row + 1) * size]
        depths = inverse_depth[row * size : (row + 1) * size]
        down = np.float32(row)
        begin = 0
        while begin < size:
            p = names[begin]
            end = begin + 1
            while end < size and names[end] == p:
                end += 1
            if p < 0:
                # A hair crack where a corner meets an edge: take the neighbour's colour.
                filler = packed[begin - 1] if begin > 0 else np.uint32(0x808080)
                for k in range(begin, end):
                    packed[k] = filler
                begin = end
                continue
            about = terms[p]
            texture = patterns[p]
            receiver = receivers_of[p]
            if seen[p] != stamp:
                seen[p] = stamp
                if texture > 0:
                    project_axis(paints[p, U : U + 4], eye, basis, focal, middle, about[0:4])
                    project_axis(paints[p, V : V + 4], eye, basis, focal, middle, about[4:8])
                if receiver < 0:
                    project_axis(
                        paints[p, GRADIENT : GRADIENT + 4], eye, basis, focal, middle, about[8:12]
                    )
                else:
                    axes = receiver_axes[receiver]
                    project_axis(axes[0:4], eye, basis, focal, middle, about[12:16])
                    project_axis(axes[4:8], eye, basis, focal, middle, about[16:20])
            red, green, blue = paints[p, COLOUR], paints[p, COLOUR + 1], paints[p, COLOUR + 2]
            while begin < end:
                length = min(CHUNK, end - begin)
                # Light at every fourth pixel, straight lines in between.
                x = np.float32(begin)
                z = ONE / depths[begin]
                if receiver < 0:
                    here = z * (about[8] * x + about[9] * down + about[10]) + about[11]
                else:
                    here = light_at(
                        z,
                        about[12:16],
                        about[16:20],
                        x,
                        down,
                        receiver_maps[receiver, 0],
                        receiver_maps[receiver, 1],
                        receiver_maps[receiver, 2],
                        lightmap,
                    )
                done = 0
                while done < length:
                    ahead = min(begin + done + STEP, end - 1)
                    x = np.float32(ahead)
                    z = ONE / depths[ahead]
                    if receiver < 0:
                        there = z * (about[8] * x + about[9] * down + about[10]) + about[11]
                    else:
                        there = light_at(
                            z,
                            about[12:16],
                            about[16:20],
                            x,
                            down,
                            receiver_maps[receiver, 0],
                            receiver_maps[receiver, 1],
                            receiver_maps[receiver, 2],
                            lightmap,
                        )
                    span = ahead - begin - done
                    change = (there - here) / np.float32(max(span, 1))
                    for k in range(STEP):
                        shades[done + k] = here + change * np.float32(k)
                    here = there
                    done += STEP
                out = packed[begin : begin + length]
                if texture > 0:
                    across = np.float32(begin)
                    z = ONE / depths[begin + length // 2]
                    spread = paints[p, DENSITY] / focal * z
                    spread = spread * spread * z / distances[p]
                    level = 0
                    while spread > np.float32(1.6) and level < most:
                        spread *= np.float32(0.25)
                        level += 1
                    pixels = texels[levels[texture, level] :]
                    mask = np.int32((TILE >> level) - 1)
                    shift = np.int32(8 - level)
                    fine = np.int32(level)
                    u0 = about[0] * across + about[1] * down + about[2]
                    v0 = about[4] * across + about[5] * down + about[6]
                    u1, v1 = about[0], about[4]
                    u2, v2 = about[3], about[7]
                    near = depths[begin : begin + length]
                    r1, g1, b1 = red * PER_TEXEL, green * PER_TEXEL, blue * PER_TEXEL
                    for k in range(length):
                        z = ONE / near[k]
                        along = np.float32(k)
                        i = np.int32(z * (u0 + u1 * along) + u2)
                        j = np.int32(z * (v0 + v1 * along) + v2)
                        at = (((j >> fine) & mask) << shift) + ((i >> fine) & mask)
                        texel = pixels[np.uint32(at)]
                        light = shades[k]
                        r = min(r1 * light * np.float32(np.int32(texel & 255)), BRIGHTEST)
                        g = min(g1 * light * np.float32(np.int32((texel >> 8) & 255)), BRIGHTEST)
                        b = min(b1 * light * np.float32(np.int32(texel >> 16)), BRIGHTEST)
                        out[k] = np.uint32(np.int32(r) | (np.int32(g) << 8) | (np.int32(b) << 16))
                else:
                    for k in range(length):
                        light = shades[k]
                        r = min(red * light, BRIGHTEST)
                        g = min(green * light, BRIGHTEST)
                        b = min(blue * light, BRIGHTEST)
                        out[k] = np.uint32(np.int32(r) | (np.int32(g) << 8) | (np.int32(b) << 16))
                begin += length
        line = rgb[row * size * 3 : (row + 1) * size * 3]
        for k in range(size):
            colour = packed[k]
            line[3 * k] = colour & 255
            line[3 * k + 1] = (colour >> 8) & 255
            line[3 * k + 2] = colour >> 16


@njit(cache=True, nogil=True, fastmath=True)
def write_depth(inverse_depth: F32, out: F32) -> None:
    """Metres along the optical axis."""
    for k in range(len(out)):
        value = inverse_depth[k]
        out[k] = ONE / value if value > ZERO else UNSEEN_DEPTH


@njit(cache=True, nogil=True, fastmath=True)
def write_instances(polygons: I32, owners: NDArray[np.int16], out: NDArray[np.int16]) -> None:
    """Instance of each pixel's polygon; the room's 0 where there is none."""
    for k in range(len(out)):
        p = polygons[k]
        out[k] = owners[p] if p >= 0 else 0
