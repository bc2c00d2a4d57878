"""Makes trajectories in several processes and hands them out in order.

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
import traceback
from collections.abc import Iterator, Sequence
from typing import IO

from gym_clalfred.data.generate import Request, TrajectoryGenerator
from gym_clalfred.data.trajectory import Trajectory
from gym_clalfred.errors import SimulatorError

_LENGTH = struct.Struct("!I")

#: Imports from where this process does; else modules in the current folder would come first.
_PROGRAM = f"""
import sys
sys.path[:] = filter(None, sys.path)
from {__name__} import serve
serve()
"""

#: Requests given to a worker before its first answer is read, so that it never waits for us.
_AHEAD = 4


def generate_all(requests: Sequence[Request], workers: int) -> Iterator[Trajectory]:
    """The trajectories in the order of their requests, whatever the number of workers.

    With one worker everything happens in this process. The others start when the first one has made
    a trajectory: on a new machine it compiles the simulator, and they use the compiled code.
    """
    if workers <= 1 or len(requests) <= 1:
        generator = TrajectoryGenerator()
        try:
            for request in requests:
                yield generator.make(request)
        finally:
            generator.close()
        return
    team = [_GeneratorProcess()]
    try:
        team[0].send(requests[0])
        yield team[0].receive()
        requests = requests[1:]
        team += [_GeneratorProcess() for _ in range(min(workers, len(requests)) - 1)]
        # Worker k makes every k-th trajectory: no messages about who is free are needed, and what
        # waits in the pipes is bounded.
        for index, request in enumerate(requests[: len(team) * _AHEAD]):
            team[index % len(team)].send(request)
        for index in range(len(requests)):
            worker = team[index % len(team)]
            yield worker.receive()
            following = index + len(team) * _AHEAD
            if following < len(requests):
                worker.send(requests[following])
    finally:
        for worker in team:
            worker.stop()


class _GeneratorProcess:
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

    def send(self, request: Request) -> None:
        assert self._process.stdin is not None
        try:
            _write(self._process.stdin, request)
        except BrokenPipeError:
            raise self._died() from None

    def receive(self) -> Trajectory:
        assert self._process.stdout is not None
        answer = _read(self._process.stdout)
        if answer is None:
            raise self._died()
        if isinstance(answer, tuple):
            error, trace = answer
            raise error from SimulatorError(f"in a process that generates data:\n{trace}")
        assert isinstance(answer, Trajectory)
        return answer

    def stop(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._process.terminate()
        self._process.wait()

    def _died(self) -> SimulatorError:
        return SimulatorError(
            f"a process that generates data ended with exit code {self._process.wait()}; "
            "its own message is above. Try again, with one worker if memory is short"
        )


def serve() -> None:
    """Runs a worker: reads requests and answers each until its input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever is printed meanwhile must not end up between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    generator = TrajectoryGenerator()
    while (request := _read(requests)) is not None:
        assert isinstance(request, Request)
        try:
            answer: object = generator.make(request)
        except Exception as error:
            answer = (error, traceback.format_exc())
        try:
            _write(answers, answer)
        except BrokenPipeError:
            return


def _write(pipe: IO[bytes], message: object) -> None:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(content)) + content)
    pipe.flush()


def _read(pipe: IO[bytes]) -> object | None:
    header = pipe.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    content = pipe.read(length)
    return pickle.loads(content) if len(content) == length else None
