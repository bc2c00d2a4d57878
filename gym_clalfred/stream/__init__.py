"""The incremental stream: orders, schedules and the wrapper that hands out episodes once."""

from gym_clalfred.setups import Setup, TaskLabel
from gym_clalfred.stream.builders import (
    build_schedule,
    first_annotations,
    from_split_folder,
    group_by_task,
    schedule_of,
)
from gym_clalfred.stream.orders import (
    PAPER_ORDERS,
    RELEASED_ORDERS,
    resolve_order,
)
from gym_clalfred.stream.schedule import Schedule
from gym_clalfred.stream.task_free import (
    DemonstratedAction,
    Demonstration,
    TaskHint,
    demonstration_of,
    frames_id,
    frames_index,
)
from gym_clalfred.stream.task_stream import Learner, Needs, TaskStream

__all__ = [
    "PAPER_ORDERS",
    "RELEASED_ORDERS",
    "DemonstratedAction",
    "Demonstration",
    "Learner",
    "Needs",
    "Schedule",
    "Setup",
    "TaskHint",
    "TaskLabel",
    "TaskStream",
    "build_schedule",
    "demonstration_of",
    "first_annotations",
    "frames_id",
    "frames_index",
    "from_split_folder",
    "group_by_task",
    "resolve_order",
    "schedule_of",
]
