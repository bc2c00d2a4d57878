"""Goal conditions of the seven task types: what counts, how many are met, and success.

Conditions are pure functions of the objects' states, the held object and what is visible; the
``GoalChecker`` asks a simulator for them only when something may have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from gym_clalfred.objects import PICKUPABLE, RECEPTACLES, SLICEABLE, TOGGLEABLE, ObjectClass
from gym_clalfred.simulator.contract import ObjectState, Simulator
from gym_clalfred.tasks.spec import TaskSpec, TaskType


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


_TREATMENTS: dict[TaskType, tuple[str, Callable[[ObjectState], bool]]] = {
    TaskType.CLEAN: ("cleaned", lambda state: state.cleaned),
    TaskType.HEAT: ("heated", lambda state: state.heated),
    TaskType.COOL: ("cooled", lambda state: state.cooled),
}


@dataclass(frozen=True)
class _World:
    objects: Mapping[str, ObjectState]
    held: str | None
    visible: Callable[[], frozenset[str]]
    matching: GoalMatching

    def matches(
        self, wanted: ObjectClass | None, among: frozenset[ObjectClass]
    ) -> list[ObjectState]:
        """Objects that count as ``wanted``; a whole that was cut up no longer exists."""
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
    """The goal conditions of a task.

    Args:
        task: what the episode asks for.
        objects: all objects by id.
        held: id of the held object.
        visible: gives the ids in view and in reach; called only if the answer depends on it.
        matching: which objects count as the task's classes.
    """
    world = _World(objects, held, visible, matching)
    targets = world.matches(task.goal_class, PICKUPABLE)
    conditions = _slices_exist(task, targets)
    if task.type is TaskType.EXAMINE:
        conditions += _examined(task, world, targets)
    elif task.type is TaskType.PICK_TWO_AND_PLACE:
        conditions += _two_placed(task, world, targets)
    elif task.type is TaskType.MOVABLE:
        conditions += _placed_with_movable(task, world, targets)
    elif task.type is TaskType.PICK_AND_PLACE:
        conditions += _placed(task, world, targets)
    else:
        conditions += _treated_and_placed(task, world, targets)
    return GoalStatus(tuple(conditions))


def _slices_exist(task: TaskSpec, targets: list[ObjectState]) -> list[Condition]:
    if not task.sliced:
        return []
    name = task.goal_class.name
    needed = 2 if task.type is TaskType.PICK_TWO_AND_PLACE else 1
    return [
        Condition(f"{'a' if count == 1 else 'a second'} {name} exists", len(targets) >= count)
        for count in range(1, needed + 1)
    ]


def _in_goal(task: TaskSpec, world: _World, candidates: list[ObjectState]) -> list[ObjectState]:
    receptacles = {state.id for state in world.matches(task.receptacle, RECEPTACLES)}
    return [state for state in candidates if not receptacles.isdisjoint(state.parents)]


def _placed(task: TaskSpec, world: _World, targets: list[ObjectState]) -> list[Condition]:
    place = _name(task.receptacle)
    return [
        Condition(f"{task.goal_class.name} in or on {place}", bool(_in_goal(task, world, targets)))
    ]


def _two_placed(task: TaskSpec, world: _World, targets: list[ObjectState]) -> list[Condition]:
    receptacles = world.matches(task.receptacle, RECEPTACLES)
    best = max(
        (sum(holder.id in state.parents for state in targets) for holder in receptacles), default=0
    )
    name, place = task.goal_class.name, _name(task.receptacle)
    return [
        Condition(f"one {name} in or on {place}", best >= 1),
        Condition(f"two {name} in or on the same {place}", best >= 2),
    ]


def _examined(task: TaskSpec, world: _World, targets: list[ObjectState]) -> list[Condition]:
    holds_target = any(state.id == world.held for state in targets)
    lit = [state.id for state in world.matches(task.lamp, TOGGLEABLE) if state.is_on]
    lamp_seen = bool(lit) and not world.visible().isdisjoint(lit)
    return [
        Condition(f"{task.goal_class.name} held", holds_target),
        Condition(f"{_name(task.lamp)} on and in view", lamp_seen),
    ]


def _treated_and_placed(
    task: TaskSpec, world: _World, targets: list[ObjectState]
) -> list[Condition]:
    word, is_treated = _TREATMENTS[task.type]
    placed = _in_goal(task, world, targets)
    name, place = task.goal_class.name, _name(task.receptacle)
    return [
        Condition(f"{name} in or on {place}", bool(placed)),
        Condition(f"{name} {word}", any(map(is_treated, targets))),
        Condition(f"{word} {name} in or on {place}", any(map(is_treated, placed))),
    ]


def _placed_with_movable(
    task: TaskSpec, world: _World, targets: list[ObjectState]
) -> list[Condition]:
    movables = world.matches(task.movable, PICKUPABLE & RECEPTACLES)
    used = {holder for state in targets for holder in state.parents}
    filled = [state for state in movables if state.id in used]
    placed = _in_goal(task, world, movables)
    name, movable, place = task.goal_class.name, _name(task.movable), _name(task.receptacle)
    return [
        Condition(f"{name} in {movable}", bool(filled)),
        Condition(f"{movable} in or on {place}", bool(placed)),
        Condition(f"{movable} with {name} in or on {place}", any(s.id in used for s in placed)),
    ]


def _name(object_class: ObjectClass | None) -> str:
    return object_class.name if object_class is not None else "nothing"


class GoalChecker:
    """Goal conditions of one episode, recomputed only when something may have changed."""

    def __init__(self, task: TaskSpec, matching: GoalMatching = GoalMatching.CLASS) -> None:
        self._task = task
        self._matching = matching
        self._seen: object = None
        self._status = GoalStatus(())

    def status(self, simulator: Simulator) -> GoalStatus:
        """The conditions now; only Examine depends on where the agent looks."""
        looking = simulator.agent if self._task.type is TaskType.EXAMINE else None
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
