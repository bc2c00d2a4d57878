"""Goal conditions against hand-built states: every task type, sliced or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import ObjectState, RenderOptions
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.goals import GoalChecker, GoalMatching, goal_status
from gym_clalfred.tasks.spec import TaskSpec, TaskType
from tests.helpers.fakes import APPLE, LAMP, SECOND_APPLE, TASKS, FakeSimulator, state, trajectory

A, B = "Apple|+01.00|+01.00|+01.00", "Apple|+02.00|+01.00|+01.00"
SLICE_1, SLICE_2 = f"{A}|AppleSliced_1", f"{A}|AppleSliced_2"
POTATO = "Potato|+01.00|+01.00|+01.00"
BOWL, SECOND_BOWL = "Bowl|+01.00|+01.00|+01.00", "Bowl|+02.00|+01.00|+01.00"
FRIDGE_1, FRIDGE_2 = "Fridge|+00.00|+00.00|+00.00", "Fridge|+09.00|+00.00|+00.00"
DESK_LAMP, FLOOR_LAMP = "DeskLamp|+00.00|+00.00|+00.00", "FloorLamp|+00.00|+00.00|+00.00"
BASIN = "Sink|+00.00|+00.00|+00.00|SinkBasin"


def world(*states: ObjectState) -> dict[str, ObjectState]:
    fixed = (state(FRIDGE_1), state(FRIDGE_2), state(BASIN))
    return {each.id: each for each in (*fixed, *states)}


def task(kind: TaskType, **arguments: object) -> TaskSpec:
    defaults: dict[str, object] = {"target": ObjectClass.Apple}
    if kind is TaskType.EXAMINE:
        defaults["lamp"] = ObjectClass.DeskLamp
    else:
        defaults["receptacle"] = ObjectClass.Fridge
    if kind is TaskType.MOVABLE:
        defaults["movable"] = ObjectClass.Bowl
    return TaskSpec(kind, **{**defaults, **arguments})  # type: ignore[arg-type]


def counts(spec: TaskSpec, *states: ObjectState, **context: object) -> tuple[int, int]:
    status = goal_status(spec, world(*states), **context)  # type: ignore[arg-type]
    return status.met, status.total


IN_FRIDGE = {"parents": (FRIDGE_1,)}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([state(A)], (0, 1)),
        ([state(A, **IN_FRIDGE)], (1, 1)),
        ([state(A, parents=(BOWL, FRIDGE_1)), state(BOWL, **IN_FRIDGE)], (1, 1)),
        ([state(POTATO, **IN_FRIDGE)], (0, 1)),
        ([state(A, parents=(BASIN,))], (0, 1)),
        ([state(SLICE_1, **IN_FRIDGE)], (0, 1)),
        ([state(A, is_sliced=True, **IN_FRIDGE)], (0, 1)),
    ],
)
def test_pick_and_place(states: list[ObjectState], expected: tuple[int, int]) -> None:
    assert counts(task(TaskType.PICK_AND_PLACE), *states) == expected


def test_a_part_is_a_receptacle_of_its_own_class() -> None:
    spec = task(TaskType.PICK_AND_PLACE, receptacle=ObjectClass.SinkBasin)
    assert counts(spec, state(A, parents=(BASIN,))) == (1, 1)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([state(A), state(B)], (0, 2)),
        ([state(A, **IN_FRIDGE), state(B)], (1, 2)),
        ([state(A, **IN_FRIDGE), state(B, **IN_FRIDGE)], (2, 2)),
        ([state(A, **IN_FRIDGE), state(B, parents=(FRIDGE_2,))], (1, 2)),
        (
            [state(f"Apple|+0{n}.00|+01.00|+01.00", **IN_FRIDGE) for n in range(4)],
            (2, 2),
        ),
    ],
)
def test_pick_two_counts_one_receptacle_and_at_most_two(
    states: list[ObjectState], expected: tuple[int, int]
) -> None:
    assert counts(task(TaskType.PICK_TWO_AND_PLACE), *states) == expected


@pytest.mark.parametrize(
    ("held", "lamp_on", "seen", "expected"),
    [
        (None, False, True, 0),
        (A, False, True, 1),
        (A, True, False, 1),
        (None, True, True, 1),
        (A, True, True, 2),
        (B, True, True, 2),
        (POTATO, True, True, 1),
    ],
)
def test_examine(held: str | None, lamp_on: bool, seen: bool, expected: int) -> None:
    states = [state(A), state(B), state(POTATO), state(DESK_LAMP, is_on=lamp_on)]
    visible = frozenset({DESK_LAMP} if seen else ())
    result = counts(task(TaskType.EXAMINE), *states, held=held, visible=lambda: visible)
    assert result == (expected, 2)


def test_examine_wants_its_own_lamp() -> None:
    visible = frozenset({DESK_LAMP, FLOOR_LAMP})
    states = [state(A), state(DESK_LAMP), state(FLOOR_LAMP, is_on=True)]
    result = counts(task(TaskType.EXAMINE), *states, held=A, visible=lambda: visible)
    assert result == (1, 2)


def test_examine_does_not_look_while_the_lamp_is_off() -> None:
    def look() -> frozenset[str]:
        raise AssertionError("looked")

    assert counts(task(TaskType.EXAMINE), state(A), state(DESK_LAMP), visible=look) == (0, 2)


TREATMENTS = {TaskType.CLEAN: "cleaned", TaskType.HEAT: "heated", TaskType.COOL: "cooled"}


@pytest.mark.parametrize("kind", TREATMENTS)
def test_treatments(kind: TaskType) -> None:
    mark = {TREATMENTS[kind]: True}
    assert counts(task(kind), state(A)) == (0, 3)
    assert counts(task(kind), state(A, **IN_FRIDGE)) == (1, 3)
    assert counts(task(kind), state(A, **mark)) == (1, 3)
    assert counts(task(kind), state(A, **mark), state(B, **IN_FRIDGE)) == (2, 3)
    assert counts(task(kind), state(A, **mark, **IN_FRIDGE)) == (3, 3)


@pytest.mark.parametrize("kind", TREATMENTS)
def test_another_treatment_does_not_count(kind: TaskType) -> None:
    others = {mark: True for other, mark in TREATMENTS.items() if other is not kind}
    assert counts(task(kind), state(A, **others, **IN_FRIDGE)) == (1, 3)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([state(A), state(BOWL)], 0),
        ([state(A, parents=(BOWL,)), state(BOWL)], 1),
        ([state(A), state(BOWL, **IN_FRIDGE)], 1),
        ([state(A, **IN_FRIDGE), state(BOWL, **IN_FRIDGE)], 1),
        ([state(A, parents=(SECOND_BOWL,)), state(SECOND_BOWL), state(BOWL, **IN_FRIDGE)], 2),
        ([state(A, parents=(BOWL, FRIDGE_1)), state(BOWL, **IN_FRIDGE)], 3),
    ],
)
def test_movable(states: list[ObjectState], expected: int) -> None:
    assert counts(task(TaskType.MOVABLE), *states) == (expected, 3)


@pytest.mark.parametrize("kind", ALFRED_TASKS)
def test_sliced_adds_conditions_and_wants_slices(kind: TaskType) -> None:
    extra = 2 if kind is TaskType.PICK_TWO_AND_PLACE else 1
    plain_total = counts(task(kind))[1]
    spec = task(kind, sliced=True)
    assert counts(spec, state(A, cleaned=True, heated=True, cooled=True, **IN_FRIDGE)) == (
        0,
        plain_total + extra,
    )
    assert counts(spec, state(SLICE_1))[0] == 1
    assert counts(spec, state(SLICE_1), state(SLICE_2))[0] == extra


def test_sliced_pick_two_solved() -> None:
    spec = task(TaskType.PICK_TWO_AND_PLACE, sliced=True)
    states = [state(SLICE_1, **IN_FRIDGE), state(SLICE_2, **IN_FRIDGE)]
    assert counts(spec, *states) == (4, 4)


@pytest.mark.parametrize(
    ("target", "object_id"),
    [
        (ObjectClass.Pot, POTATO),
        (ObjectClass.Apple, SLICE_1),
        (ObjectClass.Pen, "Pencil|+01.00|+01.00|+01.00"),
        (ObjectClass.Knife, "ButterKnife|+01.00|+01.00|+01.00"),
        (ObjectClass.Box, "TissueBox|+01.00|+01.00|+01.00"),
    ],
)
def test_substring_matching_is_an_option(target: ObjectClass, object_id: str) -> None:
    spec = task(TaskType.PICK_AND_PLACE, target=target)
    inside = state(object_id, **IN_FRIDGE)
    assert counts(spec, inside, matching=GoalMatching.CLASS) == (0, 1)
    assert counts(spec, inside, matching=GoalMatching.SUBSTRING) == (1, 1)


def test_substring_matching_wants_the_right_kind_of_object() -> None:
    spec = task(TaskType.PICK_AND_PLACE, receptacle=ObjectClass.Toilet)
    hanger = "ToiletPaperHanger|+01.00|+01.00|+01.00"
    roll = "ToiletPaper|+01.00|+01.00|+01.00"
    on_hanger, on_roll = state(A, parents=(hanger,)), state(A, parents=(roll,))
    substring = GoalMatching.SUBSTRING
    assert counts(spec, on_hanger, state(hanger), matching=substring) == (1, 1)
    assert counts(spec, on_roll, state(roll), matching=substring) == (0, 1)


@given(
    st.sampled_from(list(ALFRED_TASKS)),
    st.booleans(),
    st.lists(
        st.tuples(
            st.sampled_from([A, B, SLICE_1, SLICE_2, BOWL, POTATO, DESK_LAMP]),
            st.sampled_from([(), (FRIDGE_1,), (BOWL, FRIDGE_1), (BASIN,)]),
            st.booleans(),
        ),
        unique_by=lambda entry: entry[0],
    ),
)
def test_counts_are_consistent(
    kind: TaskType, sliced: bool, drawn: list[tuple[str, tuple[str, ...], bool]]
) -> None:
    states = [
        state(name, parents=parents, cleaned=flag, heated=flag, cooled=flag, is_on=flag)
        for name, parents, flag in drawn
    ]
    status = goal_status(
        task(kind, sliced=sliced), world(*states), A, lambda: frozenset({DESK_LAMP})
    )
    assert 0 <= status.met <= status.total
    assert status.success == (status.met == status.total)
    # With substring matching more objects count, never fewer.
    loose = goal_status(
        task(kind, sliced=sliced),
        world(*states),
        A,
        lambda: frozenset({DESK_LAMP}),
        GoalMatching.SUBSTRING,
    )
    assert loose.met >= status.met


class CountingSimulator(FakeSimulator):
    looks = 0

    @property
    def objects(self):  # type: ignore[no-untyped-def]
        self.looks += 1
        return super().objects


def test_checker_recomputes_only_after_changes() -> None:
    simulator = CountingSimulator(RenderOptions())
    simulator.reset(trajectory().scene)
    checker = GoalChecker(TASKS[TaskType.PICK_AND_PLACE])
    checker.status(simulator)
    simulator.step(Action.RotateLeft)
    checker.status(simulator)
    assert simulator.looks == 1
    simulator.step(Action.PickupObject, APPLE)
    checker.status(simulator)
    assert simulator.looks == 2


def test_checker_of_examine_follows_hand_and_lamp() -> None:
    simulator = FakeSimulator(RenderOptions())
    simulator.reset(trajectory().scene)
    checker = GoalChecker(TASKS[TaskType.EXAMINE])
    seen = [checker.status(simulator).met]
    for action, target in [
        (Action.PickupObject, SECOND_APPLE),
        (Action.ToggleObjectOn, LAMP),
        (Action.ToggleObjectOff, LAMP),
    ]:
        assert simulator.step(action, target).success
        seen.append(checker.status(simulator).met)
    assert seen == [0, 1, 2, 1]


def test_conditions_are_described() -> None:
    status = goal_status(task(TaskType.HEAT), world(state(A, heated=True)))
    assert [condition.description for condition in status.conditions if condition.met] == [
        "Apple heated"
    ]
