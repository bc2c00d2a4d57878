"""What a task type is, and the parameters that make one of them a concrete task.

A task type is one object: when it is done, how the expert does it, what it asks of a room, how
people put it, how many trajectories the tiers have of it, and which interactions it cannot do
without. ALFRED's seven are the modules beside this one. ``register_task`` adds another; an
installed package names it by an entry point in the group ``clalfred.tasks``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, ClassVar

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.names import plain
from gym_clalfred.objects import CLOSED_AT_START, KNIVES, SLICED_FORM, ObjectClass
from gym_clalfred.simulator.embedded.room_model import Demand
from gym_clalfred.simulator.treatments import Treatment

if TYPE_CHECKING:
    from gym_clalfred.expert.planner import Expert
    from gym_clalfred.language.grammar import Voice
    from gym_clalfred.tasks.goals import Condition, GoalState

#: The group of entry points by which other packages add task types.
ENTRY_POINTS = "clalfred.tasks"

_NAME = re.compile(r"[a-z_]{1,60}")


class Purpose(str, Enum):
    """What an interaction is for; says what went wrong where it is missing."""

    FIND = "find"
    TREAT = "treat"
    BRING = "bring"


@dataclass(frozen=True)
class Needed:
    """An interaction that a task cannot do without: an action on any of some classes."""

    purpose: Purpose
    action: Action
    classes: frozenset[ObjectClass]

    @classmethod
    def of(cls, purpose: Purpose, action: Action, object_class: ObjectClass | None) -> Needed:
        """With one class, which the task must have."""
        assert object_class is not None
        return cls(purpose, action, frozenset({object_class}))


class TaskType(str, ABC):
    """A behaviour, which is also a task of Behavior-IL; as a text, ALFRED's name of it.

    A subclass says what differs and is used as one object. It must give ``value``, ``paper_name``,
    ``goals`` and ``counts``.
    """

    #: ALFRED's seven, which the modules beside this one define.
    EXAMINE: ClassVar[TaskType]
    PICK_AND_PLACE: ClassVar[TaskType]
    PICK_TWO_AND_PLACE: ClassVar[TaskType]
    CLEAN: ClassVar[TaskType]
    HEAT: ClassVar[TaskType]
    COOL: ClassVar[TaskType]
    MOVABLE: ClassVar[TaskType]

    #: As ALFRED's files and folders spell it: small letters and underscores.
    value: ClassVar[str]
    #: In tables: the CL-ALFRED paper's name, such as ``Pick2&Place``.
    paper_name: ClassVar[str]
    #: The fields of ``TaskSpec`` that it has besides the target.
    params: ClassVar[tuple[str, ...]] = ("receptacle",)
    #: How many objects of the target's class it takes.
    copies: ClassVar[int] = 1
    #: What is done to the target on the way.
    treatment: ClassVar[Treatment | None] = None
    #: Goal receptacles that are never asked for.
    never_in: ClassVar[frozenset[ObjectClass]] = frozenset()
    #: Share of the trajectories in kitchens whose target has to be cut.
    sliced_share: ClassVar[float] = 0.0
    #: Whether its conditions depend on what the agent sees.
    depends_on_view: ClassVar[bool] = False
    #: Goal sentences. In braces ``a`` and ``the`` are the target with its treatment, ``plain``
    #: without, ``two`` and ``many`` several, ``place`` the goal, ``in`` and ``at`` the goal with a
    #: preposition for putting and for being there; others are ``slots`` or interchangeable words,
    #: ``language.grammar_templates.PHRASES``.
    goals: ClassVar[tuple[str, ...]]
    #: More goal sentences for some receptacles.
    goals_at: ClassVar[Mapping[ObjectClass, tuple[str, ...]]] = {}
    #: Trajectories in kitchens, living rooms, bedrooms and bathrooms, by tier and part of the data:
    #: ``train`` and either ``valid`` and ``test`` or ``seen`` and ``unseen``. ``7/20`` are seven
    #: trajectories with twenty annotations in all.
    counts: ClassVar[Mapping[str, Mapping[str, str]]]

    def __new__(cls) -> TaskType:
        """The object; a text that equals ALFRED's name."""
        return super().__new__(cls, cls.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self).__module__, self.value)

    def __repr__(self) -> str:
        return f"<task {self.paper_name}>"

    @property
    def name(self) -> str:
        """The name of the class in capitals: ``PICK_AND_PLACE``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).upper()

    @abstractmethod
    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """The goal conditions, in words and whether they are met; that slices exist comes before.

        It must say the same conditions in an empty world.
        """

    @abstractmethod
    def plan(self, task: TaskSpec, expert: Expert) -> None:
        """Solves the task; a target that has to be cut has been cut before."""

    @abstractmethod
    def choices(
        self,
        target: ObjectClass,
        sliced: bool,
        fixtures: Collection[ObjectClass],
        items: Collection[ObjectClass],
    ) -> Iterator[tuple[TaskSpec, float]]:
        """Tasks with a target that make sense in a room, and how often each is asked for.

        Args:
            target: of the tasks.
            sliced: whether it has to be cut.
            fixtures: classes of what stands fixed in the room.
            items: classes of what may lie in such a room.
        """

    @abstractmethod
    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """The interactions without which the task cannot be solved, in order; cutting aside."""

    def demands(self, task: TaskSpec, hidden: bool | None = None) -> tuple[Demand, ...]:
        """What has to lie in the room, and where it may or may not lie at the start.

        Args:
            task: what for.
            hidden: whether the targets start in closed containers, or nothing that is needed does;
                ``None`` for either.
        """
        done = frozenset({task.receptacle} if task.receptacle is not None else ())
        done |= CLOSED_AT_START if hidden is False else frozenset()
        elsewhere = done | ({self.treatment.place} if self.treatment is not None else frozenset())
        count = 1 if task.sliced else self.copies
        only = CLOSED_AT_START if hidden else None
        demands = [Demand(task.target, count, not_in=elsewhere, only_in=only)]
        others = (*([task.movable] if task.movable is not None else ()), *task.others)
        demands += [Demand(other, not_in=done) for other in others]
        if task.sliced:
            # As in ALFRED, what is cut and what cuts it mostly lie in the open.
            demands.append(Demand(ObjectClass.Knife, not_in=CLOSED_AT_START))
        return tuple(demands)

    def slots(self, task: TaskSpec, voice: Voice) -> dict[str, str]:
        """Words for slots of its goal sentences that no other task type has."""
        return {}

    def needed(self, task: TaskSpec) -> tuple[Needed, ...]:
        """``interactions`` after those that cut the target, if need be."""
        if not task.sliced:
            return self.interactions(task)
        knife = Needed(Purpose.FIND, Action.PickupObject, KNIVES)
        cut = Needed.of(Purpose.TREAT, Action.SliceObject, task.target)
        return (knife, cut, *self.interactions(task))


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
        others: classes of more things to move; none of ALFRED's types has any.
    """

    type: TaskType
    target: ObjectClass
    receptacle: ObjectClass | None = None
    movable: ObjectClass | None = None
    lamp: ObjectClass | None = None
    sliced: bool = False
    others: tuple[ObjectClass, ...] = ()

    @property
    def goal_class(self) -> ObjectClass:
        """The class that the goal conditions look for: the sliced form where the task says so."""
        return SLICED_FORM[self.target] if self.sliced else self.target


_KNOWN: dict[str, TaskType] = {}


def register_task(task_type: TaskType) -> TaskType:
    """Makes a task type known by its names, and gives it back.

    Raises:
        BadInputError: if it lacks something or its names are taken.
    """
    if not isinstance(task_type, TaskType):
        raise BadInputError(f"task type {task_type!r}: expected an object of a TaskType's subclass")
    for name in ("paper_name", "goals", "counts"):
        if not getattr(task_type, name, None):
            raise BadInputError(f"task type {str(task_type)!r}: has no {name}")
    if not _NAME.fullmatch(task_type.value):
        raise BadInputError(f"task type {task_type.value!r}: expected a name such as 'pick_a_pair'")
    for other in _KNOWN.values():
        if type(other) is type(task_type):
            return other
        if not _names(other).isdisjoint(_names(task_type)):
            raise BadInputError(f"task type {task_type.value!r}: its names are those of {other!r}")
    _KNOWN[task_type.value] = task_type
    return task_type


def task_types() -> tuple[TaskType, ...]:
    """All that are known: ALFRED's seven, and those that were registered or installed."""
    _load_entry_points()
    return tuple(_KNOWN.values())


def find_task(value: str) -> TaskType | None:
    """The task type of ALFRED's name, if there is one."""
    if value not in _KNOWN:
        _load_entry_points()
    return _KNOWN.get(value)


@cache
def _load_entry_points() -> None:
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        register_task(entry.load())


def _names(task_type: TaskType) -> set[str]:
    return {plain(name) for name in (task_type.value, task_type.name, task_type.paper_name)}


def _restore(module: str, value: str) -> TaskType:
    """In another process, which may not have imported the module that registers it."""
    if find_task(value) is None:
        import_module(module)
    found = find_task(value)
    if found is None:
        raise BadInputError(
            f"task type {value!r}: {module} does not register it when it is imported; do so at "
            "its top level, or use one process"
        )
    return found
