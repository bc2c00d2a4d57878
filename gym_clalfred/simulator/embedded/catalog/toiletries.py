"""Soap, paper, towels, cloths and brushes."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BLACK,
    CERAMIC,
    STEEL,
    block,
    bright,
    darker,
    extrude,
    plate,
    shape,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture


@shape(ObjectClass.SoapBar)
def _soap_bar(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    soap = Paint(
        choose(
            style,
            "soap",
            ((236, 222, 188), (214, 234, 214), (240, 196, 204), (196, 214, 238), (240, 238, 230)),
        )
    )
    outline = [
        (w * x, d * z)
        for x, z in (
            (-1, -0.6),
            (-0.55, -1),
            (0.55, -1),
            (1, -0.6),
            (1, 0.6),
            (0.55, 1),
            (-0.55, 1),
            (-1, 0.6),
        )
    ]
    extrude(b, outline, 0.0, 0.9 * h, soap, lying=True)
    plate(b, (-0.5 * w, h, -0.4 * d), (0.5 * w, h, 0.4 * d), darker(soap, 0.9), (0, 1, 0))


@shape(ObjectClass.SoapBottle)
def _soap_bottle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    liquid = Paint(
        choose(
            style,
            "liquid",
            ((110, 180, 120), (230, 150, 60), (100, 150, 210), (220, 120, 150), (232, 232, 226)),
        )
    )
    r = w / 2
    b.lathe(
        [(0.9 * r, 0.0), (r, 0.5 * h), (0.8 * r, 0.66 * h), (0.3 * r, 0.74 * h)],
        liquid,
        sides=6,
        stretch=d / w,
    )
    plate(
        b,
        (-0.3 * w, 0.16 * h, d / 2 - 0.0005),
        (0.3 * w, 0.46 * h, d / 2 - 0.0005),
        Paint((240, 240, 236)),
    )
    pump = choose(style, "pump", (CERAMIC, BLACK))
    block(b, 0.0, 0.74 * h, 0.0, (0.012, 0.18 * h, 0.012), pump, "xXzZ")
    b.box((-0.4 * w, 0.92 * h, -0.012), (0.12 * w, h, 0.012), pump)


@shape(ObjectClass.SprayBottle)
def _spray_bottle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    liquid = Paint(
        choose(
            style,
            "liquid",
            ((90, 160, 220), (120, 200, 140), (232, 232, 228), (240, 200, 90), (200, 120, 190)),
        )
    )
    trigger = Paint(
        choose(style, "trigger", ((226, 60, 50), (236, 236, 232), (50, 54, 60), (60, 110, 190)))
    )
    r = d / 2
    b.lathe(
        [(r, 0.0), (r, 0.44 * h), (0.38 * r, 0.7 * h), (0.38 * r, 0.8 * h)],
        liquid,
        sides=6,
        centre=(r - w / 2 + 0.1 * w, 0.0),
        cap_bottom=False,
    )
    x = r - w / 2 + 0.1 * w
    b.box((x - 0.5 * r, 0.8 * h, -0.4 * r), (w / 2, h, 0.4 * r), trigger)
    b.polygon(
        [(w / 2 - 0.02, 0.8 * h, 0.0), (x + 0.4 * r, 0.8 * h, 0.0), (w / 2 - 0.03, 0.62 * h, 0.0)],
        (0, 0, 1),
        darker(trigger, 0.8),
    )
    b.polygon(
        [(w / 2 - 0.02, 0.8 * h, 0.0), (x + 0.4 * r, 0.8 * h, 0.0), (w / 2 - 0.03, 0.62 * h, 0.0)],
        (0, 0, -1),
        darker(trigger, 0.8),
    )


@shape(ObjectClass.Plunger)
def _plunger(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    rubber = Paint(choose(style, "rubber", ((160, 54, 40), (40, 40, 42), (120, 40, 36))))
    b.lathe([(r, 0.0), (0.9 * r, 0.12 * h), (0.3 * r, 0.26 * h)], rubber, cap_bottom=False)
    block(
        b,
        0.0,
        0.25 * h,
        0.0,
        (0.024, 0.75 * h, 0.024),
        choose(style, "stick", (wood(style), Paint((206, 170, 120)))),
    )


@shape(ObjectClass.ScrubBrush)
def _scrub_brush(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    pot = choose(style, "pot", (CERAMIC, STEEL, Paint((70, 90, 110))))
    b.lathe([(0.85 * r, 0.0), (r, 0.34 * h)], pot, sides=6)
    block(
        b, 0.0, 0.34 * h, 0.0, (0.05, 0.1 * h, 0.05), Paint((226, 230, 232), Texture.STRIPES, 0.02)
    )
    block(
        b,
        0.0,
        0.44 * h,
        0.0,
        (0.02, 0.56 * h, 0.02),
        choose(style, "stick", (STEEL, Paint((90, 130, 170)), CERAMIC)),
    )


@shape(ObjectClass.ToiletPaper)
def _toilet_paper(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    _roll(b, size[0] / 2, size[1], 0.36)


@shape(ObjectClass.ToiletPaperRoll)
def _toilet_paper_core(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    card = Paint((176, 142, 104))
    r = size[0] / 2
    b.lathe([(r, 0.0), (r, size[1])], card, cap_top=False, cap_bottom=False)
    b.lathe(
        [(0.99 * r, 0.0), (0.99 * r, size[1])], darker(card, 0.7), inward=True, cap_bottom=False
    )


@shape(ObjectClass.PaperTowelRoll)
def _paper_towel_roll(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    _roll(b, size[0] / 2, size[1], 0.3)


def _roll(b: MeshBuilder, r: float, h: float, core: float) -> None:
    paper = Paint((240, 239, 234), Texture.FABRIC, 0.05)
    b.lathe([(r, 0.0), (r, 0.99 * h)], paper)
    b.lathe(
        [(core * r, 0.99 * h), (0.9 * core * r, h)],
        Paint((150, 116, 82)),
        sides=6,
        cap_bottom=False,
    )


@shape(ObjectClass.PaperTowel)
def _paper_towel(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    block(b, 0.0, 0.0, 0.0, size, Paint((238, 238, 232), Texture.CHECKS, 0.04))


@shape(ObjectClass.Towel, ObjectClass.HandTowel)
def _towel(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    _textile(b, size, style, 1)


def _textile(b: MeshBuilder, size: Vector, style: int, folds: int) -> None:
    w, h, d = size
    colour = bright(style).colour
    band = choose(style, "band", (darker(bright(style)), Paint((240, 238, 230))))
    paint = Paint(
        colour, choose(style, "weave", (Texture.FABRIC, Texture.STRIPES, Texture.CHECKS)), 0.06
    )
    block(b, 0.0, 0.0, 0.0, (w, 0.5 * h, d), darker(paint, 0.85), "xXyYzZ")
    for k in range(folds):
        shrink = 0.02 * k * w
        low = h * (0.5 + 0.5 * k / folds)
        block(b, 0.0, low, 0.0, (w - shrink, 0.5 * h / folds, d - shrink), paint)
    for z in (-0.38 * d, 0.38 * d):
        plate(
            b,
            (-0.48 * w, h + 0.0004, z - 0.03 * d),
            (0.48 * w, h + 0.0004, z + 0.03 * d),
            band,
            (0, 1, 0),
        )


@shape(ObjectClass.Cloth)
def _cloth(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paint = Paint(
        bright(style).colour,
        choose(style, "weave", (Texture.CHECKS, Texture.STRIPES, Texture.FABRIC)),
        0.05,
    )
    outline = [
        (-0.9 * w, -d),
        (0.8 * w, -0.9 * d),
        (w, 0.2 * d),
        (0.7 * w, d),
        (-0.6 * w, 0.9 * d),
        (-w, 0.3 * d),
    ]
    extrude(b, outline, 0.0, 0.3 * h, darker(paint, 0.85), face=paint, lying=True)
    for x, y in ((-0.4 * w, 0.9 * h), (0.25 * w, h)):
        ridge = [(x - 0.25 * w, 0.3 * h), (x + 0.25 * w, 0.3 * h), (x, y)]
        extrude(b, ridge, -0.7 * d, 0.7 * d, darker(paint, 0.95))


@shape(ObjectClass.DishSponge)
def _sponge(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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


@shape(ObjectClass.TissueBox)
def _tissue_box(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
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
        (0, 1, 0),
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
