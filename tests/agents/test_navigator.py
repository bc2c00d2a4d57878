"""The rule-based agent of ``benchmarks.bounds`` finds its way by a map."""

from __future__ import annotations

from benchmarks.bounds import success_rate
from benchmarks.navigator import navigator
from clalfred.agents.semantic_map.room_map import PIXELS
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.stream import first_annotations


def test_told_what_to_do_it_solves_most_episodes_without_learning() -> None:
    source = open_source("tiny")
    env = ClAlfredEnv(source=source, image_size=PIXELS, depth=True, max_steps=100)
    keys = [entry.key for entry in first_annotations(source.entries(Split.VALID_SEEN), 1)]
    assert success_rate(navigator, env, keys, seed=0) > 0.5
    env.close()
