"""Runs a program and ends it, with all its children, as soon as whoever started us is gone.

Started as a plain script, without the rest of the package, so that it costs little. It holds the
read end of a pipe whose write end only the starter has; the pipe closes however the starter ends,
``kill -9`` included.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys

#: ``prctl`` option of Linux: signal to get when the parent dies.
PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Asks Linux to kill this process when its parent is gone; elsewhere does nothing."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


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
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    try:
        while child.poll() is None:
            ready, _, _ = select.select([sys.stdin], [], [], 0.2)
            closed = ready and not os.read(sys.stdin.fileno(), 1)
            # A fork of the starter may keep the pipe open after the starter's end.
            if closed or os.getppid() != parent:
                child.kill()
                child.wait()
                remove_pipes()
                return 1
    finally:
        if child.poll() is None:
            child.kill()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main())
