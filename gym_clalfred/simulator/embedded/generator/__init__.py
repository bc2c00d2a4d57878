"""The embedded household's rooms, made from their numbers, and where small objects lie in them."""

from gym_clalfred.simulator.embedded.generator.arrange import ArrangementError, arrange
from gym_clalfred.simulator.embedded.generator.rooms import make_room
from gym_clalfred.simulator.embedded.generator.traits import ROOMS_VERSION
from gym_clalfred.simulator.embedded.room_model import Demand

__all__ = ["ROOMS_VERSION", "ArrangementError", "Demand", "arrange", "make_room"]
