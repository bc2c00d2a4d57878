"""How truly recorded experts replay: by the rules, move by move and mask by mask.

An expert is done again in one of three ways, which differ in how an interaction names its object:
by the recorded object id, by its class as agents of this benchmark do, or by the recorded mask as
on ALFRED's leaderboard.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import ExpertAction, Trajectory
from gym_clalfred.errors import BadInputError
from gym_clalfred.interaction import MAX_FAILURES, Choice, Pointing, choose_by_class, choose_by_mask
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.simulator.contract import Failure, Sight, Simulator
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.tasks.goals import GoalChecker


class Naming(str, Enum):
    """How a replayed interaction names its object."""

    ID = "id"
    CLASS = "class"
    MASK = "mask"


@dataclass(frozen=True)
class Encounter:
    """One recorded interaction, done again.

    Args:
        index: of the action in the trajectory.
        action: what was done.
        object_class: to what.
        failure: why it could not be done here; ``None`` if it could.
        iou: intersection over union of the recorded mask and ours.
        centre_error: pixels between the centres of the two masks; infinite if either is empty.
    """

    index: int
    action: Action
    object_class: ObjectClass
    failure: Failure | None
    iou: float
    centre_error: float

    @property
    def is_small(self) -> bool:
        """Whether the target can be carried."""
        return self.object_class in PICKUPABLE


@dataclass(frozen=True)
class Replay:
    """A recorded expert, done again by the rules; nothing is forced.

    Args:
        key: of the trajectory.
        success: all goal conditions are met at the end. By id no action may fail; by class or mask
            fewer than ``MAX_FAILURES``, as in an episode.
        moves: recorded moves ahead.
        blocked: of them, how many this room does not allow.
        failures: actions that failed: index and why.
        encounters: one per recorded mask; only by id.
        unmet: goal conditions in words that were not met.
        strays: by class or mask, interactions with another object than the recorded one: index and
            what was chosen.
    """

    key: str
    number: int
    task_type: str
    success: bool
    moves: int
    blocked: int
    failures: tuple[tuple[int, Failure], ...]
    encounters: tuple[Encounter, ...]
    unmet: tuple[str, ...]
    strays: tuple[tuple[int, str], ...] = ()


def replay(simulator: Simulator, trajectory: Trajectory, naming: Naming = Naming.ID) -> Replay:
    """Does an expert's actions again in a simulator."""
    try:
        simulator.reset(trajectory.scene)
    except BadInputError:
        return _not_started(trajectory)
    checker = GoalChecker(trajectory.task)
    doing = _Doing(simulator, naming)
    failures: list[tuple[int, Failure]] = []
    moves = blocked = 0
    for index, act in enumerate(trajectory.actions):
        failure = doing.do(index, act)
        if failure is not None:
            failures.append((index, failure))
        if act.action is Action.MoveAhead:
            moves += 1
            blocked += failure is not None
    goal = checker.status(simulator)
    allowed = 1 if naming is Naming.ID else MAX_FAILURES
    return Replay(
        key=trajectory.key,
        number=trajectory.scene.number,
        task_type=trajectory.task.type.value,
        success=goal.success and len(failures) < allowed,
        moves=moves,
        blocked=blocked,
        failures=tuple(failures),
        encounters=tuple(doing.encounters),
        unmet=tuple(c.description for c in goal.conditions if not c.met),
        strays=tuple(doing.strays),
    )


def _not_started(trajectory: Trajectory) -> Replay:
    """Of an expert who begins where the room has no floor."""
    moves = sum(act.action is Action.MoveAhead for act in trajectory.actions)
    return Replay(
        key=trajectory.key,
        number=trajectory.scene.number,
        task_type=trajectory.task.type.value,
        success=False,
        moves=moves,
        blocked=moves,
        failures=((0, Failure.BLOCKED),),
        encounters=(),
        unmet=("the start is a place to stand",),
    )


class _Doing:
    """Does single actions, and keeps what was met on the way."""

    def __init__(self, simulator: Simulator, naming: Naming) -> None:
        self._simulator = simulator
        self._naming = naming
        self._previous: Pointing | None = None
        self.encounters: list[Encounter] = []
        self.strays: list[tuple[int, str]] = []

    def do(self, index: int, act: ExpertAction) -> Failure | None:
        """Does an action; says why it failed, if it did."""
        if act.object_id is None:
            return self._simulator.step(act.action).failure
        if self._naming is Naming.ID:
            return self._by_id(index, act, act.object_id)
        choice = self._choose(act, act.object_id)
        if choice.pointing is not None:
            self._previous = choice.pointing
        if choice.object_id is None:
            return choice.failure
        if choice.object_id != act.object_id:
            self.strays.append((index, choice.object_id))
        return self._simulator.step(act.action, choice.object_id).failure

    def _by_id(self, index: int, act: ExpertAction, target: str) -> Failure | None:
        sight = self._simulator.sight()
        failure = self._simulator.step(act.action, target).failure
        if act.mask is not None:
            iou, error = compare(act.mask.decode(), sight, target)
            self.encounters.append(
                Encounter(index, act.action, class_of(target), failure, iou, error)
            )
        return failure

    def _choose(self, act: ExpertAction, target: str) -> Choice:
        objects = self._simulator.objects
        if self._naming is Naming.MASK and act.mask is not None:
            return choose_by_mask(act.mask.decode(), self._simulator.sight(), objects)
        wanted = class_of(target)
        return choose_by_class(wanted, self._simulator.sight(wanted), objects, self._previous)


def compare(recorded: NDArray[np.bool_], sight: Sight, target: str) -> tuple[float, float]:
    """Intersection over union and distance of centres of a recorded mask and what is seen."""
    ours = sight.mask(target)
    union = np.count_nonzero(recorded | ours)
    if not recorded.any() or not ours.any():
        return 0.0, float("inf")
    distance = np.hypot(*(np.argwhere(recorded).mean(axis=0) - np.argwhere(ours).mean(axis=0)))
    return np.count_nonzero(recorded & ours) / union, float(distance)
