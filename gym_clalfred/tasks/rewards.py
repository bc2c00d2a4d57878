"""Rewards: sparse (the default) and ALFRED's dense reward along the expert's high-level plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import ExpertAction, HighStep, Trajectory
from gym_clalfred.errors import BadInputError
from gym_clalfred.simulator.contract import AgentPose, Simulator
from gym_clalfred.simulator.treatments import TREATMENTS
from gym_clalfred.tasks.distances import PoseDistances, pose_of_location
from gym_clalfred.tasks.goals import GoalStatus


class Reward(ABC):
    """What an action earns; one object serves one episode after another."""

    @abstractmethod
    def reset(self, trajectory: Trajectory, simulator: Simulator) -> None:
        """Begins an episode; the simulator has been reset to its scene."""

    @abstractmethod
    def step(self, action: Action, goal: GoalStatus, ended: bool) -> float:
        """The reward of an action that was just carried out or failed.

        Args:
            action: what the agent chose.
            goal: the goal conditions after it.
            ended: whether the episode is over.
        """


class SparseReward(Reward):
    """1 when the episode ends with all goal conditions met, else 0."""

    def reset(self, trajectory: Trajectory, simulator: Simulator) -> None:
        """Nothing to prepare."""

    def step(self, action: Action, goal: GoalStatus, ended: bool) -> float:
        """1 or 0."""
        return float(ended and goal.success)


@dataclass(frozen=True)
class SubgoalReward:
    """ALFRED's numbers for one kind of subgoal, and the low-level actions that belong to it.

    ``positive`` is paid when the subgoal is reached, ``negative`` when a fitting action leaves it
    unreached, ``invalid_action`` for any other action.
    """

    positive: float
    negative: float
    invalid_action: float
    actions: frozenset[Action]


GOAL_REWARD = 5.0
STEP_PENALTY = -0.01
GOTO_SHAPING = 0.2
GOTO_DONE_BELOW = 3

_OPEN_CLOSE = frozenset({Action.OpenObject, Action.CloseObject})
_SWITCH = frozenset({Action.ToggleObjectOn, Action.ToggleObjectOff})
_CARRY = frozenset({Action.PickupObject, Action.PutObject})

SUBGOAL_REWARDS = {
    "GotoLocation": SubgoalReward(
        4.0, 0.0, -0.5, frozenset(action for action in Action if action.is_navigation)
    ),
    "PickupObject": SubgoalReward(2.0, -1.0, -0.1, _OPEN_CLOSE | {Action.PickupObject}),
    "PutObject": SubgoalReward(2.0, -1.0, -0.1, _OPEN_CLOSE | {Action.PutObject}),
    "OpenObject": SubgoalReward(2.0, -0.05, -0.1, frozenset({Action.OpenObject})),
    "CloseObject": SubgoalReward(1.0, 0.0, -0.1, frozenset({Action.CloseObject})),
    "ToggleObject": SubgoalReward(1.0, -1.0, -0.1, _SWITCH),
    "SliceObject": SubgoalReward(1.0, -4.0, -0.1, _OPEN_CLOSE | {Action.SliceObject}),
    "CleanObject": SubgoalReward(2.0, 0.0, -0.1, _CARRY | _SWITCH),
    "HeatObject": SubgoalReward(2.0, 0.0, -0.1, _CARRY | _SWITCH | _OPEN_CLOSE),
    "CoolObject": SubgoalReward(2.0, 0.0, -0.1, _CARRY | _OPEN_CLOSE),
}


@dataclass(frozen=True)
class Subgoal:
    """A high-level step with the objects that the expert used for it.

    Args:
        kind: a key of ``SUBGOAL_REWARDS``.
        pose: where a GotoLocation leads.
        object_id: what is picked up, put down, opened, switched, cut or treated.
        receptacle_id: where a PutObject puts it, or the appliance of a CoolObject.
    """

    kind: str
    pose: AgentPose | None = None
    object_id: str | None = None
    receptacle_id: str | None = None


def subgoals_of(trajectory: Trajectory) -> tuple[Subgoal, ...]:
    """The expert's plan as subgoals; steps that ask for nothing (NoOp, End) are left out."""
    return tuple(
        _subgoal(step, [low for low in trajectory.actions if low.step == index])
        for index, step in enumerate(trajectory.plan)
        if step.action in SUBGOAL_REWARDS
    )


def _subgoal(step: HighStep, low_actions: list[ExpertAction]) -> Subgoal:
    pose = pose_of_location(step.location) if step.location is not None else None
    main = {
        **dict.fromkeys(TREATMENTS, Action.PutObject),
        "ToggleObject": Action.ToggleObjectOn,
    }.get(step.action) or Action.__members__.get(step.action)
    low = next((low for low in low_actions if low.action is main), None)
    if low is None:
        return Subgoal(step.action, pose)
    if low.action is Action.PutObject:
        return Subgoal(step.action, pose, low.held_id, low.object_id)
    return Subgoal(step.action, pose, low.object_id)


class DenseReward(Reward):
    """ALFRED's dense reward.

    The subgoals of the expert's plan are followed in order. GotoLocation pays ``GOTO_SHAPING`` for
    every action by which the shortest way to the expert's pose got shorter, and is reached when
    fewer than ``GOTO_DONE_BELOW`` actions are left; the others pay as ``SUBGOAL_REWARDS`` says.
    CoolObject pays three times: for the cold object, for the reopened fridge and, reached then,
    for the object in hand. ``GOAL_REWARD`` is paid once, when all goal conditions are met; from
    then on nothing more is paid. Actions beyond the expert's number cost ``STEP_PENALTY`` each.
    ALFRED's extra payments per successful or failed action, off there unless asked for, are left
    out.
    """

    def __init__(self) -> None:
        self._subgoals: tuple[Subgoal, ...] = ()
        self._simulator: Simulator | None = None

    def reset(self, trajectory: Trajectory, simulator: Simulator) -> None:
        """Takes the plan of the trajectory; it has to name a pose for every GotoLocation."""
        self._subgoals = subgoals_of(trajectory)
        if not self._subgoals:
            raise BadInputError(
                f"the dense reward follows the expert's plan, but {trajectory.key} has none; "
                'use reward="sparse"'
            )
        self._simulator = simulator
        self._expert_length = len(trajectory.actions)
        self._current = 0
        self._steps = 0
        self._finished = False
        self._cool_stages: set[str] = set()
        self._distances: PoseDistances | None = None
        self._distance = 0
        self._enter()

    def step(self, action: Action, goal: GoalStatus, ended: bool) -> float:
        """Subgoal reward, goal reward and step penalty of one action."""
        if self._finished or self._simulator is None:
            return 0.0
        reward = 0.0
        if self._current < len(self._subgoals):
            earned, reached = self._pursue(action)
            reward += earned
            if reached:
                self._current += 1
                self._enter()
        if goal.success:
            reward += GOAL_REWARD
            self._finished = True
        if self._steps > self._expert_length:
            reward += STEP_PENALTY
        self._steps += 1
        return reward

    def _enter(self) -> None:
        self._distances = None
        if self._current == len(self._subgoals):
            return
        pose = self._subgoals[self._current].pose
        if pose is not None and self._simulator is not None:
            self._distances = PoseDistances(self._simulator.reachable(), pose)
            self._distance = self._distances.from_pose(self._simulator.agent)

    def _pursue(self, action: Action) -> tuple[float, bool]:
        subgoal = self._subgoals[self._current]
        numbers = SUBGOAL_REWARDS[subgoal.kind]
        if action not in numbers.actions:
            return numbers.invalid_action, False
        if subgoal.kind == "GotoLocation":
            return self._approach(numbers)
        if subgoal.kind == "CoolObject":
            return self._cool(action, subgoal, numbers)
        assert self._simulator is not None
        reached = _REACHED[subgoal.kind](self._simulator, subgoal)
        if reached is None:
            return 0.0, False
        return (numbers.positive, True) if reached else (numbers.negative, False)

    def _approach(self, numbers: SubgoalReward) -> tuple[float, bool]:
        if self._distances is None or self._simulator is None:
            return numbers.positive, True
        before, self._distance = self._distance, self._distances.from_pose(self._simulator.agent)
        reward = GOTO_SHAPING * (before - self._distance)
        reached = self._distance < GOTO_DONE_BELOW
        return reward + (numbers.positive if reached else 0.0), reached

    def _cool(self, action: Action, subgoal: Subgoal, numbers: SubgoalReward) -> tuple[float, bool]:
        assert self._simulator is not None
        target = self._simulator.objects.get(subgoal.object_id or "")
        fridge = self._simulator.objects.get(subgoal.receptacle_id or "")
        if target is None or not target.cooled:
            return 0.0, False
        if "cold" not in self._cool_stages:
            self._cool_stages.add("cold")
            return numbers.positive, False
        if action is Action.PickupObject and self._simulator.held == target.id:
            return numbers.positive, True
        if action is Action.OpenObject and fridge is not None and fridge.is_open:
            first = "reopened" not in self._cool_stages
            self._cool_stages.add("reopened")
            return (numbers.positive if first else 0.0), False
        return 0.0, False


def _picked_up(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    if simulator.held is None:
        return None
    # Any slice of the wanted object will do.
    return simulator.held.split("Sliced")[0] == (subgoal.object_id or "").split("Sliced")[0]


def _put(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    target = simulator.objects.get(subgoal.object_id or "")
    if subgoal.receptacle_id not in simulator.objects:
        return None
    return target is not None and subgoal.receptacle_id in target.parents


def _opened(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    target = simulator.objects.get(subgoal.object_id or "")
    return None if target is None else target.is_open


def _closed(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    target = simulator.objects.get(subgoal.object_id or "")
    return None if target is None else not target.is_open


def _switched_on(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    target = simulator.objects.get(subgoal.object_id or "")
    return None if target is None else target.is_on


def _sliced(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    if subgoal.object_id is None:
        return None
    target = simulator.objects.get(subgoal.object_id)
    if target is not None:
        return target.is_sliced
    return any(name.startswith(f"{subgoal.object_id}|") for name in simulator.objects)


def _treated(simulator: Simulator, subgoal: Subgoal) -> bool | None:
    target = simulator.objects.get(subgoal.object_id or "")
    return None if target is None else TREATMENTS[subgoal.kind].is_done(target)


_REACHED: dict[str, Callable[[Simulator, Subgoal], bool | None]] = {
    "PickupObject": _picked_up,
    "PutObject": _put,
    "OpenObject": _opened,
    "CloseObject": _closed,
    "ToggleObject": _switched_on,
    "SliceObject": _sliced,
    **dict.fromkeys(TREATMENTS, _treated),
}

#: Values of the environment's ``reward`` argument.
REWARDS: dict[str, Callable[[], Reward]] = {"sparse": SparseReward, "dense": DenseReward}
