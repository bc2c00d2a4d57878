"""Lets a random agent loose in all 120 rooms and stops at the first broken invariant.

python benchmarks/soak.py --steps 100000
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
from gym_clalfred.simulator.embedded.audit import problems
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.random_agent import random_step


def soak(steps: int, seed: int = 0, audit_every: int = 20, frame_every: int = 10) -> Counter[str]:
    """Runs ``steps`` random actions spread over all rooms; how often each outcome came about.

    Raises ``AssertionError`` with the room, the step and the problem when something is wrong.
    """
    simulator = EmbeddedSimulator(RenderOptions(image_size=84, depth=True))
    per_room = -(-steps // len(ROOM_NUMBERS))
    outcomes: Counter[str] = Counter()
    done = 0
    for number in ROOM_NUMBERS:
        rng = np.random.default_rng((seed, number))
        points = sorted(make_room(number).walkable)
        x, z = points[int(rng.integers(len(points)))]
        simulator.reset(Scene(number, AgentPose(x, AGENT_HEIGHT, z, 0, 30)))
        start = set(simulator.objects)
        for k in range(min(per_room, steps - done)):
            outcome = random_step(simulator, rng)
            outcomes["success" if outcome.failure is None else outcome.failure.name] += 1
            if k % frame_every == 0:
                simulator.frame()
            if k % audit_every == 0:
                found = problems(simulator.household, start)
                assert not found, f"room {number}, step {k}: {'; '.join(found)}"
        done += min(per_room, steps - done)
    simulator.close()
    return outcomes


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    begin = time.perf_counter()
    outcomes = soak(options.steps, options.seed)
    seconds = time.perf_counter() - begin
    for name, count in outcomes.most_common():
        print(f"{count:8d}  {name}")
    total = sum(outcomes.values())
    print(f"{total:8d}  steps in {len(ROOM_NUMBERS)} rooms, {seconds:.0f} s, no invariant broken")


if __name__ == "__main__":
    main()
