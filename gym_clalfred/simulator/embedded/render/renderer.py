"""Renders several views of a stage from one eye: colour, depth and instance ids."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import FIELD_OF_VIEW_DEGREES, Vector
from gym_clalfred.simulator.embedded.render.arrays import BEYOND, Scratch
from gym_clalfred.simulator.embedded.render.mesh import MAX_CORNERS
from gym_clalfred.simulator.embedded.render.shading import NEXT, PARTS, STRETCH, TERMS
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.render.textures import texture_atlas
from gym_clalfred.simulator.embedded.render.views import Plain, look, render_views

#: How many pictures' memory of each kind is watched for being free again.
KEPT_PICTURES = 3

#: Views are counted up to here; the count fits a note's int32.
MOST_STAMPS = 1 << 30


class Images(NamedTuple):
    """What was rendered; ``None`` for what was not asked for. Row 0 is the top.

    Args:
        rgb: (V, H, W, 3) uint8.
        depth: (V, H, W) float32, metres along the optical axis.
        instances: (V, H, W) int16, 0 for the room itself.
        classes: (V, H, W) uint8.
    """

    rgb: NDArray[np.uint8] | None
    depth: NDArray[np.float32] | None
    instances: NDArray[np.int16] | None
    classes: NDArray[np.uint8] | None = None


class CountedView(NamedTuple):
    """One view, counted.

    Args:
        instances: (H, W) int16, 0 for the room itself.
        depth: (H, W) float32 metres along the optical axis, if asked for.
        sums: (I, 3) pixels of each instance, and the sums of their rows and of their columns.
    """

    instances: NDArray[np.int16]
    depth: NDArray[np.float32] | None
    sums: NDArray[np.int64]


class PicturePool:
    """Memory of pictures, handed out anew when nobody refers to it any more.

    Fresh memory of some megabytes costs more time, page by page, than drawing in it.
    """

    def __init__(self) -> None:
        self._lent: dict[tuple[int, type], list[NDArray[Any]]] = {}
        # How many references an array has that only a list knows, which interpreters count
        # differently.
        for array in [np.empty(1)]:
            self._unused = sys.getrefcount(array)

    def take(self, length: int, dtype: type) -> NDArray[Any]:
        """An array of this length with any content; it is the caller's while a view of it lives."""
        lent = self._lent.setdefault((length, dtype), [])
        for array in lent:
            if sys.getrefcount(array) == self._unused:
                return array
        array = np.empty(length, dtype=dtype)
        lent.append(array)
        # Whoever keeps many pictures keeps their memory, too; only the latest are worth watching.
        del lent[:-KEPT_PICTURES]
        return array


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
        self._stamp = 0
        self._memory = PicturePool()
        self._room = 0, 0
        self._scratch: Plain = ()

    def render(
        self,
        stage: Stage,
        eye: Vector,
        views: Sequence[tuple[float, float]],
        *,
        rgb: bool = True,
        depth: bool = False,
        instances: bool = True,
        classes_of: NDArray[np.uint8] | None = None,
        carried: bool = True,
    ) -> Images:
        """Pictures from ``eye`` towards each (yaw, pitch) in degrees.

        Args:
            views: yaw 0 looks towards +z, 90 towards +x; pitch is positive downwards.
            classes_of: (I,) class of each instance, if classes are wanted besides both.
            carried: whether what is carried is in the picture.
        """
        count, pixels = len(views), self.size * self.size
        take = self._memory.take
        classed = classes_of is not None and rgb and instances
        colours = take(count * pixels * 3 + 4 * BEYOND, np.uint8) if rgb else _NO_BYTES
        depths = take(count * pixels, np.float32) if depth else _NO_FLOATS
        names = take(count * pixels + BEYOND, np.int16) if instances else _NO_NAMES
        kinds = take(count * pixels + BEYOND, np.uint8) if classed else _NO_BYTES
        texels, levels = _NO_TEXELS, _NO_LEVELS
        if rgb:
            stage.light_up()
            texels, levels = texture_atlas()
        render_views(
            self._camera(eye, tuple(views)),
            stage.objects,
            tuple(stage.scene),
            texels,
            levels,
            _NO_BYTES if classes_of is None else classes_of,
            carried,
            self._stamp,
            self._scratch_for(stage),
            (colours, depths, names, kinds),
        )
        self._stamp = (self._stamp + count) % MOST_STAMPS
        shape = (count, self.size, self.size)
        return Images(
            rgb=colours[: count * pixels * 3].reshape(*shape, 3) if rgb else None,
            depth=depths.reshape(shape) if depth else None,
            instances=names[: count * pixels].reshape(shape) if instances else None,
            classes=kinds[: count * pixels].reshape(shape) if classed else None,
        )

    def look(
        self,
        stage: Stage,
        eye: Vector,
        view: tuple[float, float],
        classes_of: NDArray[np.uint8],
        *,
        wanted: int | None = None,
        depth: bool = False,
    ) -> CountedView:
        """What one view shows of which instance, without what is carried.

        Args:
            view: (yaw, pitch) as in ``render``.
            classes_of: (I,) class of each instance.
            wanted: the class that matters; the view may be left empty where it cannot be.
        """
        pixels = self.size * self.size
        names = self._memory.take(pixels + BEYOND, np.int16)
        depths = self._memory.take(pixels, np.float32) if depth else _NO_FLOATS
        sums = np.empty((len(classes_of), 3), dtype=np.int64)
        look(
            self._camera(eye, (view,)),
            stage.objects,
            tuple(stage.scene),
            classes_of,
            -1 if wanted is None else int(wanted),
            self._scratch_for(stage),
            (_NO_BYTES, depths, names, _NO_BYTES),
            sums,
        )
        shape = (self.size, self.size)
        return CountedView(
            names[:pixels].reshape(shape), depths.reshape(shape) if depth else None, sums
        )

    def _camera(self, eye: Vector, views: tuple[tuple[float, float], ...]) -> Plain:
        """The fields of ``Camera``."""
        return np.array(eye, dtype=np.float32), camera_bases(views), self.size, self.focal

    def _scratch_for(self, stage: Stage) -> Plain:
        """The fields of ``Scratch``, large enough for a stage."""
        polygons, objects = len(stage.scene.counts), len(stage.scene.spans)
        if polygons > self._room[0] or objects > self._room[1]:
            self._room = polygons, objects
            self._scratch = tuple(self._make_scratch(*self._room))
        return self._scratch

    def _make_scratch(self, polygons: int, objects: int) -> Scratch:
        size, pixels = self.size, self.size * self.size
        longest = max(STRETCH, size)
        words = np.zeros(-(-longest // 8), dtype=np.uint64)
        return Scratch(
            distances=np.zeros(polygons, dtype=np.float32),
            facing=np.zeros(polygons, dtype=np.int32),
            starts=np.zeros(polygons + 1, dtype=np.int32),
            ranges=np.zeros((objects, 2), dtype=np.int32),
            points=np.zeros((6, MAX_CORNERS * polygons + BEYOND), dtype=np.float32),
            edges=np.zeros((4, size + BEYOND), dtype=np.float32),
            limits=np.zeros((2, size + BEYOND), dtype=np.int32),
            inverse_depth=np.zeros(pixels + BEYOND, dtype=np.float32),
            polygons=np.zeros(pixels + BEYOND, dtype=np.float32),
            changes=words.view(np.uint8),
            words=words,
            ends=np.zeros(longest + 8, dtype=np.int32),
            terms=np.zeros((polygons, TERMS), dtype=np.float32),
            notes=np.zeros((polygons, 4), dtype=np.int32),
            work=np.zeros(PARTS * NEXT, dtype=np.float32),
            patches=np.zeros(NEXT, dtype=np.uint32),
        )


@lru_cache(maxsize=256)
def camera_bases(views: tuple[tuple[float, float], ...]) -> NDArray[np.float32]:
    """(V, 3, 3) ``camera_basis`` of each (yaw, pitch), made once."""
    bases = np.array([camera_basis(yaw, pitch) for yaw, pitch in views], dtype=np.float32)
    return bases.reshape(len(views), 3, 3)


def camera_basis(yaw: float, pitch: float) -> NDArray[np.float32]:
    """(3, 3) rows right, up, forward of a camera; yaw 0 is +z, 90 is +x, pitch positive is down."""
    # Equal directions give equal bytes, however many turns led there.
    y, p = math.radians(yaw % 360.0), math.radians(pitch)
    sin_y, cos_y, sin_p, cos_p = math.sin(y), math.cos(y), math.sin(p), math.cos(p)
    return np.array(
        [
            [cos_y, 0.0, -sin_y],
            [sin_y * sin_p, cos_p, cos_y * sin_p],
            [sin_y * cos_p, -sin_p, cos_y * cos_p],
        ],
        dtype=np.float32,
    )


_NO_TEXELS = np.zeros(0, dtype=np.uint32)
_NO_BYTES = np.zeros(0, dtype=np.uint8)
_NO_FLOATS = np.zeros(0, dtype=np.float32)
_NO_NAMES = np.zeros(0, dtype=np.int16)
_NO_LEVELS = np.zeros((0, 0), dtype=np.int32)
