"""Solves a task as ALFRED's expert does, step by step in the simulator itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gym_clalfred.data.trajectory import ExpertAction, HighStep
from gym_clalfred.expert.skills import Skills, UnsolvableError
from gym_clalfred.language.grammar_facts import StepFacts
from gym_clalfred.objects import KNIVES, ObjectClass
from gym_clalfred.simulator.contract import Scene, Simulator
from gym_clalfred.tasks.goals import goal_status
from gym_clalfred.tasks.spec import TaskSpec, TaskType

__all__ = ["EXPERT_VERSION", "Demonstration", "UnsolvableError", "solve"]

#: Version of the expert's choices, part of a tier's identity.
EXPERT_VERSION = 1

#: Where the expert may leave a knife that is not needed any more.
_KNIFE_PLACES = (
    ObjectClass.CounterTop,
    ObjectClass.DiningTable,
    ObjectClass.SinkBasin,
    ObjectClass.SideTable,
    ObjectClass.CoffeeTable,
)
_TREATMENTS = {
    TaskType.CLEAN: "CleanObject",
    TaskType.HEAT: "HeatObject",
    TaskType.COOL: "CoolObject",
}


@dataclass(frozen=True)
class Demonstration:
    """A solved task: the plan, the actions, and what can be told of each step."""

    plan: tuple[HighStep, ...]
    actions: tuple[ExpertAction, ...]
    facts: tuple[StepFacts, ...]


def solve(
    simulator: Simulator, scene: Scene, task: TaskSpec, rng: np.random.Generator
) -> Demonstration:
    """Solves a task from the start of a scene; the goal conditions are all met at its end.

    Raises:
        UnsolvableError: if the goal is met at the start already or cannot be reached.
    """
    skills = Skills(simulator, scene)
    if _goal_met(simulator, task):
        raise UnsolvableError("the goal is met before anything is done")
    _carry_out(skills, task, rng)
    if not _goal_met(simulator, task):
        raise UnsolvableError("the plan was carried out but the goal is not met")
    recorder = skills.recorder
    return Demonstration(tuple(recorder.steps), tuple(recorder.actions), tuple(recorder.facts))


def _goal_met(simulator: Simulator, task: TaskSpec) -> bool:
    return goal_status(
        task, simulator.objects, simulator.held, lambda: simulator.sight().visible
    ).success


def _carry_out(skills: Skills, task: TaskSpec, rng: np.random.Generator) -> None:
    if task.sliced:
        skills.pick_up(_some(skills, *sorted(KNIVES)))
        skills.cut(_some(skills, task.target))
        _drop_knife(skills, task, rng)
    if task.type is TaskType.EXAMINE:
        assert task.lamp is not None
        skills.pick_up(_some(skills, task.goal_class))
        skills.switch_on(_some(skills, task.lamp))
        return
    assert task.receptacle is not None
    goals = _some(skills, task.receptacle)
    skills.pick_up(_some(skills, task.goal_class, outside=goals))
    if task.type in _TREATMENTS:
        skills.treat(_TREATMENTS[task.type])
    elif task.type is TaskType.MOVABLE:
        assert task.movable is not None
        skills.load(_some(skills, task.movable, outside=goals))
    place = skills.put(goals)
    if task.type is TaskType.PICK_TWO_AND_PLACE:
        skills.pick_up(_some(skills, task.goal_class, outside=[place]))
        skills.put([place])


def _drop_knife(skills: Skills, task: TaskSpec, rng: np.random.Generator) -> None:
    """Leaves the knife on some work surface, not always the nearest one."""
    present = [kind for kind in _KNIFE_PLACES if skills.all_of(kind)]
    # The receptacle of the task stays free for what belongs there, if there is another one.
    present = [kind for kind in present if kind is not task.receptacle] or present
    for index in rng.permutation(len(present)):
        try:
            skills.put(skills.all_of(present[index]))
            return
        except UnsolvableError:
            continue
    raise UnsolvableError("there is no place to leave the knife")


def _some(skills: Skills, *classes: ObjectClass, outside: Collection[str] = ()) -> list[str]:
    """All objects of some classes that are not in certain receptacles; at least one."""
    names = [name for kind in classes for name in skills.all_of(kind, outside)]
    if not names:
        kinds = " or ".join(kind.name for kind in classes)
        raise UnsolvableError(f"the room has no {kinds} that could be used")
    return names
