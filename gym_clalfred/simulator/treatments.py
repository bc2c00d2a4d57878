"""ALFRED's marks: which action cleans, heats or cools what. The same for every backend.

Switching a faucet on cleans all that is in the sink basin nearest to it, switching a microwave on
heats what is in it, closing a fridge cools what is in it. Marks stay for the rest of the episode;
slices are new objects and do not inherit them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import ObjectState


class Mark(str, Enum):
    """A lasting change of an object; the value is the field of ``ObjectState`` that shows it."""

    CLEANED = "cleaned"
    HEATED = "heated"
    COOLED = "cooled"


@dataclass(frozen=True)
class Treatment:
    """The objects that get a mark."""

    mark: Mark
    object_ids: tuple[str, ...]


_MARK_OF = {
    (Action.ToggleObjectOn, ObjectClass.Faucet): Mark.CLEANED,
    (Action.ToggleObjectOn, ObjectClass.Microwave): Mark.HEATED,
    (Action.CloseObject, ObjectClass.Fridge): Mark.COOLED,
}


def treatment_of(
    action: Action, target: str, objects: Mapping[str, ObjectState]
) -> Treatment | None:
    """What a successful action on ``target`` does to other objects, or ``None`` if nothing.

    Args:
        action: what was done.
        target: id of the object it was done to.
        objects: the state afterwards.
    """
    vessel: ObjectState | None = objects[target]
    assert vessel is not None
    mark = _MARK_OF.get((action, vessel.object_class))
    if mark is None:
        return None
    if mark is Mark.CLEANED:
        vessel = nearest_basin(target, objects)
    return Treatment(mark, vessel.contents) if vessel and vessel.contents else None


def nearest_basin(faucet: str, objects: Mapping[str, ObjectState]) -> ObjectState | None:
    """The sink basin nearest to a faucet, measured horizontally; a bathtub never counts."""
    x, _, z = objects[faucet].position
    basins = [state for state in objects.values() if state.object_class is ObjectClass.SinkBasin]
    return min(
        basins,
        key=lambda basin: (basin.position[0] - x) ** 2 + (basin.position[2] - z) ** 2,
        default=None,
    )
