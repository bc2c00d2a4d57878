"""A lock between processes that ends with the process that holds it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gym_clalfred.data.progress_lines import say

_RETRY_SECONDS = 0.2


@contextmanager
def file_lock(path: Path, waiting: str | None = None) -> Iterator[None]:
    """Waits until no other process holds the lock and holds it during the block.

    The operating system frees the lock when its holder ends in any way, also when it is killed; the
    empty file stays and means nothing.

    Args:
        path: of the lock.
        waiting: what to say on stderr if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            while True:
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                    break
                except OSError:
                    _say_if(waiting)
                    waiting = None
                    time.sleep(_RETRY_SECONDS)
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _say_if(waiting)
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _say_if(line: str | None) -> None:
    if line is not None:
        say(line)
