"""Rooms as JSON documents; ``parse_room`` is the inverse of ``dump_room``.

The parts of a room are rows: the values of a dataclass's fields one after the other, and what there
may be several of, such as the openings of a wall, as rows of their own at the end.
"""

from __future__ import annotations

import typing
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from types import NoneType
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
        "floor": [_row(area) for area in room.floor],
        "walls": [_row(wall) for wall in room.walls],
        "height": room.height,
        "fixtures": [_fixture(fixture) for fixture in room.fixtures],
        "walkable": sorted(room.walkable),
        "decor": asdict(room.decor),
        "shapes": {name: _row(shape) for name, shape in sorted(room.shapes.items())},
        "bodies": [_row(body) for body in room.bodies],
    }


def parse_room(root: Field) -> Room:
    """Reads a room; raises ``DataError`` naming the file and the field."""
    number, shapes, decor = root["number"].integer(0, 1000), root["shapes"], root["decor"]
    if number not in ROOM_NUMBERS:
        root["number"].fail("a scene number of AI2-THOR")
    if not isinstance(shapes.value, dict):
        shapes.fail("an object")
    return Room(
        number=number,
        floor=tuple(_parse(Rectangle, area) for area in root["floor"]),
        walls=tuple(_parse(Wall, wall) for wall in root["walls"]),
        height=root["height"].metres(),
        fixtures=tuple(_parse_fixture(fixture) for fixture in root["fixtures"]),
        walkable=frozenset(_cells(tuple[float, float], point) for point in root["walkable"]),
        items=(),
        decor=Decor(**{name: _cells(hint, decor[name]) for name, hint in _hints(Decor).items()}),
        shapes={name: _parse(ItemShape, shapes[name]) for name in shapes.value},
        bodies=tuple(_parse_body(body) for body in root["bodies"]),
    )


def _fixture(fixture: Fixture) -> dict[str, Any]:
    return {
        "name": fixture.name,
        "class": fixture.object_class.name,
        "position": fixture.position,
        "yaw": fixture.yaw,
        "size": fixture.size,
        "style": fixture.style,
        "surfaces": [_row(surface) for surface in fixture.surfaces or ()],
        "blocks": [_row(block) for block in fixture.blocks],
    }


def _parse_fixture(root: Field) -> Fixture:
    return Fixture(
        name=root["name"].text(),
        object_class=_cells(ObjectClass, root["class"]),
        position=_cells(Vector, root["position"]),
        yaw=root["yaw"].degrees(),
        size=_cells(Vector, root["size"]),
        style=root["style"].integer(0, _LARGEST_STYLE),
        surfaces=tuple(_parse(Surface, surface) for surface in root["surfaces"]),
        blocks=tuple(_parse(Block, block) for block in root["blocks"]),
    )


def _parse_body(row: Field) -> Body:
    body: Body = _parse(Body, row)
    if body.texture.upper() not in Texture.__members__:
        list(row)[-1].fail("a texture of the renderer")
    return body


def _row(part: Any) -> list[Any]:
    row: list[Any] = []
    for one in fields(part):
        value = getattr(part, one.name)
        if isinstance(value, tuple):
            row += [_row(each) if is_dataclass(each) else each for each in value]
        elif is_dataclass(value):
            row += _row(value)
        else:
            row.append(value.name if isinstance(value, ObjectClass) else value)
    return row


def _parse(kind: Any, row: Field) -> Any:
    """The part of a room that a row stands for."""
    cells = list(row)
    try:
        part = _take(kind, cells)
    except IndexError:
        row.fail(f"a row with {', '.join(_hints(kind))}")
    if cells:
        row.fail(f"a row with nothing but {', '.join(_hints(kind))}")
    return part


def _take(kind: Any, cells: list[Field]) -> Any:
    """The part that the first cells stand for, which are removed."""
    values: list[Any] = []
    for hint in _hints(kind).values():
        arguments = typing.get_args(hint)
        if arguments[1:] == (...,):
            values.append(tuple(_parse(arguments[0], cells.pop(0)) for _ in tuple(cells)))
        elif is_dataclass(hint):
            values.append(_take(hint, cells))
        elif typing.get_origin(hint) is tuple:
            values.append(tuple(_cells(one, cells.pop(0)) for one in arguments))
        else:
            values.append(_cells(hint, cells.pop(0)))
    return kind(*values)


def _cells(hint: Any, field: Field) -> Any:
    """A value of a type: of one cell, or of as many as a tuple has."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        cells = list(field)
        if len(cells) != len(arguments):
            field.fail(f"{len(arguments)} numbers")
        return tuple(map(_cells, arguments, cells))
    if hint is float:
        return field.metres()
    if hint is int:
        return field.integer(0, 255)
    if hint is bool:
        return field.flag()
    if hint is str:
        return field.text()
    if field.value is None and NoneType in arguments:
        return None
    if field.text() not in ObjectClass.__members__:
        field.fail("an object class")
    return ObjectClass[field.text()]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
