"""A lock between processes that ends with the process that holds it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RETRY_SECONDS = 0.2


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Waits until no other process holds the lock and holds it during the block.

    The operating system frees the lock when its holder ends in any way, also when it is killed; the
    empty file stays and means nothing.
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
                    time.sleep(_RETRY_SECONDS)
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            yield
