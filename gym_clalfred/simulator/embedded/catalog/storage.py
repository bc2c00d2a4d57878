"""Things with a hollow inside: cabinets, drawers, safes, boxes, bins and hampers.

While closed only the outside is drawn; open ones show their inside, their door swung by 90 degrees
about its hinge.
"""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BLACK,
    DARK_STEEL,
    STEEL,
    block,
    bright,
    cavity,
    choose_unit,
    darker,
    plate,
    rim,
    shape,
)
from gym_clalfred.simulator.embedded.catalog.style import NO_SHELVES, ONE_DOOR, choose
from gym_clalfred.simulator.embedded.catalog.surfaces import WALL, cabinet_shelves
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_DOOR = 0.02
_KNOB = 0.014


def swung_door(
    b: MeshBuilder,
    hinge: float,
    side: int,
    span: tuple[float, float],
    z: float,
    width: float,
    paint: Paint,
) -> None:
    """A door of some ``width`` open by 90 degrees, hinged at x = ``hinge``, z = ``z``.

    ``side`` is -1 for a hinge at the left (-x) edge, 1 for one at the right; ``span`` is the door's
    lower and upper height.
    """
    x0, x1 = sorted((hinge, hinge - side * _DOOR))
    b.box((x0, span[0], z), (x1, span[1], z + width), paint)


@shape(ObjectClass.Cabinet)
def _cabinet(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paint = choose_unit(style)
    knob = choose(style, "knob", (STEEL, BLACK, Paint((190, 160, 96), Texture.METAL, 0.6)))
    front = d - _KNOB - _DOOR
    double = size[0] > 0.52 and not style & ONE_DOOR
    doors = [(-1, -w, 0.0), (1, 0.0, w)] if double else [(choose(style, "hinge", (-1, 1)), -w, w)]
    b.box((-w, 0.0, -d), (w, h, front), darker(paint, 0.92), faces="xXyYz")
    if not look.is_open:
        plate(b, (-w, 0.0, front), (w, h, front), darker(paint, 0.5))
        for side, x0, x1 in doors:
            b.box(
                (x0 + 0.004, 0.004, front),
                (x1 - 0.004, h - 0.004, front + _DOOR),
                paint,
                faces="xXyYZ",
            )
            inset = darker(paint, 0.86)
            plate(
                b,
                (x0 + 0.06, 0.06, front + _DOOR + 0.001),
                (x1 - 0.06, h - 0.06, front + _DOOR + 0.001),
                inset,
            )
            grip = x1 - 0.035 if side < 0 else x0 + 0.035
            block(b, grip, 0.46 * h, d - _KNOB / 2, (0.016, 0.08 * h + 0.02, _KNOB), knob, "xXyYZ")
        return
    inside = darker(paint, 0.8)
    cavity(b, (-w + WALL, WALL, -d + WALL), (w - WALL, h - WALL, front), inside)
    rim(b, (-w, 0.0, w, h), (-w + WALL, WALL, w - WALL, h - WALL), front, paint, upright=True)
    for y in () if style & NO_SHELVES else cabinet_shelves(size)[1:]:
        block(b, 0.0, y - WALL, -0.01, (size[0] - 2 * WALL, WALL, size[2] - 0.08), paint, "yYZ")
    for side, x0, x1 in doors:
        swung_door(b, x0 if side < 0 else x1, side, (0.004, h - 0.004), front, x1 - x0, paint)


@shape(ObjectClass.Drawer)
def _drawer(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paint = choose_unit(style)
    knob = choose(style, "knob", (STEEL, BLACK, Paint((190, 160, 96), Texture.METAL, 0.6)))
    front = d - _KNOB
    b.box((-w, 0.0, front - WALL), (w, h, front), paint, front=darker(paint, 0.96))
    inset = 0.14 * min(size[0], h)
    plate(b, (inset - w, inset, front + 0.001), (w - inset, h - inset, front + 0.001), paint)
    block(b, 0.0, 0.5 * h - 0.008, d - _KNOB / 2, (0.26 * size[0], 0.016, _KNOB), knob, "xXyYZ")
    if look.is_open:
        side, wall = h - 0.03, darker(paint, 0.9)
        b.box((-w + 0.005, 0.0, -d), (w - 0.005, side, front - WALL), wall, faces="xXyz")
        cavity(
            b,
            (-w + WALL, WALL, -d + WALL),
            (w - WALL, side, front - WALL),
            darker(paint, 0.78),
            "xXyz",
        )
        inner = (-w + WALL, -d + WALL, w - WALL, front - WALL)
        rim(b, (-w + 0.005, -d, w - 0.005, front - WALL), inner, side, wall)


@shape(ObjectClass.Safe)
def _safe(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paint = Paint(
        choose(style, "coat", ((70, 76, 82), (52, 66, 60), (110, 108, 104), (46, 50, 66))),
        Texture.METAL,
        0.3,
    )
    front = d - 0.035
    b.box((-w, 0.0, -d), (w, h, front), paint, faces="xXyYz")
    dial = (-0.1 * size[0], 0.6 * h)
    if not look.is_open:
        rim(
            b,
            (-w, 0.0, w, h),
            (-w + 0.04, 0.04, w - 0.04, h - 0.04),
            front,
            darker(paint),
            upright=True,
        )
        b.box((-w + 0.04, 0.04, front), (w - 0.04, h - 0.04, front + 0.015), paint, faces="xXyYZ")
        block(b, dial[0], dial[1], d - 0.01, (0.1, 0.1, 0.02), STEEL, "xXyYZ")
        block(b, 0.28 * size[0], 0.36 * h, d - 0.01, (0.03, 0.16, 0.02), STEEL, "xXyYZ")
        plate(
            b,
            (dial[0] - 0.04, dial[1] + 0.13, front + 0.016),
            (dial[0] + 0.04, dial[1] + 0.16, front + 0.016),
            Paint((60, 150, 80), glow=0.5),
        )
        return
    rim(b, (-w, 0.0, w, h), (-w + 0.04, 0.05, w - 0.04, h - 0.04), front, paint, upright=True)
    cavity(b, (-w + 0.04, 0.05, -d + 0.04), (w - 0.04, h - 0.04, front), darker(paint, 0.7))
    b.box((-w, 0.04, front), (-w + 0.035, h - 0.04, front + size[0] - 0.08), paint)


@shape(ObjectClass.Box)
def _box(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    card = Paint(choose(style, "card", ((186, 144, 96), (168, 126, 82), (198, 160, 116))))
    mark = choose(style, "mark", (darker(card, 0.8), bright(style)))
    inner = (0.015 - w, 0.015 - d, w - 0.015, d - 0.015)
    b.box((-w, 0.0, -d), (w, h, d), card, faces="xXyzZ")
    cavity(b, (inner[0], 0.012, inner[1]), (inner[2], h, inner[3]), darker(card, 0.8), "xXyzZ")
    rim(b, (-w, -d, w, d), inner, h, darker(card, 1.12))
    plate(b, (-0.5 * w, 0.3 * h, d + 0.0005), (0.5 * w, 0.62 * h, d + 0.0005), mark)
    for side in (-1, 1):
        x = side * (w + 0.0005)
        plate(b, (x, 0.6 * h, -0.2 * d), (x, 0.74 * h, 0.2 * d), darker(card, 0.45), (side, 0, 0))


@shape(ObjectClass.GarbageCan)
def _garbage_can(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose(
        style,
        "body",
        (
            DARK_STEEL,
            STEEL,
            Paint((52, 60, 66)),
            Paint((60, 96, 120)),
            Paint((226, 224, 218)),
            Paint((84, 120, 86)),
        ),
    )
    bag = choose(style, "bag", (darker(paint, 0.45), Paint((226, 226, 228))))
    if choose(style, "form", ("round", "square")) == "round":
        r = w / 2
        b.lathe([(0.86 * r, 0.0), (r, h)], paint, cap_top=False)
        b.lathe([(0.86 * r, 0.015), (0.97 * r, h)], darker(bag, 0.7), inward=True)
        b.lathe(
            [(r, 0.9 * h), (r, h)], darker(bag, 1.0), cap_bottom=False, cap_top=False, stretch=d / w
        )
        return
    x, z = w / 2, d / 2
    b.box((-x, 0.0, -z), (x, h, z), paint, faces="xXzZ")
    rim(b, (-x, -z, x, z), (0.02 - x, 0.02 - z, x - 0.02, z - 0.02), h, bag)
    cavity(b, (0.02 - x, 0.015, 0.02 - z), (x - 0.02, h, z - 0.02), darker(bag, 0.7), "xXyzZ")
    plate(b, (-x, 0.86 * h, z + 0.0005), (x, h, z + 0.0005), bag)


@shape(ObjectClass.LaundryHamper)
def _hamper(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    weave = Paint(
        choose(style, "weave", ((190, 158, 112), (140, 104, 70), (210, 206, 196))),
        Texture.CHECKS,
        0.06,
    )
    b.box((-w, 0.0, -d), (w, h, d), weave, faces="xXzZ")
    rim(b, (-w, -d, w, d), (0.025 - w, 0.025 - d, w - 0.025, d - 0.025), h, darker(weave, 1.1))
    cavity(
        b, (0.025 - w, 0.015, 0.025 - d), (w - 0.025, h, d - 0.025), Paint((228, 222, 208)), "xXyzZ"
    )
    for side in (-1, 1):
        plate(
            b,
            (side * (w + 0.0005), 0.78 * h, -0.25 * d),
            (side * (w + 0.0005), 0.88 * h, 0.25 * d),
            BLACK,
            (side, 0, 0),
        )


@shape(ObjectClass.LaundryHamperLid)
def _hamper_lid(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    weave = Paint(
        choose(style, "weave", ((190, 158, 112), (140, 104, 70), (210, 206, 196))),
        Texture.CHECKS,
        0.06,
    )
    block(b, 0.0, 0.0, 0.0, (w, 0.6 * h, d), weave, "xXyYzZ")
    block(b, 0.0, 0.6 * h, 0.0, (0.2 * w, 0.4 * h, 0.12 * d), darker(weave, 0.7))
