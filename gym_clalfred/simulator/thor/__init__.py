"""AI2-THOR as a ``Simulator``: Unity, or ``clalfred-player`` in its place."""

from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.simulator import ThorSimulator

__all__ = ["ThorOptions", "ThorSimulator"]
