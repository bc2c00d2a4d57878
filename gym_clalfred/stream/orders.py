"""The orders in which the paper presents the tasks of a setup."""

from __future__ import annotations

from collections.abc import Sequence

from gym_clalfred.errors import BadInputError
from gym_clalfred.names import plain
from gym_clalfred.rooms import RoomType
from gym_clalfred.setups import Setup, TaskLabel, names_of
from gym_clalfred.tasks import ALFRED_TASKS


def _behaviors(names: str) -> tuple[TaskLabel, ...]:
    by_name = {task.paper_name: task for task in ALFRED_TASKS}
    return tuple(by_name[name] for name in names.split())


def _rooms(names: str) -> tuple[TaskLabel, ...]:
    return tuple(RoomType(name) for name in names.split())


Orders = dict[int, tuple[TaskLabel, ...]]

_ROOM_ORDERS: Orders = {
    1: _rooms("Bedroom Bathroom LivingRoom Kitchen"),
    2: _rooms("Bathroom Bedroom Kitchen LivingRoom"),
    3: _rooms("Bedroom LivingRoom Bathroom Kitchen"),
    4: _rooms("Bedroom Bathroom Kitchen LivingRoom"),
    5: _rooms("Bathroom Kitchen Bedroom LivingRoom"),
}

_RELEASED_ROOM_ORDERS: Orders = _ROOM_ORDERS | {
    4: _rooms("Kitchen Bathroom LivingRoom Bedroom"),
    5: _rooms("LivingRoom Bathroom Kitchen Bedroom"),
}

#: The paper's orders, which it numbers from 1.
PAPER_ORDERS: dict[Setup, Orders] = {
    Setup.BEHAVIOR_IL: {
        1: _behaviors("Examine Heat Pick2&Place Cool Pick&Place Clean Movable"),
        2: _behaviors("Pick&Place Pick2&Place Clean Heat Examine Movable Cool"),
        3: _behaviors("Pick&Place Examine Movable Clean Pick2&Place Cool Heat"),
        4: _behaviors("Movable Pick2&Place Examine Pick&Place Heat Cool Clean"),
        5: _behaviors("Clean Pick&Place Movable Heat Cool Pick2&Place Examine"),
    },
    Setup.ENVIRONMENT_IL: _ROOM_ORDERS,
    Setup.IMBALANCED_ENVIRONMENT_IL: _ROOM_ORDERS,
}

#: Orders in the authors' released files; two of Environment-IL differ from the paper's.
RELEASED_ORDERS: dict[Setup, Orders] = {
    Setup.BEHAVIOR_IL: PAPER_ORDERS[Setup.BEHAVIOR_IL],
    Setup.ENVIRONMENT_IL: _RELEASED_ROOM_ORDERS,
    Setup.IMBALANCED_ENVIRONMENT_IL: _RELEASED_ROOM_ORDERS,
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
        order: a number from 1 to 5, or a custom order: some or all tasks of the setup, each at most
            once, as enum members or by name: ALFRED's (``"look_at_obj_in_light"``) or the paper's
            (``"Pick2&Place"``), in any spelling.
        released: use the released files' orders instead of the paper's.
    """
    if isinstance(order, int) and not isinstance(order, bool):
        orders = (RELEASED_ORDERS if released else PAPER_ORDERS)[setup]
        if order not in orders:
            raise BadInputError(f"order {order!r}: expected a number from 1 to {len(orders)}")
        return orders[order]
    known = {plain(name): task for name, task in names_of(setup.known_tasks).items()}
    given = () if isinstance(order, str) or not isinstance(order, Sequence) else tuple(order)
    # The labels are strings themselves, so a name and a member are looked up alike.
    if not given or not all(isinstance(task, str) and plain(task) in known for task in given):
        listed = dict.fromkeys(task.value for task in setup.known_tasks)
        listed |= dict.fromkeys(task.paper_name for task in setup.known_tasks)
        raise BadInputError(
            f"order {order!r}: expected a number from 1 to 5 or a sequence of {', '.join(listed)}"
        )
    tasks = tuple(known[plain(task)] for task in given)
    if len(set(tasks)) != len(tasks):
        raise BadInputError(f"order {order!r}: a task occurs twice")
    return tasks
