"""Clean, Heat and Cool: the target is treated before it is put in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from gym_clalfred.actions import Action
from gym_clalfred.simulator.treatments import CLEAN, COOL, HEAT, Treatment
from gym_clalfred.tasks.goals import Condition, GoalState, name_of
from gym_clalfred.tasks.pick_and_place import PickAndPlace
from gym_clalfred.tasks.spec import Needed, Purpose, TaskSpec

if TYPE_CHECKING:
    from gym_clalfred.expert.planner import Expert


def _goals(treatment: Treatment) -> tuple[str, ...]:
    verb, appliance = f"{{{treatment.verb}}}", f"{{{treatment.place.name}}}"
    return (
        "{put} {a} {in}",
        f"{verb} {{plain}} and {{put}} it {{in}}",
        "{put} {the} {in}",
        f"{verb} {{plain}} in {appliance} and {{put}} it {{in}}",
        "move {a} to {place}",
        f"{verb} {{plain}} before you {{put}} it {{in}}",
        f"{{pick_up}} {{plain}}, {{{treatment.verb}_it}} and {{put}} it {{in}}",
        f"use {appliance} to {verb} {{plain}}, then {{put}} it {{in}}",
        "{carry} {a} to {place}",
        "leave {a} {at}",
    )


class TreatAndPlace(PickAndPlace):
    """The target has been treated and is in or on the receptacle."""

    treatment: ClassVar[Treatment]

    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """Whether a target is in place, whether one has been treated, and whether one is both."""
        placed, treated = world.in_goal(world.targets), self.treatment.is_done
        name, place, word = task.goal_class.name, name_of(task.receptacle), self.treatment.mark
        return [
            Condition(f"{name} in or on {place}", bool(placed)),
            Condition(f"{name} {word}", any(map(treated, world.targets))),
            Condition(f"{word} {name} in or on {place}", any(map(treated, placed))),
        ]

    def prepare(self, task: TaskSpec, expert: Expert, goals: list[str]) -> None:
        """Treats the target and takes it out again."""
        expert.treat(self.treatment)

    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """Takes the target, treats it, takes it out again and brings it."""
        take, put = super().interactions(task)
        treatment = self.treatment
        inside = Needed.of(Purpose.TREAT, Action.PutObject, treatment.place)
        treat = Needed.of(Purpose.TREAT, treatment.action, treatment.device)
        out = Needed.of(Purpose.TREAT, Action.PickupObject, task.goal_class)
        return take, inside, treat, out, put


class Clean(TreatAndPlace):
    """Under a faucet."""

    value = "pick_clean_then_place_in_recep"
    paper_name = "Clean"
    treatment = CLEAN
    never_in = frozenset({CLEAN.place})
    sliced_share = 0.15
    goals = _goals(CLEAN)
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "2 0 0 2", "valid": "1 0 0 0", "test": "1 0 0 0"},
        "small": {"train": "312 0 0 168", "valid": "9 0 0 7", "test": "16 0 0 16"},
        "full": {
            "train": "628/1991 0 0 267/851",
            "seen": "23/70 0 0 14/42",
            "unseen": "25/79 0 0 10/34",
        },
    }


class Heat(TreatAndPlace):
    """In a microwave."""

    value = "pick_heat_then_place_in_recep"
    paper_name = "Heat"
    treatment = HEAT
    never_in = frozenset({HEAT.place})
    sliced_share = 0.38
    goals = _goals(HEAT)
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "4 0 0 0", "valid": "1 0 0 0", "test": "1 0 0 0"},
        "small": {"train": "480 0 0 0", "valid": "16 0 0 0", "test": "32 0 0 0"},
        "full": {"train": "918/2943 0 0 0", "seen": "34/107 0 0 0", "unseen": "42/136 0 0 0"},
    }


class Cool(TreatAndPlace):
    """In a fridge."""

    value = "pick_cool_then_place_in_recep"
    paper_name = "Cool"
    treatment = COOL
    never_in = frozenset({COOL.place})
    sliced_share = 0.28
    goals = _goals(COOL)
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "4 0 0 0", "valid": "1 0 0 0", "test": "1 0 0 0"},
        "small": {"train": "480 0 0 0", "valid": "16 0 0 0", "test": "32 0 0 0"},
        "full": {"train": "920/2944 0 0 0", "seen": "38/126 0 0 0", "unseen": "34/109 0 0 0"},
    }
