"""Sparse and dense rewards along hand-made episodes, with ALFRED's numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import ExpertAction, HighStep, Trajectory
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.simulator.contract import AgentPose, RenderOptions
from gym_clalfred.tasks.distances import PoseDistances, pose_of_location
from gym_clalfred.tasks.goals import Condition, GoalStatus, goal_status
from gym_clalfred.tasks.rewards import DenseReward, SparseReward, Subgoal, subgoals_of
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.fakes import (
    APPLE,
    FRIDGE,
    LAMP,
    SECOND_APPLE,
    TABLE,
    TASKS,
    FakeSimulator,
    trajectory,
)

OPEN_GOAL = GoalStatus((Condition("c", False),))
MET_GOAL = GoalStatus((Condition("c", True),))


def earn(made: Trajectory, moves: list[tuple[Action, str | None]]) -> list[float]:
    """Rewards of a sequence of actions in the fake household; failed actions count too."""
    simulator = FakeSimulator(RenderOptions())
    simulator.reset(made.scene)
    reward = DenseReward()
    reward.reset(made, simulator)
    earned = []
    for action, target in moves:
        simulator.step(action, target)
        goal = goal_status(made.task, simulator.objects, simulator.held)
        earned.append(round(reward.step(action, goal, False), 6))
    return earned


def plan(steps: list[HighStep], actions: list[ExpertAction]) -> Trajectory:
    return replace(trajectory(), plan=tuple(steps), actions=tuple(actions))


@pytest.mark.parametrize(
    ("goal", "ended", "expected"),
    [(OPEN_GOAL, True, 0.0), (MET_GOAL, False, 0.0), (MET_GOAL, True, 1.0)],
)
def test_sparse_pays_at_the_end(goal: GoalStatus, ended: bool, expected: float) -> None:
    assert SparseReward().step(Action.Stop, goal, ended) == expected


def test_dense_along_the_expert() -> None:
    made = trajectory()
    moves = [(each.action, each.object_id) for each in made.actions]
    # The table is 4 moves ahead: reached at 2 actions left, where the next subgoal begins and the
    # last two moves do not fit it; the fridge is a turn, 4 moves and a look away.
    assert earn(made, moves) == [
        0.2,
        0.2 + 4.0,
        -0.1,
        -0.1,
        2.0,
        0.2,
        0.2,
        0.2,
        0.2 + 4.0,
        -0.1,
        -0.1,
        2.0 + 5.0,
    ]


def test_walking_away_costs_what_coming_back_pays() -> None:
    turn_and_back = [(Action.RotateLeft, None), (Action.RotateRight, None)]
    assert earn(trajectory(), turn_and_back) == [-0.2, 0.2]


def test_interaction_while_walking_is_invalid() -> None:
    assert earn(trajectory(), [(Action.PickupObject, APPLE)]) == [-0.5]


def test_nothing_is_paid_after_the_goal() -> None:
    made = trajectory()
    moves = [(each.action, each.object_id) for each in made.actions]
    assert earn(made, [*moves, (Action.RotateLeft, None)])[-1] == 0.0


def test_steps_beyond_the_expert_cost() -> None:
    made = trajectory()
    blinking = [(Action.RotateLeft, None), (Action.RotateRight, None)] * 8
    earned = earn(made, blinking)
    assert earned[len(made.actions)] == pytest.approx(-0.2)
    assert earned[len(made.actions) + 1] == pytest.approx(0.2 - 0.01)


def test_wrong_object_in_hand() -> None:
    made = plan([HighStep("PickupObject")], [ExpertAction(Action.PickupObject, 0, APPLE)])
    assert earn(made, [(Action.PickupObject, SECOND_APPLE)]) == [-1.0]
    assert earn(made, [(Action.OpenObject, FRIDGE), (Action.PickupObject, APPLE)]) == [0.0, 2.0]


def test_wrong_place() -> None:
    made = plan([HighStep("PutObject")], [ExpertAction(Action.PutObject, 0, FRIDGE, APPLE)])
    moves = [(Action.PickupObject, APPLE), (Action.PutObject, TABLE)]
    assert earn(made, moves) == [-0.1, -1.0]


def test_toggle() -> None:
    made = plan([HighStep("ToggleObject")], [ExpertAction(Action.ToggleObjectOn, 0, LAMP)])
    moves = [(Action.ToggleObjectOff, LAMP), (Action.ToggleObjectOn, LAMP)]
    assert earn(made, moves) == [-1.0, 1.0]


def test_slicing_costs_until_it_is_done() -> None:
    made = plan([HighStep("SliceObject")], [ExpertAction(Action.SliceObject, 0, APPLE)])
    assert earn(made, [(Action.SliceObject, APPLE)]) == [-4.0]


def test_cooling_pays_for_cold_reopened_and_taken() -> None:
    put = ExpertAction(Action.PutObject, 0, FRIDGE, APPLE)
    made = plan([HighStep("CoolObject")], [put])
    # Without a goal receptacle in the way: the fridge is also where Pick&Place wants the apple.
    made = replace(made, task=TASKS[TaskType.EXAMINE])
    moves = [
        (Action.PickupObject, APPLE),
        (Action.OpenObject, FRIDGE),
        (Action.PutObject, FRIDGE),
        (Action.CloseObject, FRIDGE),
        (Action.OpenObject, FRIDGE),
        (Action.PickupObject, APPLE),
        (Action.CloseObject, FRIDGE),
    ]
    penalty = -0.01
    assert earn(made, moves) == pytest.approx(
        [0.0, 0.0, penalty, 2.0 + penalty, 2.0 + penalty, 2.0 + penalty, penalty]
    )


def test_subgoals_take_objects_from_the_expert() -> None:
    assert subgoals_of(trajectory()) == (
        Subgoal("GotoLocation", AgentPose(0.0, 0.0, 1.0, 0, 30)),
        Subgoal("PickupObject", None, APPLE),
        Subgoal("GotoLocation", AgentPose(1.0, 0.0, 1.0, 90, 15)),
        Subgoal("PutObject", None, APPLE, FRIDGE),
    )


def test_an_episode_without_a_plan_has_no_dense_reward() -> None:
    simulator = FakeSimulator(RenderOptions())
    simulator.reset(trajectory().scene)
    with pytest.raises(BadInputError, match="sparse"):
        DenseReward().reset(plan([], []), simulator)


@pytest.mark.parametrize("text", ["", "loc|1|2|3", "pos|1|2|3|4", "loc|1|2|x|4", "loc|1|2|3|4|5"])
def test_damaged_locations(text: str) -> None:
    with pytest.raises(DataError, match="loc"):
        pose_of_location(text)


FLOOR = np.array([[0.25 * x, 0.25 * z] for x in range(5) for z in range(4) if (x, z) != (2, 1)])
POSES = st.builds(
    AgentPose,
    st.integers(0, 4).map(lambda n: 0.25 * n),
    st.just(0.9),
    st.sampled_from([0.0, 0.5, 0.75]),
    st.sampled_from([0, 90, 180, 270]),
    st.sampled_from(range(-30, 61, 15)),
)


@given(POSES, POSES)
def test_distances_fall_by_one_along_some_action(start: AgentPose, target: AgentPose) -> None:
    distances = PoseDistances(FLOOR, target)
    here = distances.from_pose(start)
    assert (here == 0) == (replace(start, y=0.0) == replace(target, y=0.0))
    dx, dz = ((0, 1), (1, 0), (0, -1), (-1, 0))[start.yaw // 90]
    ahead = replace(start, x=start.x + 0.25 * dx, z=start.z + 0.25 * dz)
    after = [
        replace(start, yaw=(start.yaw + 90) % 360),
        replace(start, yaw=(start.yaw - 90) % 360),
        replace(start, pitch=start.pitch + 15),
        replace(start, pitch=start.pitch - 15),
    ]
    if [ahead.x, ahead.z] in FLOOR.tolist():
        after.append(ahead)
    steps = [distances.from_pose(pose) - here for pose in after]
    assert all(abs(step) == 1 for step in steps[:4])
    assert here == 0 or min(steps) == -1


def test_a_target_off_the_floor_is_taken_as_the_nearest_point() -> None:
    target = AgentPose(0.5, 0.9, 0.25, 0, 0)
    beside = AgentPose(0.25, 0.9, 0.25, 0, 0)
    assert PoseDistances(FLOOR, target).from_pose(beside) == 0
