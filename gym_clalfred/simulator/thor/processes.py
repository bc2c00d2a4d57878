"""Starts simulator processes that cannot outlive us, and no more of them than memory allows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from gym_clalfred.errors import UsageError
from gym_clalfred.simulator.thor import supervisor
from gym_clalfred.simulator.thor.options import ThorOptions

#: Share of the machine's memory that simulators may take together.
MEMORY_SHARE = 0.8

#: How long a supervisor may take to end its program.
SUPERVISOR_SECONDS = 10.0


class Supervised:
    """A process under a supervisor, in a session of its own so that Ctrl-C does not reach it.

    Args:
        command: what to run.
        environment: its environment.
        log: where its output goes.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
    ) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-S", supervisor.__file__, *command],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self._ended = False

    def poll(self) -> int | None:
        """The exit code, or ``None`` while it runs."""
        return self.popen.poll()

    def end(self) -> None:
        """Kills the process and all that it started, and waits until they are gone."""
        assert self.popen.stdin is not None
        if self._ended:
            return
        # The supervisor kills and buries all that it is responsible for when this pipe closes.
        with suppress(BrokenPipeError):
            self.popen.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(SUPERVISOR_SECONDS)
        # What is left if it hangs, or was killed itself: its group has its number.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        self._ended = True


class SimulatorSlot:
    """One of a bounded number of places for simulators on this machine, held until released.

    A place is a locked file, so that it becomes free also when its holder is killed.

    Raises:
        UsageError: if none becomes free in ``start_timeout``. It is no fault of AI2-THOR, so that
            starting it again, as after a ``SimulatorError``, would only be another wait.
    """

    def __init__(self, options: ThorOptions, folder: Path | None = None) -> None:
        self._lock: FileLock | None = None
        folder = folder or Path(tempfile.gettempdir()) / f"clalfred-thor-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        places = options.max_processes or memory_limit(options)
        deadline = time.monotonic() + options.start_timeout
        while self._lock is None:
            for place in range(places):
                with suppress(Timeout):
                    lock = FileLock(folder / f"slot-{place}", timeout=0)
                    lock.acquire()
                    self._lock = lock
                    return
            if time.monotonic() > deadline:
                raise UsageError(
                    f"AI2-THOR cannot be started once more: the limit on this machine is {places} "
                    "at a time, and all places are taken. Use fewer environments or workers, wait "
                    "for other runs to end, or set CLALFRED_THOR_MAX_PROCESSES to allow more"
                )
            time.sleep(0.2)

    def release(self) -> None:
        """Gives the place back."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def memory_limit(options: ThorOptions) -> int:
    """How many processes the machine's memory has room for; at least one."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(int(total * MEMORY_SHARE / (options.process_megabytes * 1e6)), 1)
