"""Evaluates a trained agent on unseen rooms and films it beside the expert."""

import argparse

from clalfred.agents.acting.recording import Performer, record
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.evaluate_agent import evaluate_agent, select
from clalfred.cl.report.text import scores_table
from gym_clalfred.data.sources import open_source

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--agent", default="runs/examples/cama")
parser.add_argument("--out", default="runs/examples/cama-and-expert.mp4")
parser.add_argument("--limit", type=int)
arguments = parser.parse_args()

policy, config = load_agent(arguments.agent)
source = open_source(config.tier, config.data)
keys = select(source, "valid_unseen", annotations=1, limit=arguments.limit)
summary = evaluate_agent(policy, config, source, keys)
print(scores_table({**summary.by_task, "all": summary.overall}))

performers = [Performer("expert"), Performer(config.method, policy)]
print(record(arguments.out, source, keys[0], performers, max_steps=config.step_limit))
