"""Solves a task as ALFRED's expert does, step by step in the simulator itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gym_clalfred.data.trajectory import ExpertAction, HighStep
from gym_clalfred.expert.recorder import TooLongError
from gym_clalfred.expert.skills import Skills, UnsolvableError
from gym_clalfred.language.grammar_facts import StepFacts
from gym_clalfred.objects import KNIVES, ObjectClass
from gym_clalfred.simulator.contract import Scene, Simulator
from gym_clalfred.simulator.treatments import TREATMENTS
from gym_clalfred.tasks.goals import goal_status
from gym_clalfred.tasks.spec import TaskSpec, TaskType

__all__ = ["Demonstration", "TooLongError", "UnsolvableError", "solve"]

#: Objects of a class that are tried one by one before any of the rest will do.
_INSTANCES_TRIED = 4

#: Where the expert may leave a knife that is not needed any more.
_KNIFE_PLACES = (
    ObjectClass.CounterTop,
    ObjectClass.DiningTable,
    ObjectClass.SinkBasin,
    ObjectClass.SideTable,
    ObjectClass.CoffeeTable,
)
R = TypeVar("R")

#: Says in which order to try objects of a class.
Order = Callable[[list[str]], list[str]]

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
    simulator: Simulator,
    scene: Scene,
    task: TaskSpec,
    rng: np.random.Generator,
    *,
    nearest: bool = False,
    longest: int | None = None,
) -> Demonstration:
    """Solves a task from the start of a scene; the goal conditions are all met at its end.

    Args:
        simulator: where.
        scene: its start.
        task: what to do.
        rng: chooses between several objects of a class, as in ALFRED.
        nearest: take the nearest of them instead, which is easier to imitate.
        longest: actions that the solution may have; any number for ``None``.

    Raises:
        TooLongError: as soon as the solution has more actions than that.
        UnsolvableError: if the goal is met at the start already or cannot be reached.
    """
    skills = Skills(simulator, scene, longest)
    if _goal_met(simulator, task):
        raise UnsolvableError("the goal is met before anything is done")

    def shuffled(names: list[str]) -> list[str]:
        return [names[index] for index in rng.permutation(len(names))]

    _carry_out(skills, task, skills.nearest_first if nearest else shuffled)
    if not _goal_met(simulator, task):
        raise UnsolvableError("the plan was carried out but the goal is not met")
    recorder = skills.recorder
    return Demonstration(tuple(recorder.steps), tuple(recorder.actions), tuple(recorder.facts))


def _goal_met(simulator: Simulator, task: TaskSpec) -> bool:
    return goal_status(
        task, simulator.objects, simulator.held, lambda: simulator.sight().visible
    ).success


def _carry_out(skills: Skills, task: TaskSpec, order: Order) -> None:
    if task.sliced:
        _with_one(skills.pick_up, _some(skills, *sorted(KNIVES)), order)
        _with_one(skills.cut, _some(skills, task.target), order)
        _drop_knife(skills, task, order)
    if task.type is TaskType.EXAMINE:
        assert task.lamp is not None
        _with_one(skills.pick_up, _some(skills, task.goal_class), order)
        _with_one(skills.switch_on, _some(skills, task.lamp), order)
        return
    assert task.receptacle is not None
    goals = _some(skills, task.receptacle)
    _fetch(skills, task, goals, order)
    if task.type in _TREATMENTS:
        skills.treat(TREATMENTS[_TREATMENTS[task.type]])
    elif task.type is TaskType.MOVABLE:
        assert task.movable is not None
        _with_one(skills.load, _some(skills, task.movable, outside=goals), order)
    place = _with_one(skills.put, goals, order)
    if task.type is TaskType.PICK_TWO_AND_PLACE:
        _fetch(skills, task, [place], order)
        skills.put([place])


def _fetch(skills: Skills, task: TaskSpec, goals: Collection[str], order: Order) -> None:
    """Picks up a target that is not where it belongs yet."""
    targets = _some(skills, task.goal_class, outside=goals)
    if task.sliced:
        # One slice is as good as another, and they lie together.
        skills.pick_up(targets)
    else:
        _with_one(skills.pick_up, targets, order)


def _with_one(skill: Callable[[list[str]], R], names: list[str], order: Order) -> R:
    """Uses a skill on the object that comes first in an order, or on another if need be."""
    ordered = order(names)
    for name in ordered[: _INSTANCES_TRIED - 1]:
        try:
            return skill([name])
        except UnsolvableError:
            continue
    return skill(ordered[_INSTANCES_TRIED - 1 :] or ordered)


def _drop_knife(skills: Skills, task: TaskSpec, order: Order) -> None:
    """Leaves the knife on some work surface, if possible not where the task puts something."""
    kinds = [kind for kind in _KNIFE_PLACES if kind is not task.receptacle]
    places = [name for kind in kinds for name in skills.all_of(kind)]
    _with_one(skills.put, places or _some(skills, *_KNIFE_PLACES), order)


def _some(skills: Skills, *classes: ObjectClass, outside: Collection[str] = ()) -> list[str]:
    """All objects of some classes that are not in certain receptacles; at least one."""
    names = [name for kind in classes for name in skills.all_of(kind, outside)]
    if not names:
        kinds = " or ".join(kind.name for kind in classes)
        raise UnsolvableError(f"the room has no {kinds} that could be used")
    return names
