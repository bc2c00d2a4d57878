"""Trains on tier tiny, once in peace and once killed again and again; see test_resume.py.

Each attempt is a fork of this process, which has everything imported already but computed nothing
yet: a fresh interpreter for each would take most of the time.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from clalfred.cl.experiment import RunConfig, train
from tests.helpers.runs import MICRO

CONFIG = RunConfig(
    tier="tiny",
    agent="two-branch",
    overrides=MICRO,
    batch_size=4,
    episodes_per_task=2,
    evaluation_episodes=1,
    max_steps=4,
)


def begin(folder: Path) -> int:
    """Starts a run in a child that saves at every step; gives its process id."""
    child = os.fork()
    if child == 0:
        train(CONFIG, folder, device="cpu", checkpoint_seconds=0.0, media=False)
        os._exit(0)
    return child


def end(child: int) -> int:
    """Waits for a child; gives its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def saved(folder: Path) -> int:
    """Tells checkpoints apart."""
    path = folder / "checkpoint.zip"
    return path.stat().st_ino if path.exists() else 0


def kill_later(child: int, folder: Path, seconds: float) -> int:
    """Kills a child some time after it has got something done; gives its exit code."""
    before = saved(folder)
    while saved(folder) == before:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return end(child)
        time.sleep(0.005)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return end(child)


def main(whole: Path, pieces: Path, kills: int) -> None:
    began = time.monotonic()
    assert end(begin(whole)) == 0
    longest = (time.monotonic() - began) / kills / 4
    draw = random.Random(0)
    died: list[int] = []
    while len(died) < kills:
        died.append(kill_later(begin(pieces), pieces, draw.uniform(0.0, longest)))
        if died[-1] == 0:  # it was quicker: begin again, with earlier kills
            shutil.rmtree(pieces)
            died, longest = [], longest / 2
    print(*died)
    assert end(begin(pieces)) == 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
