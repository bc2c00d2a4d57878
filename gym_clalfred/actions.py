"""The thirteen actions of ALFRED's agents, in the order of the policy's output."""

from __future__ import annotations

from enum import IntEnum

MOVE_METRES = 0.25
ROTATE_DEGREES = 90
LOOK_DEGREES = 15


class Action(IntEnum):
    """What the agent may do; the value is the index in the policy's action head.

    Names are AI2-THOR's. ``discrete_name`` is how ALFRED's ``traj_data.json`` writes the action.
    """

    MoveAhead = 0
    RotateLeft = 1
    RotateRight = 2
    LookUp = 3
    LookDown = 4
    PickupObject = 5
    PutObject = 6
    OpenObject = 7
    CloseObject = 8
    ToggleObjectOn = 9
    ToggleObjectOff = 10
    SliceObject = 11
    Stop = 12

    @property
    def is_navigation(self) -> bool:
        """Whether the action moves the agent or its camera."""
        return self <= Action.LookDown

    @property
    def is_interaction(self) -> bool:
        """Whether the action needs a target object."""
        return Action.PickupObject <= self <= Action.SliceObject

    @property
    def discrete_name(self) -> str:
        """ALFRED's name with the amount, for example ``MoveAhead_25``."""
        return _DISCRETE_NAMES.get(self, self.name)


_DISCRETE_NAMES = {
    Action.MoveAhead: "MoveAhead_25",
    Action.RotateLeft: "RotateLeft_90",
    Action.RotateRight: "RotateRight_90",
    Action.LookUp: "LookUp_15",
    Action.LookDown: "LookDown_15",
    Action.Stop: "<<stop>>",
}
