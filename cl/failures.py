"""Why episodes failed: the first interaction that a task needs and the agent did not do.

A task needs certain interactions in a certain order, such as taking a mug, heating it and putting
it down. Others may come between them. The first one that is missing says how far the agent came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum

from clalfred.agents.acting.result_file import EpisodeOutcome
from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.objects import ObjectClass
from gym_clalfred.tables import aligned
from gym_clalfred.tasks.spec import Purpose, TaskSpec


class FailureKind(str, Enum):
    """What went wrong first in an episode that was not solved."""

    NOT_FOUND = "did not find the object"
    WRONG_OBJECT = "took another object"
    NOT_TREATED = "did not treat, cut or light it"
    NOT_PLACED = "did not bring it"
    WRONG_PLACE = "put it elsewhere"
    UNDONE = "did it all, then undid it"
    ERROR = "could not be finished"


def failure_of(task: TaskSpec, result: EpisodeOutcome) -> FailureKind | None:
    """What went wrong first; ``None`` for a solved episode."""
    if result.success:
        return None
    if result.error:
        return FailureKind.ERROR
    needed = list(task.type.needed(task))
    since: list[Action] = []
    for action, object_class in _read(result.interactions):
        since.append(action)
        if needed and action is needed[0].action and object_class in needed[0].classes:
            needed.pop(0)
            since.clear()
    if not needed:
        return FailureKind.UNDONE
    missing = needed[0].purpose
    if missing is Purpose.TREAT:
        return FailureKind.NOT_TREATED
    if missing is Purpose.FIND:
        return FailureKind.WRONG_OBJECT if Action.PickupObject in since else FailureKind.NOT_FOUND
    return FailureKind.WRONG_PLACE if Action.PutObject in since else FailureKind.NOT_PLACED


def failure_table(
    source: EpisodeSource, results: Iterable[EpisodeOutcome]
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
    rows = [["", *columns]]
    for name, row in [*table.items(), ("all", total)]:
        rows.append([name, *(str(row[column]) for column in columns)])
    return aligned(rows)


def _read(interactions: str) -> Iterable[tuple[Action, ObjectClass]]:
    for one in filter(None, interactions.split(", ")):
        action, object_class = one.split(" ")
        yield Action[action], ObjectClass[object_class]


_NAMES = tuple(failure.value for failure in FailureKind)
_ENDS = ("end: stop", "end: failures", "end: limit")
