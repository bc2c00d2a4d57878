"""ALFRED's files out of tar archives, for an import that needs nothing unpacked beforehand."""

from __future__ import annotations

import hashlib
import lzma
import re
import shutil
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

from gym_clalfred.data.alfred_import.layouts import LAYOUT_FILES
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.errors import DataError

_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")

#: The only files that are taken out, whatever else an archive holds.
_WANTED = re.compile(
    r"(?:[\w.-]+/)*(?P<path>json_2\.1\.0/[\w-]+/[\w.-]+/[\w.-]+/traj_data\.json"
    rf"|gen/layouts/FloorPlan\d+-(?:{'|'.join(map(re.escape, LAYOUT_FILES))}))"
)

#: What reading a damaged archive raises.
_DAMAGE = (tarfile.TarError, lzma.LZMAError, zlib.error, OSError, EOFError, ValueError)

_PREFIX = "unpacked"

#: No file of ALFRED's is nearly as large.
_LARGEST = 50_000_000


def archives_in(path: str | Path) -> list[Path]:
    """The tar archives that a path is or directly contains."""
    folder = Path(path)
    files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    return [file for file in files if file.name.endswith(_ENDINGS) and file.is_file()]


def unpack(
    archives: list[Path],
    work: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Takes ALFRED's files out of archives into a folder of ``work``, which is returned.

    The folder belongs to just these archives as they are now: those that were unpacked before are
    passed over, and what other archives left is removed. Nothing is written outside of it: names
    are matched as a whole, links are left out.

    Raises:
        DataError: naming the archive, if it cannot be read.
    """
    target = work / f"{_PREFIX}-{_hash_of(archives)}"
    for other in work.glob(f"{_PREFIX}*"):
        if other != target:
            shutil.rmtree(other, ignore_errors=True)
    for k, archive in enumerate(archives):
        progress(k, len(archives))
        done = target / f"{archive.name}.done"
        if not done.is_file():
            try:
                _unpack_one(archive, target)
            except _DAMAGE as error:
                raise DataError(f"{archive}: cannot be unpacked: {error}") from None
            with atomic_file(done):
                pass
    progress(len(archives), len(archives))
    return target


def _hash_of(archives: list[Path]) -> str:
    """Of their names, sizes and times of change."""
    digest = hashlib.sha256()
    for archive in archives:
        status = archive.stat()
        digest.update(f"{archive.name}\n{status.st_size}\n{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _unpack_one(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as file:
        for member in file:
            wanted = _WANTED.fullmatch(member.name)
            if wanted is None or not member.isreg() or ".." in member.name:
                continue
            if member.size > _LARGEST:
                raise ValueError(f"{member.name} has {member.size} bytes")
            content = file.extractfile(member)
            assert content is not None
            path = target / wanted["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
