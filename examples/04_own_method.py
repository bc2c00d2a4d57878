"""A method of your own: a class with what differs, registered under a name.

This one is ER that replays only what the network is worst at: of twice as many candidates it keeps
those with the highest loss.
"""

import argparse
from typing import Any

import torch

from clalfred.agents.episode import EncodedEpisode
from clalfred.cl.base import ContinualLearner
from clalfred.cl.experiment import RunConfig, train
from clalfred.cl.registry import register
from clalfred.cl.report.text import summary_table


class WorstReplay(ContinualLearner):
    """Update: ``min L(x, x')`` with x' the half of the candidates that has the highest loss."""

    def select_replay(self, stream: tuple[EncodedEpisode, ...]) -> list[int]:
        """The slots to replay in the next update."""
        candidates = self.memory.sample(2 * self.replay_size)
        if not candidates:
            return []
        batch = self.make_batch([self.memory[slot].episode for slot in candidates])
        with torch.no_grad():
            losses = self.losses(self.plain_forward(batch))
        worst = losses.argsort(descending=True)[: self.replay_size]
        return [candidates[place] for place in worst.tolist()]


register("worst-replay", WorstReplay)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--out", default="runs/examples/own")
parser.add_argument("--tier", default="tiny")
parser.add_argument("--episodes-per-task", type=int)
parser.add_argument("--agent", default="two-branch")
parser.add_argument("--max-steps", type=int, default=150)
arguments: Any = parser.parse_args()

config = RunConfig(
    method="worst-replay",
    tier=arguments.tier,
    agent=arguments.agent,
    episodes_per_task=arguments.episodes_per_task,
    evaluation_episodes=1,
    max_steps=arguments.max_steps,
)
print(summary_table(train(config, arguments.out, media=False)))
