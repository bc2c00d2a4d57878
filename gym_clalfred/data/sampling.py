"""Which task to ask for in a room: ALFRED's combinations with ALFRED's frequencies."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from gym_clalfred.compatibility import TARGET_COUNTS
from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.rooms import CLASS_FREQUENCY
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.tasks.spec import TaskSpec, TaskType

T = TypeVar("T")

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
    share = task_type.sliced_share
    if sliced is not None and share:
        share = sliced
    cut = bool(rng.random() < share) and bool(_CUT & items.keys())
    treatment = task_type.treatment
    options: dict[ObjectClass, list[tuple[TaskSpec, float]]] = {}
    for target in TARGET_COUNTS:
        if target not in items or (cut and target not in _CUT):
            continue
        if treatment is not None and target not in treatment.classes:
            continue
        found = list(task_type.choices(target, cut, fixtures, items))
        if found:
            options[target] = found
    if not options:
        return None
    # A class that few rooms of the type have is asked for in few of them.
    weights = [TARGET_COUNTS[target] * items[target] for target in options]
    tasks = options[_draw(list(options), weights, rng)]
    return _draw([task for task, _ in tasks], [weight for _, weight in tasks], rng)


def _draw(options: list[T], weights: list[float], rng: np.random.Generator) -> T:
    shares = np.array(weights, dtype=np.float64)
    return options[int(rng.choice(len(options), p=shares / shares.sum()))]
