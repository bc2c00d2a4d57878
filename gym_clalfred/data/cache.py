"""The cache folder and atomic writing, for everything that is made once and read often."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

CACHE_VARIABLE = "CLALFRED_CACHE"


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
    """A file to write to that takes the name ``path`` only when the block ends without an error.

    Readers see the old file or the whole new one, never a part of it; two writers at once each
    write their own temporary file and the last one stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
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
