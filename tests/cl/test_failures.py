"""Why episodes failed, read from what was done in them."""

from __future__ import annotations

import pytest

from clalfred.agents.acting.result_file import EpisodeResult
from clalfred.cl.failures import FailureKind, failure_of, failure_table, format_failures
from gym_clalfred.data import Split, open_source
from gym_clalfred.data.trajectory import ExpertAction
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.tasks.spec import TaskSpec, TaskType

HEAT = TaskSpec(TaskType.HEAT, ObjectClass.Mug, ObjectClass.CounterTop)
TWO = TaskSpec(TaskType.PICK_TWO_AND_PLACE, ObjectClass.Pen, ObjectClass.Desk)
MOVABLE = TaskSpec(TaskType.MOVABLE, ObjectClass.Pen, ObjectClass.Desk, movable=ObjectClass.Bowl)
EXAMINE = TaskSpec(TaskType.EXAMINE, ObjectClass.Pen, lamp=ObjectClass.DeskLamp)
SLICED = TaskSpec(TaskType.PICK_AND_PLACE, ObjectClass.Apple, ObjectClass.CounterTop, sliced=True)
HEATED = "PickupObject Mug, PutObject Microwave, ToggleObjectOn Microwave, PickupObject Mug"


def result(deeds: str, success: bool = False, error: str = "", name: str = "e") -> EpisodeResult:
    return EpisodeResult(
        episode=name,
        success=success,
        conditions_met=0,
        conditions=1,
        steps=9,
        expert_steps=9,
        error=error,
        interactions=deeds,
        end="stop",
    )


@pytest.mark.parametrize(
    ("task", "deeds", "expected"),
    [
        (HEAT, "", FailureKind.NOT_FOUND),
        (HEAT, "OpenObject Fridge", FailureKind.NOT_FOUND),
        (HEAT, "PickupObject Cup, PutObject Microwave", FailureKind.WRONG_OBJECT),
        (HEAT, "PickupObject Mug, PutObject CounterTop", FailureKind.NOT_TREATED),
        (HEAT, "PickupObject Mug, PutObject Microwave", FailureKind.NOT_TREATED),
        (HEAT, HEATED.rpartition(", ")[0], FailureKind.NOT_TREATED),
        (HEAT, HEATED, FailureKind.NOT_PLACED),
        (HEAT, f"{HEATED}, PutObject Fridge", FailureKind.WRONG_PLACE),
        (HEAT, f"{HEATED}, PutObject CounterTop", FailureKind.UNDONE),
        (TWO, "PickupObject Pen, PutObject Desk", FailureKind.NOT_FOUND),
        (MOVABLE, "PickupObject Pen", FailureKind.NOT_PLACED),
        (MOVABLE, "PickupObject Pen, PutObject Desk", FailureKind.WRONG_PLACE),
        (MOVABLE, "PickupObject Pen, PutObject Bowl", FailureKind.NOT_PLACED),
        (EXAMINE, "PickupObject Pen", FailureKind.NOT_TREATED),
        (SLICED, "PickupObject Apple", FailureKind.WRONG_OBJECT),
        (SLICED, "PickupObject Knife", FailureKind.NOT_TREATED),
        (SLICED, "PickupObject Knife, PutObject CounterTop", FailureKind.NOT_TREATED),
        (SLICED, "PickupObject Knife, SliceObject Apple, PutObject Sink", FailureKind.NOT_FOUND),
    ],
)
def test_the_first_missing_deed_names_the_failure(
    task: TaskSpec, deeds: str, expected: FailureKind
) -> None:
    assert failure_of(task, result(deeds)) is expected


def test_a_solved_episode_has_no_failure_and_a_crashed_one_its_own() -> None:
    assert failure_of(HEAT, result("", success=True)) is None
    assert failure_of(HEAT, result("", error="lost")) is FailureKind.ERROR


def test_experts_do_all_that_their_tasks_need() -> None:
    source = open_source(tier="tiny")
    for entry in source.entries(Split.TRAIN):
        trajectory = source.episode(entry.key).trajectory
        deeds = ", ".join(map(_deed, filter(_interacts, trajectory.actions)))
        assert trajectory.task.type.needed(trajectory.task)
        assert failure_of(trajectory.task, result(deeds)) is FailureKind.UNDONE, entry.key


def test_the_table_counts_every_episode_once() -> None:
    source = open_source(tier="tiny")
    keys = [entry.key for entry in source.entries(Split.VALID_SEEN)]
    results = [result("", success=not number, name=str(key)) for number, key in enumerate(keys)]
    table = failure_table(source, results)
    assert sum(row["solved"] + row[FailureKind.NOT_FOUND.value] for row in table.values()) == len(
        keys
    )
    assert sum(row["end: stop"] for row in table.values()) == len(keys) - 1
    text = format_failures(table)
    assert text.splitlines()[-1].split() == ["all", "1", str(len(keys) - 1), str(len(keys) - 1)]


def _interacts(step: ExpertAction) -> bool:
    return step.action.is_interaction


def _deed(step: ExpertAction) -> str:
    assert step.object_id is not None
    return f"{step.action.name} {class_of(step.object_id).name}"
