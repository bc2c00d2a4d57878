"""One process at a time: a lock in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gym_clalfred.data.progress_lines import say

_RETRY_SECONDS = 0.2


@contextmanager
def file_lock(path: Path, waiting: str | None = None) -> Iterator[None]:
    """Waits until no other process holds the lock and holds it during the block.

    The operating system frees the lock when its holder ends in any way, also when it is killed; the
    empty file may stay and means nothing.

    Args:
        path: of the lock.
        waiting: what to say on stderr if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if waiting is not None:
            say(waiting)
        lock.acquire(poll_interval=_RETRY_SECONDS)
    try:
        yield
    finally:
        lock.release()
