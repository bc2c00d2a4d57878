"""Books, papers, sports gear and boots."""

from __future__ import annotations

import math

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BLACK,
    DARK_STEEL,
    WHITE,
    block,
    bright,
    darker,
    plate,
    shape,
    tube,
)
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_UP = (0.0, 1.0, 0.0)


@shape(ObjectClass.Book)
def _book(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    cover = bright(style)
    pages = Paint((236, 230, 210), Texture.STRIPES, 0.008)
    b.box((-w, 0.0, -d), (w, 0.12 * h, d), cover)
    b.box((-w, 0.88 * h, -d), (w, h, d), cover)
    b.box((-0.98 * w, 0.12 * h, -0.95 * d), (0.94 * w, 0.88 * h, 0.95 * d), pages, faces="XzZ")
    b.box((-w, 0.12 * h, -d), (-0.98 * w, 0.88 * h, d), darker(cover, 0.85), faces="x")
    y = h + 0.0005
    plate(b, (-0.6 * w, y, -0.6 * d), (0.6 * w, y, -0.2 * d), bright(style, "title"), _UP)
    plate(
        b,
        (-0.6 * w, y, 0.5 * d),
        (0.6 * w, y, 0.7 * d),
        Paint((236, 232, 220), Texture.TEXT, 0.05),
        _UP,
    )


@shape(ObjectClass.Newspaper)
def _newspaper(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paper = Paint((214, 212, 202))
    b.box(
        (-w, 0.0, -d),
        (w, h, d),
        darker(paper, 0.85),
        top=Paint((220, 218, 208), Texture.TEXT, 0.06),
    )
    y = h + 0.0005
    plate(b, (-0.9 * w, y, -0.92 * d), (0.9 * w, y, -0.74 * d), Paint((40, 40, 44)), _UP)
    x = choose(style, "photo", (-0.5, 0.1)) * w
    plate(
        b,
        (x, y, -0.6 * d),
        (x + 0.7 * w, y, -0.05 * d),
        Paint((120, 122, 128), Texture.PICTURE, 0.1),
        _UP,
    )


@shape(ObjectClass.BaseballBat)
def _bat(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    stick = choose(
        style,
        "stick",
        (
            Paint((206, 160, 100), Texture.WOOD, 0.2),
            Paint((150, 96, 56), Texture.WOOD, 0.2),
            DARK_STEEL,
            Paint((170, 40, 40)),
        ),
    )
    y, r = h / 2, 0.5 * w
    tube(b, (0.0, y, -d / 2), (0.0, y, -0.1 * d), 0.95 * r, stick, sides=6, caps=True)
    tube(
        b,
        (0.0, y, -0.1 * d),
        (0.0, y, 0.2 * d),
        0.95 * r,
        stick,
        sides=6,
        end_radius=0.4 * r,
        caps=False,
    )
    tube(
        b,
        (0.0, y, 0.2 * d),
        (0.0, y, 0.48 * d),
        0.4 * r,
        choose(style, "grip", (BLACK, Paint((60, 60, 120)))),
        sides=6,
        caps=False,
    )
    tube(b, (0.0, y, 0.48 * d), (0.0, y, d / 2), 0.62 * r, stick, sides=6)


@shape(ObjectClass.BasketBall)
def _basket_ball(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r = size[0] / 2
    skin = Paint(
        choose(style, "skin", ((206, 100, 40), (190, 86, 36), (216, 118, 50))),
        Texture.SPECKLES,
        0.04,
    )
    seam = Paint((40, 30, 26))
    angles = (-80, -40, -4, 4, 40, 80)
    profile = [(r * math.cos(math.radians(a)), r + r * math.sin(math.radians(a))) for a in angles]
    b.lathe(profile, [skin, skin, seam, skin, skin])


@shape(ObjectClass.TennisRacket)
def _racket(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    frame = bright(style)
    y0, y1 = 0.25 * h, 0.75 * h
    rx, rz, z = w / 2, 0.27 * d, -0.23 * d
    rings = [
        [
            (k * rx * math.cos(a), z + k * rz * math.sin(a))
            for a in (2 * math.pi * (i + 0.5) / 8 for i in range(8))
        ]
        for k in (1.0, 0.86)
    ]
    for i in range(8):
        n = (i + 1) % 8
        (o0, o1), (i0, i1) = (rings[0][i], rings[0][n]), (rings[1][i], rings[1][n])
        b.polygon(
            [(o0[0], y1, o0[1]), (o1[0], y1, o1[1]), (i1[0], y1, i1[1]), (i0[0], y1, i0[1])],
            _UP,
            frame,
        )
        outward = (o0[0] + o1[0], 0.0, o0[1] + o1[1] - 2 * z)
        b.polygon(
            [(o0[0], y0, o0[1]), (o1[0], y0, o1[1]), (o1[0], y1, o1[1]), (o0[0], y1, o0[1])],
            outward,
            darker(frame, 0.8),
        )
    strings = Paint((226, 226, 208), Texture.CHECKS, 0.03)
    b.polygon([(x, 0.5 * h, q) for x, q in rings[1]], _UP, strings)
    b.polygon([(x, 0.5 * h, q) for x, q in rings[0]], (0, -1, 0), strings)
    b.box((-0.03, y0, 0.03 * d), (0.03, y1, 0.2 * d), frame)
    b.box(
        (-0.016, 0.0, 0.2 * d),
        (0.016, h, d / 2),
        choose(style, "grip", (BLACK, Paint((120, 70, 40)), WHITE)),
    )


@shape(ObjectClass.Boots)
def _boots(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    leather = Paint(
        choose(style, "leather", ((110, 70, 42), (50, 46, 44), (160, 120, 70), (120, 40, 40)))
    )
    sole = Paint((196, 180, 150))
    for side in (-1, 1):
        x = side * 0.26 * w
        block(b, x, 0.0, 0.0, (0.42 * w, 0.1 * h, d), sole)
        block(b, x, 0.1 * h, 0.2 * d, (0.38 * w, 0.26 * h, 0.6 * d), darker(leather, 0.9))
        block(b, x, 0.1 * h, -0.26 * d, (0.4 * w, 0.9 * h, 0.44 * d), leather, top=BLACK)
