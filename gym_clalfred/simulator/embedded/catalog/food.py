"""Fruit, vegetables, bread and eggs, whole and cut."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.shapes import (
    ball,
    block,
    darker,
    extrude,
    shape,
)
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_APPLES = (Paint((188, 32, 36)), Paint((118, 166, 52)), Paint((214, 176, 66)), Paint((170, 40, 52)))
_TOMATO = (Paint((214, 44, 30)), Paint((226, 74, 34)), Paint((196, 30, 36)))
_LEAF = (
    Paint((106, 164, 62), Texture.LEAVES, 0.08),
    Paint((134, 182, 78), Texture.LEAVES, 0.08),
    Paint((86, 146, 60), Texture.LEAVES, 0.08),
)
_POTATO = (
    Paint((166, 126, 78), Texture.SPECKLES, 0.05),
    Paint((186, 148, 92), Texture.SPECKLES, 0.05),
    Paint((140, 100, 66), Texture.SPECKLES, 0.05),
)
_CRUST = (Paint((170, 112, 56)), Paint((190, 134, 74)), Paint((136, 86, 46)))
_CRUMB = Paint((232, 204, 152), Texture.BREAD, 0.06)
_STALK = Paint((80, 60, 34))
_GREEN = Paint((62, 112, 44))


@shape(ObjectClass.Apple)
def _apple(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    skin = choose(style, "skin", _APPLES)
    top = choose(style, "blush", (skin, darker(skin, 1.18)))
    profile = [(0.45 * r, 0.0), (0.95 * r, 0.36 * h), (r, 0.6 * h), (0.34 * r, 0.86 * h)]
    b.lathe(profile, [darker(skin, 0.9), skin, top], sides=6)
    block(b, 0.0, 0.84 * h, 0.0, (0.07 * r, 0.16 * h, 0.07 * r), _STALK, "xXzZ")


@shape(ObjectClass.AppleSliced)
def _apple_slice(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    skin = choose(style, "skin", _APPLES)
    flesh = Paint((240, 228, 186))
    edge = [
        (-w, 0.55 * h),
        (-0.55 * w, h),
        (0.55 * w, h),
        (w, 0.55 * h),
        (0.5 * w, 0.0),
        (-0.5 * w, 0.0),
    ]
    extrude(b, edge, -d, d, skin, face=flesh)
    core = [(-0.2 * w, 0.4 * h), (0.2 * w, 0.4 * h), (0.0, 0.75 * h)]
    for z, outward in ((d + 0.0005, 1.0), (-d - 0.0005, -1.0)):
        b.polygon([(x, y, z) for x, y in core], (0, 0, outward), Paint((110, 70, 40)))


@shape(ObjectClass.Tomato)
def _tomato(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    skin = choose(style, "skin", _TOMATO)
    profile = [(0.5 * r, 0.0), (r, 0.4 * h), (0.86 * r, 0.76 * h), (0.4 * r, 0.92 * h)]
    b.lathe(profile, skin, sides=6)
    for angle in ((0.55, 0.16), (-0.3, 0.5), (-0.3, -0.5)):
        x, z = 0.8 * angle[0] * r, 0.8 * angle[1] * r
        corners = [(x, 0.93 * h, z), (-0.3 * z, h, 0.3 * x), (0.3 * z, h, -0.3 * x)]
        b.polygon(corners, (0, 1, 0), _GREEN)


@shape(ObjectClass.TomatoSliced)
def _tomato_slice(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    skin = choose(style, "skin", _TOMATO)
    b.cylinder(r, 0.0, 0.96 * h, skin, cap=Paint((230, 96, 70)))
    for x, z in ((0.4, 0.0), (-0.2, 0.36), (-0.2, -0.36)):
        seeds = [
            (r * (x + dx), h, r * (z + dz))
            for dx, dz in ((-0.2, 0), (0, 0.18), (0.2, 0), (0, -0.18))
        ]
        b.polygon(seeds, (0, 1, 0), Paint((244, 176, 96)))


@shape(ObjectClass.Lettuce)
def _lettuce(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    leaf = choose(style, "leaf", _LEAF)
    profile = [(0.35 * r, 0.0), (0.85 * r, 0.3 * h), (0.8 * r, 0.75 * h), (0.3 * r, h)]
    b.lathe(profile, [darker(leaf, 1.3), leaf, darker(leaf, 1.12)])
    for k, (x, z) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
        side = (z, -x)
        base, tip, wide = 0.72 * r, 0.95 * r, 0.5 * r
        corners = [
            (base * x - 0.5 * wide * side[0], 0.12 * h, base * z - 0.5 * wide * side[1]),
            (base * x + 0.5 * wide * side[0], 0.12 * h, base * z + 0.5 * wide * side[1]),
            (tip * x + wide * side[0], (0.66 + 0.06 * (k % 2)) * h, tip * z + wide * side[1]),
            (tip * x - wide * side[0], (0.66 + 0.06 * (k % 2)) * h, tip * z - wide * side[1]),
        ]
        b.polygon(corners, (x, 0.0, z), darker(leaf, 0.88))
        b.polygon(corners, (-x, 0.0, -z), darker(leaf, 1.15))


@shape(ObjectClass.LettuceSliced)
def _lettuce_slice(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    leaf = choose(style, "leaf", _LEAF)
    outline = [
        (-w, -0.3 * d),
        (-0.5 * w, -d),
        (0.4 * w, -0.9 * d),
        (w, -0.2 * d),
        (0.7 * w, 0.8 * d),
        (-0.2 * w, d),
        (-0.9 * w, 0.5 * d),
    ]
    extrude(b, outline, 0.0, 0.6 * h, leaf, face=darker(leaf, 1.2), lying=True)
    rib = [
        (-0.7 * w, 0.62 * h, -0.1 * d),
        (0.8 * w, 0.62 * h, -0.04 * d),
        (0.8 * w, 0.62 * h, 0.06 * d),
        (-0.7 * w, 0.62 * h, 0.12 * d),
    ]
    b.polygon(rib, (0, 1, 0), Paint((222, 232, 180)))
    block(b, -0.3 * w, 0.6 * h, 0.4 * d, (0.6 * w, 0.4 * h, 0.4 * d), darker(leaf, 0.9))


@shape(ObjectClass.Potato)
def _potato(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    skin = choose(style, "skin", _POTATO)
    ball(
        b, (0.0, h / 2, 0.0), (w / 2, h / 2, d / 2), [darker(skin, 0.85), skin, darker(skin, 1.08)]
    )


@shape(ObjectClass.PotatoSliced)
def _potato_slice(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    outline = [
        (w * x, d * z)
        for x, z in (
            (1, 0.2),
            (0.6, 0.9),
            (-0.3, 1),
            (-1, 0.3),
            (-0.9, -0.6),
            (-0.1, -1),
            (0.8, -0.8),
        )
    ]
    extrude(
        b, outline, 0.0, h, choose(style, "skin", _POTATO), face=Paint((236, 214, 140)), lying=True
    )


def _loaf(w: float, h: float) -> list[tuple[float, float]]:
    """The outline of a tin loaf: narrower at its base, rounded at its top."""
    corners = ((0.8, 0.0), (1.0, 0.66), (0.82, 0.92), (0.4, 1.0))
    right = [(w * x, h * y) for x, y in corners]
    return right + [(-x, y) for x, y in reversed(right)]


@shape(ObjectClass.Bread)
def _bread(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    crust = choose(style, "crust", _CRUST)
    loaf = choose(style, "form", (True, True, False))
    if loaf:
        extrude(b, _loaf(w, h), -d, d, crust, face=_CRUMB)
    else:
        ball(b, (0.0, 0.47 * h, 0.0), (w, 0.47 * h, d), [crust, crust, darker(crust, 1.2)], sides=8)
    level, wide, step = (h + 0.0005, 0.35 * w, 0.5 * d) if loaf else (0.945 * h, 0.2 * w, 0.16 * d)
    for z in (-step, 0.0, step):
        near, far = z - 0.12 * d, z + 0.03 * d
        cut = [(-wide, far), (wide, near), (wide, near + 0.05 * d), (-wide, far + 0.05 * d)]
        b.polygon([(x, level, q) for x, q in cut], (0, 1, 0), _CRUMB)


@shape(ObjectClass.BreadSliced)
def _bread_slice(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2]
    crust = choose(style, "crust", _CRUST)
    outline = [(x, d / 2 - z) for x, z in _loaf(w, d)]
    extrude(b, outline, 0.0, h, crust, face=_CRUMB, lying=True)


@shape(ObjectClass.Egg)
def _egg(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    shell = choose(
        style, "shell", (Paint((240, 232, 220)), Paint((214, 168, 128)), Paint((228, 202, 170)))
    )
    ball(b, (0.0, h / 2, 0.0), (w / 2, h / 2, d / 2), shell)


@shape(ObjectClass.EggCracked)
def _egg_cracked(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h = size[0] / 2, size[1]
    b.cylinder(w, 0.0, 0.2 * h, Paint((244, 242, 232)))
    b.lathe([(0.46 * w, 0.2 * h), (0.3 * w, h)], Paint((240, 180, 40)), sides=6, cap_bottom=False)
