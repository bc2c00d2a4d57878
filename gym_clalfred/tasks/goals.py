"""Goal conditions: what counts, how many are met, and success.

Conditions are pure functions of the objects' states, the held object and what is visible.
``GoalChecker`` evaluates them again only when something may have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from gym_clalfred.objects import PICKUPABLE, RECEPTACLES, SLICEABLE, TOGGLEABLE, ObjectClass
from gym_clalfred.simulator.contract import ObjectState, Simulator
from gym_clalfred.tasks.spec import TaskSpec


class GoalMatching(str, Enum):
    """When an object counts as one of a task's class.

    ``CLASS`` compares whole class names. ``SUBSTRING`` is ALFRED's own rule, for comparison with
    published numbers: the name may occur anywhere in the object's id, so Pot also matches Potato.
    """

    CLASS = "class"
    SUBSTRING = "substring"


@dataclass(frozen=True)
class Condition:
    """One goal condition in words, and whether it is met now."""

    description: str
    met: bool


@dataclass(frozen=True)
class GoalStatus:
    """The goal conditions of a task at one moment."""

    conditions: tuple[Condition, ...]

    @property
    def met(self) -> int:
        """Number of conditions that are met."""
        return sum(condition.met for condition in self.conditions)

    @property
    def total(self) -> int:
        """Number of conditions of the task."""
        return len(self.conditions)

    @property
    def success(self) -> bool:
        """Whether all conditions are met."""
        return all(condition.met for condition in self.conditions)


@dataclass(frozen=True)
class GoalState:
    """The state of the world from which goal conditions follow.

    Args:
        task: the task of the episode.
        objects: all objects by id.
        held: id of the held object.
        visible: returns the ids in view and in reach; called only by conditions that need them.
        matching: which objects count as the task's classes.
    """

    task: TaskSpec
    objects: Mapping[str, ObjectState]
    held: str | None = None
    visible: Callable[[], frozenset[str]] = frozenset
    matching: GoalMatching = GoalMatching.CLASS

    @cached_property
    def targets(self) -> list[ObjectState]:
        """Objects that count as the target, as slices if the task asks for slices."""
        return self.movable(self.task.goal_class)

    def movable(self, wanted: ObjectClass | None) -> list[ObjectState]:
        """Portable objects that count as ``wanted``."""
        return self._matches(wanted, PICKUPABLE)

    def receptacles(self) -> list[ObjectState]:
        """Objects that count as the goal receptacle."""
        return self._matches(self.task.receptacle, RECEPTACLES)

    def carriers(self) -> list[ObjectState]:
        """Objects that count as the movable receptacle."""
        return self._matches(self.task.movable, PICKUPABLE & RECEPTACLES)

    def lamps(self) -> list[ObjectState]:
        """Objects that count as the lamp."""
        return self._matches(self.task.lamp, TOGGLEABLE)

    def in_goal(self, candidates: list[ObjectState]) -> list[ObjectState]:
        """The candidates that are in or on a goal receptacle."""
        receptacles = {state.id for state in self.receptacles()}
        return [state for state in candidates if not receptacles.isdisjoint(state.parents)]

    def _matches(
        self, wanted: ObjectClass | None, among: frozenset[ObjectClass]
    ) -> list[ObjectState]:
        """Objects that count as ``wanted``. An object that was cut up no longer counts."""
        if wanted is None:
            return []
        if self.matching is GoalMatching.SUBSTRING:
            found = [
                state
                for state in self.objects.values()
                if state.object_class in among and wanted.name in state.id
            ]
        else:
            found = [state for state in self.objects.values() if state.object_class is wanted]
        return [
            state for state in found if not (state.is_sliced and state.object_class in SLICEABLE)
        ]


def goal_status(
    task: TaskSpec,
    objects: Mapping[str, ObjectState],
    held: str | None = None,
    visible: Callable[[], frozenset[str]] = frozenset,
    matching: GoalMatching = GoalMatching.CLASS,
) -> GoalStatus:
    """The goal conditions of a task; the arguments are those of ``GoalState``."""
    world = GoalState(task, objects, held, visible, matching)
    return GoalStatus((*_slices_exist(world), *task.type.conditions(task, world)))


def count_conditions(task: TaskSpec) -> int:
    """The number of goal conditions of a task; needs no simulator."""
    return goal_status(task, {}).total


def name_of(object_class: ObjectClass | None) -> str:
    """A class in the description of a condition."""
    return object_class.name if object_class is not None else "nothing"


def _slices_exist(world: GoalState) -> Iterator[Condition]:
    task = world.task
    for count in range(1, task.type.copies + 1) if task.sliced else ():
        article = "a" if count == 1 else "a second"
        yield Condition(f"{article} {task.goal_class.name} exists", len(world.targets) >= count)


class GoalChecker:
    """Goal conditions of one episode, recomputed only when something may have changed."""

    def __init__(self, task: TaskSpec, matching: GoalMatching = GoalMatching.CLASS) -> None:
        self._task = task
        self._matching = matching
        self._seen: object = None
        self._status = GoalStatus(())

    def status(self, simulator: Simulator) -> GoalStatus:
        """The conditions now. Of ALFRED's types only Examine depends on where the agent looks."""
        looking = simulator.agent if self._task.type.depends_on_view else None
        seen = (simulator.version, simulator.held, looking)
        if seen != self._seen:
            self._status = goal_status(
                self._task,
                simulator.objects,
                simulator.held,
                lambda: simulator.sight().visible,
                self._matching,
            )
            self._seen = seen
        return self._status
