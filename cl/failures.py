"""Why episodes failed: the first interaction that a task needs and the agent did not do.

A task needs certain interactions in a certain order, such as taking a mug, heating it and putting
it down. Others may come between them. The first one that is missing says how far the agent came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from clalfred.agents.acting.records import EpisodeResult
from gym_clalfred.actions import Action
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.objects import KNIVES, ObjectClass
from gym_clalfred.tasks.spec import TaskSpec, TaskType

#: An interaction: an action on any of some classes.
Interaction = tuple[Action, frozenset[ObjectClass]]


class Failure(str, Enum):
    """What went wrong first in an episode that was not solved."""

    NOT_FOUND = "did not find the object"
    WRONG_OBJECT = "took another object"
    NOT_TREATED = "did not treat, cut or light it"
    NOT_PLACED = "did not bring it"
    WRONG_PLACE = "put it elsewhere"
    UNDONE = "did all, but not so that it lasts"
    ERROR = "could not be finished"


def needed_deeds(task: TaskSpec) -> tuple[Interaction, ...]:
    """The interactions without which a task cannot be solved, in order."""
    take = _interaction(Action.PickupObject, task.goal_class)
    cut = (
        (Action.PickupObject, KNIVES),
        _interaction(Action.SliceObject, task.target),
    )
    treatment = _TREATMENTS.get(task.type)
    rest: tuple[Interaction, ...]
    if task.type is TaskType.EXAMINE:
        rest = (take, _interaction(Action.ToggleObjectOn, task.lamp))
    elif task.type is TaskType.PICK_TWO_AND_PLACE:
        rest = (take, _interaction(Action.PutObject, task.receptacle)) * 2
    elif task.type is TaskType.MOVABLE:
        rest = (
            take,
            _interaction(Action.PutObject, task.movable),
            _interaction(Action.PickupObject, task.movable),
            _interaction(Action.PutObject, task.receptacle),
        )
    elif treatment is not None:
        rest = (take, *treatment, take, _interaction(Action.PutObject, task.receptacle))
    else:
        rest = (take, _interaction(Action.PutObject, task.receptacle))
    return (*cut, *rest) if task.sliced else rest


def failure_of(task: TaskSpec, result: EpisodeResult) -> Failure | None:
    """What went wrong first; ``None`` for a solved episode."""
    if result.success:
        return None
    if result.error:
        return Failure.ERROR
    needed = list(needed_deeds(task))
    since: list[Action] = []
    for action, object_class in _read(result.interactions):
        since.append(action)
        if needed and action is needed[0][0] and object_class in needed[0][1]:
            needed.pop(0)
            since.clear()
    if not needed:
        return Failure.UNDONE
    action, classes = needed[0]
    # Put in, switch on, take out again; after that it only has to be brought.
    if task.type in _TREATMENTS and 1 < len(needed) <= 4:
        return Failure.NOT_TREATED
    if action is Action.PickupObject and task.movable not in classes:
        return Failure.WRONG_OBJECT if action in since else Failure.NOT_FOUND
    if action in (Action.ToggleObjectOn, Action.SliceObject):
        return Failure.NOT_TREATED
    return Failure.WRONG_PLACE if Action.PutObject in since else Failure.NOT_PLACED


def failure_table(
    source: EpisodeSource, results: Iterable[EpisodeResult]
) -> dict[str, Counter[str]]:
    """How often each failure occurred, by the paper's name of the task type.

    Every row also counts ``solved`` and, among the failed ones, what ended them: ``end: stop``,
    ``end: failures`` and ``end: limit``.
    """
    table: dict[str, Counter[str]] = {}
    for result in results:
        task = source.episode(EpisodeKey.parse(result.episode)).trajectory.task
        row = table.setdefault(task.type.paper_name, Counter())
        failure = failure_of(task, result)
        row["solved" if failure is None else failure.value] += 1
        if failure is not None and result.end:
            row[f"end: {result.end}"] += 1
    return dict(sorted(table.items()))


def format_failures(table: Mapping[str, Counter[str]]) -> str:
    """The table as text, with a line of sums."""
    total: Counter[str] = sum(table.values(), Counter())
    columns = [name for name in ("solved", *map(str, _NAMES), *_ENDS) if total[name]]
    rows: Sequence[tuple[str, Counter[str]]] = [*table.items(), ("all", total)]
    lines = ["".ljust(12) + "  ".join(columns)]
    for name, row in rows:
        cells = [str(row[column]).rjust(len(column)) for column in columns]
        lines.append(name.ljust(12) + "  ".join(cells))
    return "\n".join(lines)


def _interaction(action: Action, object_class: ObjectClass | None) -> Interaction:
    assert object_class is not None
    return action, frozenset({object_class})


def _read(interactions: str) -> Iterable[tuple[Action, ObjectClass]]:
    for one in filter(None, interactions.split(", ")):
        action, object_class = one.split(" ")
        yield Action[action], ObjectClass[object_class]


_TREATMENTS: dict[TaskType, tuple[Interaction, ...]] = {
    TaskType.CLEAN: (
        _interaction(Action.PutObject, ObjectClass.SinkBasin),
        _interaction(Action.ToggleObjectOn, ObjectClass.Faucet),
    ),
    TaskType.HEAT: (
        _interaction(Action.PutObject, ObjectClass.Microwave),
        _interaction(Action.ToggleObjectOn, ObjectClass.Microwave),
    ),
    TaskType.COOL: (
        _interaction(Action.PutObject, ObjectClass.Fridge),
        _interaction(Action.CloseObject, ObjectClass.Fridge),
    ),
}
_NAMES = tuple(failure.value for failure in Failure)
_ENDS = ("end: stop", "end: failures", "end: limit")
