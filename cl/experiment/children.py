"""Processes that a sweep starts, and how they end when it is interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Exit code of a run whose settings or data are wrong: it would end the same way again.
REFUSED = 2

#: Exit codes of a process that was interrupted: by the signal, in its own words, on Windows.
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT, 0xC000013A)

#: Time for an interrupted process to end by itself.
PATIENCE_SECONDS = 10.0


class Children:
    """Processes that run now; after ``stop`` there are none, and no other can begin."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def run(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> int:
        """Waits for a process, whose output is added to a log, and gives its exit code."""
        with log.open("ab") as file:
            with self._lock:
                if self._stopping.is_set():
                    return INTERRUPTED[0]
                process = subprocess.Popen(
                    command, stdout=file, stderr=subprocess.STDOUT, env=environment
                )
                self._running.add(process)
            code = process.wait()
        with self._lock:
            self._running.remove(process)
        if code in INTERRUPTED:
            # Ctrl-C goes to all processes of a terminal; this one may be about to hear of it.
            self._stopping.wait(1.0)
        return code

    def stop(self) -> None:
        """Interrupts what runs, and kills what does not end then."""
        with self._lock:
            self._stopping.set()
            running = list(self._running)
        for process in running:
            if sys.platform == "win32":
                process.terminate()
            else:
                process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + PATIENCE_SECONDS
        try:
            for process in running:
                process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        finally:  # also after a second Ctrl-C; those that have ended are not touched
            for process in running:
                process.kill()
