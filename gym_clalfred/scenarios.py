"""The earlier name of ``gym_clalfred.setups``."""

from gym_clalfred.setups import ORDERS
from gym_clalfred.setups import Setup as Scenario

__all__ = ["ORDERS", "Scenario"]
