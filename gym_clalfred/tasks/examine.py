"""Examine: hold an object in the light of a lamp."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from gym_clalfred.actions import Action
from gym_clalfred.objects import LAMPS, ObjectClass
from gym_clalfred.tasks.goals import Condition, GoalState, name_of
from gym_clalfred.tasks.spec import Needed, Purpose, TaskSpec, TaskType

if TYPE_CHECKING:
    from gym_clalfred.expert.planner import Expert


class Examine(TaskType):
    """The target is held and the lamp, switched on, is in view."""

    value = "look_at_obj_in_light"
    paper_name = "Examine"
    params = ("lamp",)
    depends_on_view = True
    goals = (
        "{look_at} {a} {under} {lamp}",
        "{look_at} {a} by {lamp}",
        "{look_at} {the} {under} {lamp}",
        "{pick_up} {a} and {switch_on} {lamp}",
        "{switch_on} {lamp} while holding {a}",
        "{look_at} {the} next to the lit {lamp_noun}",
        "hold {a} and {switch_on} {lamp}",
        "{look_at} {a} in the lamp light",
        "{pick_up} {a} and {look_at} it {under} {lamp}",
        "use {lamp} to {look_at} {a}",
    )
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "0 2 2 0", "valid": "0 1 0 0", "test": "0 1 0 0"},
        "small": {"train": "0 240 240 0", "valid": "0 8 8 0", "test": "0 16 16 0"},
        "full": {
            "train": "0 372/1178 339/1073 0",
            "seen": "0 15/48 14/46 0",
            "unseen": "0 30/97 24/76 0",
        },
    }

    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """Whether the target is held, and whether the lamp is on and in view."""
        held = any(state.id == world.held for state in world.targets)
        lit = [state.id for state in world.lamps() if state.is_on]
        seen = bool(lit) and not world.visible().isdisjoint(lit)
        return [
            Condition(f"{task.goal_class.name} held", held),
            Condition(f"{name_of(task.lamp)} on and in view", seen),
        ]

    def plan(self, task: TaskSpec, expert: Expert) -> None:
        """Picks the target up and switches a lamp on."""
        expert.pick_up(expert.all_of(task.goal_class))
        expert.switch_on(expert.all_of(task.lamp))

    def choices(
        self,
        target: ObjectClass,
        sliced: bool,
        fixtures: Collection[ObjectClass],
        items: Collection[ObjectClass],
    ) -> Iterator[tuple[TaskSpec, float]]:
        """Every lamp of the room."""
        for lamp in sorted(LAMPS.intersection(fixtures)):
            yield TaskSpec(self, target, lamp=lamp), 1.0

    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """Takes the target and switches the lamp on."""
        return (
            Needed.of(Purpose.FIND, Action.PickupObject, task.goal_class),
            Needed.of(Purpose.TREAT, Action.ToggleObjectOn, task.lamp),
        )
