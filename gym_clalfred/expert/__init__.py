"""The expert: a planner over the simulator contract that solves every task."""
