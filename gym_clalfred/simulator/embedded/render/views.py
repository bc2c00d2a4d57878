"""The compiled loop over the views of one picture; a single call from Python, which is not free."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.render.raster import draw_view, find_facing
from gym_clalfred.simulator.embedded.render.shading import (
    BLOCK,
    shade_view,
    write_depth,
    write_instances,
)

F32 = NDArray[np.float32]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

#: How far kernels write beyond the end of their working memory's use.
BEYOND = int(BLOCK)


def _version() -> int:
    """Changes with the sources of the kernels called here."""
    folder = Path(__file__).parent
    names = ("raster.py", "shading.py", "packing.py")
    sources = b"".join((folder / name).read_bytes() for name in names)
    return zlib.crc32(sources) | 1


def _compiled(version: int) -> Callable[..., None]:
    """The kernel; numba's cache on disk looks at this file and the closure, not at other files."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def render_views(
        eye: F32,
        bases: F32,
        size: int,
        focal: np.float32,
        carried: bool,
        stamp: int,
        objects: int,
        spans: I32,
        spheres: F32,
        corners: F32,
        counts: I32,
        planes: F32,
        paints: F32,
        patterns: I32,
        owners: I16,
        classes_of: U8,
        receivers_of: I32,
        fine_axes: F32,
        fine_maps: I32,
        fine: U8,
        texels: U32,
        levels: I32,
        distances: F32,
        facing: I32,
        starts: I32,
        ranges: I32,
        points: F32,
        terms: F32,
        notes: I32,
        edges: F32,
        limits: I32,
        inverse_depth: F32,
        polygons: F32,
        changes: U8,
        words: NDArray[np.uint64],
        ends: I32,
        work: F32,
        patches: U32,
        rgb: U8,
        depths: F32,
        instances: I16,
        classes: U8,
    ) -> None:
        """Renders all views; any of the arrays to fill may be empty.

        Args:
            bases: (V, 3, 3) right, up, forward of each view.
            carried: whether to draw what is carried.
            stamp: before the first view's; see ``shade_view``.
            objects: how many rows of ``spans`` and ``spheres`` are in use.
            rgb: (V * size * size * 3 + 4 * BEYOND,) out; this and the next ones are written
                beyond what counts.
            depths: (V * size * size,) out.
            instances: (V * size * size + BEYOND,) out.
            classes: (V * size * size + BEYOND,) out; only together with ``rgb`` and ``instances``.

        The other arguments are those of ``find_facing``, ``draw_view`` and ``shade_view``.
        """
        if version == 0:
            return
        find_facing(
            eye,
            bases,
            focal,
            spheres[:objects],
            spans[:objects],
            planes,
            corners,
            counts,
            carried,
            distances,
            facing,
            starts,
            ranges,
            points,
        )
        pixels = size * size
        for v in range(len(bases)):
            draw_view(
                eye,
                bases[v],
                size,
                focal,
                spheres[:objects],
                ranges,
                facing,
                starts,
                distances,
                planes,
                points,
                edges,
                limits,
                inverse_depth,
                polygons,
            )
            first = v * pixels
            if len(depths) > 0:
                write_depth(inverse_depth, depths[first : first + pixels])
            if len(rgb) > 0:
                shade_view(
                    eye,
                    bases[v],
                    size,
                    focal,
                    stamp + 1 + v,
                    inverse_depth,
                    polygons,
                    distances,
                    paints,
                    patterns,
                    receivers_of,
                    fine_axes,
                    fine_maps,
                    fine,
                    texels,
                    levels,
                    terms,
                    notes,
                    changes,
                    words,
                    ends,
                    work,
                    patches,
                    owners,
                    classes_of,
                    rgb[3 * first :],
                    instances[first:],
                    classes[first:],
                )
            elif len(instances) > 0:
                write_instances(polygons, size, owners, changes, words, ends, instances[first:])

    return render_views


render_views = _compiled(_version())
