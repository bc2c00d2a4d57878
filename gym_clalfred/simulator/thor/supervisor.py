"""Runs a program and ends it, with all that it started, as soon as whoever started us is gone.

What the program leaves behind when it ends by itself is ended too. Started as a plain script,
without the rest of the package, so that it costs little. It holds the read end of a pipe whose
write end only the starter has; the pipe closes however the starter ends, ``kill -9`` included.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import select
import shutil
import signal
import subprocess
import sys

#: ``prctl`` options of Linux: signal to get when the parent dies; to adopt orphaned descendants.
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def ask_linux(option: int, value: int) -> None:
    """Sets an option of this process; elsewhere does nothing."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value)


def die_with_parent() -> None:
    """Asks Linux to kill this process when its parent is gone."""
    ask_linux(PR_SET_PDEATHSIG, signal.SIGKILL)


def children() -> list[int]:
    """The children of this process, adopted ones too; none where there is no ``/proc``."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            # A name in brackets comes before, which may hold anything.
            parent = file.read().rsplit(b")", 1)[1].split()[1]
            if int(parent) == os.getpid():
                found.append(int(path.split("/")[2]))
    return found


def end_all(child: subprocess.Popen[bytes]) -> None:
    """Kills the program and all that came from it: orphans become ours, until none is left."""
    if child.poll() is None:
        child.kill()
        child.wait()
    while pids := children():
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        os.wait()


def remove_pipes() -> None:
    """Removes the named pipes that the starter had made and cannot remove any more."""
    paths = [os.environ.get(f"AI2THOR_FIFO_{end}_PIPE_PATH") for end in ("SERVER", "CLIENT")]
    for path in filter(None, paths):
        folder = os.path.dirname(path)
        if os.path.exists(path):
            os.unlink(path)
        if os.path.isdir(folder) and not os.listdir(folder):
            shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Runs the command given as arguments; the exit code is the command's."""
    parent = os.getppid()
    ask_linux(PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    try:
        while child.poll() is None:
            ready, _, _ = select.select([sys.stdin], [], [], 0.2)
            closed = ready and not os.read(sys.stdin.fileno(), 1)
            # A fork of the starter may keep the pipe open after the starter's end.
            if closed or os.getppid() != parent:
                end_all(child)
                remove_pipes()
                return 1
    finally:
        end_all(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main())
