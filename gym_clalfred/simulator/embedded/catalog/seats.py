"""Chairs, sofas, beds and what lies on them; their backs are at -z."""

from __future__ import annotations

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
    fabric,
    legs,
    shape,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import choose
from gym_clalfred.simulator.embedded.catalog.surfaces import (
    arm_width,
    mattress_height,
    seat_back,
    seat_height,
)
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture


def _upholstered(b: MeshBuilder, size: Vector, paint: Paint, cushions: int, arm: float) -> None:
    """Base, seat cushions, backrest and armrests of a sofa or an armchair."""
    w, h, d = size
    seat, back, side = seat_height(size), seat_back(size), arm_width(size)
    block(b, 0.0, 0.06, 0.0, (w - 0.02, seat - 0.2, d - 0.02), darker(paint, 0.8), "Z")
    block(b, 0.0, 0.06, back / 2 - d / 2, (w, h - 0.06, back), paint)
    for x in (side / 2 - w / 2, w / 2 - side / 2):
        block(b, x, 0.06, back / 2, (side, arm * h - 0.06, d - back), darker(paint, 0.92))
    room = (w - 2 * side) / cushions
    for k in range(cushions):
        x = side - w / 2 + (k + 0.5) * room
        block(
            b, x, seat - 0.14, back / 2, (room - 0.015, 0.14, d - back), darker(paint, 1.1), "xXYZ"
        )
        block(
            b,
            x,
            seat + 0.02,
            back - d / 2 + 0.05,
            (room - 0.03, h - seat - 0.08, 0.1),
            darker(paint, 1.05),
            "xXYZ",
        )


@shape(ObjectClass.Sofa)
def _sofa(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    _upholstered(
        b, size, fabric(style), 3 if size[0] > 1.7 else 2, choose(style, "arm", (0.68, 0.78))
    )
    for x in (-0.45, 0.45):
        block(b, x * size[0], 0.0, 0.0, (0.05, 0.06, 0.8 * size[2]), BLACK, "xXzZ")


@shape(ObjectClass.ArmChair)
def _arm_chair(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    _upholstered(b, size, fabric(style), 1, choose(style, "arm", (0.68, 0.74)))
    legs(b, size, 0.06, 0.05, wood(style))


@shape(ObjectClass.Ottoman)
def _ottoman(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = fabric(style)
    legs(b, size, 0.08, 0.045, wood(style))
    block(b, 0.0, 0.08, 0.0, (w - 0.02, 0.6 * h - 0.08, d - 0.02), darker(paint, 0.85), "xXyzZ")
    block(b, 0.0, 0.6 * h, 0.0, (w, 0.4 * h, d), paint, "xXyYzZ", top=darker(paint, 1.08))


@shape(ObjectClass.Footstool)
def _footstool(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose(style, "seat", (wood(style), fabric(style)))
    legs(b, size, h - 0.05, 0.045, wood(style, "legs"))
    block(b, 0.0, h - 0.05, 0.0, (w, 0.05, d), paint, "xXyYzZ")


@shape(ObjectClass.Chair)
def _chair(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    seat = 0.5 * h
    frame = choose(style, "frame", (wood(style), wood(style), DARK_STEEL))
    pad = choose(style, "pad", (frame, fabric(style)))
    form = choose(style, "form", ("slats", "panel", "office"))
    block(b, 0.0, seat - 0.05, 0.0, (w, 0.05, d), pad, "xXyYzZ")
    back = 0.035 - d / 2
    if form == "office":
        block(b, 0.0, 0.07, 0.0, (0.05, seat - 0.12, 0.05), DARK_STEEL, "xXzZ")
        block(b, 0.0, 0.02, 0.0, (w, 0.05, 0.05), DARK_STEEL)
        block(b, 0.0, 0.02, 0.0, (0.05, 0.05, d), DARK_STEEL)
        block(b, 0.0, seat + 0.1, back, (0.9 * w, 0.9 * (h - seat - 0.1), 0.05), pad, "xXyYzZ")
        block(b, 0.0, seat, back, (0.06, 0.1, 0.03), DARK_STEEL, "xXzZ")
        return
    legs(b, size, seat - 0.05, 0.04, frame)
    for x in (0.03 - w / 2, w / 2 - 0.03):
        block(b, x, seat, back, (0.04, h - seat, 0.035), frame)
    if form == "panel":
        block(b, 0.0, seat + 0.14, back, (w - 0.1, h - seat - 0.16, 0.025), pad, "yYzZ")
        return
    for y in (0.62 * h, 0.76 * h, 0.9 * h):
        block(b, 0.0, y, back, (w - 0.1, 0.06, 0.02), frame, "yYzZ")


@shape(ObjectClass.Bed)
def _bed(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    top = mattress_height(size)
    frame = wood(style)
    sheet = Paint(
        choose(style, "sheet", ((236, 234, 228), (206, 214, 222), (232, 222, 204))),
        Texture.FABRIC,
        0.2,
    )
    blanket = choose(
        style,
        "blanket",
        (
            fabric(style),
            Paint(bright(style).colour, Texture.FABRIC, 0.15),
            Paint(bright(style).colour, Texture.CHECKS, 0.25),
            Paint(fabric(style).colour, Texture.STRIPES, 0.2),
        ),
    )
    block(b, 0.0, 0.1, 0.0, (w - 0.02, 0.2, d - 0.02), darker(frame, 0.9), "xXYzZ")
    legs(b, size, 0.1, 0.08, darker(frame))
    head = choose(style, "head", (frame, fabric(style, "headboard")))
    block(b, 0.0, 0.1, 0.035 - d / 2, (w, h - 0.1, 0.07), head)
    block(b, 0.0, 0.3, 0.03, (w - 0.06, top - 0.3, d - 0.1), sheet)
    foot = choose(style, "foot", (0.045, 0.005))
    fold, end = 0.58 - d / 2, d / 2 - foot
    block(b, 0.0, 0.22, (fold + end) / 2, (w, top - 0.219, end - fold), blanket)
    block(b, 0.0, top - 0.02, fold + 0.06, (w - 0.002, 0.022, 0.16), darker(blanket, 1.2), "xXY")
    if foot > 0.01:
        block(b, 0.0, 0.1, d / 2 - 0.02, (w, top, 0.04), frame)


@shape(ObjectClass.Pillow)
def _pillow(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    cloth = choose(style, "cloth", (WHITE, fabric(style), bright(style)))
    texture = choose(
        style, "weave", (Texture.FABRIC, Texture.FABRIC, Texture.STRIPES, Texture.CHECKS)
    )
    paint = Paint(cloth.colour, texture, 0.1)
    for y0, y1, facing in ((0.0, 0.5 * h, -1.0), (h, 0.5 * h, 1.0)):
        inner = [
            (-0.62 * w, y0, -0.55 * d),
            (0.62 * w, y0, -0.55 * d),
            (0.62 * w, y0, 0.55 * d),
            (-0.62 * w, y0, 0.55 * d),
        ]
        outer = [(-w, y1, -d), (w, y1, -d), (w, y1, d), (-w, y1, d)]
        b.polygon(inner, (0, facing, 0), paint)
        for k in range(4):
            n = (k + 1) % 4
            b.polygon([outer[k], outer[n], inner[n], inner[k]], (0, facing, 0), darker(paint, 0.94))
