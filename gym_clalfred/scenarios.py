"""The three continual-learning setups of CL-ALFRED that have an environment id."""

from __future__ import annotations

from enum import Enum

#: Number of task orders that the paper evaluates for each setup; orders are numbered from 1.
ORDERS = 5


class Scenario(str, Enum):
    """Which tasks follow each other, and how episodes are weighted."""

    BEHAVIOR_IL = "BehaviorIL"
    ENVIRONMENT_IL = "EnvironmentIL"
    IMBALANCED_ENVIRONMENT_IL = "ImbalancedEnvironmentIL"

    @property
    def env_id(self) -> str:
        """The id for ``gymnasium.make``."""
        return f"CLAlfred-{self.value}-v0"

    @property
    def is_balanced_by_room(self) -> bool:
        """Whether every room type has as many episodes as the one with the fewest."""
        return self is Scenario.ENVIRONMENT_IL
