"""What a task type is, and the parameters that make one of them a concrete task.

A task type is one object. It says when a task is done, how the expert solves it, what the room must
contain, how people word it, how many trajectories each tier has, and which interactions every
solution needs. ALFRED's seven types are in the modules beside this one. ``register_task`` adds
another; an installed package adds it by an entry point in the group ``clalfred.tasks``.
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
    """What an interaction is for, so that failure analysis can say what was missing."""

    FIND = "find"
    TREAT = "treat"
    BRING = "bring"


@dataclass(frozen=True)
class Needed:
    """An interaction that every solution needs: an action on an object of one of the classes."""

    purpose: Purpose
    action: Action
    classes: frozenset[ObjectClass]

    @classmethod
    def of(cls, purpose: Purpose, action: Action, object_class: ObjectClass | None) -> Needed:
        """For a single class, which must not be ``None``."""
        assert object_class is not None
        return cls(purpose, action, frozenset({object_class}))


class TaskType(str, ABC):
    """A behaviour, which is also a task of Behavior-IL. As a string it is ALFRED's name for it.

    A subclass overrides what differs and has a single instance. It must define ``value``,
    ``paper_name``, ``goals`` and ``counts``.
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
    #: The fields of ``TaskSpec`` that its tasks use besides the target.
    params: ClassVar[tuple[str, ...]] = ("receptacle",)
    #: How many objects of the target's class a task needs.
    copies: ClassVar[int] = 1
    #: What is done to the target before it is put down.
    treatment: ClassVar[Treatment | None] = None
    #: Receptacles that are never the goal.
    never_in: ClassVar[frozenset[ObjectClass]] = frozenset()
    #: Share of the trajectories in kitchens whose target must be sliced.
    sliced_share: ClassVar[float] = 0.0
    #: Whether its conditions depend on what the agent sees.
    depends_on_view: ClassVar[bool] = False
    #: Goal sentences with slots in braces. ``a`` and ``the`` are the target, after its treatment if
    #: there is one ("a hot mug"); ``plain`` is the target before it, ``two`` and ``many`` are its
    #: plural. ``place`` is the goal; ``in`` and ``at`` add a preposition ("into the sink", "in the
    #: sink"). The others come from ``slots`` or ``language.grammar_templates.PHRASES``.
    goals: ClassVar[tuple[str, ...]]
    #: Additional goal sentences for certain receptacles.
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
        """The goal conditions, each with a description and whether it is met.

        In an empty world they must be the same conditions. The condition that slices exist is added
        to them elsewhere.
        """

    @abstractmethod
    def plan(self, task: TaskSpec, expert: Expert) -> None:
        """Solves the task. If the target must be sliced, that has been done already."""

    @abstractmethod
    def choices(
        self,
        target: ObjectClass,
        sliced: bool,
        fixtures: Collection[ObjectClass],
        items: Collection[ObjectClass],
    ) -> Iterator[tuple[TaskSpec, float]]:
        """The tasks with this target that make sense in a room, with their sampling weights.

        Args:
            target: its class.
            sliced: whether the target must be sliced.
            fixtures: classes of the room's furniture.
            items: classes of the small objects that such a room may contain.
        """

    @abstractmethod
    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """The interactions that every solution needs, in order, without those that slice."""

    def demands(self, task: TaskSpec, hidden: bool | None = None) -> tuple[Demand, ...]:
        """The objects that the room must contain, and where they may lie at the start.

        Args:
            task: the task.
            hidden: ``True`` if the targets start in closed containers, ``False`` if nothing that
                the task needs does, ``None`` if it does not matter.
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
        """The words for slots that only its own goal sentences have."""
        return {}

    def needed(self, task: TaskSpec) -> tuple[Needed, ...]:
        """``interactions``, preceded by those that slice the target if it must be sliced."""
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
    """Registers a task type under its names and returns it.

    Raises:
        BadInputError: if it is incomplete or one of its names is taken.
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
    """All known task types: ALFRED's seven, then registered and installed ones."""
    _load_entry_points()
    return tuple(_KNOWN.values())


def find_task(value: str) -> TaskType | None:
    """The task type with this ALFRED name, or ``None``."""
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
