"""CAMA on Behavior-IL in three lines, and what came of it."""

import argparse

from clalfred.cl.experiment import RunConfig, train
from clalfred.cl.report.text import summary_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--out", default="runs/examples/cama")
parser.add_argument("--tier", default="tiny")
parser.add_argument("--episodes-per-task", type=int)
parser.add_argument("--evaluation-episodes", type=int, default=1)
parser.add_argument("--agent", default="semantic-map")
parser.add_argument("--max-steps", type=int, default=150)
arguments = parser.parse_args()

config = RunConfig(
    method="cama",
    tier=arguments.tier,
    agent=arguments.agent,
    episodes_per_task=arguments.episodes_per_task,
    evaluation_episodes=arguments.evaluation_episodes,
    max_steps=arguments.max_steps,
)
results = train(config, arguments.out, media=False)
print(summary_table(results))
print("forgetting in unseen rooms:", results.metric("unseen", "forgetting"))
