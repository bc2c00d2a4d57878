"""Meshes of convex planar polygons, and a builder that makes them from simple solids."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.arrays import Faces

#: Most corners a polygon may have.
MAX_CORNERS = 8

#: Square metres from which a level polygon shows the shadows of what stands on it.
SHELF_AREA = 0.03

Colour = tuple[int, int, int]


class Texture(IntEnum):
    """Procedural patterns; each modulates the polygon's colour in the polygon's own plane."""

    PLAIN = 0
    WOOD = 1
    PLANKS = 2
    TILES = 3
    BRICKS = 4
    MARBLE = 5
    FABRIC = 6
    CARPET = 7
    METAL = 8
    STRIPES = 9
    CHECKS = 10
    SPECKLES = 11
    LEAVES = 12
    PICTURE = 13
    TEXT = 14
    GLASS = 15
    SKY = 16
    BREAD = 17
    BURNER = 18
    KEYS = 19
    WALLPAPER = 20
    TERRAZZO = 21


@dataclass(frozen=True)
class Mesh:
    """Polygons in an object's own frame: origin at the centre of its base, front towards +z.

    Args:
        corners: (P, MAX_CORNERS, 3) float32, in order around the polygon, either way.
        counts: (P,) int32 corners in use per polygon.
        normals: (P, 3) float32 outward unit normals; a polygon is drawn only from their side.
        colours: (P, 3) uint8 sRGB.
        textures: (P,) int32, values of ``Texture``.
        scales: (P,) float32 metres per pattern repeat.
        glow: (P,) float32; 0 is lit by the room, 1 shines by itself.
        bends: (P, 3) float32 direction in which a rounded surface turns, over its radius; zeros,
            also if left out, are flat. Makes few-sided cylinders look round.
    """

    corners: NDArray[np.float32]
    counts: NDArray[np.int32]
    normals: NDArray[np.float32]
    colours: NDArray[np.uint8]
    textures: NDArray[np.int32]
    scales: NDArray[np.float32]
    glow: NDArray[np.float32]
    bends: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 3), np.float32))

    def __post_init__(self) -> None:
        if len(self.bends) != len(self.counts):
            object.__setattr__(self, "bends", np.zeros((len(self.counts), 3), dtype=np.float32))

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def faces(self) -> tuple[NDArray[Any], ...]:
        """The fields of ``Faces``, as kernels take them."""
        return tuple(getattr(self, name) for name in Faces._fields)

    @cached_property
    def areas(self) -> NDArray[np.float32]:
        """(P,) square metres."""
        spokes = self.corners[:, 1:] - self.corners[:, :1]
        used = np.arange(2, MAX_CORNERS) < self.counts[:, None]
        normals = np.cross(spokes[:, :-1], spokes[:, 1:]) * used[..., None]
        return np.linalg.norm(normals.sum(axis=1), axis=1).astype(np.float32) / 2

    @cached_property
    def shelves(self) -> NDArray[np.int64]:
        """The level polygons on which the shadows of other objects show."""
        level = (self.normals[:, 1] > 0.95) & (self.glow == 0)
        return np.flatnonzero(level & (self.areas >= SHELF_AREA))

    @cached_property
    def bounds(self) -> tuple[Vector, Vector]:
        """Low and high corner of the mesh's box."""
        used = self.corners[np.arange(MAX_CORNERS) < self.counts[:, None]]
        low, high = used.min(axis=0).tolist(), used.max(axis=0).tolist()
        return (low[0], low[1], low[2]), (high[0], high[1], high[2])


@dataclass(frozen=True)
class Paint:
    """How a polygon is painted."""

    colour: Colour
    texture: Texture = Texture.PLAIN
    scale: float = 0.3
    glow: float = 0.0


class MeshBuilder:
    """Collects polygons; every method returns the builder, so calls chain."""

    def __init__(self) -> None:
        self._polygons: list[tuple[list[Vector], Vector, Paint, Vector]] = []

    def polygon(
        self,
        corners: Sequence[Vector],
        outward: Vector,
        paint: Paint,
        bend: Vector = (0.0, 0.0, 0.0),
    ) -> MeshBuilder:
        """Adds one convex planar polygon that is seen from the side ``outward`` points to."""
        if not 3 <= len(corners) <= MAX_CORNERS:
            raise ValueError(f"a polygon has 3 to {MAX_CORNERS} corners, got {len(corners)}")
        self._polygons.append((list(corners), outward, paint, bend))
        return self

    def box(
        self,
        low: Vector,
        high: Vector,
        paint: Paint,
        *,
        faces: str = "xXyYzZ",
        top: Paint | None = None,
        front: Paint | None = None,
    ) -> MeshBuilder:
        """Adds an axis-parallel box; ``faces`` names those to draw (lower case = low side)."""
        (x0, y0, z0), (x1, y1, z1) = low, high
        quads: dict[str, tuple[list[Vector], Vector]] = {
            "x": ([(x0, y0, z0), (x0, y0, z1), (x0, y1, z1), (x0, y1, z0)], (-1, 0, 0)),
            "X": ([(x1, y0, z0), (x1, y1, z0), (x1, y1, z1), (x1, y0, z1)], (1, 0, 0)),
            "y": ([(x0, y0, z0), (x1, y0, z0), (x1, y0, z1), (x0, y0, z1)], (0, -1, 0)),
            "Y": ([(x0, y1, z0), (x0, y1, z1), (x1, y1, z1), (x1, y1, z0)], (0, 1, 0)),
            "z": ([(x0, y0, z0), (x0, y1, z0), (x1, y1, z0), (x1, y0, z0)], (0, 0, -1)),
            "Z": ([(x0, y0, z1), (x1, y0, z1), (x1, y1, z1), (x0, y1, z1)], (0, 0, 1)),
        }
        for face in faces:
            corners, outward = quads[face]
            chosen = top if face == "Y" and top else front if face == "Z" and front else paint
            self.polygon(corners, outward, chosen)
        return self

    def lathe(
        self,
        profile: Sequence[tuple[float, float]],
        paint: Paint | Sequence[Paint],
        *,
        centre: tuple[float, float] = (0.0, 0.0),
        sides: int = 8,
        cap_bottom: bool = True,
        cap_top: bool = True,
        inward: bool = False,
        stretch: float = 1.0,
    ) -> MeshBuilder:
        """Adds a solid of revolution about the y axis through ``centre``.

        Args:
            profile: (radius, y) from the bottom up; radius 0 makes a point.
            paint: one for all rings, or one per ring.
            sides: corners of a ring, at most ``MAX_CORNERS``.
            inward: draw the inner side, as of a bowl; caps then face up.
            stretch: scales z, for ovals.
        """
        angles = [2 * math.pi * (k + 0.5) / sides for k in range(sides)]
        rings = [
            [
                (centre[0] + r * math.cos(a), y, centre[1] + stretch * r * math.sin(a))
                for a in angles
            ]
            for r, y in profile
        ]
        sign = -1.0 if inward else 1.0
        for i, ((r0, y0), (r1, y1)) in enumerate(itertools.pairwise(profile)):
            ring_paint = paint if isinstance(paint, Paint) else paint[i]
            if abs(y1 - y0) < 1e-9 and abs(r1 - r0) < 1e-9:
                continue
            for k in range(sides):
                n = (k + 1) % sides
                corners = [rings[i][k], rings[i][n], rings[i + 1][n], rings[i + 1][k]]
                if r0 == 0:
                    corners = [rings[i][k], rings[i + 1][n], rings[i + 1][k]]
                elif r1 == 0:
                    corners = [rings[i][k], rings[i][n], rings[i + 1][k]]
                middle = angles[k] + math.pi / sides
                slope = r0 - r1
                outward = (
                    sign * (y1 - y0) * math.cos(middle),
                    sign * slope,
                    sign * (y1 - y0) * math.sin(middle),
                )
                curve = sign / max(r0, r1)
                bend = (-math.sin(middle) * curve, 0.0, math.cos(middle) * curve)
                self.polygon(corners, outward, ring_paint, bend)
        first = paint if isinstance(paint, Paint) else paint[0]
        last = paint if isinstance(paint, Paint) else paint[-1]
        if cap_bottom and profile[0][0] > 0:
            self.polygon(rings[0], (0, 1 if inward else -1, 0), first)
        if cap_top and profile[-1][0] > 0 and not inward:
            self.polygon(rings[-1], (0, 1, 0), last)
        return self

    def cylinder(
        self,
        radius: float,
        bottom: float,
        top: float,
        paint: Paint,
        *,
        centre: tuple[float, float] = (0.0, 0.0),
        sides: int = 8,
        cap: Paint | None = None,
    ) -> MeshBuilder:
        """Adds an upright cylinder; ``cap`` paints its top."""
        self.lathe(
            [(radius, bottom), (radius, top)],
            paint,
            centre=centre,
            sides=sides,
            cap_top=cap is None,
        )
        if cap is not None:
            ring = [2 * math.pi * (k + 0.5) / sides for k in range(sides)]
            corners = [
                (centre[0] + radius * math.cos(a), top, centre[1] + radius * math.sin(a))
                for a in ring
            ]
            self.polygon(corners, (0, 1, 0), cap)
        return self

    def build(self) -> Mesh:
        """The mesh of all polygons added so far."""
        count = len(self._polygons)
        counts = np.array([len(points) for points, *_ in self._polygons], dtype=np.int32)
        # Filled up with the last corner, which adds nothing to the sum of cross products below.
        filled = np.array(
            [
                (*points, *[points[-1]] * (MAX_CORNERS - len(points)))
                for points, *_ in self._polygons
            ],
            dtype=np.float64,
        ).reshape(count, MAX_CORNERS, 3)
        # All corners take part, so that some may lie on a straight line.
        spokes = filled[:, 1:] - filled[:, :1]
        normals = np.cross(spokes[:, :-1], spokes[:, 1:]).sum(axis=1)
        lengths = np.linalg.norm(normals, axis=1)
        for i in np.flatnonzero(lengths < 1e-12):
            raise ValueError(f"polygon {i} has no area: {self._polygons[i][0]}")
        normals /= lengths[:, None]
        outward = np.array([side for _, side, *_ in self._polygons]).reshape(count, 3)
        normals[(normals * outward).sum(axis=1) < 0] *= -1.0
        used = np.arange(MAX_CORNERS) < counts[:, None]
        corners = np.where(used[..., None], filled, 0.0).astype(np.float32)
        paints = [paint for _, _, paint, _ in self._polygons]
        bends = [bend for *_, bend in self._polygons]
        return Mesh(
            corners=corners,
            counts=counts,
            normals=normals.astype(np.float32),
            colours=np.array([paint.colour for paint in paints], dtype=np.uint8).reshape(count, 3),
            textures=np.array([paint.texture for paint in paints], dtype=np.int32),
            scales=np.array([paint.scale for paint in paints], dtype=np.float32),
            glow=np.array([paint.glow for paint in paints], dtype=np.float32),
            bends=np.array(bends, dtype=np.float32).reshape(count, 3),
        )
