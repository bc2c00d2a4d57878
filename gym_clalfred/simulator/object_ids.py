"""Object ids in AI2-THOR's form: ``Class|+XX.XX|+YY.YY|-ZZ.ZZ``, then ``|part`` or ``|slice``.

The numbers are where the object was at the start of the scene, in metres. Parts are
``Sink|...|SinkBasin`` and ``Bathtub|...|BathtubBasin``; slices ``Apple|...|AppleSliced_1``.
"""

from __future__ import annotations

import re

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.simulator.contract import Vector

#: Classes whose id is that of the whole with their own name behind it.
WHOLE_OF = {
    ObjectClass.SinkBasin: ObjectClass.Sink,
    ObjectClass.BathtubBasin: ObjectClass.Bathtub,
}

_NUMBER = r"[+-]?\d{2,}\.\d{2}"
_FORM = re.compile(
    rf"(?P<whole>[A-Za-z]+)\|({_NUMBER})\|({_NUMBER})\|({_NUMBER})"
    r"(?:\|(?P<part>[A-Za-z]+?)(?:_(?P<piece>\d+))?)?"
)


def format_id(object_class: ObjectClass, position: Vector) -> str:
    """The id of an object that starts at a position; a basin's names the whole it belongs to."""
    whole = WHOLE_OF.get(object_class)
    if whole is not None:
        return f"{format_id(whole, position)}|{object_class.name}"
    return "|".join((object_class.name, *map(_number, position)))


def slice_id(whole: str, piece: int) -> str:
    """The id of a piece of a sliced object; pieces count from 1."""
    return f"{whole}|{SLICED_FORM[class_of(whole)].name}_{piece}"


def class_of(object_id: str) -> ObjectClass:
    """The class of an object from its id; raises ``BadInputError`` if it is not an id."""
    match = _FORM.fullmatch(object_id)
    name = (match["part"] or match["whole"]) if match else ""
    if name not in ObjectClass.__members__:
        raise BadInputError(
            f"{object_id!r} is not an object id: expected a form like 'Mug|+01.25|+00.90|-00.40', "
            "'Sink|+01.25|+00.90|-00.40|SinkBasin' or 'Apple|+01.25|+00.90|-00.40|AppleSliced_1'"
        )
    return ObjectClass[name]


def position_of(object_id: str) -> Vector:
    """The start position that an id names, to the centimetre."""
    class_of(object_id)
    x, y, z = object_id.split("|")[1:4]
    return float(x), float(y), float(z)


def _number(value: float) -> str:
    text = f"{value:+06.2f}"
    return "+00.00" if text == "-00.00" else text
