"""Things with a plug: kitchen appliances, burners and knobs, lamps, switches and screens."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.shapes import (
    BIG_STEEL,
    BLACK,
    DARK_STEEL,
    STEEL,
    WHITE,
    block,
    bright,
    cavity,
    darker,
    plate,
    rim,
    shade,
    shape,
    tube,
    wood,
)
from gym_clalfred.simulator.embedded.catalog.style import NO_SHELVES, choose
from gym_clalfred.simulator.embedded.catalog.surfaces import fridge_shelves, microwave_room
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture

_LAMP_LIGHT = (255, 232, 170)
_FRIDGE_DOOR = 0.05
_GRIP = 0.03


@shape(ObjectClass.Fridge)
def _fridge(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    coat = choose(
        style,
        "coat",
        (BIG_STEEL, BIG_STEEL, Paint((234, 234, 230)), Paint((60, 62, 66)), Paint((176, 60, 54))),
    )
    body = darker(coat, 0.85)
    front = d - _GRIP - _FRIDGE_DOOR
    split = choose(style, "split", (0.34, 0.66)) * h
    sides_by_side = choose(style, "form", ("stacked", "stacked", "beside")) == "beside"
    b.box((-w, 0.0, -d), (w, h, front), body, faces="xXYz")
    doors = (
        [(-w, 0.0, 0.06, h, -1), (0.0, w, 0.06, h, 1)]
        if sides_by_side
        else [(-w, w, 0.06, split, -1), (-w, w, split, h, -1)]
    )
    if not look.is_open:
        plate(b, (-w, 0.0, front), (w, h, front), BLACK)
        for x0, x1, y0, y1, side in doors:
            b.box(
                (x0 + 0.004, y0 + 0.004, front),
                (x1 - 0.004, y1 - 0.004, front + _FRIDGE_DOOR),
                coat,
                faces="xXyYZ",
            )
            grip = (x1 - 0.05) if side < 0 else (x0 + 0.05)
            low, high = (
                (0.35 * h, 0.65 * h)
                if sides_by_side
                else ((y0 + y1) / 2 - 0.16, (y0 + y1) / 2 + 0.16)
            )
            b.box(
                (grip - 0.014, low, d - _GRIP),
                (grip + 0.014, high, d),
                darker(coat, 0.7),
                faces="xXyYZ",
            )
        return
    inside = Paint((236, 240, 242), glow=0.25)
    rim(b, (-w, 0.0, w, h), (0.05 - w, 0.06, w - 0.05, h - 0.05), front, body, upright=True)
    cavity(b, (0.05 - w, 0.075, 0.05 - d), (w - 0.05, h - 0.05, front), inside)
    for y in () if style & NO_SHELVES else fridge_shelves(size)[1:]:
        block(
            b,
            0.0,
            y - 0.015,
            -0.03,
            (size[0] - 0.1, 0.015, size[2] - 0.16),
            Paint((196, 214, 220), Texture.GLASS, 0.3),
            "yYZ",
        )
    for x0, x1, y0, y1, side in doors:
        lo, hi = sorted((x0, x0 + _FRIDGE_DOOR) if side < 0 else (x1, x1 - _FRIDGE_DOOR))
        b.box((lo, y0 + 0.004, front), (hi, y1 - 0.004, front + x1 - x0), coat)
        inner, facing = (hi + 0.001, 1.0) if side < 0 else (lo - 0.001, -1.0)
        plate(
            b,
            (inner, y0 + 0.05, front + 0.04),
            (inner, y1 - 0.05, front + x1 - x0 - 0.04),
            inside,
            (facing, 0, 0),
        )


@shape(ObjectClass.Microwave)
def _microwave(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size[0] / 2, size[1], size[2] / 2
    coat = choose(style, "coat", (STEEL, WHITE, Paint((52, 54, 58)), Paint((150, 44, 44))))
    low, high = microwave_room(size)
    front, face = d - 0.025, d + 0.0005
    b.box((-w, 0.0, -d), (w, h, front), darker(coat, 0.9), faces="xXyYz")
    b.box((-w, 0.0, front), (low, h, d), darker(coat, 0.8), faces="xXyYZ")
    clock = Paint((80, 240, 150) if look.is_on else (50, 110, 90), glow=1.0 if look.is_on else 0.3)
    plate(b, (0.015 - w, 0.74 * h, face), (low - 0.02, 0.88 * h, face), clock)
    keys = Paint((120, 122, 126), Texture.CHECKS, 0.04)
    plate(b, (0.015 - w, 0.14 * h, face), (low - 0.02, 0.64 * h, face), keys)
    pane = Paint((255, 214, 120), glow=1.0) if look.is_on else Paint((30, 32, 36))
    if not look.is_open:
        b.box((low + 0.003, 0.0, front), (w, h, d), coat, faces="xXyYZ")
        plate(b, (low + 0.05, 0.2 * h, face), (high - 0.02, 0.84 * h, face), pane)
        plate(b, (low + 0.015, 0.15 * h, face), (low + 0.035, 0.88 * h, face), darker(coat, 0.6))
        return
    inside = Paint((206, 206, 200), glow=0.2)
    rim(b, (low, 0.0, w, h), (low + 0.002, 0.04, high, h - 0.035), front, coat, upright=True)
    cavity(b, (low, 0.04, 0.03 - d), (high, h - 0.035, front), inside)
    reach = front + w - low
    b.box((w - 0.025, 0.0, front), (w, h, reach), coat)
    x = w - 0.0255
    plate(b, (x, 0.2 * h, front + 0.06), (x, 0.84 * h, reach - 0.05), pane, (-1, 0, 0))


@shape(ObjectClass.CoffeeMachine)
def _coffee_machine(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    coat = choose(style, "coat", (BLACK, DARK_STEEL, Paint((150, 36, 36)), STEEL))
    block(b, 0.0, 0.0, 0.0, (w, 0.1 * h, d), darker(coat, 0.8), top=DARK_STEEL)
    block(b, 0.0, 0.1 * h, -0.3 * d, (w, 0.9 * h, 0.4 * d), coat)
    block(b, 0.0, 0.58 * h, 0.2 * d, (w, 0.42 * h, 0.6 * d), coat, "xXyYZ")
    block(b, 0.0, 0.51 * h, 0.2 * d, (0.2 * w, 0.07 * h, 0.12 * d), STEEL, "xXyzZ")
    plate(b, (-0.3 * w, 0.68 * h, d / 2 + 0.0005), (0.1 * w, 0.9 * h, d / 2 + 0.0005), WHITE)
    lamp = Paint((255, 90, 40), glow=1.0) if look.is_on else Paint((90, 30, 24))
    plate(b, (0.22 * w, 0.74 * h, d / 2 + 0.0005), (0.36 * w, 0.84 * h, d / 2 + 0.0005), lamp)
    if look.is_on:
        block(b, 0.0, 0.1 * h, 0.2 * d, (0.01, 0.41 * h, 0.01), Paint((70, 40, 20)), "xXzZ")


@shape(ObjectClass.Toaster)
def _toaster(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    coat = choose(
        style, "coat", (STEEL, STEEL, Paint((180, 46, 42)), WHITE, Paint((110, 160, 160)))
    )
    outline = [
        (-d / 2, 0.0),
        (d / 2, 0.0),
        (d / 2, 0.8 * h),
        (0.36 * d, 0.97 * h),
        (-0.36 * d, 0.97 * h),
        (-d / 2, 0.8 * h),
    ]
    x = w / 2 - 0.02
    for (z0, y0), (z1, y1) in zip(outline, [*outline[1:], outline[0]], strict=True):
        b.polygon(
            [(-x, y0, z0), (x, y0, z0), (x, y1, z1), (-x, y1, z1)],
            (0.0, (y0 + y1) / 2 - 0.45 * h, (z0 + z1) / 2),
            coat,
        )
    for end in (-1, 1):
        b.polygon([(end * x, y, z) for z, y in outline], (end, 0, 0), darker(coat, 0.75))
    slot = Paint((255, 120, 40), glow=1.0) if look.is_on else Paint((28, 26, 26))
    for z in (-0.17 * d, 0.17 * d):
        plate(
            b,
            (-0.4 * w, h * 0.975, z - 0.07 * d),
            (0.4 * w, h * 0.975, z + 0.07 * d),
            slot,
            (0, 1, 0),
        )
    block(
        b,
        w / 2 - 0.01,
        (0.3 if look.is_on else 0.6) * h,
        0.0,
        (0.02, 0.08 * h, 0.2 * d),
        BLACK,
        "xXyYzZ",
    )


@shape(ObjectClass.StoveBurner)
def _burner(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, h = size[0] / 2, size[1]
    plate_paint = (
        Paint((220, 60, 30), Texture.BURNER, 0.08, 0.8)
        if look.is_on
        else Paint((66, 64, 66), Texture.BURNER, 0.08)
    )
    b.lathe([(r, 0.0), (r, 0.6 * h)], Paint((30, 30, 32)), cap_bottom=False)
    b.lathe([(0.8 * r, 0.6 * h), (0.8 * r, h)], plate_paint, cap_bottom=False)


@shape(ObjectClass.StoveKnob)
def _knob(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    r, d, y = size[0] / 2, size[2] / 2, size[1] / 2
    tube(b, (0.0, y, -d), (0.0, y, d), r, choose(style, "knob", (BLACK, DARK_STEEL)), sides=6)
    mark = Paint((250, 80, 40), glow=1.0) if look.is_on else Paint((230, 230, 230))
    half = (0.85 * r, 0.12 * r) if look.is_on else (0.12 * r, 0.8 * r)
    plate(b, (-half[0], y - half[1], d + 0.0005), (half[0], y + half[1], d + 0.0005), mark)


@shape(ObjectClass.Television)
def _television(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    foot = 0.1 * h
    case = Paint((28, 28, 30))
    z = 0.0 if d > 0.1 else 0.02 - d / 2
    block(b, 0.0, foot, z, (w, h - foot, 0.04), case, "xXyYzZ")
    picture = (
        Paint((96, 150, 214), Texture.PICTURE, 0.5, 1.0) if look.is_on else Paint((12, 13, 16))
    )
    face = z + 0.0205
    plate(b, (0.02 - w / 2, foot + 0.02, face), (w / 2 - 0.02, h - 0.02, face), picture)
    if choose(style, "foot", ("plate", "pegs")) == "plate":
        block(b, 0.0, 0.0, 0.0, (0.4 * w, 0.015, 0.95 * d), case)
        block(b, 0.0, 0.015, z, (0.1 * w, foot, 0.03), case, "xXzZ")
        return
    for x in (-0.36 * w, 0.36 * w):
        block(b, x, 0.0, 0.0, (0.03, 0.02, 0.9 * d), case)
        block(b, x, 0.02, z, (0.03, foot - 0.02, 0.03), case, "xXzZ")


def _shade(
    b: MeshBuilder,
    radii: tuple[float, float],
    span: tuple[float, float],
    colour: tuple[int, int, int],
    is_on: bool,
) -> None:
    """A lampshade with a bulb in it, bright while on."""
    cloth = Paint(_LAMP_LIGHT, glow=1.0) if is_on else Paint(colour, Texture.FABRIC, 0.1)
    profile = [(radii[0], span[0]), (radii[1], span[1])]
    b.lathe(profile, cloth, cap_bottom=False)
    bulb = Paint((255, 250, 225), glow=1.0) if is_on else Paint(shade(colour, 0.75))
    b.lathe(
        [(0.98 * radii[0], span[0]), (0.98 * radii[1], span[1] - 0.005)],
        bulb,
        inward=True,
        cap_bottom=False,
    )


_SHADES = ((226, 216, 194), (206, 190, 160), (150, 60, 52), (80, 100, 120), (230, 230, 226))


@shape(ObjectClass.FloorLamp)
def _floor_lamp(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, _ = size
    r = w / 2
    metal = choose(
        style, "metal", (BLACK, DARK_STEEL, STEEL, Paint((176, 146, 84), Texture.METAL, 0.6))
    )
    b.cylinder(0.66 * r, 0.0, 0.025, metal)
    block(b, 0.0, 0.025, 0.0, (0.03, 0.76 * h, 0.03), metal, "xXzZ")
    colour = choose(style, "shade", _SHADES)
    form = choose(style, "form", ((1.0, 0.7), (0.9, 0.9), (0.6, 1.0)))
    _shade(b, (form[0] * r, form[1] * r), (0.77 * h, h), colour, look.is_on)


@shape(ObjectClass.Lamp)
def _lamp(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, _ = size
    r = w / 2
    paint = choose(style, "foot", (bright(style), wood(style), WHITE))
    b.lathe(
        [(0.45 * r, 0.0), (0.5 * r, 0.2 * h), (0.16 * r, 0.52 * h)],
        paint,
        sides=6,
        cap_bottom=False,
    )
    _shade(b, (r, 0.66 * r), (0.5 * h, h), choose(style, "shade", _SHADES), look.is_on)


@shape(ObjectClass.DeskLamp)
def _desk_lamp(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    paint = choose(
        style, "coat", (BLACK, WHITE, Paint((180, 50, 44)), Paint((60, 100, 150)), STEEL)
    )
    b.cylinder(0.36 * w, 0.0, 0.04 * h, paint, centre=(0.0, -0.12 * d), sides=6)
    if choose(style, "form", ("arm", "arm", "shade")) == "shade":
        block(b, 0.0, 0.04 * h, 0.0, (0.02, 0.6 * h, 0.02), paint, "xXzZ")
        _shade(b, (0.5 * w, 0.32 * w), (0.6 * h, h), paint.colour, look.is_on)
        return
    elbow, head = (0.0, 0.56 * h, -0.42 * d), (0.0, 0.96 * h, -0.05 * d)
    tube(b, (0.0, 0.04 * h, -0.12 * d), elbow, 0.012, paint, caps=False)
    tube(b, elbow, head, 0.012, paint, caps=False)
    low = (0.0, 0.7 * h, 0.22 * d)
    # The light falls away from whoever stands in front, so the hood itself shows that it is on.
    hood = Paint(_LAMP_LIGHT, glow=1.0) if look.is_on else paint
    tube(b, head, low, 0.035, hood, sides=6, end_radius=0.4 * w * 0.6, caps=False)
    light = Paint((255, 246, 205), glow=1.0) if look.is_on else Paint((196, 192, 176))
    tube(b, (0.0, 0.705 * h, 0.217 * d), low, 0.22 * w, light, sides=6, caps=True)


@shape(ObjectClass.LightSwitch)
def _light_switch(b: MeshBuilder, size: Vector, style: int, look: Appearance) -> None:
    w, h, d = size
    block(b, 0.0, 0.0, -0.2 * d, (w, h, 0.6 * d), WHITE, "xXyYZ")
    y = 0.5 * h if look.is_on else 0.28 * h
    lever = Paint((250, 240, 200), glow=0.6) if look.is_on else Paint((170, 170, 166))
    block(b, 0.0, y, 0.3 * d, (0.3 * w, 0.22 * h, 0.4 * d), lever, "xXyYZ")
