"""Speed and memory of the environment, next to other renderers on the same machine.

    python -m benchmarks.environment [--sizes 84 128 224 300] [--rounds 5] [--tier tiny]

A step is a full ``env.step`` with all five views, following the recorded experts: about four
fifths are moves, turns and looks, one fifth interactions, and all render. Resets are timed apart.
Peers render five views of a furnished room of comparable detail per step, on one core. Times on
one core are the processor's, and of each episode the best of several rounds counts, as the best of
as many stretches does for peers: virtual machines share caches and clock with strangers, whose work
is none of ours. Two cores are measured by the clock, whole rounds on average.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import gymnasium

import gym_clalfred
from benchmarks.peers import PEERS, PeerUnavailable
from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import ExpertAction
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.object_ids import class_of

ENV_ID = gym_clalfred.ENV_IDS[0]

#: How many expert episodes a round follows, always the same ones.
EPISODES = 12

#: How long a peer is measured.
PEER_SECONDS = 3.0

#: What the observation holds besides the images: name -> arguments of the environment.
CONTENTS: dict[str, dict[str, bool]] = {
    "rgb": {"masks": False, "depth": False},
    "rgb + ids": {"masks": True, "depth": False},
    "rgb + ids + depth": {"masks": True, "depth": True},
}


@dataclass(frozen=True)
class Setting:
    """One row of the table; ``contents`` is a key of ``CONTENTS``."""

    tier: str
    image_size: int
    contents: str
    rounds: int

    def make(self) -> Any:
        """The environment to measure, without Gymnasium's checks around it."""
        return gymnasium.make(
            ENV_ID, tier=self.tier, image_size=self.image_size, **CONTENTS[self.contents]
        ).unwrapped


@dataclass(frozen=True)
class Speed:
    """Steps per second, and the median time of a ``reset`` in milliseconds."""

    steps_per_second: float
    reset_ms: float


def expert_pairs(actions: tuple[ExpertAction, ...]) -> Iterator[tuple[Action, ObjectClass]]:
    """The demonstration as elements of the action space."""
    for low in actions:
        name = low.object_id
        yield low.action, ObjectClass.NoObject if name is None else class_of(name)


def measure(
    setting: Setting,
    clock: Callable[[], float] = time.process_time,
    choose: Callable[[Sequence[float]], float] = min,
) -> Speed:
    """Follows the same experts in every round, in this process.

    Args:
        setting: what to measure.
        clock: by default the processor's.
        choose: which of an episode's times counts; the first round only warms up.
    """
    env = setting.make()
    steps, resets = 0, []
    times: list[list[float]] = [[] for _ in range(EPISODES)]
    for number in range(setting.rounds + 1):
        steps = 0
        for episode in range(EPISODES):
            start = clock()
            env.reset(seed=episode)
            resets.append(clock() - start)
            spent = 0.0
            for pair in expert_pairs(env.episode.trajectory.actions):
                start = clock()
                ended = any(env.step(pair)[2:4])
                spent += clock() - start
                steps += 1
                if ended:
                    break
            if number:
                times[episode].append(spent)
    env.close()
    return Speed(steps / sum(map(choose, times)), 1000 * median(resets))


def measure_on_two_cores(setting: Setting) -> float:
    """Steps per second by the wall clock of two processes at once, added up."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        tasks = [(setting, time.perf_counter, mean)] * 2
        return sum(speed.steps_per_second for speed in pool.starmap(measure, tasks, 1))


def resident_megabytes() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def memory_of_environments(setting: Setting, count: int) -> float:
    """Megabytes that each further environment takes in one process, after some episodes."""

    def used() -> Any:
        env = setting.make()
        for seed in range(6):
            env.reset(seed=seed)
            for pair in expert_pairs(env.episode.trajectory.actions):
                env.step(pair)
        return env

    kept = [used()]
    before = resident_megabytes()
    kept += [used() for _ in range(count)]
    return (resident_megabytes() - before) / count


def import_seconds(statement: str = "import gym_clalfred") -> float:
    """Best of five fresh interpreters, without the interpreter's own start."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5))
    return min(float(run.stdout) for run in runs)


def print_environment(settings: list[Setting], two_cores: bool) -> None:
    """Prints the table of our own speeds."""
    print(f"{'views':>15}  {'observation':<18} {'steps/s':>9} {'two cores':>10} {'reset ms':>9}")
    for setting in settings:
        speed = measure(setting)
        both = f"{measure_on_two_cores(setting):10,.0f}" if two_cores else f"{'-':>10}"
        views = f"5 x {setting.image_size} x {setting.image_size}"
        print(
            f"{views:>15}  {setting.contents:<18} {speed.steps_per_second:9,.0f} {both} "
            f"{speed.reset_ms:9.1f}",
            flush=True,
        )


def print_peers(settings: list[Setting]) -> None:
    """Prints each peer's speed in colour beside ours with ids, and how many times as fast we are.

    Ours is measured anew just before each, so that both meet the machine in the same state.
    """
    print(f"{'views':>15}  {'peer':<18} {'steps/s':>9} {'ours':>10} {'ours/peer':>9}")
    for name, peer in PEERS.items():
        for setting in settings:
            ours = measure(setting).steps_per_second
            try:
                theirs = peer(setting.image_size, PEER_SECONDS)
            except PeerUnavailable as reason:
                print(f"{'-':>15}  {name}: {reason}")
                break
            views = f"5 x {setting.image_size} x {setting.image_size}"
            print(
                f"{views:>15}  {name:<18} {theirs:9,.1f} {ours:10,.0f} {ours / theirs:9,.1f}",
                flush=True,
            )


def main() -> None:
    """Prints the whole report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[84, 128, 224, 300])
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts")
    parser.add_argument("--tier", default="tiny", help="episodes to follow")
    parser.add_argument("--one-core", action="store_true", help="leave out the second process")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    settings = [
        Setting(options.tier, size, contents, options.rounds)
        for size in options.sizes
        for contents in CONTENTS
    ]
    print_environment(settings, not options.one_core)
    print_peers([setting for setting in settings if setting.contents == "rgb + ids"])
    largest = Setting(options.tier, max(options.sizes), "rgb + ids + depth", 1)
    print(f"memory of each further environment: {memory_of_environments(largest, 3):.0f} MB")
    print(f"memory of this process with 4 of them: {resident_megabytes():.0f} MB")
    print(f"import gym_clalfred: {import_seconds():.2f} s")


if __name__ == "__main__":
    main()
