"""The arrays that the renderer's kernels work on, by name; numba compiles named tuples.

Kernels that loop take the arrays they need out of their tuples first, and not in the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

HALF = np.float32(0.5)
ONE = np.float32(1.0)
ZERO = np.float32(0.0)

#: Inner loops do this many pixels, rows or corners at once, also beyond the end of what they are
#: for: the compiler then needs no slow loop for the rest. Working memory is longer accordingly.
LANES = np.uint64(8)

#: How far kernels write beyond the end of their working memory's use.
BEYOND = int(LANES)


class Camera(NamedTuple):
    """Where pictures are taken from.

    Args:
        eye: (3,) position.
        bases: (V, 3, 3) rows right, up, forward of each view.
        size: pixels of a view's side.
        focal: focal length in pixels.
    """

    eye: F32
    bases: F32
    size: int
    focal: np.float32


class Faces(NamedTuple):
    """The arrays of a ``Mesh``."""

    corners: F32
    counts: I32
    normals: F32
    colours: U8
    textures: I32
    scales: F32
    glow: F32
    bends: F32


class SceneArrays(NamedTuple):
    """The M objects of a scene, their N polygons and what R receivers show of the light.

    All in world coordinates. A receiver is a polygon with a light map.

    Args:
        light: (7,) direction to the light, its colour, ambient share.
        spans: (M, 4) first polygon, number of polygons, instance, ``CASTING``, ``CARRIED`` or 0.
        spheres: (M, 4) centre and radius.
        boxes: (M, 8) floor plan: centre x, z, half width, half depth, sine and cosine of the yaw,
            bottom, top.
        corners: (N, 8, 3) counter-clockwise seen from the front (left-handed).
        counts: (N,) corners in use.
        planes: (N, 4) unit normal and offset.
        paints: (N, 16) u axis and offset, v axis and offset, in texels; colour times light in
            display space 0-255; relative light gradient and offset; texels per metre.
        patterns: (N,) the texture.
        owners: (N,) the instance.
        receivers_of: (N,) the receiver, or -1.
        fine_axes: (R, 8) two axes with offsets, world to texels of the map.
        fine_maps: (R, 3) first texel, width, height.
        fine: texels of all maps, ``PLAIN_LIGHT`` for plain light, as the first one is.
    """

    light: F32
    spans: I32
    spheres: F32
    boxes: F32
    corners: F32
    counts: I32
    planes: F32
    paints: F32
    patterns: I32
    owners: I16
    receivers_of: I32
    fine_axes: F32
    fine_maps: I32
    fine: U8


class LightMaps(NamedTuple):
    """The coarser maps of a scene's R receivers, on which shadows are cast.

    Args:
        axes: (R, 8) two axes with offsets, world to texels.
        frames: (R, 4) plane.
        maps: (R, 3) first texel, width (0 = unused), height.
        dirty: (R, 4) left, top, right (0 = nothing), bottom of what changed; see ``refresh``.
        base: light without objects at each texel.
        shadow: sum of shadows at each texel.
        coarse: the light that results.
    """

    axes: F32
    frames: F32
    maps: I32
    dirty: I32
    base: F32
    shadow: I32
    coarse: F32


class Scratch(NamedTuple):
    """Working memory of a renderer.

    Args:
        distances: (N,) metres from the eye to the polygon's plane.
        facing: (N,) the polygons that turn their front to the eye.
        starts: (N + 1,) where each of them begins in ``points``.
        ranges: (M, 2) each object's part of ``facing``.
        points: (6, C) corners seen from the eye, in the room's directions; on the screen, depth.
        edges: (4, size + BEYOND) see ``trace_edges``.
        limits: (2, size + BEYOND) where a polygon begins and ends on each row.
        inverse_depth: (size * size + BEYOND,) of the nearest polygon.
        polygons: (size * size + BEYOND,) the nearest polygon, or -1; float32 holds it exactly and
            keeps the inner loop in one kind of vector.
        changes, words, ends: see ``find_runs``.
        terms: (N, TERMS) ``project_axis`` of u, v, gradient and the map's axes, and more columns.
        notes: (N, 4) columns named in ``shading``.
        work: (PARTS * NEXT,) parts named in ``shading``.
        patches: (NEXT,) texels and their light, then colours.
    """

    distances: F32
    facing: I32
    starts: I32
    ranges: I32
    points: F32
    edges: F32
    limits: I32
    inverse_depth: F32
    polygons: F32
    changes: U8
    words: U64
    ends: I32
    terms: F32
    notes: I32
    work: F32
    patches: U32


class RenderTarget(NamedTuple):
    """What is rendered; empty what is not wanted, and written beyond what counts.

    Args:
        rgb: (V * size * size * 3 + 4 * BEYOND,)
        depths: (V * size * size,)
        instances: (V * size * size + BEYOND,)
        classes: (V * size * size + BEYOND,) only together with ``rgb`` and ``instances``.
    """

    rgb: U8
    depths: F32
    instances: I16
    classes: U8
