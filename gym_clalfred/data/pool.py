"""Distributes work over processes, with clear errors.

Workers are plain child processes that speak over their pipes. ``multiprocessing`` would import the
user's main script again in every worker, which breaks scripts that make an environment at their
top level; forking is not safe once a process has threads.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import IO, Any, TypeVar

from typing_extensions import Self

from gym_clalfred.errors import SimulatorError

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

_LENGTH = struct.Struct("!Q")

#: Imports from where this process does; else modules in the current folder would come first.
_PROGRAM = f"""
import sys
sys.path[:] = filter(None, sys.path)
from {__name__} import serve
serve()
"""


class WorkerPool:
    """Processes, started when there is work for them; one worker means none beside this one."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers) if workers > 1 else None
        self._own = threading.local()
        self._lock = threading.Lock()
        self._team: list[_WorkerProcess] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._threads is None:
            return
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
        for worker in self._team:
            worker.kill()
        self._threads.shutdown()
        for worker in self._team:
            worker.close()

    def map(self, work: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
        """The results in the order of the jobs, each as soon as it and those before it are there.

        Work that needs something of the user's script is done in this process: the others do not
        run the script.

        Args:
            work: a function of a module, since it is named to the processes; or a partial one.
            jobs: what it is called with, one after the other.

        Raises:
            SimulatorError: if a process ends by itself.
        """
        if self._threads is None or b"__main__" in pickle.dumps(work):
            yield from map(work, jobs)
        else:
            yield from self._threads.map(partial(self._ask, work), jobs)

    def _ask(self, work: Callable[[_Job], _Result], job: _Job) -> _Result:
        """In a thread, each of which has a process of its own."""
        if not hasattr(self._own, "worker"):
            with self._lock:
                if self._closed:
                    raise SimulatorError("the processes have been ended")
                self._own.worker = _WorkerProcess()
                self._team.append(self._own.worker)
        result: _Result = self._own.worker.ask(work, job)
        return result


class _WorkerProcess:
    def __init__(self) -> None:
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for this process alone, which ends its workers
        )

    def ask(self, work: Callable[[Any], Any], job: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _write(self._process.stdin, (work, job))
            result, error, trace = _read(self._process.stdout)
        except (BrokenPipeError, EOFError):
            raise SimulatorError(
                "a process ended before its work was done (exit code "
                f"{self._process.wait()}); its own message, if it had one, is above. "
                "Try one worker if memory is short"
            ) from None
        if error is not None:
            raise error from SimulatorError(f"in another process:\n{trace}")
        return result

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def serve() -> None:
    """Runs a worker: does what it is asked to, one job after the other, until its input ends."""
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever is printed meanwhile must not end up between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            work, job = _read(jobs)
            try:
                answer: tuple[object, Exception | None, str] = (work(job), None, "")
            except Exception as error:
                answer = (None, error, traceback.format_exc())
            _write(answers, answer)


def _write(pipe: IO[bytes], message: tuple[Any, ...]) -> None:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(content)) + content)
    pipe.flush()


def _read(pipe: IO[bytes]) -> Any:
    """The next message; raises ``EOFError`` if the other side is gone."""
    header = pipe.read(_LENGTH.size)
    length = _LENGTH.unpack(header)[0] if len(header) == _LENGTH.size else -1
    content = pipe.read(length) if length >= 0 else b""
    if len(content) != length:
        raise EOFError
    return pickle.loads(content)
