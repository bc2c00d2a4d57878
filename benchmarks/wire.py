"""Speed of AI2-THOR's wire protocol with the player, and how the expert fares over it.

    python -m benchmarks.wire [--steps 600] [--size 300] [--episodes 0] [--one-core]

Steps are navigation actions in a furnished kitchen. Steps per second are the median and the best of
ten batches by the clock, and what the CPU time of both processes allows on one core. CPU
milliseconds are medians. Of the client's nearly all are the ``ai2thor`` package's own: it
reads the metadata of every object into Python and collects the garbage of the step before.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gym_clalfred.data.trajectory import Trajectory

TURNS = ("RotateRight", "LookDown", "MoveAhead", "LookUp", "RotateLeft", "MoveBack")
WARM_UP_STEPS = 60
BATCHES = 10


@dataclass(frozen=True)
class WireSpeed:
    """What steps cost: steps per second by the clock, and CPU milliseconds in all, of each side."""

    median: float
    best: float
    cost: float
    client: float
    player: float

    def __str__(self) -> str:
        return (
            f"{self.median:9.0f}{self.best:7.0f}{1000 / self.cost:10.0f}"
            f"{self.client:11.2f}{self.player:11.2f}"
        )


def measure(step: Callable[[], object], player: int, steps: int) -> WireSpeed:
    """The speed over batches of steps; the best one tells what other programs took away."""
    for _ in range(WARM_UP_STEPS):
        step()
    processes = family(player)
    size = max(steps // BATCHES, 1)
    speeds, costs = [], []
    for _ in range(BATCHES):
        clock, here, there = time.perf_counter(), time.process_time(), cpu_seconds(processes)
        for _ in range(size):
            step()
        speeds.append(size / (time.perf_counter() - clock))
        here, there = time.process_time() - here, cpu_seconds(processes) - there
        costs.append((here / size * 1000, there / size * 1000))
    client, player_cost = (median(side) for side in zip(*costs))
    return WireSpeed(median(speeds), max(speeds), median(map(sum, costs)), client, player_cost)


def family(pid: int) -> list[int]:
    """A process and what it has started."""
    members = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if pid in (int(folder.name), int(fields[3]), int(fields[1])):
            members.append(int(folder.name))
    return members


def cpu_seconds(pids: Sequence[int]) -> float:
    """CPU time of processes so far, by Linux's clocks of other processes."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def package(size: int, steps: int, **options: Any) -> WireSpeed:
    """AI2-THOR's own controller."""
    from ai2thor.controller import Controller

    controller = Controller(
        local_executable_path=f"{sys.executable} -m clalfred.scripts.player",
        scene="FloorPlan3",
        width=size,
        height=size,
        x_display=":0",
        **options,
    )
    try:
        turns = cycle(TURNS)
        pid = controller.server.unity_proc.pid
        return measure(lambda: controller.step(next(turns)), pid, steps)
    finally:
        controller.stop()


def five_views(size: int, steps: int, trajectory: Trajectory) -> WireSpeed:
    """``ThorSimulator`` with all views and masks after every step."""
    from gym_clalfred.actions import Action
    from gym_clalfred.simulator.contract import RenderOptions
    from gym_clalfred.simulator.thor import ThorOptions, ThorSimulator

    simulator = ThorSimulator(
        RenderOptions(image_size=size), options=ThorOptions(executable="player")
    )
    turns = cycle((Action.RotateRight, Action.LookDown, Action.RotateLeft, Action.LookUp))
    try:
        simulator.reset(trajectory.scene)

        def step() -> None:
            simulator.step(next(turns))
            simulator.frame()

        link: Any = simulator._link
        return measure(step, link._controller.unity_pid, steps)
    finally:
        simulator.close()


def expert(trajectories: list[Trajectory], episodes: int) -> int:
    """How many episodes the expert plans and solves over the wire."""
    import numpy as np

    from gym_clalfred.expert.planner import solve
    from gym_clalfred.simulator.thor import ThorOptions, ThorSimulator

    simulator = ThorSimulator(options=ThorOptions(executable="player"))
    solved = 0
    try:
        for number in range(episodes):
            trajectory = trajectories[number % len(trajectories)]
            rng = np.random.default_rng(number)
            solved += bool(solve(simulator, trajectory.scene, trajectory.task, rng).actions)
    finally:
        simulator.close()
    return solved


def demonstrations() -> list[Trajectory]:
    """Generated trajectories; read late, because a large heap slows down whatever makes objects."""
    from gym_clalfred.data import open_source
    from gym_clalfred.data.trajectory import Split

    source = open_source(tier="tiny")
    entries = {entry.key.trajectory: entry for entry in source.entries(Split.TRAIN)}
    return [source.episode(entry.key).trajectory for entry in entries.values()]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--episodes", type=int, default=0, help="for the expert; 0 leaves it out")
    parser.add_argument("--one-core", action="store_true", help="bind everything to one core")
    chosen = parser.parse_args()
    if chosen.one_core:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{chosen.size} x {chosen.size}, one process each for client and player")
    print(f"{'':38}{'steps/s':>9}{'best':>7}{'one core':>10}{'client ms':>11}{'player ms':>11}")
    rows: dict[str, Callable[[], WireSpeed]] = {
        "ai2thor, rgb": lambda: package(chosen.size, chosen.steps),
        "ai2thor, rgb + instance segmentation": lambda: package(
            chosen.size, chosen.steps, renderInstanceSegmentation=True
        ),
        "ThorSimulator, five views + instances": lambda: five_views(
            chosen.size, chosen.steps // 4, demonstrations()[0]
        ),
    }
    for name, run in rows.items():
        print(f"{name:38}{run()}", flush=True)
    if chosen.episodes:
        solved = expert(demonstrations(), chosen.episodes)
        print(f"the expert solved {solved} of {chosen.episodes} episodes over the wire")


if __name__ == "__main__":
    main()
