"""Compiled kernels that turn the nearest polygon of each pixel into its colour.

A row is a sequence of runs that show one polygon each. Everything about a polygon is then affine in
the pixel's column, before the division by 1/z: texture coordinates, place in the light map, light.
First each run notes its colours and where its texels are, then the whole row reads and multiplies
them: reading from anywhere cannot be vectorised, and what was just written piecemeal is slow to
read back in one piece.
Texture, light and colour multiply in display space, where gamma has been applied to each already.

Helpers are inlined, as a call that passes arrays costs more than many a run's pixels. Inner loops
index whole arrays by unsigned offsets instead of taking slices: a slice costs two
atomic operations, a signed index a test for wrapping around.
"""

from __future__ import annotations

import numpy as np

from gym_clalfred.simulator.embedded.render.arrays import (
    F32,
    HALF,
    I16,
    I32,
    LANES,
    ONE,
    U8,
    U32,
    ZERO,
    Camera,
    RenderTarget,
    SceneArrays,
    Scratch,
)
from gym_clalfred.simulator.embedded.render.packing import QUAD, write_colours
from gym_clalfred.simulator.embedded.render.placing import (
    COLOUR,
    DENSITY,
    GRADIENT,
    TILE,
    U,
    V,
)
from gym_clalfred.simulator.embedded.render.raster import in_lanes
from gym_clalfred.simulator.embedded.render.readout import STRETCH, find_runs
from gym_clalfred.simulator.jit import exact, inlined

#: Pixels whose texture is read at one level of detail.
CHUNK = np.uint64(64)

#: Parts of a stretch's working memory: red, green and blue without texture and light map, then as
#: the bits of integers where the texture's and the light's texels are; last the inverse depth. One
#: array with constant distances tells the compiler that they do not overlap.
NEXT = STRETCH + 16
PARTS = 6
GREEN, BLUE = np.uint64(NEXT), np.uint64(2 * NEXT)
TEXEL, LIGHT = np.uint64(3 * NEXT), np.uint64(4 * NEXT)
NEARNESS = np.uint64(5 * NEXT)

# Columns of ``terms`` after those that ``project_axis`` writes: colour, texels per pixel at 1 m,
# squared, and the light map's width, last column and last row.
TINT, SPREAD, WIDTH, RIGHT, BOTTOM = 20, 23, 24, 25, 26
TERMS = 28

# Columns of ``notes``: the stamp of the view whose terms these are, texture, first texel of the
# light map, instance | class << 16.
STAMP, TEXTURE, FIRST, NAME = 0, 1, 2, 3

#: Rows of a tile are this power of two apart at every level, which spares a variable shift.
ROW_SHIFT = np.int32(8)

#: Last texel of a tile's row at each level of detail, without a texture and with one. Read from a
#: table, as a 32-bit value that was computed would be widened, and the loop that uses it with it.
LAST_TEXEL = np.stack([np.zeros(16, dtype=np.int32), (TILE >> np.arange(16, dtype=np.int32)) - 1])

#: Texels of each level of detail per texel of the finest.
FINENESS = (0.5 ** np.arange(16)).astype(np.float32)

EIGHTH = np.float32(0.125)
BRIGHTEST = np.float32(255.0)
PER_BOTH = np.float32(1 / (128 * 204))


@inlined
def project_axis(
    axes: F32,
    n: np.integer,
    first: int,
    camera: Camera,
    v: int,
    terms: F32,
    p: np.uint64,
    out: int,
) -> None:
    """Writes how ``axis . point + offset`` varies over the screen on a polygon.

    The axis with its offset is ``axes[n, first : first + 4]``. ``terms[p, out : out + 4]`` becomes
    (per column, per row, at pixel 0, constant): the value at depth z is
    ``z * (per_column * column + per_row * row + at_pixel_0) + constant``.
    """
    eye, basis, focal = camera.eye, camera.bases[v], camera.focal
    middle = np.float32(camera.size) * HALF
    a, b, c = axes[n, first], axes[n, first + 1], axes[n, first + 2]
    per_column = (a * basis[0, 0] + b * basis[0, 1] + c * basis[0, 2]) / focal
    per_row = -(a * basis[1, 0] + b * basis[1, 1] + c * basis[1, 2]) / focal
    ahead = a * basis[2, 0] + b * basis[2, 1] + c * basis[2, 2]
    terms[p, out] = per_column
    terms[p, out + 1] = per_row
    terms[p, out + 2] = ahead + (per_column + per_row) * (HALF - middle)
    terms[p, out + 3] = a * eye[0] + b * eye[1] + c * eye[2] + axes[n, first + 3]


@exact
def shade_view(
    camera: Camera,
    v: int,
    stamp: int,
    scene: SceneArrays,
    texels: U32,
    levels: I32,
    classes_of: U8,
    scratch: Scratch,
    output: RenderTarget,
) -> None:
    """Colours one view, after ``draw_view``.

    Args:
        v: the view.
        stamp: differs from view to view; tells which rows of ``terms`` are this view's.
        texels: all levels of all textures, red | green << 8 | blue << 16; the first is neutral.
        levels: (T, L) first texel of each level of each texture.
        classes_of: (I,) class of each instance.
    """
    size = camera.size
    shown = v * size * size
    rgb, instances = output.rgb[3 * shown :], output.instances[shown:]
    classes = output.classes[shown:]
    inverse_depth, polygons = scratch.inverse_depth, scratch.polygons
    changes, words, ends = scratch.changes, scratch.words, scratch.ends
    terms, notes = scratch.terms, scratch.notes
    work, patches = scratch.work, scratch.patches
    patterns, owners, fine = scene.patterns, scene.owners, scene.fine
    most = np.int32(levels.shape[1] - 1)
    named, classed = len(instances) > 0, len(classes) > 0
    for row in range(size):
        down = np.float32(row)
        # Shifting rows against each other by parts of a texel hides the steps of the light map.
        jitter = np.float32((5 * row) & 7) * EIGHTH
        for left in range(0, size, STRETCH):
            line = np.uint64(row * size + left)
            count = min(STRETCH, size - left)
            begin = np.uint64(0)
            for k in range(in_lanes(np.uint64(count))):
                work[k + NEARNESS] = inverse_depth[line + k]
            for run in range(find_runs(polygons, line, count, changes, words, ends)):
                name, end = polygons[line + begin], np.uint64(ends[run])
                if name < ZERO:
                    fill_crack(begin, end, work)
                    if named:
                        instances[line + begin : line + end] = 0
                    if classed:
                        classes[line + begin : line + end] = 0
                    begin = end
                    continue
                # By way of a signed number, to which there is an instruction from float32.
                p = np.uint64(np.int32(name))
                if notes[p, STAMP] != stamp:
                    notes[p, STAMP] = stamp
                    notes[p, TEXTURE] = patterns[p]
                    notes[p, NAME] = owners[p]
                    if classed:
                        notes[p, NAME] |= np.int32(classes_of[owners[p]]) << np.int32(16)
                    prepare(p, camera, v, scene, scratch)
                texture = np.uint64(notes[p, TEXTURE])
                while begin < end:
                    length = min(CHUNK, end - begin)
                    across = np.float32(left) + np.float32(np.int32(begin))
                    w = work[begin + (length >> np.uint64(1)) + NEARNESS]
                    level = level_of(terms[p, SPREAD] / (w * w * w), most)
                    shade(
                        begin,
                        length,
                        (across, down, jitter),
                        p,
                        terms,
                        notes,
                        (
                            LAST_TEXEL[min(texture, np.uint64(1)), level],
                            FINENESS[level],
                            levels[texture, level],
                        ),
                        work,
                        line,
                        (named, classed),
                        instances,
                        classes,
                    )
                    begin += length
            finish(np.uint64(count), line, texels, fine, work, patches, rgb)


@exact
def fill_crack(begin: np.uint64, end: np.uint64, work: F32) -> None:
    """Colours pixels without a polygon, hair cracks where a corner meets an edge, like the left."""
    for k in range(begin, end):
        for part in range(np.uint64(0), NEARNESS, np.uint64(NEXT)):
            plain = np.float32(128.0) if part < TEXEL else ZERO
            work[k + part] = work[begin - np.uint64(1) + part] if begin > 0 else plain


@inlined
def bits(value: np.float32) -> np.int32:
    """The integer whose bits a part of the working memory holds."""
    return np.float32(value).view(np.int32)


@inlined
def level_of(area: np.float32, most: np.int32) -> np.uint64:
    """Level of detail at which a pixel that covers ``area`` texels covers about one."""
    exponent = (np.float32(area).view(np.int32) >> np.int32(23)) - np.int32(127)
    return np.uint64(min(max((exponent + np.int32(1)) >> np.int32(1), np.int32(0)), most))


@inlined
def prepare(p: np.uint64, camera: Camera, v: int, scene: SceneArrays, scratch: Scratch) -> None:
    """Writes a polygon's terms for a view, and where its light map is."""
    terms, notes, paints = scratch.terms, scratch.notes, scene.paints
    axes, maps, receiver = scene.fine_axes, scene.fine_maps, scene.receivers_of[p]
    for channel in range(3):
        terms[p, TINT + channel] = paints[p, COLOUR + channel]
    spread = paints[p, DENSITY] / camera.focal
    terms[p, SPREAD] = spread * spread / scratch.distances[p]
    project_axis(paints, p, U, camera, v, terms, p, 0)
    project_axis(paints, p, V, camera, v, terms, p, 4)
    if receiver < 0:
        project_axis(paints, p, GRADIENT, camera, v, terms, p, 8)
        for k in range(12, 20):
            terms[p, k] = ZERO
        # A map of one texel, the one of plain light.
        notes[p, FIRST] = 0
        terms[p, WIDTH], terms[p, RIGHT], terms[p, BOTTOM] = ONE, ZERO, ZERO
    else:
        notes[p, FIRST] = maps[receiver, 0]
        terms[p, WIDTH] = np.float32(maps[receiver, 1])
        terms[p, RIGHT] = np.float32(maps[receiver, 1]) - ONE
        terms[p, BOTTOM] = np.float32(maps[receiver, 2]) - ONE
        for k in range(8, 11):
            terms[p, k] = ZERO
        terms[p, 11] = ONE
        project_axis(axes, receiver, 0, camera, v, terms, p, 12)
        project_axis(axes, receiver, 4, camera, v, terms, p, 16)


@inlined
def shade(
    begin: np.uint64,
    length: np.uint64,
    place: tuple[np.float32, np.float32, np.float32],
    p: np.uint64,
    terms: F32,
    notes: I32,
    tile: tuple[np.int32, np.float32, np.int32],
    work: F32,
    line: np.uint64,
    wanted: tuple[bool, bool],
    instances: I16,
    classes: U8,
) -> None:
    """Colours and places of the texels of a chunk, ``length`` pixels from ``begin`` on.

    One loop serves all polygons: mispredicted branches cost more than what some could leave out.

    Args:
        place: column and row of the first pixel, and by what to shift in the light map.
        tile: last texel of the texture's rows, texels per finest texel, first texel.
        wanted: whether instances and classes are.
    """
    across, down, jitter = place
    mask, fine, corner = tile
    named, classed = wanted
    red, green, blue = terms[p, TINT], terms[p, TINT + 1], terms[p, TINT + 2]
    u1, u2 = terms[p, 0] * fine, terms[p, 3] * fine
    v1, v2 = terms[p, 4] * fine, terms[p, 7] * fine
    u0 = u1 * across + (terms[p, 1] * down + terms[p, 2]) * fine
    v0 = v1 * across + (terms[p, 5] * down + terms[p, 6]) * fine
    change, constant = terms[p, 8], terms[p, 11]
    lit = change * across + terms[p, 9] * down + terms[p, 10]
    x1, x2, y1, y2 = terms[p, 12], terms[p, 15] + jitter, terms[p, 16], terms[p, 19] + jitter
    x0 = x1 * across + terms[p, 13] * down + terms[p, 14]
    y0 = y1 * across + terms[p, 17] * down + terms[p, 18]
    # Places in a map are whole numbers that float32 holds exactly; its products are quicker.
    row, right, bottom = terms[p, WIDTH], terms[p, RIGHT], terms[p, BOTTOM]
    first, label = notes[p, FIRST], notes[p, NAME]
    instance, kind = np.int16(label & 0xFFFF), np.uint8(label >> 16)
    for block in range((length + LANES - np.uint64(1)) // LANES):
        at = begin + block * LANES
        for lane in range(LANES):
            k = at + lane
            step = np.float32(np.int32(block * LANES + lane))
            z = ONE / work[k + NEARNESS]
            i = np.int32(z * (u1 * step + u0) + u2)
            j = np.int32(z * (v1 * step + v0) + v2)
            work[k + TEXEL] = np.int32(corner + ((j & mask) << ROW_SHIFT) + (i & mask)).view(
                np.float32
            )
            left = np.floor(min(max(z * (x1 * step + x0) + x2, ZERO), right))
            top = np.floor(min(max(z * (y1 * step + y0) + y2, ZERO), bottom))
            work[k + LIGHT] = np.int32(first + np.int32(top * row + left)).view(np.float32)
            light = z * (change * step + lit) + constant
            work[k] = red * light
            work[k + GREEN] = green * light
            work[k + BLUE] = blue * light
        if named:
            for lane in range(LANES):
                instances[line + at + lane] = instance
        if classed:
            for lane in range(LANES):
                classes[line + at + lane] = kind


@inlined
def finish(
    count: np.uint64, line: np.uint64, texels: U32, fine: U8, work: F32, patches: U32, rgb: U8
) -> None:
    """Multiplies a stretch of a row's colours by its texels and light and writes them as bytes."""
    for k in range(count):
        texel = texels[np.uint64(np.uint32(bits(work[k + TEXEL])))]
        light = fine[np.uint64(np.uint32(bits(work[k + LIGHT])))]
        patches[k] = texel | (np.uint32(light) << np.uint32(24))
    for k in range(in_lanes(count)):
        patch = patches[k]
        texel = np.int32(patch)
        light = np.float32(np.int32(patch >> np.uint32(24))) * PER_BOTH
        r = min(work[k] * light * np.float32(np.int32(texel & 255)), BRIGHTEST)
        g = min(work[k + GREEN] * light * np.float32(np.int32((texel >> 8) & 255)), BRIGHTEST)
        b = min(work[k + BLUE] * light * np.float32(np.int32((texel >> 16) & 255)), BRIGHTEST)
        patches[k] = np.uint32(np.int32(r) | (np.int32(g) << 8) | (np.int32(b) << 16))
    for k in range(np.uint64(0), in_lanes(count), QUAD):
        write_colours(patches, k, rgb, np.uint64(3) * (line + k))
