"""Trains once in peace and once killed again and again; started by tests/test_resume.py.

Each attempt is a fork of this process, which has everything imported already but computed nothing
yet: a fresh interpreter for each would take most of the time.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from runs import fake_config, run_fake

CONFIG = fake_config(episodes_per_task=5, evaluation_episodes=2, max_steps=10)


def attempt(folder: Path, seconds: float | None) -> int:
    """Runs in a child that is killed after a while; gives its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        run_fake(CONFIG, folder)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(whole: Path, pieces: Path, kills: int) -> None:
    began = time.monotonic()
    assert attempt(whole, None) == 0
    duration = time.monotonic() - began
    # A process that gets nothing done before it is killed would be no test; so the time grows.
    draw, share = random.Random(0), 1 / kills
    killed = 0
    while killed < kills:
        code = attempt(pieces, draw.uniform(0.2, 1.8) * share * duration)
        if code == 0:  # it was quicker: begin again, with earlier kills
            share /= 2
            for path in sorted(pieces.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            killed = 0
            continue
        killed += 1
        print("died", code, flush=True)
    while (code := attempt(pieces, None)) != 0:
        raise SystemExit(f"the last attempt failed with {code}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
