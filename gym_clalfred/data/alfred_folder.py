"""ALFRED's own download: a folder of ``json_2.1.0/<split>/<folder>/<trial>/traj_data.json``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from gym_clalfred.data.alfred_reader import parse_trajectory
from gym_clalfred.data.cache import atomic_file, cache_dir
from gym_clalfred.data.index import IndexedSource, IndexRow, TrajectoryName
from gym_clalfred.data.trajectory import EpisodeKey, Split, Trajectory
from gym_clalfred.errors import DataError
from gym_clalfred.schema import read
from gym_clalfred.simulator.embedded.room_model import Room

ROOT_NAME = "json_2.1.0"
FILE_NAME = "traj_data.json"

#: Time of change in nanoseconds, and size in bytes.
Stamp = tuple[int, int]

#: ALFRED's split lists one of this trajectory's three annotations; all others are listed in full.
LISTED_ANNOTATIONS = {
    (
        Split.TRAIN,
        "pick_two_obj_and_place-CellPhone-None-Sofa-224/trial_T20190907_194445_206988",
    ): 1
}


def is_listed(key: EpisodeKey) -> bool:
    """Whether ALFRED's split lists an episode that is in its files."""
    count = LISTED_ANNOTATIONS.get((key.split, key.trajectory))
    return count is None or key.annotation < count


def as_listed(split: Split, rows: Iterable[IndexRow]) -> Iterator[IndexRow]:
    """The rows of an index with as many annotations as ALFRED's split lists."""
    for row in rows:
        count = LISTED_ANNOTATIONS.get((split, row.key), row.annotations)
        yield IndexRow(row.key, min(count, row.annotations), row.length)


def find_root(path: str | Path) -> Path | None:
    """The ``json_2.1.0`` folder that a path is or contains; ``None`` if it has no split in it.

    A checkout of ALFRED has it in ``data``.
    """
    for root in (Path(path) / ROOT_NAME, Path(path) / "data" / ROOT_NAME, Path(path)):
        if any((root / split.value).is_dir() for split in Split):
            return root
    return None


class FolderIndex(msgspec.Struct):
    """A split's index in the cache: its trajectories, and their files as they were when read."""

    version: Literal[1]
    rows: list[IndexRow]
    stamps: list[Stamp]


class AlfredFolder(IndexedSource):
    """Reads ALFRED's trajectories from its own folders.

    The first use of a split reads every file once; the index is then kept in the cache folder and
    used again for files whose size and time of change are the same.

    Args:
        path: the folder ``json_2.1.0`` or the one that contains it.
        skip_damaged: leave out files that cannot be read, and list them in ``damaged``, instead of
            raising for the first one.
    """

    label = "alfred-2.1.0"
    has_generated_rooms = False

    def __init__(self, path: str | Path, *, skip_damaged: bool = False) -> None:
        root = find_root(path)
        if root is None:
            raise DataError(
                f"{path}: not ALFRED's data: expected a folder {ROOT_NAME} with train, valid_seen "
                "or valid_unseen in it"
            )
        super().__init__(root)
        self.skip_damaged = skip_damaged
        self._damaged: dict[Split, tuple[str, ...]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.folder, self.skip_damaged)

    def damaged(self, split: Split) -> tuple[str, ...]:
        """With ``skip_damaged``, one message for each file of the split that was left out."""
        self._index(split)
        return self._damaged[split]

    def room(self, number: int) -> Room:
        """Raises: ALFRED's files do not describe rooms, the imported store does."""
        raise DataError(
            f"{self.folder}: ALFRED's files hold no rooms; import them first "
            "(clalfred-data import --alfred DIR) and pass the store as data"
        )

    def read(self, split: Split, key: str) -> Trajectory:
        """Reads the file of a trajectory."""
        return read_trajectory(self.folder / split.value / key / FILE_NAME, key)

    def read_index(self, split: Split) -> Iterable[IndexRow]:
        """Sorted by trajectory, as ALFRED's split lists them."""
        known = self._load_index(split)
        rows: dict[str, IndexRow] = {}
        stamps: dict[str, Stamp] = {}
        damaged: list[str] = []
        fresh = False
        for key, stamp in self._files(split):
            row = known.get((key, stamp))
            if row is None:
                try:
                    row = IndexRow.of(self.read(split, key))
                    fresh = True
                except DataError as error:
                    if not self.skip_damaged:
                        raise
                    damaged.append(str(error))
                    continue
            stamps[key] = stamp
            rows[key] = row
        if fresh:
            self._save_index(split, rows, stamps)
        self._damaged[split] = tuple(damaged)
        return as_listed(split, rows.values())

    def _files(self, split: Split) -> Iterator[tuple[str, Stamp]]:
        folder = self.folder / split.value
        for task in sorted(os.listdir(folder)) if folder.is_dir() else ():
            if not (folder / task).is_dir():
                continue
            for trial in sorted(os.listdir(folder / task)):
                key = f"{task}/{trial}"
                try:
                    status = (folder / task / trial / FILE_NAME).stat()
                except OSError:
                    continue
                if TrajectoryName.parse(key) is not None:
                    yield key, (status.st_mtime_ns, status.st_size)

    def _index_file(self, split: Split) -> Path:
        digest = hashlib.sha256(f"{self.folder}|{split.value}".encode()).hexdigest()[:16]
        return cache_dir() / "alfred_index" / f"{digest}.json"

    def _load_index(self, split: Split) -> dict[tuple[str, Stamp], IndexRow]:
        try:
            index = read(self._index_file(split), FolderIndex)
        except DataError:
            # No index, a damaged one or one of another version: the files themselves tell.
            return {}
        return {(row.key, stamp): row for row, stamp in zip(index.rows, index.stamps)}

    def _save_index(
        self, split: Split, rows: dict[str, IndexRow], stamps: dict[str, Stamp]
    ) -> None:
        index = FolderIndex(1, list(rows.values()), list(stamps.values()))
        try:
            with atomic_file(self._index_file(split)) as file:
                file.write(msgspec.json.encode(index))
        except OSError:
            # The index only saves time; a cache folder that cannot be written is no reason to fail.
            return


def _reopen(root: Path, skip_damaged: bool) -> AlfredFolder:
    return AlfredFolder(root, skip_damaged=skip_damaged)


def read_trajectory(path: Path, key: str) -> Trajectory:
    """The trajectory of a ``traj_data.json``, which has to be the one that its folders name."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    trajectory = parse_trajectory(content, str(path))
    if trajectory.key != key:
        raise DataError(f"{path}: holds {trajectory.key}, which belongs in another folder")
    return trajectory
