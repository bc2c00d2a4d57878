"""Rooms as JSON documents; ``parse_room`` is the inverse of ``dump_room``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gym_clalfred.data.fields import Field
from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.mesh import Texture
from gym_clalfred.simulator.embedded.room_model import (
    Block,
    Body,
    Decor,
    Fixture,
    ItemShape,
    Opening,
    PlacementHint,
    Rectangle,
    Room,
    Surface,
    Wall,
)

_LARGEST_STYLE = 2**62


def dump_room(room: Room) -> dict[str, Any]:
    """The document of a reconstructed room: no default items."""
    return {
        "number": room.number,
        "floor": [_area(area) for area in room.floor],
        "walls": [_wall(wall) for wall in room.walls],
        "height": room.height,
        "fixtures": [_fixture(fixture) for fixture in room.fixtures],
        "walkable": sorted(room.walkable),
        "decor": asdict(room.decor),
        "shapes": {
            name: [
                *shape.size,
                *shape.origin,
                shape.turn,
                *([*block.low, *block.high] for block in shape.blocks),
            ]
            for name, shape in sorted(room.shapes.items())
        },
        "bodies": [[*body.low, *body.high, *body.colour, body.texture] for body in room.bodies],
    }


def parse_room(root: Field) -> Room:
    """Reads a room; raises ``DataError`` naming the file and the field."""
    number = root["number"].integer(0, 1000)
    if number not in ROOM_NUMBERS:
        root["number"].fail("a scene number of AI2-THOR")
    shapes = root["shapes"]
    if not isinstance(shapes.value, dict):
        shapes.fail("an object")
    return Room(
        number=number,
        floor=tuple(_rectangle(area) for area in root["floor"]),
        walls=tuple(_parse_wall(wall) for wall in root["walls"]),
        height=root["height"].metres(),
        fixtures=tuple(_parse_fixture(fixture) for fixture in root["fixtures"]),
        walkable=frozenset(_pair(point) for point in root["walkable"]),
        items=(),
        decor=_parse_decor(root["decor"]),
        shapes={name: _parse_shape(shapes[name]) for name in shapes.value},
        bodies=tuple(_parse_body(body) for body in root["bodies"]),
    )


def _fixture(fixture: Fixture) -> dict[str, Any]:
    return {
        "name": fixture.name,
        "class": fixture.object_class.name,
        "position": list(fixture.position),
        "yaw": fixture.yaw,
        "size": list(fixture.size),
        "style": fixture.style,
        "surfaces": [
            [*_area(s.area), s.y, s.clearance, s.inside, s.overhang, *map(_hint, s.hints)]
            for s in fixture.surfaces or ()
        ],
        "blocks": [[*block.low, *block.high] for block in fixture.blocks],
    }


def _parse_fixture(root: Field) -> Fixture:
    name = root["class"]
    if name.text() not in ObjectClass.__members__:
        name.fail("an object class")
    return Fixture(
        name=root["name"].text(),
        object_class=ObjectClass[name.text()],
        position=_vector(root["position"]),
        yaw=root["yaw"].degrees(),
        size=_vector(root["size"]),
        style=root["style"].integer(0, _LARGEST_STYLE),
        surfaces=tuple(_parse_surface(surface) for surface in root["surfaces"]),
        blocks=tuple(_parse_block(block) for block in root["blocks"]),
    )


def _hint(hint: PlacementHint) -> list[Any]:
    return [hint.object_class.name if hint.object_class else None, hint.x, hint.z, hint.turn]


def _parse_surface(row: Field) -> Surface:
    fields = list(row)
    if len(fields) < 8:
        row.fail("x0, z0, x1, z1, y, clearance, inside, overhang and perhaps hints")
    x0, z0, x1, z1, y, clearance = (value.metres() for value in fields[:6])
    hints = tuple(_parse_hint(hint) for hint in fields[8:])
    area = Rectangle(x0, z0, x1, z1)
    return Surface(area, y, clearance, fields[6].flag(), fields[7].metres(), hints)


def _parse_hint(row: Field) -> PlacementHint:
    fields = list(row)
    if len(fields) != 4:
        row.fail("a class or null, x, z and a turn")
    name = fields[0]
    if name.value is not None and name.text() not in ObjectClass.__members__:
        name.fail("an object class or null")
    object_class = None if name.value is None else ObjectClass[name.text()]
    return PlacementHint(object_class, fields[1].metres(), fields[2].metres(), fields[3].degrees())


def _parse_block(row: Field) -> Block:
    x0, y0, z0, x1, y1, z1 = _numbers(row, 6)
    return Block((x0, y0, z0), (x1, y1, z1))


def _parse_shape(row: Field) -> ItemShape:
    fields = list(row)
    if len(fields) < 7:
        row.fail("three extents, three coordinates of the origin, a turn and perhaps blocks")
    a, b, c, x, y, z = (number.metres() for number in fields[:6])
    blocks = tuple(_parse_block(block) for block in fields[7:])
    return ItemShape((a, b, c), (x, y, z), fields[6].degrees(), blocks)


def _parse_decor(root: Field) -> Decor:
    return Decor(
        wall_colour=_colour(root["wall_colour"]),
        wall_texture=root["wall_texture"].text(),
        floor_colour=_colour(root["floor_colour"]),
        floor_texture=root["floor_texture"].text(),
        ceiling_colour=_colour(root["ceiling_colour"]),
        light_colour=_vector(root["light_colour"]),
        light_direction=_vector(root["light_direction"]),
        ambient=root["ambient"].metres(),
    )


def _area(area: Rectangle) -> list[float]:
    return [area.x0, area.z0, area.x1, area.z1]


def _rectangle(row: Field) -> Rectangle:
    return Rectangle(*_numbers(row, 4))


def _wall(wall: Wall) -> list[Any]:
    openings = [[o.kind, o.start, o.end, o.bottom, o.top] for o in wall.openings]
    return [wall.x0, wall.z0, wall.x1, wall.z1, *openings]


def _parse_wall(row: Field) -> Wall:
    fields = list(row)
    if len(fields) < 4:
        row.fail("x0, z0, x1, z1 and perhaps openings")
    x0, z0, x1, z1 = (value.metres() for value in fields[:4])
    return Wall(x0, z0, x1, z1, tuple(_parse_opening(opening) for opening in fields[4:]))


def _parse_opening(row: Field) -> Opening:
    fields = list(row)
    if len(fields) != 5:
        row.fail("a kind, start, end, bottom and top")
    return Opening(fields[0].text(), *(value.metres() for value in fields[1:]))


def _parse_body(row: Field) -> Body:
    fields = list(row)
    if len(fields) != 10:
        row.fail("two corners, a colour and a texture")
    x0, y0, z0, x1, y1, z1 = (value.metres() for value in fields[:6])
    red, green, blue = (value.integer(0, 255) for value in fields[6:9])
    texture = fields[9].text()
    if texture.upper() not in Texture.__members__:
        fields[9].fail("a texture of the renderer")
    return Body((x0, y0, z0), (x1, y1, z1), (red, green, blue), texture)


def _numbers(row: Field, count: int) -> list[float]:
    numbers = [value.metres() for value in row]
    if len(numbers) != count:
        row.fail(f"{count} numbers")
    return numbers


def _vector(row: Field) -> Vector:
    x, y, z = _numbers(row, 3)
    return x, y, z


def _pair(row: Field) -> tuple[float, float]:
    x, z = _numbers(row, 2)
    return x, z


def _colour(row: Field) -> tuple[int, int, int]:
    numbers = [value.integer(0, 255) for value in row]
    if len(numbers) != 3:
        row.fail("three numbers from 0 to 255")
    return numbers[0], numbers[1], numbers[2]
