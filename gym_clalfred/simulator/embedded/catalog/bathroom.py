"""Sinks, tubs, toilets, showers and what belongs to them.

A ``Sink`` or ``Bathtub`` leaves its hole open; the basin, an object of its own, draws the walls in
it, so that one sees from above what lies inside.
"""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.parts import SLAB, bathtub_basin, sink_basin
from gym_clalfred.simulator.embedded.catalog.shapes import (
    CERAMIC,
    DARK_STEEL,
    STEEL,
    block,
    cavity,
    choose_unit,
    choose_worktop,
    darker,
    extrude,
    folds,
    plate,
    rim,
    shape,
    tube,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import PEDESTAL, choose
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_WATER = Paint((150, 200, 236), Texture.GLASS, 0.1, 0.3)
_PANE = Paint((196, 220, 226), Texture.GLASS, 0.6)
_CHROMES = (STEEL, DARK_STEEL, Paint((190, 164, 100), Texture.METAL, 0.6))


def _hole(offset: Vector, size: Vector) -> tuple[float, float, float, float]:
    x, z = size[0] / 2, size[2] / 2
    return (offset[0] - x, offset[2] - z, offset[0] + x, offset[2] + z)


@shape(ObjectClass.Sink)
def _sink(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    basin = sink_basin(size)
    hole = _hole(basin.offset, basin.size)
    if style & PEDESTAL:
        low = basin.offset[1] - 0.03
        b.box((-w, low, -d), (w, h, d), CERAMIC, faces="xXyzZ")
        rim(b, (-w, -d, w, d), hole, h, CERAMIC)
        block(b, 0.0, 0.0, -0.3 * d, (0.26 * size[0], low, 0.5 * d), darker(CERAMIC, 0.95), "xXzZ")
        block(b, 0.0, 0.0, -0.3 * d, (0.4 * size[0], 0.06, 0.7 * d), CERAMIC)
        return
    slab, body = choose_worktop(style), choose_unit(style)
    b.box((-w, h - SLAB, -d), (w, h, d), slab, faces="xXyzZ")
    rim(b, (-w, -d, w, d), hole, h, slab)
    b.box((-w, 0.09, -d), (w, h - SLAB, d - 0.02), body, faces="xXzZ")
    b.box((-w, 0.0, -d), (w, 0.09, d - 0.06), darker(body, 0.5), faces="xXzZ")
    for x0, x1 in ((0.04 - w, -0.01), (0.01, w - 0.04)):
        plate(b, (x0, 0.14, d - 0.019), (x1, h - SLAB - 0.04, d - 0.019), darker(body, 0.9))


@shape(ObjectClass.SinkBasin)
def _sink_basin(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    paint = choose(
        style, "basin", (STEEL, STEEL, CERAMIC, Paint((176, 178, 180), Texture.METAL, 0.6))
    )
    cavity(b, (-w, 0.014, -d), (w, h, d), darker(paint, 0.86), "xXzZ")
    plate(b, (-w, 0.014, -d), (w, 0.014, d), darker(paint, 0.94), (0, 1, 0))
    rim(b, (-w, -d, w, d), (0.018 - w, 0.018 - d, w - 0.018, d - 0.018), h, darker(paint, 1.1))
    b.lathe([(0.03, 0.0145), (0.028, 0.0148)], DARK_STEEL, sides=6, cap_bottom=False)


@shape(ObjectClass.Bathtub)
def _bathtub(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    basin = bathtub_basin(size)
    lip = h - 0.04
    b.box((0.01 - w, 0.0, 0.01 - d), (w - 0.01, lip, d - 0.01), darker(CERAMIC, 0.95), faces="xXzZ")
    b.box((-w, lip, -d), (w, h, d), CERAMIC, faces="xXyzZ")
    rim(b, (-w, -d, w, d), _hole(basin.offset, basin.size), h, CERAMIC)


@shape(ObjectClass.BathtubBasin)
def _bathtub_basin(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    x, z, y = 0.86 * w, 0.82 * d, 0.015
    walls = darker(CERAMIC, 0.93)
    plate(b, (-x, y, -z), (x, y, z), darker(CERAMIC, 0.98), (0, 1, 0))
    b.polygon([(-w, h, -d), (w, h, -d), (x, y, -z), (-x, y, -z)], (0, 0, 1), walls)
    b.polygon([(-w, h, d), (w, h, d), (x, y, z), (-x, y, z)], (0, 0, -1), walls)
    b.polygon([(-w, h, -d), (-w, h, d), (-x, y, z), (-x, y, -z)], (1, 0, 0), walls)
    b.polygon([(w, h, -d), (w, h, d), (x, y, z), (x, y, -z)], (-1, 0, 0), walls)
    b.lathe(
        [(0.03, y + 0.0005), (0.028, y + 0.001)],
        DARK_STEEL,
        centre=(0.7 * x, 0.0),
        sides=6,
        cap_bottom=False,
    )


@shape(ObjectClass.Faucet)
def _faucet(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    chrome = choose(style, "chrome", _CHROMES)
    back, tip = 0.03 - d / 2, d / 2 - 0.02
    block(b, 0.0, 0.0, back, (0.05, 0.03, 0.05), chrome)
    form = choose(style, "form", ("arch", "straight"))
    top = h - 0.02 if form == "arch" else 0.6 * h
    block(b, 0.0, 0.03, back, (0.026, top - 0.03, 0.026), chrome, "xXzZ")
    b.box((-0.015, top - 0.012, back - 0.015), (0.015, top + 0.02, tip + 0.015), chrome)
    block(b, 0.0, top - 0.05, tip, (0.022, 0.04, 0.022), chrome, "xXyzZ")
    for side in (-1, 1):
        block(b, side * 0.36 * w, 0.0, back, (0.03, 0.05, 0.03), chrome, "xXzZ")
        block(
            b,
            side * 0.36 * w,
            0.05,
            back,
            (0.07 if look.is_on else 0.03, 0.015, 0.03 if look.is_on else 0.05),
            darker(chrome, 0.9),
        )
    if look.is_on:
        b.box((-0.011, -0.15, tip - 0.011), (0.011, top - 0.05, tip + 0.011), _WATER, faces="xXzZ")


@shape(ObjectClass.Toilet)
def _toilet(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    white = choose(style, "glaze", (CERAMIC, CERAMIC, Paint((226, 218, 202))))
    tank, seat = 0.3 * d, 0.53 * h
    block(b, 0.0, 0.45 * h, (tank - d) / 2, (w, 0.5 * h, tank - 0.01), white, "xXyzZ")
    block(b, 0.0, 0.95 * h, (tank - d) / 2, (w, 0.05 * h, tank), darker(white, 0.95), "xXyYzZ")
    block(b, 0.3 * w, 0.82 * h, tank - d / 2 - 0.004, (0.07, 0.02, 0.012), STEEL, "xXyYZ")
    block(b, 0.0, 0.0, 0.02 * d, (0.55 * w, 0.3 * h, 0.66 * d), darker(white, 0.93), "xXzZ")
    x, back, front = 0.45 * w, tank - d / 2, d / 2
    outline = [
        (-x, back),
        (x, back),
        (x, 0.55 * front),
        (0.6 * x, front),
        (-0.6 * x, front),
        (-x, 0.55 * front),
    ]
    foot = [(0.62 * u, 0.62 * v) for u, v in outline]
    for k, (u, v) in enumerate(outline):
        n = (k + 1) % len(outline)
        corners = [
            (u, seat - 0.04, v),
            (outline[n][0], seat - 0.04, outline[n][1]),
            (foot[n][0], 0.25 * h, foot[n][1]),
            (foot[k][0], 0.25 * h, foot[k][1]),
        ]
        b.polygon(
            corners,
            ((u + outline[n][0]) / 2, -0.05, (v + outline[n][1]) / 2 - 0.1),
            darker(white, 0.95),
        )
    lid = choose(style, "lid", (white, white, wood(style), darker(white, 0.85)))
    extrude(b, outline, seat - 0.04, seat, lid, face=darker(lid, 1.04), lying=True)


@shape(ObjectClass.ToiletPaperHanger)
def _paper_hanger(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    chrome = choose(style, "chrome", _CHROMES)
    block(b, 0.0, 0.3 * h, 0.006 - d / 2, (0.6 * w, 0.4 * h, 0.012), chrome, "xXyYZ")
    block(b, 0.0, 0.0, 0.0, (0.8 * w, 0.02, 0.8 * d), darker(chrome, 0.9), "xXyYzZ")
    block(b, 0.0, 0.0, -0.45 * d, (0.12 * w, 0.4 * h, 0.06 * d), chrome, "xXzZ")
    block(b, 0.0, 0.02, 0.005, (0.018, h - 0.02, 0.018), chrome)


@shape(ObjectClass.TowelHolder, ObjectClass.HandTowelHolder)
def _towel_holder(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    chrome = choose(style, "chrome", _CHROMES)
    y = h - 0.02
    for x in (0.02 - w / 2, w / 2 - 0.02):
        block(b, x, h - 0.04, 0.006 - d / 2, (0.04, 0.04, 0.012), chrome, "xXyYZ")
        block(b, x, y - 0.008, 0.0, (0.016, 0.016, d), chrome, "xXyYZ")
    tube(b, (0.01 - w / 2, y, d / 2 - 0.014), (w / 2 - 0.01, y, d / 2 - 0.014), 0.011, chrome)


@shape(ObjectClass.ShowerDoor, ObjectClass.ShowerGlass)
def _shower_glass(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    chrome = choose(style, "chrome", _CHROMES)
    frame = min(0.03, 0.2 * w)
    for x in (-w + frame / 2, w - frame / 2):
        block(b, x, 0.0, 0.0, (frame, h, 2 * d), chrome)
    for y in (0.0, h - frame):
        block(b, 0.0, y, 0.0, (2 * w, frame, 2 * d), chrome, "yYzZ")
    for z, facing in ((0.001, 1.0), (-0.001, -1.0)):
        plate(b, (-w + frame, frame, z), (w - frame, h - frame, z), _PANE, (0, 0, facing))
    if size[2] > 0.04:
        block(b, w - 0.1, 0.45 * h, d - 0.012, (0.02, 0.2, 0.024), DARK_STEEL, "xXyYZ")


@shape(ObjectClass.ShowerCurtain)
def _shower_curtain(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    cloth = Paint(
        choose(
            style, "cloth", ((222, 230, 232), (120, 160, 180), (210, 190, 170), (160, 190, 160))
        ),
        choose(style, "print", (Texture.STRIPES, Texture.CHECKS, Texture.FABRIC)),
        0.2,
    )
    tube(b, (-w, h - 0.015, 0.0), (w, h - 0.015, 0.0), 0.014, STEEL)
    folds(b, (-w, w), (0.0, h - 0.04), d, cloth, 8)


@shape(ObjectClass.ShowerHead)
def _shower_head(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    chrome = choose(style, "chrome", _CHROMES)
    block(b, 0.0, h - 0.08, 0.01 - d / 2, (0.06, 0.06, 0.02), chrome, "xXyYZ")
    r = w / 2
    joint = d / 2 - r
    tube(b, (0.0, h - 0.05, 0.02 - d / 2), (0.0, h - 0.1, joint), 0.013, chrome, caps=False)
    b.lathe([(r, 0.5 * h), (0.8 * r, 0.58 * h), (0.2 * r, 0.68 * h)], chrome, centre=(0.0, joint))
