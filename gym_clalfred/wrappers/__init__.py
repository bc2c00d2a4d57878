"""Other forms of observations and actions, for libraries that need them."""

from gym_clalfred.wrappers.actions import DiscreteActions
from gym_clalfred.wrappers.observations import SB3Observation, SingleView, TokenizedObservation

__all__ = ["DiscreteActions", "SB3Observation", "SingleView", "TokenizedObservation"]
