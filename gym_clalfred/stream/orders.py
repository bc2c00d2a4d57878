"""The two setups of CL-ALFRED and the orders in which the paper presents their tasks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from gym_clalfred.data.source import EpisodeEntry
from gym_clalfred.errors import BadInputError
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks.spec import TaskType

#: What a task of a stream is: a behaviour or a kind of room.
TaskLabel = TaskType | RoomType


class Setup(str, Enum):
    """What changes along the stream."""

    BEHAVIOR_IL = "behavior_il"
    ENVIRONMENT_IL = "environment_il"

    @property
    def tasks(self) -> tuple[TaskLabel, ...]:
        """All tasks, in an order that has nothing to do with any stream."""
        return tuple(TaskType) if self is Setup.BEHAVIOR_IL else tuple(RoomType)

    def task_of(self, entry: EpisodeEntry) -> TaskLabel:
        """The task an episode belongs to."""
        return entry.task_type if self is Setup.BEHAVIOR_IL else entry.room_type


def _behaviors(names: str) -> tuple[TaskLabel, ...]:
    by_name = {task.paper_name: task for task in TaskType}
    return tuple(by_name[name] for name in names.split())


def _rooms(names: str) -> tuple[TaskLabel, ...]:
    return tuple(RoomType(name) for name in names.split())


#: The paper's orders, which it numbers from 1.
PAPER_ORDERS: dict[Setup, dict[int, tuple[TaskLabel, ...]]] = {
    Setup.BEHAVIOR_IL: {
        1: _behaviors("Examine Heat Pick2&Place Cool Pick&Place Clean Movable"),
        2: _behaviors("Pick&Place Pick2&Place Clean Heat Examine Movable Cool"),
        3: _behaviors("Pick&Place Examine Movable Clean Pick2&Place Cool Heat"),
        4: _behaviors("Movable Pick2&Place Examine Pick&Place Heat Cool Clean"),
        5: _behaviors("Clean Pick&Place Movable Heat Cool Pick2&Place Examine"),
    },
    Setup.ENVIRONMENT_IL: {
        1: _rooms("Bedroom Bathroom LivingRoom Kitchen"),
        2: _rooms("Bathroom Bedroom Kitchen LivingRoom"),
        3: _rooms("Bedroom LivingRoom Bathroom Kitchen"),
        4: _rooms("Bedroom Bathroom Kitchen LivingRoom"),
        5: _rooms("Bathroom Kitchen Bedroom LivingRoom"),
    },
}

#: Orders in the authors' released files; two of Environment-IL differ from the paper's.
RELEASED_ORDERS: dict[Setup, dict[int, tuple[TaskLabel, ...]]] = {
    Setup.BEHAVIOR_IL: PAPER_ORDERS[Setup.BEHAVIOR_IL],
    Setup.ENVIRONMENT_IL: PAPER_ORDERS[Setup.ENVIRONMENT_IL]
    | {
        4: _rooms("Kitchen Bathroom LivingRoom Bedroom"),
        5: _rooms("LivingRoom Bathroom Kitchen Bedroom"),
    },
}


def resolve_order(
    setup: Setup,
    order: int | Sequence[TaskLabel | str],
    *,
    released: bool = False,
) -> tuple[TaskLabel, ...]:
    """The tasks of a stream, first to last.

    Args:
        setup: whose tasks they are.
        order: a number from 1 to 5, or an own order: some or all tasks of the setup, each at most
            once, as enum members or their values (``"Kitchen"``, ``"look_at_obj_in_light"``) or
            the paper's names (``"Pick2&Place"``).
        released: use the released files' orders instead of the paper's.
    """
    if isinstance(order, int) and not isinstance(order, bool):
        orders = (RELEASED_ORDERS if released else PAPER_ORDERS)[setup]
        if order not in orders:
            raise BadInputError(f"order {order!r}: expected a number from 1 to {len(orders)}")
        return orders[order]
    names: dict[str, TaskLabel] = {task.value: task for task in setup.tasks}
    names |= {task.paper_name: task for task in setup.tasks if isinstance(task, TaskType)}
    given = () if isinstance(order, str) or not isinstance(order, Sequence) else tuple(order)
    # The labels are strings themselves, so a name and a member are looked up alike.
    if not given or not all(isinstance(task, str) and task in names for task in given):
        raise BadInputError(
            f"order {order!r}: expected a number from 1 to 5 or a sequence of {', '.join(names)}"
        )
    tasks = tuple(names[task] for task in given)
    if len(set(tasks)) != len(tasks):
        raise BadInputError(f"order {order!r}: a task occurs twice")
    return tasks
