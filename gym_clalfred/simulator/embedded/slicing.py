"""What slicing leaves: the pieces, in a row where the whole object was."""

from __future__ import annotations

from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.placement import Spot, turn
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
_ON_EDGE = frozenset(
    {ObjectClass.Bread, ObjectClass.Lettuce, ObjectClass.Potato, ObjectClass.Tomato}
)

#: Air between neighbouring pieces, in metres.
_AIR = 0.001


def pieces_of(whole: Thing, first_index: int) -> list[Thing]:
    """The pieces of a thing, within its box, placed in the same frame; they hold nothing yet.

    Pieces are new objects: they inherit neither marks nor dirt.
    """
    count = PIECES[whole.object_class]
    object_class = SLICED_FORM[whole.object_class]
    usual = model_of(object_class).size(whole.style)
    width, height, depth = whole.box
    share = depth / count
    on_edge = whole.object_class in _ON_EDGE
    size: Vector
    if on_edge:
        size = (min(usual[0], width), min(usual[1], share - _AIR), min(usual[2], height))
    else:
        size = (min(usual[0], width), min(usual[1], height), min(usual[2], share - _AIR))
    pieces = []
    for k in range(count):
        x, z = turn(0.0, (k + 0.5) * share - depth / 2, whole.place.yaw)
        pieces.append(
            Thing(
                index=first_index + k,
                id=slice_id(whole.id, k + 1),
                object_class=object_class,
                size=size,
                style=whole.style,
                surfaces=(),
                place=Spot(whole.place.x + x, whole.place.y, whole.place.z + z, whole.place.yaw),
                tipped=on_edge,
                is_sliced=True,
            )
        )
    return pieces
