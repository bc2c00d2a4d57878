"""Renders several views of a stage from one eye: colour, depth and instance ids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import FIELD_OF_VIEW_DEGREES, Vector
from gym_clalfred.simulator.embedded.render import raster, shading
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.render.textures import texture_atlas


@dataclass(frozen=True)
class Images:
    """What was rendered; ``None`` for what was not asked for. Row 0 is the top.

    Args:
        rgb: (V, H, W, 3) uint8.
        depth: (V, H, W) float32, metres along the optical axis.
        instances: (V, H, W) int16, 0 for the room itself.
    """

    rgb: NDArray[np.uint8] | None
    depth: NDArray[np.float32] | None
    instances: NDArray[np.int16] | None


class Renderer:
    """Draws square pictures of ``size`` pixels with a field of view of 60 degrees.

    Working memory is kept between calls; the arrays that ``render`` returns are the caller's.
    One renderer serves one thread.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1 pixel, got {size}")
        self.size = size
        self.focal = np.float32(size / 2 / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2)))
        beyond = int(shading.BLOCK)
        self._inverse_depth = np.zeros(size * size + beyond, dtype=np.float32)
        self._polygons = np.zeros(size * size, dtype=np.float32)
        self._edges = np.zeros((4, max(size, 16)), dtype=np.float32)
        self._words = np.zeros(shading.STRETCH // 8, dtype=np.uint64)
        self._changes = self._words.view(np.uint8)
        self._ends = np.zeros(shading.STRETCH + 8, dtype=np.int32)
        stretch = int(shading.NEXT)
        self._colours = np.zeros(3 * stretch, dtype=np.float32)
        self._addresses = np.zeros(2 * stretch, dtype=np.int32)
        self._patches = np.zeros(2 * stretch, dtype=np.uint32)
        self._stamp = 0
        self._make_room(0, 0)

    def render(
        self,
        stage: Stage,
        eye: Vector,
        views: Sequence[tuple[float, float]],
        *,
        rgb: bool = True,
        depth: bool = False,
        instances: bool = True,
        exclude: int | None = None,
    ) -> Images:
        """Pictures from ``eye`` towards each (yaw, pitch) in degrees.

        Args:
            views: yaw 0 looks towards +z, 90 towards +x; pitch is positive downwards.
            exclude: instance to leave out, as if it were not there.
        """
        size, count = self.size, len(views)
        if len(stage.counts) > len(self._seen) or len(stage.spans) > len(self._ranges):
            self._make_room(len(stage.counts), len(stage.spans))
        colours = np.empty((count, size, size, 3), dtype=np.uint8) if rgb else None
        depths = np.empty((count, size, size), dtype=np.float32) if depth else None
        names = np.empty((count, size, size), dtype=np.int16) if instances else None
        position = np.array(eye, dtype=np.float32)
        spheres = stage.spheres[: stage.objects]
        raster.find_facing(
            position,
            stage.spans[: stage.objects],
            stage.planes,
            self._distances,
            self._facing,
            self._ranges,
            -1 if exclude is None else exclude,
        )
        texels, levels = texture_atlas() if rgb else (_NO_TEXELS, _NO_LEVELS)
        for v, (yaw, pitch) in enumerate(views):
            basis = camera_basis(yaw, pitch)
            raster.draw_view(
                position,
                basis,
                size,
                self.focal,
                spheres,
                self._ranges,
                self._facing,
                self._distances,
                stage.corners,
                stage.counts,
                stage.planes,
                self._edges,
                self._inverse_depth,
                self._polygons,
            )
            if names is not None and colours is None:
                shading.write_instances(
                    self._polygons,
                    size,
                    stage.owners,
                    self._changes,
                    self._words,
                    self._ends,
                    names[v].reshape(-1),
                )
            if depths is not None:
                shading.write_depth(self._inverse_depth, depths[v].reshape(-1))
            if colours is not None:
                self._stamp += 1
                shading.shade_view(
                    position,
                    basis,
                    size,
                    self.focal,
                    self._stamp,
                    self._inverse_depth,
                    self._polygons,
                    self._distances,
                    stage.paints,
                    stage.patterns,
                    stage.receivers_of,
                    stage.fine_axes,
                    stage.fine_maps,
                    stage.fine,
                    texels,
                    levels,
                    self._terms,
                    self._seen,
                    self._changes,
                    self._words,
                    self._ends,
                    self._colours,
                    self._addresses,
                    self._patches,
                    DITHER,
                    stage.owners,
                    colours[v].reshape(-1),
                    _NO_NAMES if names is None else names[v].reshape(-1),
                )
        return Images(rgb=colours, depth=depths, instances=names)

    def _make_room(self, polygons: int, objects: int) -> None:
        """Sizes the working memory for a stage."""
        self._distances = np.zeros(polygons, dtype=np.float32)
        self._facing = np.zeros(polygons, dtype=np.int32)
        self._terms = np.zeros((polygons, 20), dtype=np.float32)
        self._seen = np.zeros(polygons, dtype=np.int32)
        self._ranges = np.zeros((objects, 2), dtype=np.int32)


def camera_basis(yaw: float, pitch: float) -> NDArray[np.float32]:
    """(3, 3) rows right, up, forward of a camera; yaw 0 is +z, 90 is +x, pitch positive is down."""
    y, p = math.radians(yaw), math.radians(pitch)
    sin_y, cos_y, sin_p, cos_p = math.sin(y), math.cos(y), math.sin(p), math.cos(p)
    return np.array(
        [
            [cos_y, 0.0, -sin_y],
            [sin_y * sin_p, cos_p, cos_y * sin_p],
            [sin_y * cos_p, -sin_p, cos_y * cos_p],
        ],
        dtype=np.float32,
    )


#: Ordered offsets within a texel for each pixel of 4 rows; see ``shading.shade_view``.
DITHER = np.resize(
    np.tile(
        np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16,
        (1, shading.STRETCH // 4),
    ).astype(np.float32),
    4 * shading.STRETCH + int(shading.BLOCK),
)

_NO_TEXELS = np.zeros(0, dtype=np.uint32)
_NO_NAMES = np.zeros(0, dtype=np.int16)
_NO_LEVELS = np.zeros((0, 0), dtype=np.int32)
