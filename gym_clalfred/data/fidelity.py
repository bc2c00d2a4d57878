"""How truly recorded experts replay: by the rules, move by move and mask by mask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import Trajectory
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.simulator.contract import Failure, Sight, Simulator
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.tasks.goals import GoalChecker


@dataclass(frozen=True)
class Encounter:
    """One recorded interaction, done again.

    Args:
        index: of the action in the trajectory.
        action: what was done.
        object_class: to what.
        failure: why it could not be done here; ``None`` if it could.
        iou: intersection over union of the recorded mask and ours.
        centre_error: pixels between the centres of the two masks; infinite if ours is empty.
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
        success: all goal conditions are met at the end.
        moves: recorded moves ahead.
        blocked: of them, how many this room does not allow.
        failures: actions that failed: index and why.
        encounters: one per recorded mask.
        unmet: goal conditions in words that were not met.
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


def replay(simulator: Simulator, trajectory: Trajectory) -> Replay:
    """Does an expert's actions again in a simulator."""
    simulator.reset(trajectory.scene)
    checker = GoalChecker(trajectory.task)
    failures: list[tuple[int, Failure]] = []
    encounters: list[Encounter] = []
    moves = blocked = 0
    for index, act in enumerate(trajectory.actions):
        sight = simulator.sight() if act.object_id is not None else None
        failure = simulator.step(act.action, act.object_id).failure
        if failure is not None:
            failures.append((index, failure))
        if act.action is Action.MoveAhead:
            moves += 1
            blocked += failure is not None
        if sight is not None and act.mask is not None and act.object_id is not None:
            iou, error = compare(act.mask.decode(), sight, act.object_id)
            encounters.append(
                Encounter(index, act.action, class_of(act.object_id), failure, iou, error)
            )
    goal = checker.status(simulator)
    return Replay(
        key=trajectory.key,
        number=trajectory.scene.number,
        task_type=trajectory.task.type.value,
        success=goal.success and not failures,
        moves=moves,
        blocked=blocked,
        failures=tuple(failures),
        encounters=tuple(encounters),
        unmet=tuple(c.description for c in goal.conditions if not c.met),
    )


def compare(recorded: NDArray[np.bool_], sight: Sight, target: str) -> tuple[float, float]:
    """Intersection over union and distance of centres of a recorded mask and what is seen."""
    ours = sight.mask(target)
    union = np.count_nonzero(recorded | ours)
    if not ours.any():
        return 0.0, float("inf")
    distance = np.hypot(*(np.argwhere(recorded).mean(axis=0) - np.argwhere(ours).mean(axis=0)))
    return np.count_nonzero(recorded & ours) / union, float(distance)
