"""The surfaces of receptacles, and the measures that their meshes share with them.

Hollow things (basins, bowls, boxes, bins and all that is ``inside``) allow no overhang: what lies
in them must not stick through their walls. Dishes have a second surface at their rim, across which
lies what is too long for their bottom.
"""

from __future__ import annotations

from collections.abc import Callable

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.parts import stove_area
from gym_clalfred.simulator.embedded.catalog.style import STOVE, choose
from gym_clalfred.simulator.embedded.room_model import Rectangle, Surface

#: Free height above surfaces with nothing over them.
OPEN_ABOVE = 1.5

#: Thickness of the walls of hollow furniture.
WALL = 0.02

#: Free height that each shelf of a fridge has at least.
_FRIDGE_SHELF = 0.36

#: How far a dish lets long things stick out over its rim.
_RIM_OVERHANG = 0.36

#: Where the inside of a cup with a stem begins, as a share of its height.
GOBLET_FLOOR = 0.45

_Surfaces = tuple[Surface, ...]
_Rule = Callable[[Vector, int], _Surfaces]


def sheet(
    width: float,
    depth: float,
    y: float,
    *,
    z: float = 0.0,
    clearance: float = OPEN_ABOVE,
    inside: bool = False,
    overhang: float = 0.25,
) -> Surface:
    """A surface of ``width`` x ``depth`` centred at (0, z)."""
    area = Rectangle(-width / 2, z - depth / 2, width / 2, z + depth / 2)
    return Surface(area, y, clearance, inside, overhang)


def seat_height(size: Vector) -> float:
    """Height of the seat of a sofa, an armchair or a chair."""
    return 0.5 * size[1]


def seat_back(size: Vector) -> float:
    """Thickness of the backrest of a sofa or an armchair."""
    return 0.24 * size[2]


def arm_width(size: Vector) -> float:
    """Width of each armrest of a sofa or an armchair."""
    return min(0.16, 0.15 * size[0])


def mattress_height(size: Vector) -> float:
    """Height of the mattress of a bed."""
    return 0.52 * size[1]


def shelf_heights(low: float, high: float, least: float) -> tuple[float, ...]:
    """Heights of as many shelves as fit from ``low`` to ``high``, each ``least`` apart."""
    count = max(1, int((high - low) / (least + WALL)))
    return tuple(low + k * (high - low) / count for k in range(count))


def fridge_shelves(size: Vector) -> tuple[float, ...]:
    """Heights of a fridge's shelves, its floor first."""
    return shelf_heights(0.08, size[1] - 0.06, _FRIDGE_SHELF)


def cabinet_shelves(size: Vector) -> tuple[float, ...]:
    """Heights of a cabinet's shelves: only tall ones have more than the floor."""
    return shelf_heights(WALL, size[1] - WALL, 0.47)


def cart_shelves(size: Vector) -> tuple[float, ...]:
    """Heights of the three boards of a cart."""
    return (0.12 * size[1], 0.52 * size[1], 0.92 * size[1])


def is_goblet(style: int) -> bool:
    """Whether a cup has a stem; its inside then begins at ``GOBLET_FLOOR`` of its height."""
    return choose(style, "goblet", (False, False, True))


def mug_radius(size: Vector) -> float:
    """Radius of a mug without its handle, which is on its +x side."""
    return size[2] / 2


def pan_radius(size: Vector) -> float:
    """Radius of a pan without its handle, which points to +z."""
    return size[0] / 2


def pot_radius(size: Vector) -> float:
    """Radius of a pot without its two handles, on its x sides."""
    return size[2] / 2


def microwave_room(size: Vector) -> tuple[float, float]:
    """Low and high x of a microwave's inside; its panel is at -x, to a viewer's right."""
    return (0.22 * size[0] - size[0] / 2, size[0] / 2 - 0.03)


def _top(margin: float = 0.02) -> _Rule:
    def rule(size: Vector, style: int) -> _Surfaces:
        return (sheet(size[0] - 2 * margin, size[2] - 2 * margin, size[1]),)

    return rule


def _seat(size: Vector, style: int) -> _Surfaces:
    back = seat_back(size)
    width = size[0] - 2 * arm_width(size)
    return (sheet(width, size[2] - back, seat_height(size), z=back / 2),)


def _bed(size: Vector, style: int) -> _Surfaces:
    return (sheet(size[0] - 0.08, size[2] - 0.2, mattress_height(size), z=0.06),)


def _counter(size: Vector, style: int) -> _Surfaces:
    if not style & STOVE:
        return (sheet(size[0] - 0.02, size[2] - 0.02, size[1]),)
    side = (size[0] - stove_area(size)) / 2
    if side < 0.12:
        return ()
    z = size[2] / 2 - 0.01
    x = size[0] / 2
    return (
        Surface(Rectangle(-x + 0.01, -z, -x + side, z), size[1], OPEN_ABOVE),
        Surface(Rectangle(x - side, -z, x - 0.01, z), size[1], OPEN_ABOVE),
    )


def _fridge(size: Vector, style: int) -> _Surfaces:
    heights = fridge_shelves(size)
    clearance = (size[1] - 0.06 - heights[0]) / len(heights) - WALL
    return tuple(
        sheet(
            size[0] - 0.1, size[2] - 0.16, y, z=-0.03, clearance=clearance, inside=True, overhang=0
        )
        for y in heights
    )


def _cabinet(size: Vector, style: int) -> _Surfaces:
    heights = cabinet_shelves(size)
    clearance = (size[1] - 2 * WALL) / len(heights) - WALL
    width, depth = size[0] - 2 * WALL, size[2] - 2 * WALL
    return tuple(
        sheet(width, depth, y, clearance=clearance, inside=True, overhang=0) for y in heights
    )


def _microwave(size: Vector, style: int) -> _Surfaces:
    low, high = microwave_room(size)
    area = Rectangle(low, -size[2] / 2 + 0.03, high, size[2] / 2 - 0.03)
    return (Surface(area, 0.04, size[1] - 0.075, True, 0.0),)


def _safe(size: Vector, style: int) -> _Surfaces:
    room = size[1] - 0.1
    return (
        sheet(size[0] - 0.1, size[2] - 0.1, 0.05, z=-0.01, clearance=room, inside=True, overhang=0),
    )


def _drawer(size: Vector, style: int) -> _Surfaces:
    room = size[1] - WALL - 0.01
    width, depth = size[0] - 2 * WALL, size[2] - 2 * WALL
    return (sheet(width, depth, WALL, clearance=room, inside=True, overhang=0),)


def _hollow(wall: float, floor: float) -> _Rule:
    def rule(size: Vector, style: int) -> _Surfaces:
        return (sheet(size[0] - 2 * wall, size[2] - 2 * wall, floor, overhang=0),)

    return rule


def _bathtub(size: Vector, style: int) -> _Surfaces:
    return (sheet(0.8 * size[0], 0.78 * size[2], 0.02, overhang=0),)


def _bin(size: Vector, style: int) -> _Surfaces:
    return (sheet(0.78 * size[0], 0.78 * size[2], 0.02, overhang=0),)


def _dish(radius: float, floor: float, height: float, z: float = 0.0) -> _Surfaces:
    """The bottom of a round dish, a square in its circle, and its rim."""
    bottom, rim = 1.3 * radius, 1.42 * radius
    return (
        sheet(bottom, bottom, floor, z=z, overhang=0),
        sheet(rim, rim, height, z=z, overhang=_RIM_OVERHANG),
    )


def _bowl(size: Vector, style: int) -> _Surfaces:
    return _dish(size[0] / 2, 0.012, size[1])


def _pan(size: Vector, style: int) -> _Surfaces:
    radius = pan_radius(size)
    return _dish(radius, 0.008, size[1], z=radius - size[2] / 2)


def _pot(size: Vector, style: int) -> _Surfaces:
    return _dish(pot_radius(size), 0.008, size[1])


def _plate(size: Vector, style: int) -> _Surfaces:
    return (sheet(0.7 * size[0], 0.7 * size[2], 0.5 * size[1], overhang=_RIM_OVERHANG),)


def _cup(size: Vector, style: int) -> _Surfaces:
    floor = GOBLET_FLOOR * size[1] + 0.002 if is_goblet(style) else 0.008
    return (sheet(0.62 * size[0], 0.62 * size[2], floor, overhang=0.1),)


def _mug(size: Vector, style: int) -> _Surfaces:
    side = 1.4 * mug_radius(size)
    x = mug_radius(size) - size[0] / 2
    area = Rectangle(x - side / 2, -side / 2, x + side / 2, side / 2)
    return (Surface(area, 0.008, OPEN_ABOVE, overhang=0.1),)


def _coffee_machine(size: Vector, style: int) -> _Surfaces:
    return (
        sheet(
            0.62 * size[0],
            0.52 * size[2],
            0.1 * size[1],
            z=0.2 * size[2],
            clearance=0.4 * size[1],
            overhang=0.1,
        ),
    )


def _toaster(size: Vector, style: int) -> _Surfaces:
    return (sheet(0.8 * size[0], 0.5 * size[2], 0.62 * size[1], overhang=0),)


def _toilet(size: Vector, style: int) -> _Surfaces:
    tank = 0.3 * size[2]
    return (
        sheet(size[0], tank, size[1], z=(tank - size[2]) / 2),
        sheet(0.8 * size[0], 0.5 * size[2], 0.53 * size[1], z=0.18 * size[2]),
    )


def _cart(size: Vector, style: int) -> _Surfaces:
    low, middle, high = cart_shelves(size)
    room = middle - low - 0.03
    return (
        sheet(size[0] - 0.06, size[2] - 0.06, high),
        sheet(size[0] - 0.06, size[2] - 0.06, middle, clearance=room),
        sheet(size[0] - 0.06, size[2] - 0.06, low, clearance=room),
    )


def _shelf(size: Vector, style: int) -> _Surfaces:
    return (sheet(size[0] - 0.02, size[2] - 0.02, size[1], clearance=0.36),)


def _burner(size: Vector, style: int) -> _Surfaces:
    return (sheet(size[0], size[2], size[1], overhang=0.3),)


def _hanger(size: Vector, style: int) -> _Surfaces:
    return (sheet(size[0] - 0.02, size[2] - 0.02, 0.025, z=0.005),)


_RULES: dict[ObjectClass, _Rule] = {
    ObjectClass.ArmChair: _seat,
    ObjectClass.BathtubBasin: _bathtub,
    ObjectClass.Bed: _bed,
    ObjectClass.Bowl: _bowl,
    ObjectClass.Box: _hollow(0.015, 0.012),
    ObjectClass.Cabinet: _cabinet,
    ObjectClass.Cart: _cart,
    ObjectClass.CoffeeMachine: _coffee_machine,
    ObjectClass.CoffeeTable: _top(),
    ObjectClass.CounterTop: _counter,
    ObjectClass.Cup: _cup,
    ObjectClass.Desk: _top(),
    ObjectClass.DiningTable: _top(),
    ObjectClass.Drawer: _drawer,
    ObjectClass.Dresser: _top(),
    ObjectClass.Fridge: _fridge,
    ObjectClass.GarbageCan: _bin,
    ObjectClass.HandTowelHolder: _hanger,
    ObjectClass.LaundryHamper: _bin,
    ObjectClass.Microwave: _microwave,
    ObjectClass.Mug: _mug,
    ObjectClass.Ottoman: _top(0.03),
    ObjectClass.Pan: _pan,
    ObjectClass.Plate: _plate,
    ObjectClass.Pot: _pot,
    ObjectClass.Safe: _safe,
    ObjectClass.Shelf: _shelf,
    ObjectClass.SideTable: _top(),
    ObjectClass.SinkBasin: _hollow(0.02, 0.015),
    ObjectClass.Sofa: _seat,
    ObjectClass.StoveBurner: _burner,
    ObjectClass.TVStand: _top(),
    ObjectClass.Toaster: _toaster,
    ObjectClass.Toilet: _toilet,
    ObjectClass.ToiletPaperHanger: _hanger,
    ObjectClass.TowelHolder: _hanger,
}


def surfaces_of(object_class: ObjectClass, size: Vector, style: int) -> tuple[Surface, ...]:
    """The surfaces of an object; empty for classes that hold nothing."""
    rule = _RULES.get(object_class)
    return () if rule is None else rule(size, style)
