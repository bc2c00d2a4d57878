"""A lock between processes that ends with the process that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

_RETRY_SECONDS = 0.2


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Waits until no other process holds the lock and holds it during the block.

    The operating system frees the lock when its holder ends in any way, also when it is killed; the
    empty file may stay and means nothing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path).acquire(poll_interval=_RETRY_SECONDS):
        yield
