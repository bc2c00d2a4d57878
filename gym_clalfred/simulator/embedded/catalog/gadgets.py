"""Small things people carry about: phones, laptops, clocks, cards, keys and pens."""

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
def _alarm_clock(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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


@shape(ObjectClass.CD)
def _cd(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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
def _cell_phone(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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
def _credit_card(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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
        Paint((222, 190, 90), Texture.METAL, 0.6),
        _UP,
    )


@shape(ObjectClass.KeyChain)
def _key_chain(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    brass = choose(style, "metal", (Paint((206, 172, 84), Texture.METAL, 0.6), STEEL))
    fob = bright(style)
    tag = [
        (-0.2 * w, 0.2 * d),
        (0.2 * w, 0.2 * d),
        (0.34 * w, 0.36 * d),
        (0.2 * w, d / 2),
        (-0.2 * w, d / 2),
        (-0.34 * w, 0.36 * d),
    ]
    extrude(b, tag, 0.0, h, fob, lying=True)
    for side, paint in ((-1, brass), (1, darker(brass, 0.85))):
        head = [
            (side * 0.1 * w, 0.2 * d),
            (side * 0.42 * w, 0.18 * d),
            (side * 0.5 * w, 0.04 * d),
            (side * 0.3 * w, -0.04 * d),
            (side * 0.08 * w, 0.04 * d),
        ]
        extrude(b, head, 0.1 * h, 0.6 * h, paint, lying=True)
        x = side * 0.3 * w
        b.box((x - 0.07 * w, 0.1 * h, -d / 2), (x + 0.07 * w, 0.5 * h, 0.0), paint, faces="xXYz")


@shape(ObjectClass.Laptop)
def _laptop(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    case = choose(
        style,
        "case",
        (
            Paint((186, 188, 192), Texture.METAL, 0.6),
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
def _pen(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    ink = Paint(choose(style, "ink", ((30, 60, 160), (24, 24, 28), (170, 30, 40), (40, 120, 80))))
    _stick(b, size, choose(style, "body", (ink, ink, WHITE)), STEEL, darker(ink, 0.7))


@shape(ObjectClass.Pencil)
def _pencil(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    body = Paint(choose(style, "body", ((232, 176, 40), (226, 160, 50), (200, 70, 50))))
    _stick(b, size, body, Paint((222, 186, 136)), Paint((226, 130, 140)))


@shape(ObjectClass.RemoteControl)
def _remote(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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
def _watch(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    strap = choose(style, "strap", (BLACK, Paint((110, 66, 40)), STEEL, bright(style)))
    metal = choose(style, "case", (STEEL, Paint((206, 172, 84), Texture.METAL, 0.6)))
    block(b, 0.0, 0.0, 0.0, (0.5 * w, 0.4 * h, d), strap)
    b.lathe([(w / 2, 0.0), (w / 2, 0.9 * h)], metal, sides=8, cap_bottom=False)
    b.lathe(
        [(0.4 * w, 0.9 * h), (0.39 * w, 0.95 * h)],
        choose(style, "dial", (WHITE, BLACK)),
        cap_bottom=False,
    )
    plate(b, (-0.02 * w, h, -0.3 * w), (0.02 * w, h, 0.02 * w), Paint((200, 60, 50)), _UP)
    plate(
        b,
        (-0.02 * w, 0.97 * h, -0.02 * w),
        (0.24 * w, 0.97 * h, 0.02 * w),
        Paint((120, 120, 124)),
        _UP,
    )
