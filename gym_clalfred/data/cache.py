"""The cache folder, atomic writing and locks, for files that are made once and read often."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from gym_clalfred.data.progress_lines import say
from gym_clalfred.data.storage import make_folder

CACHE_VARIABLE = "CLALFRED_CACHE"

_RETRY_SECONDS = 0.2


def cache_dir() -> Path:
    """``$CLALFRED_CACHE`` if set, else ``clalfred`` in the platform's user cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "clalfred"


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file that appears as ``path`` only when the block ends without an error.

    Readers see the old file or the whole new one, never a part of it; two writers at once each
    write their own temporary file and the last one stays.
    """
    make_folder(path.parent)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes private files; a finished one follows the user's own mask.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # writing to an open file does not say which
        raise


@contextmanager
def file_lock(path: Path, waiting: str | None = None) -> Iterator[None]:
    """Waits until no other process holds the lock and holds it during the block.

    The operating system frees the lock when its holder ends in any way, also when it is killed; the
    empty file may stay and means nothing.

    Args:
        path: of the lock.
        waiting: what to say on stderr if another process holds it.
    """
    make_folder(path.parent)
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
