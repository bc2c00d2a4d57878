"""Dishes, pots and cutlery. Handles of long things point to +z, their heads to -z."""

from __future__ import annotations

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
from gym_clalfred.simulator.embedded.catalog.surfaces import (
    GOBLET_FLOOR,
    is_goblet,
    mug_radius,
    pan_radius,
    pot_radius,
)
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_GRIPS = (Paint((40, 40, 42)), Paint((120, 74, 44), Texture.WOOD, 0.1), Paint((150, 40, 36)))


def _cutlery(style: int) -> Paint:
    return choose(style, "cutlery", (STEEL, STEEL, Paint((206, 182, 112), Texture.METAL, 0.6)))


@shape(ObjectClass.Bowl)
def _bowl(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    outside = bright(style)
    inside = choose(style, "inside", (WHITE, darker(outside, 1.15), darker(outside, 0.85)))
    round_form, cone = ((0.55, 0.0), (0.9, 0.45), (1.0, 1.0)), ((0.5, 0.0), (1.0, 1.0))
    outer = choose(style, "form", (round_form, cone))
    b.lathe([(r * u, h * v) for u, v in outer], outside, cap_top=False)
    b.lathe([(0.9 * outer[0][0] * r, 0.1 * h), (r, h)], inside, inward=True)


@shape(ObjectClass.Plate)
def _plate(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    paint = choose(
        style,
        "glaze",
        (WHITE, WHITE, Paint((90, 130, 175)), Paint((214, 202, 170)), Paint((120, 160, 130))),
    )
    edge = choose(style, "edge", (darker(paint, 0.86), bright(style, "band")))
    b.lathe([(0.6 * r, 0.0), (r, h)], darker(paint, 0.9), cap_top=False)
    b.lathe([(0.66 * r, 0.45 * h), (r, h)], [edge], inward=True, cap_bottom=False)
    b.lathe([(0.65 * r, 0.44 * h), (0.66 * r, 0.45 * h)], paint, cap_bottom=False)


@shape(ObjectClass.Cup)
def _cup(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    glass = Paint((186, 214, 222), Texture.GLASS, 0.1)
    paint = choose(style, "stuff", (glass, bright(style), bright(style)))
    if not is_goblet(style):
        b.lathe([(0.72 * r, 0.0), (r, h)], paint, cap_top=False)
        b.lathe([(0.66 * r, 0.06 * h), (r, h)], darker(paint, 0.8), inward=True)
        return
    b.lathe([(0.7 * r, 0.0), (0.14 * r, 0.07 * h), (0.14 * r, 0.35 * h)], paint, cap_top=False)
    b.lathe(
        [(0.14 * r, 0.35 * h), (0.95 * r, 0.55 * h), (r, h)], paint, cap_bottom=False, cap_top=False
    )
    b.lathe([(0.6 * r, GOBLET_FLOOR * h), (r, h)], darker(paint, 0.8), inward=True)


@shape(ObjectClass.Mug)
def _mug(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = mug_radius(size), size[1]
    x = r - size[0] / 2
    outside = bright(style)
    inside = choose(style, "inside", (WHITE, WHITE, darker(outside, 0.7)))
    foot = choose(style, "foot", (1.0, 0.8))
    rings: list[Paint] = [
        outside,
        choose(style, "band", (outside, darker(outside), WHITE)),
        outside,
    ]
    profile = [(r * (foot + (1 - foot) * t), h * t) for t in (0.0, 0.45, 0.65, 1.0)]
    if rings[1] is outside:
        profile, rings = [profile[0], profile[-1]], [outside]
    b.lathe(profile, rings, centre=(x, 0.0), cap_top=False)
    b.lathe([(0.86 * foot * r, 0.08 * h), (r, h)], inside, centre=(x, 0.0), inward=True)
    grip = darker(outside, 0.92)
    near, far, t = x + 0.86 * r, size[0] / 2, 0.09 * h
    b.box((far - t, 0.24 * h, -t), (far, 0.8 * h, t), grip)
    for y in (0.24 * h, 0.8 * h - t):
        b.box((near, y, -t), (far - t, y + t, t), grip, faces="yYzZ")


@shape(ObjectClass.Pan)
def _pan(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = pan_radius(size), size[1]
    z = r - size[2] / 2
    outside = choose(
        style, "metal", (DARK_STEEL, BLACK, STEEL, Paint((176, 106, 70), Texture.METAL, 0.6))
    )
    inside = choose(style, "coat", (Paint((48, 48, 50)), darker(outside, 0.8)))
    b.lathe([(0.8 * r, 0.0), (r, 0.72 * h)], outside, centre=(0.0, z), cap_top=False)
    b.lathe([(0.78 * r, 0.1 * h), (r, 0.72 * h)], inside, centre=(0.0, z), inward=True)
    grip = choose(style, "grip", _GRIPS)
    start = z + 0.9 * r
    b.box((-0.014, 0.55 * h, start), (0.014, h, size[2] / 2), grip)


@shape(ObjectClass.Pot)
def _pot(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = pot_radius(size), size[1]
    copper = Paint((182, 110, 72), Texture.METAL, 0.6)
    paint = choose(
        style, "metal", (STEEL, copper, DARK_STEEL, Paint((178, 52, 44)), Paint((60, 96, 130)))
    )
    b.lathe([(0.92 * r, 0.0), (r, h)], paint, cap_top=False)
    b.lathe([(0.9 * r, 0.06 * h), (r, h)], darker(paint, 0.6), inward=True)
    grip = choose(style, "grip", (BLACK, darker(paint, 0.8)))
    for side in (-1, 1):
        inner, outer = side * 0.88 * r, side * size[0] / 2
        low, high = min(inner, outer), max(inner, outer)
        b.box((low, 0.68 * h, -0.3 * r), (high, 0.78 * h, 0.3 * r), grip)


@shape(ObjectClass.Kettle)
def _kettle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    r = d / 2
    x = w / 2 - r
    paint = choose(
        style, "metal", (STEEL, Paint((170, 44, 40)), Paint((58, 62, 68)), Paint((70, 110, 120)))
    )
    b.lathe([(0.9 * r, 0.0), (r, 0.25 * h), (0.55 * r, 0.66 * h)], paint, centre=(x, 0.0))
    block(b, x, 0.66 * h, 0.0, (0.3 * r, 0.06 * h, 0.3 * r), BLACK)
    tube(
        b,
        (x - 0.8 * r, 0.3 * h, 0.0),
        (-w / 2 + 0.012, 0.62 * h, 0.0),
        0.03,
        paint,
        end_radius=0.014,
    )
    b.box((x - 0.7 * r, 0.9 * h, -0.011), (x + 0.7 * r, h, 0.011), BLACK)
    for side in (-0.7, 0.7):
        block(b, x + side * 0.9 * r, 0.5 * h, 0.0, (0.016, 0.4 * h, 0.016), BLACK, "xXzZ")


@shape(ObjectClass.Knife)
def _knife(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    tip = choose(style, "tip", (0.0, 0.35))
    blade = [
        (-w / 2, 0.05 * d),
        (-w / 2 + tip * w, -d / 2),
        (0.1 * w, -0.42 * d),
        (w / 2, 0.05 * d),
    ]
    extrude(b, blade, 0.35 * h, 0.55 * h, Paint((206, 210, 214), Texture.METAL, 0.6), lying=True)
    b.box((-0.36 * w, 0.0, 0.05 * d), (0.36 * w, h, d / 2), choose(style, "grip", _GRIPS))


@shape(ObjectClass.ButterKnife)
def _butter_knife(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = _cutlery(style)
    blade = [
        (-0.4 * w, 0.0),
        (-0.4 * w, -0.44 * d),
        (0.2 * w, -d / 2),
        (w / 2, -0.38 * d),
        (w / 2, 0.0),
    ]
    extrude(b, blade, 0.3 * h, 0.6 * h, darker(paint, 1.08), lying=True)
    b.box(
        (-0.3 * w, 0.0, 0.0),
        (0.3 * w, h, d / 2),
        choose(style, "grip", (paint, darker(paint, 0.9))),
    )


@shape(ObjectClass.Fork)
def _fork(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = _cutlery(style)
    b.box((-0.18 * w, 0.0, -0.12 * d), (0.18 * w, 0.5 * h, d / 2), paint)
    palm = [(-0.2 * w, -0.12 * d), (-w / 2, -0.24 * d), (w / 2, -0.24 * d), (0.2 * w, -0.12 * d)]
    extrude(b, palm, 0.2 * h, 0.6 * h, paint, lying=True)
    for x in (-0.4 * w, 0.0, 0.4 * w):
        b.box((x - 0.1 * w, 0.3 * h, -d / 2), (x + 0.1 * w, h, -0.24 * d), paint, faces="xXY")


@shape(ObjectClass.Spoon)
def _spoon(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = _cutlery(style)
    b.box((-0.14 * w, 0.3 * h, -0.16 * d), (0.14 * w, 0.7 * h, d / 2), paint, faces="xXyYZ")
    r, z = 0.17 * d, -0.33 * d
    stretch = 0.5 * w / r
    bowl = [(x * stretch, z + y) for x, y in _oval(r)]
    extrude(b, bowl, 0.2 * h, h, paint, face=darker(paint, 0.8), lying=True)


def _oval(r: float) -> list[tuple[float, float]]:
    return [
        (-0.6 * r, r),
        (-r, 0.3 * r),
        (-0.8 * r, -0.7 * r),
        (0.0, -r),
        (0.8 * r, -0.7 * r),
        (r, 0.3 * r),
        (0.6 * r, r),
    ]


@shape(ObjectClass.Ladle)
def _ladle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose(style, "stuff", (STEEL, DARK_STEEL, Paint((50, 50, 54)), wood(style)))
    r, z = w / 2, w / 2 - d / 2
    b.lathe([(0.5 * r, 0.0), (r, 0.8 * h)], paint, centre=(0.0, z), sides=6, cap_top=False)
    b.lathe(
        [(0.5 * r, 0.1 * h), (r, 0.8 * h)], darker(paint), centre=(0.0, z), sides=6, inward=True
    )
    b.box((-0.009, 0.76 * h, z + 0.8 * r), (0.009, h, d / 2), paint)


@shape(ObjectClass.Spatula)
def _spatula(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    head = choose(style, "head", (DARK_STEEL, BLACK, wood(style), Paint((190, 60, 50))))
    blade = [(-w / 2, -d / 2), (w / 2, -d / 2), (0.38 * w, -0.16 * d), (-0.38 * w, -0.16 * d)]
    extrude(b, blade, 0.0, 0.16 * h, head, lying=True)
    slit, y = darker(head, 0.4), 0.18 * h
    for x in (-0.22 * w, 0.0, 0.22 * w):
        plate(b, (x - 0.04 * w, y, -0.44 * d), (x + 0.04 * w, y, -0.24 * d), slit, (0, 1, 0))
    b.box((-0.009, 0.1 * h, -0.18 * d), (0.009, h, d / 2), choose(style, "grip", _GRIPS))


@shape(ObjectClass.Glassbottle)
def _glass_bottle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    colour = choose(style, "glass", ((176, 208, 200), (150, 190, 214), (196, 176, 120)))
    glass = Paint(colour, Texture.GLASS, 0.08)
    b.lathe([(r, 0.0), (r, 0.6 * h), (0.4 * r, 0.82 * h), (0.4 * r, h)], glass)


@shape(ObjectClass.WineBottle)
def _wine_bottle(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    glass = Paint(
        choose(style, "glass", ((34, 66, 40), (70, 34, 30), (40, 44, 40), (120, 130, 60)))
    )
    label = Paint(choose(style, "label", ((232, 224, 200), (190, 60, 50), (220, 190, 110))))
    foil = Paint(choose(style, "foil", ((120, 30, 34), (190, 160, 80), (40, 40, 44))))
    profile = [
        (r, 0.0),
        (r, 0.18 * h),
        (r, 0.46 * h),
        (0.96 * r, 0.6 * h),
        (0.34 * r, 0.74 * h),
        (0.34 * r, h),
    ]
    b.lathe(profile, [glass, label, glass, glass, foil], sides=6)


def _shaker(b: MeshBuilder, size: Vector, body: Paint, lid: Paint, waist: float) -> None:
    r, h = size[0] / 2, size[1]
    profile = [
        (r, 0.0),
        (waist * r, 0.5 * h),
        (0.82 * r, 0.72 * h),
        (0.82 * r, 0.86 * h),
        (0.4 * r, h),
    ]
    b.lathe(profile, [body, body, lid, lid], sides=6, cap_bottom=False)


@shape(ObjectClass.PepperShaker)
def _pepper(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    body = choose(style, "body", (Paint((58, 46, 40)), Paint((90, 58, 38), Texture.WOOD, 0.1)))
    _shaker(b, size, body, choose(style, "lid", (STEEL, BLACK)), 0.62)


@shape(ObjectClass.SaltShaker)
def _salt(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    body = choose(style, "body", (WHITE, Paint((214, 226, 230), Texture.GLASS, 0.05)))
    _shaker(b, size, body, choose(style, "lid", (STEEL, Paint((200, 204, 208)))), 0.9)
