"""A small kitchen made by hand, in which every rule can be tried; poses are easy to reckon with.

The room is 4 x 4 m around the origin. Along the far wall (z = 2) stand a counter with a microwave,
the sink and the fridge; a table with most of the small objects stands in the middle of the room.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import AgentPose, ObjectPose, Scene, Vector
from gym_clalfred.simulator.embedded.catalog import STOVE, model_of, parts, style_of
from gym_clalfred.simulator.embedded.catalog.parts import Part
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import (
    AGENT_HEIGHT,
    Decor,
    Fixture,
    Opening,
    Rectangle,
    Room,
    Wall,
)

TABLE_TOP = 0.76
COUNTER_TOP = 0.9


def _fixture(name: str, position: Vector, yaw: float, size: Vector, **more: object) -> Fixture:
    object_class = ObjectClass[name.split("_")[0]]
    return Fixture(name, object_class, position, yaw, size, **more)  # type: ignore[arg-type]


def _part(part: Part, name: str, whole: Fixture) -> Fixture:
    x, z = turn(part.offset[0], part.offset[2], whole.yaw)
    position = (whole.position[0] + x, whole.position[1] + part.offset[1], whole.position[2] + z)
    return _fixture(name, position, whole.yaw, part.size, part_of=whole.name, solid=False)


def _fixtures() -> tuple[Fixture, ...]:
    counter = _fixture("CounterTop_a", (-1.2, 0.0, 1.7), 180.0, (1.6, COUNTER_TOP, 0.6))
    sink = _fixture("Sink_a", (0.1, 0.0, 1.7), 180.0, (1.0, COUNTER_TOP, 0.6))
    stove = _fixture("CounterTop_s", (-1.7, 0.0, 0.0), 90.0, (0.8, COUNTER_TOP, 0.6), style=STOVE)
    burners = parts.stove_burners(stove.size)
    knobs = parts.stove_knobs(stove.size)
    return (
        counter,
        sink,
        _part(parts.sink_basin(sink.size), "SinkBasin_a", sink),
        _part(parts.sink_faucet(sink.size), "Faucet_a", sink),
        stove,
        *(_part(part, f"StoveBurner_{k}", stove) for k, part in enumerate(burners)),
        *(_part(part, f"StoveKnob_{k}", stove) for k, part in enumerate(knobs)),
        _fixture("Fridge_a", (1.2, 0.0, 1.62), 180.0, (0.8, 1.8, 0.76)),
        _fixture("Microwave_a", (-1.6, COUNTER_TOP, 1.7), 180.0, (0.52, 0.32, 0.4)),
        _fixture("Drawer_a", (-0.8, 0.65, 1.69), 180.0, (0.5, 0.2, 0.6), part_of=counter.name),
        _fixture("Cabinet_a", (-0.8, 1.4, 1.82), 180.0, (0.6, 0.6, 0.36), solid=False),
        _fixture("DiningTable_a", (0.5, 0.0, -0.6), 0.0, (1.4, TABLE_TOP, 0.9)),
        _fixture("GarbageCan_a", (1.8, 0.0, 0.3), 270.0, (0.32, 0.42, 0.32)),
        _fixture("LightSwitch_a", (-1.0, 1.1, -1.99), 0.0, (0.08, 0.12, 0.02), solid=False),
    )


def on_table(name: str, x: float, z: float, yaw: float = 0.0) -> ObjectPose:
    """An object on the table, whose middle is at (0.5, -0.6)."""
    return ObjectPose(name, (x, TABLE_TOP, z), (0.0, yaw, 0.0))


def inside(holder: ObjectPose, name: str) -> ObjectPose:
    """An object in the middle of the first surface of another."""
    style = style_of(holder.name)
    model = model_of(holder.object_class)
    surface = model.surfaces(model.size(style), style)[0]
    area = surface.area
    x, z = turn((area.x0 + area.x1) / 2, (area.z0 + area.z1) / 2, holder.rotation[1])
    x, y, z = (holder.position[0] + x, holder.position[1] + surface.y, holder.position[2] + z)
    return ObjectPose(name, (x, y, z), holder.rotation)


def _items() -> tuple[ObjectPose, ...]:
    box = on_table("Box_a", 0.95, -0.6)
    mug = inside(box, "Mug_a")
    fridge_shelf = model_of(ObjectClass.Fridge).surfaces((0.8, 1.8, 0.76), 0)[1]
    return (
        on_table("Apple_a", 0.4, -0.35),
        on_table("Knife_a", 0.0, -0.5),
        on_table("Bread_a", 0.15, -0.35),
        on_table("Plate_a", 0.42, -0.7),
        box,
        mug,
        on_table("Spoon_a", 0.6, -0.4),
        on_table("Laptop_a", 0.1, -0.95),
        ObjectPose("Tomato_a", (-0.6, COUNTER_TOP, 1.6)),
        ObjectPose("Potato_a", (1.2, fridge_shelf.y, 1.65)),
        ObjectPose("Egg_a", (1.4, fridge_shelf.y, 1.65)),
        ObjectPose("Lettuce_a", (0.99, fridge_shelf.y, 1.65)),
        ObjectPose("Cup_a", (0.1, COUNTER_TOP - 0.18 + 0.015, 1.67)),
    )


@cache
def kitchen(number: int = 1) -> Room:
    """The room; it answers to any scene number."""
    corners = [(-2.0, -2.0), (-2.0, 2.0), (2.0, 2.0), (2.0, -2.0)]
    window = Opening("window", 1.0, 2.0, 1.0, 2.0)
    walls = tuple(
        Wall(*start, *end, openings=(window,) if k == 1 else ())
        for k, (start, end) in enumerate(zip(corners, corners[1:] + corners[:1]))
    )
    fixtures = _fixtures()
    return Room(
        number=number,
        floor=(Rectangle(-2.0, -2.0, 2.0, 2.0),),
        walls=walls,
        height=2.6,
        fixtures=fixtures,
        walkable=frozenset(
            (x / 4, z / 4)
            for x in range(-7, 8)
            for z in range(-7, 8)
            if all(_is_clear(fixture, x / 4, z / 4) for fixture in fixtures if fixture.solid)
        ),
        items=_items(),
        decor=Decor((210, 205, 190), "PLAIN", (150, 110, 70), "PLANKS", (240, 240, 240)),
    )


def _is_clear(fixture: Fixture, x: float, z: float) -> bool:
    local_x, local_z = turn(x - fixture.position[0], z - fixture.position[2], -fixture.yaw)
    return abs(local_x) > fixture.size[0] / 2 + 0.2 or abs(local_z) > fixture.size[2] / 2 + 0.2


#: In front of the table, looking at it.
AT_TABLE = AgentPose(0.5, AGENT_HEIGHT, -1.5, 0, 30)

#: In front of the counter with microwave, the sink and the fridge.
AT_MICROWAVE = AgentPose(-1.25, AGENT_HEIGHT, 1.0, 0, 30)
AT_SINK = AgentPose(0.0, AGENT_HEIGHT, 1.0, 0, 30)
AT_FRIDGE = AgentPose(1.25, AGENT_HEIGHT, 0.75, 0, 30)


def scene(start: AgentPose = AT_TABLE, **changes: object) -> Scene:
    """The kitchen with its own objects."""
    return replace(Scene(number=1, start=start), **changes)  # type: ignore[arg-type]
