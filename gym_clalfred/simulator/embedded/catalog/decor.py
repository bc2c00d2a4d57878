"""What hangs on walls and stands about: windows, pictures, plants, vases, toys."""

from __future__ import annotations

import math

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BLACK,
    DARK_STEEL,
    STEEL,
    WHITE,
    ball,
    block,
    bright,
    darker,
    fabric,
    folds,
    plate,
    rim,
    shape,
    tube,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture


def _framed(b: MeshBuilder, size: Vector, frame: Paint, edge: float, inside: Paint) -> None:
    """A flat rectangle in a frame, on a wall."""
    w, h, d = size[0] / 2, size[1], size[2] / 2
    b.box((-w, 0.0, -d), (w, h, d), darker(frame, 0.9), faces="xXyY")
    inner = (edge - w, edge, w - edge, h - edge)
    rim(b, (-w, 0.0, w, h), inner, d, frame, upright=True)
    plate(b, (inner[0], inner[1], 0.4 * d), (inner[2], inner[3], 0.4 * d), inside)


@shape(ObjectClass.Painting)
def _painting(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    colour = choose(
        style,
        "art",
        (
            (90, 140, 190),
            (196, 140, 80),
            (120, 160, 100),
            (180, 90, 90),
            (150, 120, 180),
            (210, 190, 120),
        ),
    )
    frame = choose(
        style, "frame", (wood(style), BLACK, Paint((190, 158, 84), Texture.METAL, 0.6), WHITE)
    )
    _framed(b, size, frame, 0.035, Paint(colour, Texture.PICTURE, 0.8 * min(size[0], size[1])))
    w, h, d = size
    x, y = (
        (0.2 * choose(style, "x", (-1, 0, 1))) * w,
        (0.34 + 0.1 * choose(style, "y", (0, 1, 2))) * h,
    )
    spot = Paint(bright(style).colour)
    corners = [
        (x + 0.13 * w * math.cos(k), y + 0.13 * w * math.sin(k), 0.22 * d)
        for k in (0.4, 1.66, 2.9, 4.17, 5.4)
    ]
    b.polygon(corners, (0, 0, 1), spot)


@shape(ObjectClass.Poster)
def _poster(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paper = bright(style)
    block(b, 0.0, 0.0, 0.0, size, darker(paper, 0.8), "xXyYZ", front=paper)
    z = d + 0.0005
    plate(
        b,
        (-0.8 * w, 0.3 * h, z),
        (0.8 * w, 0.92 * h, z),
        Paint(bright(style, "art").colour, Texture.PICTURE, w),
    )
    plate(
        b,
        (-0.8 * w, 0.08 * h, z),
        (0.8 * w, 0.22 * h, z),
        Paint((236, 234, 226), Texture.TEXT, 0.1),
    )


@shape(ObjectClass.Mirror)
def _mirror(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    frame = choose(style, "frame", (STEEL, wood(style), WHITE, DARK_STEEL))
    _framed(b, size, frame, 0.03, Paint((188, 208, 216), Texture.GLASS, 0.7, 0.25))


@shape(ObjectClass.Window)
def _window(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    frame = choose(style, "frame", (WHITE, WHITE, wood(style)))
    _framed(b, size, frame, 0.05, Paint((150, 196, 236), Texture.SKY, max(size[0], size[1]), 0.9))
    bars = choose(style, "bars", ("cross", "post", "rails"))
    if bars != "rails":
        plate(b, (-0.018, 0.05, 0.8 * d), (0.018, h - 0.05, 0.8 * d), frame)
    if bars != "post":
        plate(
            b, (0.05 - w, 0.5 * h - 0.018, 0.81 * d), (w - 0.05, 0.5 * h + 0.018, 0.81 * d), frame
        )


@shape(ObjectClass.Blinds)
def _blinds(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    slat = Paint(
        choose(style, "slat", ((226, 222, 210), (190, 160, 120), (206, 212, 216), (150, 150, 150)))
    )
    block(b, 0.0, h - 0.05, 0.0, (2 * w, 0.05, 2 * d), darker(slat, 0.85), "xXyYzZ")
    count = 8
    step = (h - 0.06) / count
    for k in range(count):
        y = k * step
        corners = [
            (-w, y, 0.5 * d),
            (w, y, 0.5 * d),
            (w, y + step * 0.9, -0.5 * d),
            (-w, y + step * 0.9, -0.5 * d),
        ]
        b.polygon(corners, (0, 0.3, 1), darker(slat, 1.0 if k % 2 else 0.93))


@shape(ObjectClass.Curtains)
def _curtains(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    cloth = choose(
        style,
        "cloth",
        (
            fabric(style),
            Paint(bright(style).colour, Texture.STRIPES, 0.2),
            Paint((228, 222, 208), Texture.FABRIC, 0.2),
        ),
    )
    tube(
        b,
        (-w, h - 0.02, 0.0),
        (w, h - 0.02, 0.0),
        0.016,
        choose(style, "rod", (DARK_STEEL, wood(style))),
    )
    for x0, x1 in ((0.02 - w, -0.5 * w), (0.5 * w, w - 0.02)):
        folds(b, (x0, x1), (0.0, h - 0.03), d, cloth, 5)


@shape(ObjectClass.HousePlant)
def _house_plant(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    pot = choose(
        style, "pot", (Paint((176, 96, 62)), WHITE, Paint((70, 74, 80)), Paint((90, 120, 150)))
    )
    leaf = Paint(
        choose(style, "leaf", ((62, 118, 52), (84, 140, 62), (48, 96, 60))), Texture.LEAVES, 0.12
    )
    r = 0.3 * w
    b.lathe([(0.7 * r, 0.0), (r, 0.3 * h)], pot, sides=6)
    b.lathe(
        [(0.9 * r, 0.301 * h), (0.88 * r, 0.303 * h)],
        Paint((66, 46, 34)),
        sides=6,
        cap_bottom=False,
    )
    if choose(style, "form", ("palm", "bush")) == "bush":
        block(b, 0.0, 0.3 * h, 0.0, (0.03, 0.16 * h, 0.03), Paint((96, 70, 44)), "xXzZ")
        ball(
            b,
            (0.0, 0.7 * h, 0.0),
            (0.5 * w, 0.3 * h, 0.5 * d),
            [darker(leaf, 0.8), leaf, darker(leaf, 1.15)],
        )
        return
    for k in range(7):
        angle = 2 * math.pi * k / 7
        reach, top = (0.48 * w, (0.72 + 0.14 * (k % 3)) * h)
        x, z = math.cos(angle), math.sin(angle)
        side = (-0.07 * w * z, 0.07 * w * x)
        base, mid, tip = (0.0, 0.3 * h), (0.55 * reach, top), (reach, top - 0.2 * h)
        for (r0, y0), (r1, y1), wide0, wide1 in ((base, mid, 0.5, 1.5), (mid, tip, 1.5, 0.1)):
            corners = [
                (r0 * x - wide0 * side[0], y0, r0 * z - wide0 * side[1]),
                (r0 * x + wide0 * side[0], y0, r0 * z + wide0 * side[1]),
                (r1 * x + wide1 * side[0], y1, r1 * z + wide1 * side[1]),
                (r1 * x - wide1 * side[0], y1, r1 * z - wide1 * side[1]),
            ]
            normal = (-(y1 - y0) * x, r1 - r0, -(y1 - y0) * z)
            b.polygon(corners, normal, darker(leaf, 1.1))
            b.polygon(corners, (-normal[0], -normal[1], -normal[2]), darker(leaf, 0.8))


@shape(ObjectClass.Vase)
def _vase(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    glaze = choose(
        style, "glaze", (bright(style), bright(style), Paint((170, 200, 206), Texture.GLASS, 0.1))
    )
    band = choose(style, "band", (glaze, darker(glaze, 0.7), WHITE))
    form = choose(
        style,
        "form",
        (
            ((0.55, 0.0), (1.0, 0.4), (0.45, 0.8), (0.6, 1.0)),
            ((0.6, 0.0), (0.7, 0.3), (0.8, 0.6), (1.0, 1.0)),
            ((0.5, 0.0), (1.0, 0.55), (0.9, 0.75), (0.4, 1.0)),
        ),
    )
    profile = [(r * u, h * v) for u, v in form]
    b.lathe(profile, [glaze, band, glaze], cap_top=False)
    b.lathe(
        [(0.5 * profile[-1][0], 0.8 * h), (profile[-1][0], h)], darker(glaze, 0.45), inward=True
    )


@shape(ObjectClass.Statue)
def _statue(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    stone = choose(
        style,
        "stone",
        (
            Paint((206, 202, 192), Texture.MARBLE, 0.2),
            Paint((120, 96, 62), Texture.METAL, 0.6),
            Paint((70, 74, 76)),
            Paint((166, 130, 92), Texture.WOOD, 0.1),
        ),
    )
    block(b, 0.0, 0.0, 0.0, (0.7 * w, 0.12 * h, 0.8 * d), darker(stone, 0.7))
    form = choose(style, "form", ("figure", "horse", "bust"))
    if form == "figure":
        b.lathe(
            [(0.3 * w, 0.12 * h), (0.2 * w, 0.4 * h), (0.3 * w, 0.66 * h), (0.1 * w, 0.76 * h)],
            stone,
            sides=6,
            stretch=0.7,
        )
        ball(b, (0.0, 0.87 * h, 0.0), (0.15 * w, 0.13 * h, 0.15 * w), stone)
        tube(b, (0.24 * w, 0.64 * h, 0.0), (0.46 * w, 0.8 * h, 0.0), 0.05 * w, stone)
        return
    if form == "bust":
        b.lathe(
            [
                (0.2 * w, 0.12 * h),
                (0.2 * w, 0.28 * h),
                (0.5 * w, 0.36 * h),
                (0.4 * w, 0.52 * h),
                (0.16 * w, 0.58 * h),
            ],
            stone,
            sides=6,
            stretch=0.6,
        )
        ball(b, (0.0, 0.79 * h, 0.0), (0.22 * w, 0.21 * h, 0.24 * w), stone)
        return
    for x in (-0.26 * w, 0.26 * w):
        for z in (-0.16 * d, 0.16 * d):
            block(b, x, 0.12 * h, z, (0.1 * w, 0.34 * h, 0.1 * w), stone, "xXzZ")
    block(b, 0.0, 0.44 * h, 0.0, (0.7 * w, 0.24 * h, 0.5 * d), stone, "xXyYzZ")
    tube(b, (0.28 * w, 0.6 * h, 0.0), (0.38 * w, 0.9 * h, 0.0), 0.1 * w, stone, end_radius=0.07 * w)
    b.box((0.28 * w, 0.84 * h, -0.07 * w), (0.5 * w, h, 0.07 * w), stone)


@shape(ObjectClass.Candle)
def _candle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    wax = Paint(
        choose(
            style,
            "wax",
            ((240, 232, 204), (170, 40, 44), (216, 190, 140), (110, 130, 100), (214, 170, 190)),
        )
    )
    b.lathe([(r, 0.0), (r, 0.82 * h)], wax, sides=6)
    block(b, 0.0, 0.82 * h, 0.0, (0.006, 0.08 * h, 0.006), BLACK, "xXzZ")
    flame = Paint((255, 190, 70), glow=1.0)
    b.lathe([(0.0, 0.86 * h), (0.14 * r, 0.91 * h), (0.0, h)], flame, sides=4)


@shape(ObjectClass.TeddyBear)
def _teddy(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    fur = Paint(
        choose(style, "fur", ((150, 104, 62), (196, 160, 112), (110, 78, 54), (214, 208, 196))),
        Texture.CARPET,
        0.06,
    )
    ball(b, (0.0, 0.29 * h, -0.1 * d), (0.3 * w, 0.29 * h, 0.36 * d), fur)
    ball(b, (0.0, 0.73 * h, -0.05 * d), (0.27 * w, 0.21 * h, 0.32 * d), fur)
    for side in (-1, 1):
        block(
            b,
            side * 0.24 * w,
            0.86 * h,
            -0.05 * d,
            (0.16 * w, 0.14 * h, 0.08 * d),
            darker(fur, 0.8),
            "xXYzZ",
        )
        block(b, side * 0.22 * w, 0.0, 0.3 * d, (0.2 * w, 0.18 * h, 0.4 * d), darker(fur, 0.92))
        tube(
            b,
            (side * 0.24 * w, 0.46 * h, 0.0),
            (side * 0.44 * w, 0.3 * h, 0.12 * d),
            0.06 * w,
            darker(fur, 0.92),
        )
    plate(b, (-0.09 * w, 0.62 * h, 0.27 * d), (0.09 * w, 0.74 * h, 0.27 * d), darker(fur, 1.3))
    plate(b, (-0.03 * w, 0.7 * h, 0.275 * d), (0.03 * w, 0.74 * h, 0.275 * d), BLACK)


@shape(ObjectClass.WateringCan)
def _watering_can(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    tin = choose(
        style,
        "tin",
        (
            Paint((70, 130, 90)),
            STEEL,
            Paint((60, 110, 160)),
            Paint((196, 70, 56)),
            Paint((220, 190, 80)),
        ),
    )
    r = d / 2
    x = w / 2 - r - 0.03
    b.lathe([(r, 0.0), (0.86 * r, 0.7 * h)], tin, centre=(x, 0.0), sides=6, cap_top=False)
    b.lathe(
        [(0.8 * r, 0.1 * h), (0.86 * r, 0.7 * h)],
        darker(tin, 0.5),
        centre=(x, 0.0),
        sides=6,
        inward=True,
    )
    tube(b, (x - 0.8 * r, 0.2 * h, 0.0), (0.02 - w / 2, 0.86 * h, 0.0), 0.016, tin, caps=False)
    tube(
        b,
        (0.03 - w / 2, 0.82 * h, 0.0),
        (0.012 - w / 2, 0.92 * h, 0.0),
        0.012,
        darker(tin, 0.8),
        end_radius=0.012 + 0.012,
    )
    b.box((x, 0.9 * h, -0.01), (w / 2, h, 0.01), darker(tin, 0.85))
    block(b, w / 2 - 0.01, 0.3 * h, 0.0, (0.02, 0.6 * h, 0.02), darker(tin, 0.85), "xXyzZ")
    block(b, x, 0.66 * h, 0.0, (0.02, 0.24 * h, 0.02), darker(tin, 0.85), "xXzZ")
