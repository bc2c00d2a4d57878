"""Distributes work over processes, with clear errors."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from typing_extensions import Self

from gym_clalfred.errors import SimulatorError, UsageError

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

_GUARD = "in a script, put what it does under: if __name__ == '__main__':"


class WorkerPool:
    """Processes; one worker means none beside this one."""

    def __init__(self, workers: int) -> None:
        refuse_while_starting()
        self._executor: ProcessPoolExecutor | None = None
        if workers > 1:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(
                workers, mp_context=context, initializer=_end_at_interrupts
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def map(self, work: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> Iterator[_Result]:
        """The results in the order of the jobs, each as soon as it and those before it are there.

        Raises:
            SimulatorError: if a process ends by itself.
        """
        if self._executor is None:
            yield from map(work, jobs)
            return
        try:
            yield from self._executor.map(work, jobs)
        except BrokenProcessPool:
            raise SimulatorError(
                "a process ended before its work was done; its own message, if it had one, is "
                f"above. Try one worker if memory is short; {_GUARD}"
            ) from None


def refuse_while_starting() -> None:
    """Raises ``UsageError`` in a process that is only just starting.

    Such a process runs the user's script again, and a call from there would wait for itself.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise UsageError(f"this uses several processes, and each runs the script again; {_GUARD}")


def _end_at_interrupts() -> None:
    """Ctrl-C reaches all processes; only the first one prints a message."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
