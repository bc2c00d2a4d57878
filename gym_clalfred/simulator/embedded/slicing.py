"""What slicing leaves: the pieces, in a row where the whole object was."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import model_of, posed_size
from gym_clalfred.simulator.embedded.placement import Spot, turn
from gym_clalfred.simulator.embedded.room_model import ItemShape
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.object_ids import slice_id

#: Into how many pieces AI2-THOR cuts a class.
PIECES = {
    ObjectClass.Apple: 2,
    ObjectClass.Bread: 8,
    ObjectClass.Lettuce: 7,
    ObjectClass.Potato: 8,
    ObjectClass.Tomato: 6,
    ObjectClass.Egg: 1,
}

#: Thin slices stand on edge beside each other; halves and yolks lie.
STANDING = frozenset(
    {ObjectClass.Bread, ObjectClass.Lettuce, ObjectClass.Potato, ObjectClass.Tomato}
)

#: Air between neighbouring pieces, in metres.
_AIR = 0.001


def pieces_of(
    whole: Thing,
    first_index: int,
    origin: ItemShape | None = None,
    shapes: Mapping[str, ItemShape] = MappingProxyType({}),
) -> list[Thing]:
    """The pieces of a thing, within its box, placed in the same frame; they hold nothing yet.

    Pieces are new objects: they inherit neither marks nor dirt.

    Args:
        whole: what is sliced.
        first_index: of the pieces in the household's list.
        origin: the shape of the whole, if it was measured.
        shapes: measured shapes of pieces by class and number, such as ``BreadSliced_1``, from the
            recorded position of the whole; other pieces lie in a row.
    """
    count = PIECES[whole.object_class]
    object_class = SLICED_FORM[whole.object_class]
    usual = model_of(object_class).size(whole.style)
    width, height, depth = whole.box
    share = depth / count
    on_edge = whole.object_class in STANDING
    size: Vector
    if on_edge:
        size = (min(usual[0], width), min(usual[1], share - _AIR), min(usual[2], height))
    else:
        size = (min(usual[0], width), min(usual[1], height), min(usual[2], share - _AIR))
    pieces = []
    for k in range(count):
        x, z = turn(0.0, (k + 0.5) * share - depth / 2, whole.place.yaw)
        place = Spot(whole.place.x + x, whole.place.y, whole.place.z + z, whole.place.yaw)
        shape = shapes.get(f"{object_class.name}_{k + 1}")
        piece_size = size
        if shape is not None and origin is not None:
            place, piece_size = _measured(whole, origin, shape), posed_size(shape.size, on_edge)
        pieces.append(
            Thing(
                index=first_index + k,
                id=slice_id(whole.id, k + 1),
                object_class=object_class,
                size=piece_size,
                style=whole.style,
                surfaces=(),
                place=place,
                tipped=on_edge,
                is_sliced=True,
            )
        )
    return pieces


def _measured(whole: Thing, origin: ItemShape, piece: ItemShape) -> Spot:
    """Where a piece lies from the recorded position of the whole; never below its base."""
    yaw = whole.place.yaw - origin.turn
    x, z = turn(piece.origin[0] - origin.origin[0], piece.origin[2] - origin.origin[2], yaw)
    rise = max(piece.origin[1] - origin.origin[1], 0.0)
    place = whole.place
    return Spot(place.x + x, place.y + rise, place.z + z, (yaw + piece.turn) % 360.0)
