"""CL-ALFRED Gym: continual learning of household tasks from instructions."""

__version__ = "0.1.0"
