"""Which task to ask for in a room: ALFRED's combinations with ALFRED's frequencies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from gym_clalfred.compatibility import (
    ACCEPTS,
    MOVABLE_COUNTS,
    RECEPTACLE_COUNTS,
    TARGET_COUNTS,
)
from gym_clalfred.objects import (
    CLEANABLE,
    COOLABLE,
    HEATABLE,
    LAMPS,
    SLICED_FORM,
    ObjectClass,
)
from gym_clalfred.rooms import CLASS_FREQUENCY
from gym_clalfred.simulator.embedded.room import Room
from gym_clalfred.tasks.spec import TaskSpec, TaskType

T = TypeVar("T")

_TREATED = {TaskType.CLEAN: CLEANABLE, TaskType.HEAT: HEATABLE, TaskType.COOL: COOLABLE}

#: Goal receptacles that ALFRED never uses with a task type.
_NEVER = {
    TaskType.HEAT: {ObjectClass.Microwave},
    TaskType.COOL: {ObjectClass.Fridge},
    TaskType.CLEAN: {ObjectClass.SinkBasin},
    TaskType.PICK_TWO_AND_PLACE: {
        ObjectClass.CoffeeMachine,
        ObjectClass.HandTowelHolder,
        ObjectClass.ToiletPaperHanger,
    },
}

#: Share of a task type's kitchen trajectories in ALFRED whose target has to be cut.
_SLICED_SHARE = {
    TaskType.HEAT: 0.38,
    TaskType.COOL: 0.28,
    TaskType.CLEAN: 0.15,
    TaskType.MOVABLE: 0.25,
    TaskType.PICK_AND_PLACE: 0.19,
    TaskType.PICK_TWO_AND_PLACE: 0.12,
}
_CUT = frozenset(SLICED_FORM) - {ObjectClass.Egg}


def sample_task(
    room: Room, task_type: TaskType, rng: np.random.Generator, *, sliced: float | None = None
) -> TaskSpec | None:
    """A task that makes sense in the room, or ``None`` if there is none of that type.

    The target is drawn with ALFRED's frequency of targets, then where it goes with ALFRED's
    frequency of receptacles.

    Args:
        room: where.
        task_type: the behaviour.
        rng: all choices come from it.
        sliced: share of kitchen tasks whose target has to be cut; ``None`` for ALFRED's.
    """
    fixtures = {fixture.object_class for fixture in room.fixtures}
    items = CLASS_FREQUENCY[room.room_type]
    share = _SLICED_SHARE.get(task_type, 0.0)
    if sliced is not None and task_type in _SLICED_SHARE:
        share = sliced
    cut = bool(rng.random() < share) and bool(_CUT & items.keys())
    options: dict[ObjectClass, list[tuple[TaskSpec, float]]] = {}
    for target in TARGET_COUNTS:
        if target not in items or (cut and target not in _CUT):
            continue
        if target not in _TREATED.get(task_type, TARGET_COUNTS):
            continue
        found = list(_tasks(task_type, target, cut, fixtures, set(items)))
        if found:
            options[target] = found
    if not options:
        return None
    # A class that few rooms of the type have is asked for in few of them.
    weights = [TARGET_COUNTS[target] * items[target] for target in options]
    tasks = options[_draw(list(options), weights, rng)]
    return _draw([task for task, _ in tasks], [weight for _, weight in tasks], rng)


def _tasks(
    task_type: TaskType,
    target: ObjectClass,
    sliced: bool,
    fixtures: set[ObjectClass],
    items: set[ObjectClass],
) -> Iterator[tuple[TaskSpec, float]]:
    if task_type is TaskType.EXAMINE:
        for lamp in sorted(LAMPS & fixtures):
            yield TaskSpec(task_type, target, lamp=lamp), 1.0
        return
    form = SLICED_FORM[target] if sliced else target
    movables = [
        movable
        for movable in MOVABLE_COUNTS
        if movable in items and movable is not target and form in ACCEPTS[movable]
    ]
    for receptacle, count in RECEPTACLE_COUNTS.items():
        if receptacle not in fixtures or receptacle in _NEVER.get(task_type, ()):
            continue
        if task_type is not TaskType.MOVABLE:
            if form in ACCEPTS[receptacle]:
                yield TaskSpec(task_type, target, receptacle, sliced=sliced), count
            continue
        for movable in movables:
            if movable in ACCEPTS[receptacle]:
                task = TaskSpec(task_type, target, receptacle, movable, sliced=sliced)
                yield task, count * MOVABLE_COUNTS[movable]


def _draw(options: list[T], weights: list[float], rng: np.random.Generator) -> T:
    shares = np.array(weights, dtype=np.float64)
    return options[int(rng.choice(len(options), p=shares / shares.sum()))]
