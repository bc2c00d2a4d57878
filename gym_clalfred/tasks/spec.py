"""The seven task types of ALFRED and the parameters that make one of them a concrete task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.rooms import RoomType


class TaskType(str, Enum):
    """ALFRED's task types, which are also the tasks (behaviours) of Behavior-IL."""

    EXAMINE = "look_at_obj_in_light"
    PICK_AND_PLACE = "pick_and_place_simple"
    PICK_TWO_AND_PLACE = "pick_two_obj_and_place"
    CLEAN = "pick_clean_then_place_in_recep"
    HEAT = "pick_heat_then_place_in_recep"
    COOL = "pick_cool_then_place_in_recep"
    MOVABLE = "pick_and_place_with_movable_recep"

    @property
    def paper_name(self) -> str:
        """The behaviour's name in the CL-ALFRED paper, for example ``Pick2&Place``."""
        return _PAPER_NAMES[self]

    @property
    def room_types(self) -> tuple[RoomType, ...]:
        """The room types in which ALFRED has this task."""
        return _ROOM_TYPES[self]


_PAPER_NAMES = {
    TaskType.EXAMINE: "Examine",
    TaskType.PICK_AND_PLACE: "Pick&Place",
    TaskType.PICK_TWO_AND_PLACE: "Pick2&Place",
    TaskType.CLEAN: "Clean",
    TaskType.HEAT: "Heat",
    TaskType.COOL: "Cool",
    TaskType.MOVABLE: "Movable",
}

_ROOM_TYPES = {
    TaskType.EXAMINE: (RoomType.LIVING_ROOM, RoomType.BEDROOM),
    TaskType.PICK_AND_PLACE: tuple(RoomType),
    TaskType.PICK_TWO_AND_PLACE: tuple(RoomType),
    TaskType.CLEAN: (RoomType.KITCHEN, RoomType.BATHROOM),
    TaskType.HEAT: (RoomType.KITCHEN,),
    TaskType.COOL: (RoomType.KITCHEN,),
    TaskType.MOVABLE: (RoomType.KITCHEN, RoomType.LIVING_ROOM, RoomType.BEDROOM),
}


@dataclass(frozen=True)
class TaskSpec:
    """ALFRED's ``pddl_params``: which objects a task is about.

    Args:
        type: the behaviour.
        target: class of the object to move or examine, always the unsliced one.
        receptacle: class of the goal receptacle; ``None`` for Examine.
        movable: class of the movable receptacle; only for Movable.
        lamp: class of the lamp; only for Examine.
        sliced: whether the target has to be cut first.
    """

    type: TaskType
    target: ObjectClass
    receptacle: ObjectClass | None = None
    movable: ObjectClass | None = None
    lamp: ObjectClass | None = None
    sliced: bool = False

    @property
    def goal_class(self) -> ObjectClass:
        """The class that the goal conditions look for: the sliced form where the task says so."""
        return SLICED_FORM[self.target] if self.sliced else self.target
