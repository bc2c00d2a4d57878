"""Evaluation in several processes; a process that dies or hangs costs the episodes it was in."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import torch

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import EpisodeResult, RolloutConfig, failed_result, run_episodes
from clalfred.agents.numerics.allocation import keep_freed_memory
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.errors import ClAlfredError, SimulatorError, UsageError


@dataclass(frozen=True)
class RolloutJob:
    """What a process is started with.

    Args:
        policy: pickled by itself, since torch's tensors would go by shared memory.
        source: where the episodes are.
        config: how to run them.
    """

    policy: bytes
    source: EpisodeSource
    config: RolloutConfig


@dataclass(frozen=True)
class _Broken:
    """Sent by a process that has failed by no fault of an episode: its agent's, for example."""

    reason: str


@dataclass
class _RolloutWorker:
    """A process, what it still has to do and what it is doing."""

    job: RolloutJob
    process: BaseProcess
    connection: Connection
    todo: deque[EpisodeKey]
    running: dict[str, EpisodeKey] = field(default_factory=dict)
    heard: float = 0.0
    ended: bool = False

    @property
    def is_stuck(self) -> bool:
        """Whether it has been silent in its episodes for longer than all of them may take."""
        config = self.job.config
        limit = 2 * config.timeout_seconds * config.environments
        return bool(self.running) and time.monotonic() - self.heard > limit


def run_in_processes(
    policy: Policy,
    source: EpisodeSource,
    keys: Sequence[EpisodeKey],
    config: RolloutConfig,
) -> Iterator[EpisodeResult]:
    """Results in the order in which they come; the processes compute on the CPU."""
    device = policy.agent.device
    try:
        job = RolloutJob(pickle.dumps(replace(policy, agent=policy.agent.cpu())), source, config)
    finally:
        policy.agent.to(device)
    count = config.processes(len(keys))
    workers = [_start(job, deque(keys[number::count])) for number in range(count)]
    try:
        while workers:
            ready = wait([worker.connection for worker in workers], timeout=1.0)
            for worker in list(workers):
                if worker.connection in ready:
                    yield from _receive(worker)
                if worker.ended or worker.is_stuck:
                    workers.remove(worker)
                    _stop(worker)
                    yield from _attribute_failure(worker)
                    workers += _successors(worker)
    finally:
        for worker in workers:
            _stop(worker)


def _attribute_failure(worker: _RolloutWorker) -> Iterator[EpisodeResult]:
    """If a lost process was in a single episode, that one has failed."""
    if worker.todo and not worker.running:
        raise SimulatorError(
            f"an evaluation process ended before its first episode (exit code "
            f"{worker.process.exitcode}); run with one worker to see why, and in a script put "
            "what it does under: if __name__ == '__main__':"
        )
    if len(worker.running) == 1:
        (key,) = worker.running.values()
        reason = f"the evaluation process was lost (exit code {worker.process.exitcode})"
        yield failed_result(worker.job.source, key, reason)


def _successors(worker: _RolloutWorker) -> list[_RolloutWorker]:
    """Processes for what a lost one did not finish; suspects run one at a time, to find the one."""
    alone = replace(worker.job, config=replace(worker.job.config, environments=1))
    suspects = deque(worker.running.values()) if len(worker.running) > 1 else deque()
    return [
        _start(job, keys) for job, keys in ((worker.job, worker.todo), (alone, suspects)) if keys
    ]


def _start(job: RolloutJob, keys: deque[EpisodeKey]) -> _RolloutWorker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    # The job does not go with the arguments: Python prints a traceback if they break off.
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    with suppress(OSError):  # a process that is gone is seen when it is listened to
        ours.send((job, tuple(keys)))
    return _RolloutWorker(job, process, ours, keys)


def _serve(connection: Connection) -> None:
    """The body of a process: sends each key when it starts and each result when it is there."""
    # Ctrl-C reaches all processes; the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    keep_freed_memory()
    # Without the process that started it, nobody wants to hear anything.
    with suppress(EOFError, ConnectionError):
        _work(connection, *connection.recv())


def _work(connection: Connection, job: RolloutJob, keys: tuple[EpisodeKey, ...]) -> None:
    try:
        policy = pickle.loads(job.policy)
        for result in run_episodes(policy, job.source, keys, job.config, on_start=connection.send):
            connection.send(result)
    except ConnectionError:
        raise
    except Exception as error:
        connection.send(_Broken(f"{type(error).__name__}: {error}"))
        if not isinstance(error, ClAlfredError):
            raise
    connection.close()


def _receive(worker: _RolloutWorker) -> Iterator[EpisodeResult]:
    while worker.connection.poll():
        try:
            message = worker.connection.recv()
        except (EOFError, ConnectionError):
            worker.ended = True
            return
        worker.heard = time.monotonic()
        if isinstance(message, _Broken):
            raise UsageError(
                f"an evaluation process failed ({message.reason}); if that does not say why, "
                "evaluate with one worker"
            )
        if isinstance(message, EpisodeResult):
            del worker.running[message.episode]
            yield message
        else:
            worker.running[str(message)] = message
            worker.todo.remove(message)


def _stop(worker: _RolloutWorker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.connection.close()
