"""Runs: train a method on a stream, evaluate after each task, and lose nothing when killed.

>>> from clalfred.cl.experiment import RunConfig, train                      # doctest: +SKIP
>>> results = train(RunConfig(method="cama", tier="tiny"), "runs/my-first")  # doctest: +SKIP
"""

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results, read_results
from clalfred.cl.experiment.run import train

__all__ = ["Results", "RunConfig", "read_results", "train"]
