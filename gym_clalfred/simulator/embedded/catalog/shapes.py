"""The drawing function of each class, and the solids and paints that they share."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence

import numpy as np

from gym_clalfred.classes import INSTALLED
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.render.mesh import Colour, MeshBuilder, Paint, Texture

Draw = Callable[[MeshBuilder, Vector, int, Appearance], None]

_GROUPS = (
    "appliances",
    "bathroom",
    "decor",
    "food",
    "gadgets",
    "kitchenware",
    "leisure",
    "seats",
    "storage",
    "tables",
    "toiletries",
)
_SHAPES: dict[ObjectClass, Draw] = {}

STEEL = Paint((186, 190, 194), Texture.METAL, 0.6)
BIG_STEEL = Paint((186, 190, 194), Texture.METAL, 2.5)
DARK_STEEL = Paint((92, 94, 98), Texture.METAL, 0.6)
BLACK = Paint((32, 32, 34))
WHITE = Paint((238, 238, 234))
CERAMIC = Paint((240, 241, 240))

WOODS: tuple[Colour, ...] = (
    (160, 112, 66),
    (110, 70, 42),
    (198, 156, 104),
    (88, 56, 36),
    (214, 186, 142),
    (138, 84, 52),
)
BRIGHTS: tuple[Colour, ...] = (
    (200, 58, 48),
    (52, 96, 168),
    (228, 180, 60),
    (70, 140, 90),
    (236, 236, 230),
    (60, 62, 70),
    (216, 120, 60),
    (130, 90, 160),
    (90, 170, 180),
    (225, 150, 170),
)
FABRICS: tuple[Colour, ...] = (
    (120, 128, 140),
    (148, 66, 58),
    (196, 178, 148),
    (66, 86, 112),
    (92, 112, 84),
    (88, 68, 58),
    (178, 150, 96),
    (58, 60, 68),
)


def shape(*object_classes: ObjectClass) -> Callable[[Draw], Draw]:
    """Registers a function as the one that draws these classes."""

    def register(draw: Draw) -> Draw:
        for object_class in object_classes:
            _SHAPES[object_class] = draw
        return draw

    return register


def shape_of(object_class: ObjectClass) -> Draw:
    """What draws an object of a class; takes a builder, the size, the style and the look."""
    if object_class not in _SHAPES:
        for group in _GROUPS:
            importlib.import_module(f"{__package__}.{group}")
        for name, record in INSTALLED.items():
            module, _, function = record.draw.partition(":")
            _SHAPES[ObjectClass[name]] = getattr(importlib.import_module(module), function)
    return _SHAPES[object_class]


def shade(colour: Colour, factor: float) -> Colour:
    """The colour made darker (below 1) or lighter."""
    r, g, b = (max(0, min(255, round(channel * factor))) for channel in colour)
    return (r, g, b)


def wood(style: int, label: str = "wood") -> Paint:
    """One of the woods."""
    return Paint(choose(style, label, WOODS), Texture.WOOD, 0.35)


def bright(style: int, label: str = "bright") -> Paint:
    """One of the colours of household goods."""
    return Paint(choose(style, label, BRIGHTS))


def fabric(style: int, label: str = "fabric") -> Paint:
    """One of the upholsteries."""
    return Paint(choose(style, label, FABRICS), Texture.FABRIC, 0.12)


def darker(paint: Paint, factor: float = 0.72) -> Paint:
    """The same material in a darker (or lighter) colour."""
    return Paint(shade(paint.colour, factor), paint.texture, paint.scale, paint.glow)


def block(
    b: MeshBuilder,
    x: float,
    y: float,
    z: float,
    size: Vector,
    paint: Paint,
    faces: str = "xXYzZ",
    *,
    top: Paint | None = None,
    front: Paint | None = None,
) -> None:
    """A box whose base is centred at (x, y, z); by default without its underside."""
    w, h, d = size[0] / 2, size[1], size[2] / 2
    b.box((x - w, y, z - d), (x + w, y + h, z + d), paint, faces=faces, top=top, front=front)


def plate(
    b: MeshBuilder, low: Vector, high: Vector, paint: Paint, outward: Vector = (0, 0, 1)
) -> None:
    """One rectangle between two opposite corners, thin along the axis it faces."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    if outward[0]:
        corners = [(x0, y0, z0), (x0, y1, z0), (x0, y1, z1), (x0, y0, z1)]
    elif outward[1]:
        corners = [(x0, y0, z0), (x1, y0, z0), (x1, y0, z1), (x0, y0, z1)]
    else:
        corners = [(x0, y0, z0), (x1, y0, z0), (x1, y1, z0), (x0, y1, z0)]
    b.polygon(corners, outward, paint)


def cavity(b: MeshBuilder, low: Vector, high: Vector, paint: Paint, faces: str = "xXyYz") -> None:
    """The inside of a box, seen from within; ``faces`` names the walls to draw."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    walls: dict[str, tuple[Vector, Vector, Vector]] = {
        "x": ((x0, y0, z0), (x0, y1, z1), (1, 0, 0)),
        "X": ((x1, y0, z0), (x1, y1, z1), (-1, 0, 0)),
        "y": ((x0, y0, z0), (x1, y0, z1), (0, 1, 0)),
        "Y": ((x0, y1, z0), (x1, y1, z1), (0, -1, 0)),
        "z": ((x0, y0, z0), (x1, y1, z0), (0, 0, 1)),
        "Z": ((x0, y0, z1), (x1, y1, z1), (0, 0, -1)),
    }
    for face in faces:
        corner, opposite, outward = walls[face]
        plate(b, corner, opposite, paint, outward)


def rim(
    b: MeshBuilder,
    outer: tuple[float, float, float, float],
    inner: tuple[float, float, float, float],
    level: float,
    paint: Paint,
    *,
    upright: bool = False,
) -> None:
    """The flat frame between two rectangles (low u, low v, high u, high v).

    It lies at height ``level`` in x and z, or stands ``upright`` at z = ``level`` in x and y.
    """
    (a0, b0, a1, b1), (c0, d0, c1, d1) = outer, inner
    for u0, v0, u1, v1 in ((a0, b0, a1, d0), (a0, d1, a1, b1), (a0, d0, c0, d1), (c1, d0, a1, d1)):
        if u1 - u0 < 1e-6 or v1 - v0 < 1e-6:
            continue
        if upright:
            plate(b, (u0, v0, level), (u1, v1, level), paint)
        else:
            plate(b, (u0, level, v0), (u1, level, v1), paint, (0, 1, 0))


def legs(b: MeshBuilder, size: Vector, top: float, thick: float, paint: Paint) -> None:
    """Four square legs in the corners of a footprint, up to ``top``."""
    x, z = size[0] / 2 - thick / 2 - 0.01, size[2] / 2 - thick / 2 - 0.01
    for sx in (-x, x):
        for sz in (-z, z):
            block(b, sx, 0.0, sz, (thick, top, thick), paint, "xXzZ")


def tube(
    b: MeshBuilder,
    start: Vector,
    end: Vector,
    radius: float,
    paint: Paint,
    *,
    sides: int = 4,
    end_radius: float | None = None,
    caps: bool = True,
) -> None:
    """A straight rod from ``start`` to ``end``, possibly tapered."""
    a, c = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    axis = (c - a) / np.linalg.norm(c - a)
    helper = np.array([0.0, 1.0, 0.0]) if abs(axis[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
    u = np.cross(axis, helper)
    u /= np.linalg.norm(u)
    v = np.cross(axis, u)
    last = radius if end_radius is None else end_radius
    angles = [2 * math.pi * (k + 0.5) / sides for k in range(sides)]
    spokes = [math.cos(t) * u + math.sin(t) * v for t in angles]
    for k in range(sides):
        p, q = spokes[k], spokes[(k + 1) % sides]
        corners = [a + radius * p, a + radius * q, c + last * q, c + last * p]
        bend = (q - p) / (np.linalg.norm(q - p) * max(radius, last))
        b.polygon([_vector(corner) for corner in corners], _vector(p + q), paint, _vector(bend))
    if caps:
        b.polygon([_vector(a + radius * s) for s in spokes], _vector(-axis), paint)
        b.polygon([_vector(c + last * s) for s in spokes], _vector(axis), paint)


def ball(
    b: MeshBuilder,
    centre: Vector,
    radii: Vector,
    paint: Paint | Sequence[Paint],
    *,
    sides: int = 6,
) -> None:
    """An ellipsoid of three rings, blunt at both ends."""
    x, y, z = centre
    w, h, d = radii
    profile = [(0.45 * w, y - h), (w, y - 0.25 * h), (0.9 * w, y + 0.4 * h), (0.4 * w, y + h)]
    b.lathe(profile, paint, centre=(x, z), sides=sides, stretch=d / w)


def extrude(
    b: MeshBuilder,
    outline: Sequence[tuple[float, float]],
    z0: float,
    z1: float,
    paint: Paint,
    *,
    face: Paint | None = None,
    lying: bool = False,
) -> None:
    """A convex outline in x and y drawn out from z0 to z1; ``lying`` swaps y and z.

    ``face`` paints the two outlines, or the upper one only if the solid lies.
    """

    def place(u: float, v: float, w: float) -> Vector:
        return (u, w, v) if lying else (u, v, w)

    middle = (
        sum(u for u, _ in outline) / len(outline),
        sum(v for _, v in outline) / len(outline),
    )
    ends = face or paint
    b.polygon([place(u, v, z1) for u, v in outline], place(0, 0, 1), ends)
    b.polygon([place(u, v, z0) for u, v in outline], place(0, 0, -1), paint if lying else ends)
    for (u0, v0), (u1, v1) in zip(outline, [*outline[1:], outline[0]], strict=True):
        outward = place((u0 + u1) / 2 - middle[0], (v0 + v1) / 2 - middle[1], 0.0)
        corners = [place(u0, v0, z0), place(u1, v1, z0), place(u1, v1, z1), place(u0, v0, z1)]
        b.polygon(corners, outward, paint)


def folds(
    b: MeshBuilder,
    span: tuple[float, float],
    height: tuple[float, float],
    depth: float,
    paint: Paint,
    count: int,
) -> None:
    """A hanging cloth in zigzag folds, seen from both sides."""
    step = (span[1] - span[0]) / count
    for k in range(count):
        x0, x1 = span[0] + k * step, span[0] + (k + 1) * step
        z0, z1 = (depth, -depth) if k % 2 else (-depth, depth)
        z0, z1 = 0.9 * z0, 0.9 * z1
        corners = [
            (x0, height[0], z0),
            (x1, height[0], z1),
            (x1, height[1], z1),
            (x0, height[1], z0),
        ]
        for facing in (1.0, -1.0):
            b.polygon(corners, (0.0, 0.0, facing), darker(paint, 0.88 if k % 2 else 1.0))


def _vector(array: np.ndarray) -> Vector:
    return (float(array[0]), float(array[1]), float(array[2]))


_UNITS = (
    Paint((228, 224, 214)),
    Paint((150, 104, 62), Texture.WOOD, 0.4),
    Paint((96, 62, 40), Texture.WOOD, 0.4),
    Paint((196, 160, 112), Texture.WOOD, 0.4),
    Paint((170, 116, 64), Texture.WOOD, 0.4),
    Paint((122, 74, 50), Texture.WOOD, 0.4),
    Paint((128, 142, 146)),
    Paint((94, 118, 108)),
    Paint((70, 84, 104)),
)
_WORKTOPS = (
    Paint((70, 70, 74), Texture.TERRAZZO, 0.2),
    Paint((206, 200, 188), Texture.MARBLE, 0.5),
    Paint((176, 132, 84), Texture.WOOD, 0.4),
    Paint((150, 148, 142), Texture.TERRAZZO, 0.2),
    Paint((232, 230, 226), Texture.MARBLE, 0.5),
    Paint((112, 92, 78), Texture.TERRAZZO, 0.2),
)


def choose_unit(style: int) -> Paint:
    """The body and front of furniture into which drawers and cabinets are built.

    Equal for equal styles, so that a drawer matches its dresser and a cabinet its counter.
    """
    return choose(style, "unit", _UNITS)


def choose_worktop(style: int) -> Paint:
    """The worktop on kitchen and bathroom units; equal for equal styles."""
    return choose(style, "worktop", _WORKTOPS)
