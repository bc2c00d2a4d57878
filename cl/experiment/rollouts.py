"""Rolls agents out for evaluation, with the run's episodes, encoder and simulator."""

from __future__ import annotations

from clalfred.agents.rollout import RolloutConfig, roll_out
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import Evaluate
from clalfred.cl.experiment.tools import Tools


def make_evaluate(config: RunConfig, tools: Tools, workers: int = 1) -> Evaluate:
    """A function that evaluates an agent on episodes.

    On a CPU its results do not depend on ``workers``; several processes always use the CPU.
    """
    rollout = RolloutConfig(workers=workers, max_steps=config.step_limit, backend=config.backend)
    return lambda agent, keys: roll_out(agent, tools.source, keys, rollout)
