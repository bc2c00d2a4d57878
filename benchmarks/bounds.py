"""The bounds of a tier: what the expert solves, what acting at random does, and what a map does.

python -m benchmarks.bounds --tier small
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.navigator import navigator
from clalfred.agents.semantic_map.room_map import PIXELS
from clalfred.cl.experiment.config import EVALUATED
from gym_clalfred.actions import Action
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.random_agent import MOVING, sensible_interactions
from gym_clalfred.stream import demonstration_of, first_annotations
from gym_clalfred.tables import aligned

#: Gives the actions of an episode that has just begun.
Actor = Callable[[ClAlfredEnv, EpisodeKey, np.random.Generator], Iterator[tuple[Action, int]]]

_MOVES = [action for action in Action if action.is_navigation]


def expert(
    env: ClAlfredEnv, key: EpisodeKey, rng: np.random.Generator
) -> Iterator[tuple[Action, int]]:
    """The recorded demonstration, by action and class."""
    for step in demonstration_of(env.source.episode(key), env.source).actions:
        yield step.action, int(step.target)


def uniform(
    env: ClAlfredEnv, key: EpisodeKey, rng: np.random.Generator
) -> Iterator[tuple[Action, int]]:
    """Any action on any class."""
    while True:
        yield Action(int(rng.integers(len(Action)))), int(rng.integers(len(ObjectClass)))


def sensible(
    env: ClAlfredEnv, key: EpisodeKey, rng: np.random.Generator
) -> Iterator[tuple[Action, int]]:
    """Moves, and does what suits the things that are in reach; never stops by itself."""
    simulator = env.simulator
    while True:
        wishes = list(sensible_interactions(simulator)) if rng.random() >= MOVING else []
        if wishes:
            action, target = wishes[int(rng.integers(len(wishes)))]
            yield action, int(simulator.objects[target].object_class)
        else:
            yield _MOVES[int(rng.integers(len(_MOVES)))], int(ObjectClass.NoObject)


ACTORS: dict[str, Actor] = {
    "expert": expert,
    "rules, told what to do": navigator,
    "random, any action": uniform,
    "random, what suits": sensible,
}


def success_rate(actor: Actor, env: ClAlfredEnv, keys: list[EpisodeKey], seed: int) -> float:
    """Share of the episodes that an actor solves."""
    solved = 0
    for number, key in enumerate(keys):
        rng = np.random.default_rng((seed, number))
        env.reset(options={"episode": key})
        for action, target in actor(env, key, rng):
            *_, terminated, truncated, info = env.step(np.array([int(action), target]))
            if terminated or truncated:
                solved += bool(info["success"])
                break
    return solved / len(keys)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tier", default="small")
    parser.add_argument("--evaluate-on", default="valid", choices=list(EVALUATED))
    parser.add_argument("--max-steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5, help="of the random ones")
    options = parser.parse_args()
    source = open_source(options.tier)
    env = ClAlfredEnv(source=source, image_size=PIXELS, depth=True, max_steps=options.max_steps)
    splits = EVALUATED[options.evaluate_on]
    rows = [["solved in %", *splits, "episodes"]]
    for name, actor in ACTORS.items():
        repeats = 1 if actor in (expert, navigator) else options.repeats
        cells, count = [], 0
        for split in splits.values():
            keys = [entry.key for entry in first_annotations(source.entries(split), 1)]
            rates = [success_rate(actor, env, keys, seed) for seed in range(repeats)]
            cells.append(f"{100 * np.mean(rates):.2f}")
            count += repeats * len(keys)
        rows.append([name, *cells, str(count)])
    print(f"{source.label}, {options.evaluate_on}, at most {options.max_steps} actions")
    print(aligned(rows))
    env.close()


if __name__ == "__main__":
    main()
