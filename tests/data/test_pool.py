"""Work in several processes: order, errors, and processes that end by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_clalfred.data.pool import WorkerPool
from gym_clalfred.errors import BadInputError, SimulatorError


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(2) as pool:
        yield pool


def process_of(seconds: float) -> tuple[float, int]:
    time.sleep(seconds)
    print("said between the answers", flush=True)
    return seconds, os.getpid()


def refuse(job: int) -> int:
    if job == 2:
        raise BadInputError(f"no job {job}")
    return job


def test_results_come_in_the_order_of_the_jobs(pool: WorkerPool) -> None:
    jobs = (0.3, 0.0, 0.2, 0.0)
    results = list(pool.map(process_of, jobs))
    assert tuple(seconds for seconds, _ in results) == jobs
    assert len({process for _, process in results}) == 2
    assert os.getpid() not in {process for _, process in results}


def test_errors_of_the_work_are_raised_here(pool: WorkerPool) -> None:
    results = pool.map(refuse, (0, 1, 2, 3))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(BadInputError, match="no job 2") as caught:
        next(results)
    assert "in refuse" in str(caught.value.__cause__)
    assert list(pool.map(refuse, (3, 4, 5))) == [3, 4, 5]


def test_large_messages_go_both_ways(pool: WorkerPool) -> None:
    jobs = [bytes([number]) * 1_000_000 for number in range(4)]
    assert list(pool.map(bytes, jobs)) == jobs


def test_a_process_that_ends_is_reported() -> None:
    with WorkerPool(2) as pool, pytest.raises(SimulatorError, match=r"exit code 7.*one worker"):
        list(pool.map(os._exit, (7, 7)))


def test_leaving_ends_what_is_still_running() -> None:
    began = time.monotonic()
    with WorkerPool(2) as pool:
        next(pool.map(time.sleep, (0.0, 600.0, 600.0)))
    assert time.monotonic() - began < 60


def test_one_worker_is_this_process() -> None:
    with WorkerPool(1) as pool:
        assert [process for _, process in pool.map(process_of, (0.0,))] == [os.getpid()]


def test_what_a_script_defines_is_worked_with_in_its_own_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from gym_clalfred.data.pool import WorkerPool\n"
        "class Mine:\n"
        "    def double(self, number):\n"
        "        return 2 * number\n"
        "with WorkerPool(2) as pool:\n"
        "    print(list(pool.map(Mine().double, [1, 2, 3])))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout == "[2, 4, 6]\n"
