"""Runs: train a method on a stream, evaluate after each task, and lose nothing when killed.

>>> from cl.experiment import RunConfig, train                      # doctest: +SKIP
>>> results = train(RunConfig(method="cama", tier="tiny"), "runs/my-first")  # doctest: +SKIP
"""

from cl.experiment.config import RunConfig
from cl.experiment.results import Results, read_results
from cl.experiment.run import train

__all__ = ["Results", "RunConfig", "read_results", "train"]
