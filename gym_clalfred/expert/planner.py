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
from gym_clalfred.simulator.treatments import Treatment
from gym_clalfred.tasks.goals import goal_status
from gym_clalfred.tasks.spec import TaskSpec

__all__ = ["Expert", "Solution", "TooLongError", "UnsolvableError", "solve"]

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


@dataclass(frozen=True)
class Solution:
    """A solved task: the plan, the actions, and the facts about each step."""

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
) -> Solution:
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

    expert = Expert(skills, skills.nearest_first if nearest else shuffled)
    if task.sliced:
        expert.cut(task)
    task.type.plan(task, expert)
    if not _goal_met(simulator, task):
        raise UnsolvableError("the plan was carried out but the goal is not met")
    recorder = skills.recorder
    return Solution(tuple(recorder.steps), tuple(recorder.actions), tuple(recorder.facts))


def _goal_met(simulator: Simulator, task: TaskSpec) -> bool:
    return goal_status(
        task, simulator.objects, simulator.held, lambda: simulator.sight().visible
    ).success


class Expert:
    """What plans are made of: skills, used on one object of a class or, if need be, on another.

    Args:
        skills: carry out single steps.
        order: in which order to try objects of a class.
    """

    def __init__(self, skills: Skills, order: Order) -> None:
        self._skills, self._order = skills, order

    def all_of(self, *classes: ObjectClass | None, outside: Collection[str] = ()) -> list[str]:
        """All objects of some classes that are not in certain receptacles; at least one."""
        wanted = [kind for kind in classes if kind is not None]
        names = [name for kind in wanted for name in self._skills.all_of(kind, outside)]
        if not names:
            kinds = " or ".join(kind.name for kind in wanted)
            raise UnsolvableError(f"the room has no {kinds} that could be used")
        return names

    def pick_up(self, names: list[str]) -> str:
        """Picks one of several objects up; gives its id."""
        return self._with_one(self._skills.pick_up, names)

    def fetch(self, task: TaskSpec, outside: Collection[str] = ()) -> None:
        """Picks up a target of the task that is not where it belongs yet."""
        targets = self.all_of(task.goal_class, outside=outside)
        if task.sliced:
            # One slice is as good as another, and they lie together.
            self._skills.pick_up(targets)
        else:
            self.pick_up(targets)

    def put(self, places: list[str]) -> str:
        """Puts the held object in or on one of several receptacles; gives its id."""
        return self._with_one(self._skills.put, places)

    def put_in(self, place: str) -> None:
        """Puts the held object in or on this very receptacle."""
        self._skills.put([place])

    def load(self, movables: list[str]) -> None:
        """Puts the held object in a movable receptacle and picks that up."""
        self._with_one(self._skills.load, movables)

    def treat(self, treatment: Treatment) -> None:
        """Cleans, heats or cools the held object and takes it out again."""
        self._skills.treat(treatment)

    def switch_on(self, lamps: list[str]) -> None:
        """Switches one of several lamps on."""
        self._with_one(self._skills.switch_on, lamps)

    def cut(self, task: TaskSpec) -> None:
        """Cuts a target and leaves the knife, if possible not where the task puts something."""
        self.pick_up(self.all_of(*sorted(KNIVES)))
        self._with_one(self._skills.cut, self.all_of(task.target))
        kinds = [kind for kind in _KNIFE_PLACES if kind is not task.receptacle]
        places = [name for kind in kinds for name in self._skills.all_of(kind)]
        self.put(places or self.all_of(*_KNIFE_PLACES))

    def _with_one(self, skill: Callable[[list[str]], R], names: list[str]) -> R:
        """Uses a skill on the object that comes first in the order, or on another."""
        ordered = self._order(names)
        for name in ordered[: _INSTANCES_TRIED - 1]:
            try:
                return skill([name])
            except UnsolvableError:
                continue
        return skill(ordered[_INSTANCES_TRIED - 1 :] or ordered)
