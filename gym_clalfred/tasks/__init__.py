"""What is to be done: the task types, their goal conditions and the rewards."""

from gym_clalfred.tasks.examine import Examine
from gym_clalfred.tasks.pick_and_place import Movable, PickAndPlace, PickTwoAndPlace
from gym_clalfred.tasks.spec import TaskType, register_task
from gym_clalfred.tasks.treat_and_place import Clean, Cool, Heat

#: ALFRED's seven, of which the benchmark consists, in the order of its tables.
ALFRED_TASKS: tuple[TaskType, ...] = tuple(
    register_task(kind())
    for kind in (Examine, PickAndPlace, PickTwoAndPlace, Clean, Heat, Cool, Movable)
)
for one in ALFRED_TASKS:
    setattr(TaskType, one.name, one)
