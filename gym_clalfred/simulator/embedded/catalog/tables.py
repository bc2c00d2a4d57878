"""Furniture to put things on: tables, desks, counters, shelves, stands and carts.

Furniture into which others are built (``CounterTop``, ``Sink``, ``Desk``, ``Dresser``,
``SideTable``, ``TVStand``) shares its materials with a ``Cabinet`` or ``Drawer`` of its style.
"""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.parts import SLAB, stove_area
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BIG_STEEL,
    BLACK,
    DARK_STEEL,
    STEEL,
    block,
    cavity,
    choose_unit,
    choose_worktop,
    darker,
    legs,
    plate,
    shape,
    tube,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import BOARD, HOLLOW, STOVE, choose
from gym_clalfred.simulator.embedded.catalog.surfaces import cart_shelves
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_TOE = 0.09


@shape(ObjectClass.CounterTop)
def _counter(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    if style & STOVE:
        _stove(b, size, style)
        return
    w, h, d = size[0] / 2, size[1], size[2] / 2
    slab, body = choose_worktop(style), choose_unit(style)
    if style & BOARD:
        b.box((-w, 0.0, -d), (w, h, d), slab)
        return
    b.box((-w, h - SLAB, -d), (w, h, d), slab)
    if style & HOLLOW:
        inside = darker(body, 0.45)
        b.box((-w, 0.0, -d), (w, h - SLAB, d - 0.02), body, faces="xXz")
        cavity(b, (-w + 0.001, 0.0, -d), (w - 0.001, h - SLAB, d - 0.06), inside, "xXz")
        b.box((-w, 0.0, -d), (w, _TOE, d - 0.06), darker(body, 0.5), faces="YZ")
        return
    b.box((-w, _TOE, -d), (w, h - SLAB, d - 0.02), body, faces="xXzZ")
    b.box((-w, 0.0, -d), (w, _TOE, d - 0.06), darker(body, 0.5), faces="xXzZ")
    for k in range(1, max(1, round(size[0] / 0.55))):
        x = -w + k * size[0] / max(1, round(size[0] / 0.55))
        plate(b, (x - 0.003, _TOE, d - 0.019), (x + 0.003, h - SLAB, d - 0.019), darker(body, 0.55))


def _stove(b: MeshBuilder, size: Vector, style: int) -> None:
    """A range: hob, knob panel and oven door, between worktops if the fixture is wider."""
    w, h, d = size[0] / 2, size[1], size[2] / 2
    metal = choose(
        style, "range", (BIG_STEEL, BIG_STEEL, Paint((228, 228, 224)), Paint((60, 60, 64)))
    )
    half = stove_area(size) / 2
    door = d - 0.03
    b.box((-half, 0.0, -d), (half, h - 0.03, door), metal, faces="xXzZ")
    b.box((-half, h - 0.03, -d), (half, h, d), darker(metal, 0.9), top=Paint((38, 38, 40)))
    b.box((-half, h - 0.15, door), (half, h - 0.03, d), darker(metal, 0.8), faces="xXyZ")
    plate(b, (-0.8 * half, 0.3 * h, door + 0.001), (0.8 * half, 0.62 * h, door + 0.001), BLACK)
    b.box((-0.8 * half, 0.69 * h, door), (0.8 * half, 0.72 * h, d), DARK_STEEL, faces="xXyYZ")
    if w - half > 0.01:
        slab, body = choose_worktop(style), choose_unit(style)
        for x0, x1 in ((-w, -half), (half, w)):
            b.box((x0, h - SLAB, -d), (x1, h, d), slab)
            b.box((x0, 0.0, -d), (x1, h - SLAB, d - 0.02), body, faces="xXzZ")


@shape(ObjectClass.DiningTable)
def _dining_table(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose(style, "top", (wood(style), wood(style), Paint((228, 224, 214))))
    block(b, 0.0, h - 0.04, 0.0, (w, 0.04, d), paint, "xXyYzZ")
    stand = choose(style, "legs", (paint, darker(paint), DARK_STEEL))
    if choose(style, "form", ("legs", "legs", "trestle")) == "legs":
        block(b, 0.0, h - 0.11, 0.0, (w - 0.1, 0.07, d - 0.1), darker(paint, 0.85), "xXzZ")
        legs(b, size, h - 0.04, 0.07, stand)
        return
    for x in (-0.36 * w, 0.36 * w):
        block(b, x, 0.0, 0.0, (0.08, h - 0.04, 0.5 * d), stand, "xXzZ")
        block(b, x, 0.0, 0.0, (0.09, 0.05, 0.8 * d), stand)
    block(b, 0.0, 0.25 * h, 0.0, (0.72 * w, 0.06, 0.06), stand, "yYzZ")


@shape(ObjectClass.CoffeeTable)
def _coffee_table(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose(
        style, "top", (wood(style), wood(style), Paint((150, 176, 180), Texture.GLASS, 0.3))
    )
    stand = choose(style, "legs", (wood(style), DARK_STEEL, BLACK))
    block(b, 0.0, h - 0.04, 0.0, (w, 0.04, d), paint, "xXyYzZ")
    legs(b, size, h - 0.04, 0.05, stand)
    if choose(style, "form", ("shelf", "plain")) == "shelf":
        block(b, 0.0, 0.3 * h, 0.0, (w - 0.06, 0.025, d - 0.06), darker(stand, 0.9), "xXyYzZ")


@shape(ObjectClass.SideTable)
def _side_table(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose_unit(style)
    block(b, 0.0, h - 0.03, 0.0, (w, 0.03, d), paint, "xXyYzZ")
    if choose(style, "form", ("chest", "legs")) == "chest":
        block(
            b, 0.0, 0.3 * h, 0.0, (w - 0.03, 0.7 * h - 0.03, d - 0.03), darker(paint, 0.88), "xXyzZ"
        )
        legs(b, size, 0.3 * h, 0.04, darker(paint, 0.7))
        return
    legs(b, size, h - 0.03, 0.045, darker(paint, 0.85))
    block(b, 0.0, 0.25 * h, 0.0, (w - 0.04, 0.02, d - 0.04), darker(paint, 0.9), "xXyYzZ")


@shape(ObjectClass.Desk)
def _desk(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose_unit(style)
    block(b, 0.0, h - 0.035, 0.0, (w, 0.035, d), paint, "xXyYzZ")
    side = darker(paint, 0.82)
    if choose(style, "form", ("pedestal", "legs")) == "legs":
        legs(b, size, h - 0.035, 0.05, choose(style, "legs", (side, DARK_STEEL)))
        block(b, 0.0, h - 0.14, -d / 2 + 0.04, (w - 0.12, 0.1, 0.02), side, "yzZ")
        return
    block(b, -w / 2 + 0.02, 0.0, 0.0, (0.04, h - 0.035, d - 0.04), side, "xXzZ")
    block(b, w / 2 - 0.21, 0.0, 0.0, (0.4, h - 0.035, d - 0.04), side, "xXzZ")
    block(b, -0.2, 0.3 * h, -d / 2 + 0.04, (w - 0.44, 0.5 * h, 0.02), side, "yzZ")


@shape(ObjectClass.Dresser)
def _dresser(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose_unit(style)
    block(b, 0.0, h - 0.03, 0.0, (w, 0.03, d), paint, "xXyYzZ")
    block(b, 0.0, 0.08, 0.0, (w - 0.02, h - 0.11, d - 0.02), darker(paint, 0.88), "xXyzZ")
    legs(b, size, 0.08, 0.05, darker(paint, 0.6))


@shape(ObjectClass.TVStand)
def _tv_stand(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose_unit(style)
    block(b, 0.0, h - 0.035, 0.0, (w, 0.035, d), paint, "xXyYzZ")
    block(b, 0.0, 0.0, 0.0, (w, 0.05, d), darker(paint), "xXYzZ")
    for x in (-w / 2 + 0.015, -w / 6, w / 6, w / 2 - 0.015):
        block(b, x, 0.05, 0.0, (0.03, h - 0.085, d - 0.02), paint, "xXzZ")
    plate(b, (-w / 2, 0.05, -d / 2 + 0.01), (w / 2, h - 0.035, -d / 2 + 0.01), darker(paint, 0.5))
    block(b, 0.0, 0.5 * h, 0.0, (w / 3, 0.02, d - 0.04), paint, "yYZ")


@shape(ObjectClass.Shelf)
def _shelf(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    paint = choose(style, "board", (wood(style), wood(style), Paint((234, 232, 226))))
    block(b, 0.0, 0.0, 0.0, size, paint, "xXyYzZ")


@shape(ObjectClass.Cart)
def _cart(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    frame = choose(style, "frame", (STEEL, Paint((60, 110, 120)), Paint((232, 230, 226))))
    for y in cart_shelves(size):
        block(b, 0.0, y - 0.02, 0.0, (w - 0.04, 0.02, d - 0.04), darker(frame, 0.9), "xXyYzZ")
    for x in (-w / 2 + 0.015, w / 2 - 0.015):
        for z in (-d / 2 + 0.015, d / 2 - 0.015):
            block(b, x, 0.04, z, (0.026, h - 0.04, 0.026), frame, "xXYzZ")
            block(b, x, 0.0, z, (0.02, 0.04, 0.03), BLACK, "xXzZ")
    tube(
        b,
        (w / 2 - 0.015, h - 0.012, -d / 2 + 0.02),
        (w / 2 - 0.015, h - 0.012, d / 2 - 0.02),
        0.012,
        frame,
        caps=False,
    )
