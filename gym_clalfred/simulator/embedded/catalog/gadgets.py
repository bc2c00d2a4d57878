"""Small things people carry about: phones, books, keys, toys and sports gear."""

from __future__ import annotations

import math

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.model import Look
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BLACK,
    DARK_STEEL,
    STEEL,
    WHITE,
    block,
    bright,
    darker,
    extrude,
    plate,
    shape,
    tube,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_UP = (0.0, 1.0, 0.0)


@shape(ObjectClass.AlarmClock)
def _alarm_clock(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size
    case = choose(style, "case", (BLACK, bright(style), wood(style)))
    if choose(style, "form", ("digital", "bells")) == "digital":
        block(b, 0.0, 0.0, 0.0, size, case)
        z = d / 2 + 0.0005
        plate(b, (-0.42 * w, 0.18 * h, z), (0.42 * w, 0.82 * h, z), Paint((16, 16, 18)))
        digits = Paint((240, 60, 40), glow=1.0)
        for x in (-0.28, -0.1, 0.12, 0.3):
            plate(
                b,
                ((x - 0.05) * w, 0.3 * h, z + 0.0005),
                ((x + 0.05) * w, 0.7 * h, z + 0.0005),
                digits,
            )
        return
    y, r = 0.44 * h, 0.44 * h
    tube(b, (0.0, y, -0.4 * d), (0.0, y, 0.4 * d), r, case, sides=8)
    tube(b, (0.0, y, 0.4 * d), (0.0, y, 0.42 * d), 0.85 * r, WHITE, sides=8)
    plate(b, (-0.004, y, 0.43 * d), (0.004, y + 0.6 * r, 0.43 * d), BLACK)
    plate(b, (0.0, y - 0.004, 0.431 * d), (0.5 * r, y + 0.004, 0.431 * d), BLACK)
    for x in (-0.28 * h, 0.28 * h):
        block(b, x, 0.84 * h, 0.0, (0.2 * h, 0.16 * h, 0.4 * d), STEEL)


@shape(ObjectClass.Book)
def _book(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
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
def _newspaper(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
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


@shape(ObjectClass.CD)
def _cd(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    r, h = size[0] / 2, size[1]
    disc = Paint(
        choose(style, "disc", ((206, 212, 222), (190, 200, 232), (224, 208, 226))),
        Texture.METAL,
        0.06,
        0.15,
    )
    b.cylinder(r, 0.0, 0.6 * h, disc)
    b.lathe([(0.4 * r, 0.6 * h), (0.38 * r, 0.8 * h)], bright(style), sides=6, cap_bottom=False)
    b.lathe([(0.14 * r, 0.8 * h), (0.13 * r, h)], BLACK, sides=6, cap_bottom=False)


@shape(ObjectClass.CellPhone)
def _cell_phone(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    case = choose(style, "case", (BLACK, Paint((210, 212, 216)), bright(style)))
    b.box((-w, 0.0, -d), (w, h, d), case)
    y = h + 0.0004
    screen = choose(style, "screen", ((30, 60, 110), (24, 26, 32), (60, 40, 90)))
    plate(b, (-0.86 * w, y, -0.84 * d), (0.86 * w, y, 0.8 * d), Paint(screen, glow=0.35), _UP)
    plate(
        b,
        (-0.2 * w, y + 0.0003, 0.86 * d),
        (0.2 * w, y + 0.0003, 0.95 * d),
        Paint((150, 150, 154)),
        _UP,
    )
    for x in (-0.5, 0.0, 0.5):
        plate(
            b,
            ((x - 0.14) * w, y + 0.0004, 0.5 * d),
            ((x + 0.14) * w, y + 0.0004, 0.66 * d),
            bright(style, f"icon{x}"),
            _UP,
        )


@shape(ObjectClass.CreditCard)
def _credit_card(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    card = Paint(
        choose(
            style,
            "card",
            ((40, 70, 150), (196, 160, 60), (150, 40, 50), (50, 130, 110), (60, 62, 70)),
        )
    )
    b.box((-w, 0.0, -d), (w, h, d), card)
    plate(b, (-w, h + 0.0004, -0.75 * d), (w, h + 0.0004, -0.4 * d), Paint((24, 24, 26)), _UP)
    plate(
        b,
        (-0.7 * w, h + 0.0004, -0.1 * d),
        (-0.35 * w, h + 0.0004, 0.35 * d),
        Paint((222, 190, 90), Texture.METAL, 0.05),
        _UP,
    )


@shape(ObjectClass.KeyChain)
def _key_chain(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size
    brass = choose(style, "metal", (Paint((206, 172, 84), Texture.METAL, 0.05), STEEL))
    fob = bright(style)
    tag = [
        (-0.2 * w, 0.12 * d),
        (0.2 * w, 0.12 * d),
        (0.34 * w, 0.3 * d),
        (0.2 * w, d / 2),
        (-0.2 * w, d / 2),
        (-0.34 * w, 0.3 * d),
    ]
    extrude(b, tag, 0.0, h, fob, lying=True)
    for side, paint in ((-1, brass), (1, darker(brass, 0.85))):
        head = [
            (side * 0.1 * w, 0.1 * d),
            (side * 0.42 * w, 0.08 * d),
            (side * 0.5 * w, -0.06 * d),
            (side * 0.3 * w, -0.14 * d),
            (side * 0.08 * w, -0.06 * d),
        ]
        extrude(b, head, 0.1 * h, 0.6 * h, paint, lying=True)
        x = side * 0.3 * w
        b.box(
            (x - 0.07 * w, 0.1 * h, -d / 2), (x + 0.07 * w, 0.5 * h, -0.1 * d), paint, faces="xXYz"
        )


@shape(ObjectClass.Laptop)
def _laptop(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    case = choose(
        style,
        "case",
        (
            Paint((186, 188, 192), Texture.METAL, 0.3),
            Paint((52, 54, 58)),
            Paint((224, 224, 222)),
            Paint((90, 40, 44)),
        ),
    )
    if not look.is_open:
        b.box((-w, 0.0, -d), (w, 0.55 * h, d), darker(case, 0.8), faces="xXyzZ")
        b.box((-w, 0.6 * h, -d), (w, h, d), case)
        plate(
            b,
            (-0.12 * w, h + 0.0004, -0.14 * d),
            (0.12 * w, h + 0.0004, 0.14 * d),
            darker(case, 0.6),
            _UP,
        )
        return
    y = 0.55 * h
    b.box((-w, 0.0, -d), (w, y, d), case)
    plate(
        b,
        (-0.88 * w, y + 0.0005, -0.7 * d),
        (0.88 * w, y + 0.0005, 0.25 * d),
        Paint((40, 40, 44), Texture.KEYS, 0.02),
        _UP,
    )
    plate(
        b, (-0.26 * w, y + 0.0005, 0.4 * d), (0.26 * w, y + 0.0005, 0.9 * d), darker(case, 0.8), _UP
    )
    tall, lean = 2 * d * 0.97, 0.25 * d

    def lid(u: float, v: float, lift: float) -> Vector:
        return (u * w, y + v * tall, 0.02 - d - v * lean + lift)

    outer = [lid(u, v, 0.0) for u, v in ((-1, 0), (1, 0), (1, 1), (-1, 1))]
    b.polygon(outer, (0, 0, -1), case)
    b.polygon([(x, q, z + 0.004) for x, q, z in outer], (0, 0, 1), Paint((26, 26, 28)))
    screen = (
        Paint((110, 160, 214), Texture.PICTURE, 0.2, 1.0)
        if look.is_on
        else Paint((58, 66, 78), glow=0.25)
    )
    b.polygon(
        [lid(u, v, 0.005) for u, v in ((-0.94, 0.06), (0.94, 0.06), (0.94, 0.94), (-0.94, 0.94))],
        (0, 0, 1),
        screen,
    )


def _stick(b: MeshBuilder, size: Vector, body: Paint, tip: Paint, end: Paint) -> None:
    """A pen or pencil: tip at -z."""
    w, h, d = size
    r, y = 0.5 * w, 0.5 * h
    tube(b, (0.0, y, -0.36 * d), (0.0, y, 0.42 * d), r, body, caps=False)
    tube(b, (0.0, y, 0.42 * d), (0.0, y, d / 2), r, end, caps=True)
    tube(b, (0.0, y, -0.36 * d), (0.0, y, -d / 2), r, tip, end_radius=0.16 * r, caps=False)


@shape(ObjectClass.Pen)
def _pen(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    ink = Paint(choose(style, "ink", ((30, 60, 160), (24, 24, 28), (170, 30, 40), (40, 120, 80))))
    _stick(b, size, choose(style, "body", (ink, ink, WHITE)), STEEL, darker(ink, 0.7))


@shape(ObjectClass.Pencil)
def _pencil(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    body = Paint(choose(style, "body", ((232, 176, 40), (226, 160, 50), (200, 70, 50))))
    _stick(b, size, body, Paint((222, 186, 136)), Paint((226, 130, 140)))


@shape(ObjectClass.RemoteControl)
def _remote(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    case = choose(style, "case", (BLACK, DARK_STEEL, Paint((206, 206, 204))))
    b.box((-w, 0.0, -d), (w, h, d), case)
    y = h + 0.0004
    plate(b, (-0.7 * w, y, -0.9 * d), (-0.3 * w, y, -0.78 * d), Paint((220, 50, 40)), _UP)
    keys = Paint((150, 152, 156), Texture.KEYS, 0.016)
    plate(b, (-0.75 * w, y, -0.66 * d), (0.75 * w, y, 0.1 * d), keys, _UP)
    ring = [
        (0.6 * w * math.cos(k * math.pi / 3), y, 0.42 * d + 0.6 * w * math.sin(k * math.pi / 3))
        for k in range(6)
    ]
    b.polygon(ring, _UP, Paint((96, 98, 104)))


@shape(ObjectClass.Watch)
def _watch(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size
    strap = choose(style, "strap", (BLACK, Paint((110, 66, 40)), STEEL, bright(style)))
    metal = choose(style, "case", (STEEL, Paint((206, 172, 84), Texture.METAL, 0.05)))
    block(b, 0.0, 0.0, 0.0, (0.5 * w, 0.4 * h, d), strap)
    b.lathe([(w / 2, 0.0), (w / 2, 0.9 * h)], metal, sides=8, cap_bottom=False)
    b.lathe(
        [(0.4 * w, 0.9 * h), (0.39 * w, 0.95 * h)],
        choose(style, "dial", (WHITE, BLACK)),
        cap_bottom=False,
    )
    plate(b, (-0.02 * w, h, -0.3 * w), (0.02 * w, h, 0.02 * w), Paint((200, 60, 50)), _UP)
    plate(b, (-0.02 * w, h, -0.02 * w), (0.24 * w, h, 0.02 * w), Paint((120, 120, 124)), _UP)


@shape(ObjectClass.TissueBox)
def _tissue_box(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size
    card = Paint(
        bright(style).colour,
        choose(style, "print", (Texture.LEAVES, Texture.STRIPES, Texture.PLAIN, Texture.CHECKS)),
        0.06,
    )
    top = 0.72 * h
    block(b, 0.0, 0.0, 0.0, (w, top, d), card)
    plate(
        b,
        (-0.3 * w, top + 0.0005, -0.14 * d),
        (0.3 * w, top + 0.0005, 0.14 * d),
        Paint((60, 56, 54)),
        _UP,
    )
    tissue = Paint((248, 248, 246))
    for x0, x1, z in ((-0.2, 0.1, -0.04), (-0.1, 0.22, 0.04)):
        corners = [
            (x0 * w, top, z * d),
            (x1 * w, top, z * d),
            (1.3 * x1 * w, h, 4 * z * d),
            ((x0 + 0.1) * w, h, 4 * z * d),
        ]
        b.polygon(corners, (0, 0, 1), tissue)
        b.polygon(corners, (0, 0, -1), darker(tissue, 0.94))


@shape(ObjectClass.DishSponge)
def _sponge(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size
    foam = Paint(
        choose(style, "foam", ((236, 206, 70), (240, 190, 80), (240, 150, 160), (120, 190, 220))),
        Texture.SPECKLES,
        0.02,
    )
    pad = Paint(
        choose(style, "pad", ((50, 120, 70), (60, 90, 160), (90, 90, 90))), Texture.CARPET, 0.02
    )
    block(b, 0.0, 0.0, 0.0, (w, 0.66 * h, d), foam, "xXyzZ")
    block(b, 0.0, 0.66 * h, 0.0, (w, 0.34 * h, d), pad)


@shape(ObjectClass.BaseballBat)
def _bat(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
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
def _basket_ball(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
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
def _racket(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
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
def _boots(b: MeshBuilder, size: Vector, style: int, look: Look) -> None:
    w, h, d = size
    leather = Paint(
        choose(style, "leather", ((110, 70, 42), (50, 46, 44), (160, 120, 70), (120, 40, 40)))
    )
    sole = Paint((40, 34, 30))
    for side in (-1, 1):
        x = side * 0.26 * w
        block(b, x, 0.0, 0.0, (0.42 * w, 0.1 * h, d), sole)
        block(b, x, 0.1 * h, 0.2 * d, (0.4 * w, 0.26 * h, 0.6 * d), darker(leather, 0.9))
        block(b, x, 0.1 * h, -0.26 * d, (0.4 * w, 0.9 * h, 0.44 * d), leather, top=BLACK)
