"""The compiled loop over the views of one picture; a single call from Python, which is not free."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.render.raster import draw_view, find_facing, find_region
from gym_clalfred.simulator.embedded.render.readout import (
    BLOCK,
    count_instances,
    write_depth,
    write_instances,
)
from gym_clalfred.simulator.embedded.render.shading import shade_view

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
    names = ("raster.py", "readout.py", "shading.py", "packing.py", "placing.py")
    sources = b"".join((folder / name).read_bytes() for name in names)
    return zlib.crc32(sources) | 1


def _compiled(version: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """The kernels; numba's cache on disk looks at this file and the closure, not at other files."""

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
                (0, size, 0, size),
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

    @njit(cache=True, nogil=True, error_model="numpy")
    def look(
        eye: F32,
        bases: F32,
        size: int,
        focal: np.float32,
        wanted: int,
        objects: int,
        spans: I32,
        spheres: F32,
        corners: F32,
        counts: I32,
        planes: F32,
        owners: I16,
        classes_of: U8,
        distances: F32,
        facing: I32,
        starts: I32,
        ranges: I32,
        points: F32,
        edges: F32,
        limits: I32,
        inverse_depth: F32,
        polygons: F32,
        changes: U8,
        words: NDArray[np.uint64],
        ends: I32,
        instances: I16,
        depths: F32,
        sums: NDArray[np.int64],
    ) -> None:
        """Finds which instance each pixel of a view shows, without what is carried, and counts.

        Args:
            bases: (1, 3, 3) right, up, forward of the view.
            wanted: the class that matters, or -1; elsewhere the view may stay empty.
            instances: (size * size + BEYOND,) out.
            depths: (size * size,) out; may be empty.
            sums: (I, 3) out, pixels of each instance and the sums of their rows and columns.

        The other arguments are those of ``find_facing`` and ``draw_view``.
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
            False,
            distances,
            facing,
            starts,
            ranges,
            points,
        )
        region = (0, size, 0, size)
        if wanted >= 0:
            region = find_region(
                bases[0],
                size,
                focal,
                spans[:objects],
                classes_of,
                wanted,
                starts,
                ranges,
                points,
            )
        instances[:] = 0
        depths[:] = 0
        sums[:] = 0
        if region[0] >= region[1] or region[2] >= region[3]:
            return
        draw_view(
            eye,
            bases[0],
            size,
            focal,
            region,
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
        if len(depths) > 0:
            first, last = region[0] * size, region[1] * size
            write_depth(inverse_depth[first:last], depths[first:last])
        count_instances(polygons, size, region, owners, changes, words, ends, instances, sums)

    return render_views, look


render_views, look = _compiled(_version())
