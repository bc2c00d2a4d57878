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
CHUNK = 64

HALF = np.float32(0.5)
ONE = np.float32(1.0)
ZERO = np.float32(0.0)
BRIGHTEST = np.float32(255.0)
PER_LIGHT = np.float32(1 / 128)
PER_TEXEL = np.float32(1 / 204)
LEAST_INVERSE = np.float32(0.01)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
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


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def shade_view(
    eye: F32,
    basis: F32,
    size: int,
    focal: np.float32,
    stamp: int,
    inverse_depth: F32,
    polygons: F32,
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
    changes: U8,
    words: NDArray[np.uint64],
    ends: I32,
    addresses: I32,
    packed: U32,
    shades: F32,
    dither: F32,
    owners: NDArray[np.int16],
    rgb: U8,
    instances: NDArray[np.int16],
) -> None:
    """Colours one view.

    Args:
        stamp: differs from view to view; tells which rows of ``terms`` are this view's.
        receivers_of: (N,) light map of a polygon or -1.
        receiver_axes: (R, 8) two axes with offsets, world to texels of the fine light map.
        receiver_maps: (R, 3) first texel, width and height.
        texels: all levels of all textures, red | green << 8 | blue << 16.
        levels: (T, L) first texel of each level of each texture.
        terms: (N, 20) working memory: ``project_axis`` of u, v, gradient and the map's axes.
        seen: (N,) working memory: the stamp of the view whose terms are valid.
        changes, words, ends, addresses, shades: working memory for a row; see ``find_runs``.
        packed: (2, size) working memory: colours and texels of a row.
        dither: (4, CHUNK) offsets in texels that hide the steps of the light map.
        owners: (N,) instance of each polygon.
        rgb: (size * size * 3,) out.
        instances: (size * size,) out, or empty if not wanted.
    """
    middle = np.float32(size) * HALF
    named = len(instances) > 0
    most = np.int32(levels.shape[1] - 1)
    colours, patches = packed[0], packed[1]
    for row in range(size):
        names = polygons[row * size : (row + 1) * size]
        depths = inverse_depth[row * size : (row + 1) * size]
        jitter = dither[row & 3]
        down = np.float32(row)
        begin = 0
        for run in range(find_runs(names, changes, words, ends)):
            name, end = names[begin], ends[run]
            if name < ZERO:
                # A hair crack where a corner meets an edge: take the neighbour's colour.
                filler = colours[begin - 1] if begin > 0 else np.uint32(0x808080)
                for k in range(begin, end):
                    colours[k] = filler
                if named:
                    instances[row * size + begin : row * size + end] = 0
                begin = end
                continue
            p = np.uint32(name)
            if named:
                instances[row * size + begin : row * size + end] = owners[p]
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
                near = depths[begin : begin + length]
                across = np.float32(begin)
                shade = shades[:length]
                out = colours[begin : begin + length]
                if receiver < 0:
                    blend_light(near, across, down, about[8:12], shade)
                else:
                    locate(
                        near,
                        across,
                        down,
                        about[12:16],
                        about[16:20],
                        jitter,
                        receiver_maps[receiver],
                        addresses,
                    )
                    first = np.uint32(receiver_maps[receiver, 0])
                    for k in range(length):
                        shade[k] = np.float32(lightmap[first + np.uint32(addresses[k])]) * PER_LIGHT
                if texture == 0:
                    for k in range(length):
                        light = shade[k]
                        r = min(red * light, BRIGHTEST)
                        g = min(green * light, BRIGHTEST)
                        b = min(blue * light, BRIGHTEST)
                        out[k] = np.uint32(np.int32(r) | (np.int32(g) << 8) | (np.int32(b) << 16))
                else:
                    z = ONE / near[length >> 1]
                    spread = paints[p, DENSITY] / focal * z
                    level = level_of(spread * spread * z / distances[p], most)
                    wrap(near, across, down, about[0:4], about[4:8], level, addresses)
                    patch = patches[:length]
                    first = np.uint32(levels[texture, level])
                    # A loop of its own, as loads from anywhere keep a loop from being vectorised.
                    for k in range(length):
                        patch[k] = texels[first + np.uint32(addresses[k])]
                    r1, g1, b1 = red * PER_TEXEL, green * PER_TEXEL, blue * PER_TEXEL
                    for k in range(length):
                        light, texel = shade[k], patch[k]
                        r = min(r1 * light * np.float32(np.int32(texel & 255)), BRIGHTEST)
                        g = min(g1 * light * np.float32(np.int32((texel >> 8) & 255)), BRIGHTEST)
                        b = min(b1 * light * np.float32(np.int32(texel >> 16)), BRIGHTEST)
                        out[k] = np.uint32(np.int32(r) | (np.int32(g) << 8) | (np.int32(b) << 16))
                begin += length
        unpack(colours, rgb[row * size * 3 : (row + 1) * size * 3])


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def find_runs(names: F32, changes: U8, words: NDArray[np.uint64], ends: I32) -> int:
    """Number of runs of equal values in a row; ``ends`` gets where each stops.

    ``words`` is the same memory as ``changes``, read eight pixels at a time.
    """
    last = len(names) - 1
    left, right = names[:last], names[1:]
    flags = changes[:last]
    for k in range(last):
        flags[k] = left[k] != right[k]
    count = np.uint32(0)
    for w in range(len(words)):
        if words[w] != 0:
            at = w << 3
            for k in range(at, at + 8):
                ends[count] = k + 1
                count += np.uint32(changes[k])
    ends[count] = last + 1
    return int(count) + 1


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def level_of(area: np.float32, most: np.int32) -> np.int32:
    """Level of detail at which a pixel that covers ``area`` texels covers about one."""
    exponent = (np.float32(area).view(np.int32) >> np.int32(23)) - np.int32(127)
    return min(max((exponent + np.int32(1)) >> np.int32(1), np.int32(0)), most)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def blend_light(near: F32, across: np.float32, down: np.float32, about: F32, shade: F32) -> None:
    """Light of an ordinary polygon."""
    light = about[0] * across + about[1] * down + about[2]
    change, constant = about[0], about[3]
    for k in range(len(near)):
        shade[k] = light / near[k] + constant
        light += change


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def locate(
    near: F32,
    across: np.float32,
    down: np.float32,
    about_x: F32,
    about_y: F32,
    jitter: F32,
    chart: I32,
    addresses: I32,
) -> None:
    """Texels of a light map."""
    width = chart[1]
    right, bottom = chart[1] - np.int32(1), chart[2] - np.int32(1)
    least = np.int32(0)
    x1, x2, y1, y2 = about_x[0], about_x[3], about_y[0], about_y[3]
    x = x1 * across + about_x[1] * down + about_x[2]
    y = y1 * across + about_y[1] * down + about_y[2]
    for k in range(len(near)):
        z = ONE / near[k]
        i = np.int32(z * x + x2 + jitter[k])
        j = np.int32(z * y + y2 + jitter[k])
        addresses[k] = min(max(j, least), bottom) * width + min(max(i, least), right)
        x += x1
        y += y1


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def wrap(
    near: F32,
    across: np.float32,
    down: np.float32,
    about_u: F32,
    about_v: F32,
    level: np.int32,
    addresses: I32,
) -> None:
    """Texels of a texture tile at a level of detail."""
    mask, shift = np.int32((TILE >> level) - 1), np.int32(8) - level
    u1, v1, u2, v2 = about_u[0], about_v[0], about_u[3], about_v[3]
    u = u1 * across + about_u[1] * down + about_u[2]
    v = v1 * across + about_v[1] * down + about_v[2]
    for k in range(len(near)):
        z = ONE / near[k]
        i, j = np.int32(z * u + u2) >> level, np.int32(z * v + v2) >> level
        addresses[k] = ((j & mask) << shift) + (i & mask)
        u += u1
        v += v1


@njit(cache=True, nogil=True, error_model="numpy")
def unpack(colours: U32, rgb: U8) -> None:
    """Writes a row of colours as bytes red, green, blue."""
    for k in range(len(rgb) // 3):
        colour = colours[k]
        rgb[3 * k] = colour & 255
        rgb[3 * k + 1] = (colour >> 8) & 255
        rgb[3 * k + 2] = colour >> 16


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def write_depth(inverse_depth: F32, out: F32) -> None:
    """Metres along the optical axis."""
    for k in range(len(out)):
        out[k] = ONE / max(inverse_depth[k], LEAST_INVERSE)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def write_instances(
    polygons: F32,
    size: int,
    owners: NDArray[np.int16],
    changes: U8,
    words: NDArray[np.uint64],
    ends: I32,
    out: NDArray[np.int16],
) -> None:
    """Instance of each pixel's polygon; the room's 0 where there is none."""
    for row in range(size):
        names = polygons[row * size : (row + 1) * size]
        line = out[row * size : (row + 1) * size]
        begin = 0
        for run in range(find_runs(names, changes, words, ends)):
            name, end = names[begin], ends[run]
            line[begin:end] = owners[np.uint32(name)] if name >= ZERO else 0
            begin = end
