"""Generated trajectories on disk: one zip file per split, in ALFRED's layout and format.

``<tier>/train.zip`` holds ``json_2.1.0/train/<folder>/<trial>/traj_data.json`` for every
trajectory and, last, ``index.json``; so unpacking it gives a folder that ALFRED's tools read.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from gym_clalfred.data.alfred_reader import parse_trajectory
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.index import IndexedSource, IndexRow
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.schema import parse
from gym_clalfred.simulator.embedded.room_model import Room

INDEX_NAME = "index.json"
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)

#: What ``zipfile`` raises for a file that is not as it was written.
ZIP_DAMAGE = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    EOFError,
    RuntimeError,
    struct.error,
)


class ArchiveIndex(msgspec.Struct, frozen=True):
    """What ``index.json`` says."""

    version: Literal[1]
    split: Split
    trajectories: tuple[IndexRow, ...]


@dataclass(frozen=True)
class ArchiveSummary:
    """What was written: ``sha256`` is over names and contents, not over the compressed bytes."""

    trajectories: int
    episodes: int
    sha256: str


def archive_path(folder: str | Path, split: Split) -> Path:
    """The zip file of a split in a tier's folder."""
    return Path(folder) / f"{split.value}.zip"


def write_archive(
    folder: str | Path, split: Split, trajectories: Iterable[Trajectory]
) -> ArchiveSummary:
    """Writes a split's zip file, one trajectory at a time, and names it only when it is whole.

    Equal trajectories in equal order give equal bytes.
    """
    rows: list[IndexRow] = []
    digest = hashlib.sha256()
    seen = set()
    with (
        atomic_file(archive_path(folder, split)) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        for trajectory in trajectories:
            if trajectory.key in seen:
                raise BadInputError(f"{trajectory.key} occurs twice in {split.value}")
            if not trajectory.annotations:
                raise BadInputError(f"{trajectory.key} has no annotation: expected at least one")
            seen.add(trajectory.key)
            content = encode_trajectory(trajectory)
            name = _entry_name(split, trajectory.key)
            digest.update(f"{name}\n{len(content)}\n".encode() + content)
            _write_entry(archive, name, content)
            rows.append(IndexRow.of(trajectory))
        _write_index(archive, split, rows)
    episodes = sum(row.annotations for row in rows)
    return ArchiveSummary(len(rows), episodes, digest.hexdigest())


def merge_archives(folder: str | Path, split: Split, parts: Iterable[Path]) -> ArchiveSummary:
    """Writes a split's zip file from several that ``write_archive`` made, in their order."""
    rows: list[IndexRow] = []
    digest = hashlib.sha256()
    with (
        atomic_file(archive_path(folder, split)) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        for path in parts:
            with zipfile.ZipFile(path) as part:
                index = parse(part.read(INDEX_NAME), ArchiveIndex, f"{path}/{INDEX_NAME}")
                for row in index.trajectories:
                    name = _entry_name(split, row.key)
                    content = part.read(name)
                    digest.update(f"{name}\n{len(content)}\n".encode() + content)
                    _write_entry(archive, name, content)
                    rows.append(row)
        _write_index(archive, split, rows)
    return ArchiveSummary(len(rows), sum(row.annotations for row in rows), digest.hexdigest())


class TrajectoryArchive(IndexedSource):
    """Reads what ``write_archive`` wrote; rooms are the generated ones.

    Args:
        folder: with ``train.zip`` and so on for each split; a missing one is a split without
            episodes.
        label: names the data in results; the folder's name if not given.
    """

    #: What to do about a damaged archive.
    remedy = "copy it again, or delete it to have it made again if it is in the cache"

    def __init__(self, folder: str | Path, label: str | None = None) -> None:
        super().__init__(folder)
        self.label = label or self.folder.name
        self._archives: dict[tuple[int, Split], zipfile.ZipFile] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return TrajectoryArchive, (self.folder, self.label)

    def room(self, number: int) -> Room:
        """The generated room of that number."""
        from gym_clalfred.simulator.embedded.generator import make_room

        return make_room(number)

    def read(self, split: Split, key: str) -> Trajectory:
        """Reads an entry of the split's zip file."""
        entry = _entry_name(split, key)
        trajectory = parse_trajectory(self._bytes(split, entry), f"{split.value}.zip/{entry}")
        if trajectory.key != key:
            raise DataError(f"{split.value}.zip/{entry}: holds {trajectory.key}")
        return trajectory

    def read_index(self, split: Split) -> Iterable[IndexRow]:
        """In the order of generation; nothing for a split without an archive."""
        if not archive_path(self.folder, split).is_file():
            return ()
        file = f"{archive_path(self.folder, split)}/{INDEX_NAME}"
        index = parse(self._bytes(split, INDEX_NAME), ArchiveIndex, file)
        if index.split != split:
            raise DataError(f"{file}: split: expected {split.value!r}, found {index.split.value!r}")
        return index.trajectories

    def _bytes(self, split: Split, name: str) -> bytes:
        path = archive_path(self.folder, split)
        try:
            # A forked child shares the parent's file offset, so every process opens its own.
            handle = (os.getpid(), split)
            if handle not in self._archives:
                self._archives[handle] = zipfile.ZipFile(path)
            return self._archives[handle].read(name)
        except KeyError:
            raise DataError(f"{path}: has no entry {name}; {self.remedy}") from None
        except (FileNotFoundError, PermissionError) as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from None
        except ZIP_DAMAGE as error:
            raise DataError(f"{path}: damaged ({error}); {self.remedy}") from None


def _entry_name(split: Split, key: str) -> str:
    return f"json_2.1.0/{split.value}/{key}/traj_data.json"


def _write_index(archive: zipfile.ZipFile, split: Split, rows: Iterable[IndexRow]) -> None:
    _write_entry(archive, INDEX_NAME, msgspec.json.encode(ArchiveIndex(1, split, tuple(rows))))


def _write_entry(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _TIMESTAMP)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    archive.writestr(info, content)
