"""Processes that a sweep starts, and how they end when it is interrupted or killed.

The input of each is a pipe that nothing is written to. The operating system closes it when the
sweep ends in any way, and that is how a process hears of it (``end_with_parent``).
"""

from __future__ import annotations

import _thread
import os
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
                    command,
                    stdin=subprocess.PIPE,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=environment,
                )
                self._running.add(process)
            code = process.wait()
            assert process.stdin is not None
            process.stdin.close()
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


def end_with_parent() -> None:
    """Interrupts this process as soon as the one that started it is gone, and kills it if it stays.

    For processes that ``Children`` runs.
    """

    def listen() -> None:
        try:
            while os.read(0, 1):
                pass
        except OSError:
            pass
        # Scripts start what is in the background deaf to interrupts. Waiting would be in vain, and
        # runs can be killed at any moment.
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            os._exit(128 + signal.SIGINT)
        if sys.platform == "win32":
            _thread.interrupt_main()
        else:  # also in the middle of a system call
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(PATIENCE_SECONDS)
        os._exit(128 + signal.SIGINT)

    threading.Thread(target=listen, daemon=True).start()
