"""Clear errors for full disks, deleted folders and missing permissions."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gym_clalfred.errors import StorageError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
_NO_FOLDER = (errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG)

#: What ``atomic_file`` writes to before the file has its name.
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}")


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns errors of the file system into a ``StorageError`` that says what to do.

    Args:
        path: the folder that the block works in.
    """
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        named = isinstance(error.filename, str | bytes | os.PathLike)
        where = _meant(Path(os.fsdecode(error.filename))) if named else path
        if error.errno == errno.ENOENT and not path.exists():
            raise StorageError(
                f"{path}: was deleted while it was in use; repeat the command to start anew"
            ) from error
        if error.errno in _FULL:
            raise StorageError(
                f"{where}: the disk is full. What was saved before is intact: free some space and "
                "repeat the command"
            ) from error
        if error.errno == errno.EFBIG:
            raise StorageError(
                f"{where}: would be larger than files may be here; raise the limit (ulimit -f) or "
                "choose another place"
            ) from error
        if error.errno in _FORBIDDEN and _is_closed(where):
            raise StorageError(
                f"{where}: cannot be read ({os.strerror(error.errno)}); change its permissions"
            ) from error
        if error.errno in _FORBIDDEN:
            raise StorageError(
                f"{where}: cannot be written to ({os.strerror(error.errno)}); choose another place "
                "or change its permissions"
            ) from error
        if error.errno in _NO_FOLDER:
            raise StorageError(
                f"{where}: cannot be a folder or a file ({os.strerror(error.errno)}); choose "
                "another name"
            ) from error
        raise


def make_folder(path: Path) -> None:
    """Makes a folder and those above it, if they are not there.

    Some places, such as ``/proc`` and automatic mounts, answer that the new folder does not exist,
    which elsewhere means that something to read is missing.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from error


def check_target(path: str | Path) -> None:
    """Raises ``StorageError`` if no file of this name can be written; makes its folder.

    For commands that write their result after long work.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        found = "a folder" if path.is_dir() else "a device or a pipe"
        raise StorageError(f"{path}: expected the name of a file, found {found}")
    try:
        make_folder(path.parent)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written to ({error.strerror}); choose another place"
        ) from error


def _meant(path: Path) -> Path:
    """The file that a temporary one would have become."""
    temporary = _TEMPORARY.fullmatch(path.name)
    return path.with_name(temporary["name"]) if temporary else path


def _is_closed(path: Path) -> bool:
    """Whether something is there that cannot even be read."""
    try:
        if path.is_dir():
            os.listdir(path)
        else:
            path.open("rb").close()
    except PermissionError:
        return True
    except OSError:
        return False
    return False
