"""The importer: from ALFRED's folder to a store, in steps that survive an interruption.

1. Files are read in chunks by several processes; each chunk leaves its trajectories and its
   evidence in a work folder beside the store.
2. The shapes of pickupable objects are measured, class by class.
3. Rooms are reconstructed one by one.
4. Everything is written into the store, which takes its name when it is complete.

Run again after an interruption, finished chunks are not read again, unless files, archives or the
code are others than before.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import gym_clalfred
from gym_clalfred.data.alfred_folder import find_root, is_listed, read_trajectory
from gym_clalfred.data.alfred_import.building import Progress, Steps, build_rooms
from gym_clalfred.data.alfred_import.evidence import name_holders, name_ids, stood_points
from gym_clalfred.data.alfred_import.layouts import LARGEST_ROOM, read_layout, write_layouts
from gym_clalfred.data.alfred_import.record_file import Recorder, read_evidence
from gym_clalfred.data.alfred_import.unpack import archives_in, unpack
from gym_clalfred.data.archive import (
    TrajectoryArchive,
    archive_path,
    merge_archives,
    write_archive,
)
from gym_clalfred.data.cache import atomic_file, file_lock
from gym_clalfred.data.fields import Field
from gym_clalfred.data.index import TrajectoryName
from gym_clalfred.data.manifest import hash_of_code
from gym_clalfred.data.store import (
    STORE_VERSION,
    StoreInfo,
    folder_bytes,
    is_store,
    write_info,
    write_rooms,
)
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.object_ids import position_of

FILE_NAME = "traj_data.json"

#: Trajectories that are read, and lost by an interruption, at a time.
CHUNK = 200


@dataclass(frozen=True)
class ImportReport:
    """What an import did.

    Args:
        store: the folder.
        info: what it holds.
        bytes: its size.
        damaged: one message for every file that was left out.
    """

    store: Path
    info: StoreInfo
    bytes: int
    damaged: tuple[str, ...]


@dataclass(frozen=True)
class _Chunk:
    """Some files of a split, and where their results go."""

    split: Split
    folder: Path
    files: tuple[tuple[str, Path], ...]
    stamp: str
    skip_damaged: bool


def import_alfred(
    alfred: str | Path,
    store: str | Path,
    *,
    splits: Sequence[Split] = tuple(Split),
    skip_damaged: bool = False,
    workers: int = 2,
    progress: Progress = lambda step, done, total: None,
) -> ImportReport:
    """Builds a store from ALFRED's files; waits for another import into the same folder.

    Args:
        alfred: folder with ``json_2.1.0`` and, if there, ``gen/layouts``; or a tar archive of
            them, or a folder of such archives.
        store: where to; must not exist yet.
        splits: which to import; those that the data does not have are left out.
        skip_damaged: leave out files that cannot be read instead of raising for the first.
        workers: number of processes.
        progress: called with the step's name, how much of it is done, and of how much.

    Raises:
        DataError: naming the file and the field, if something cannot be read.
    """
    alfred = Path(os.path.expanduser(alfred))
    target = Path(os.path.abspath(os.path.expanduser(store)))
    _check_free(target)
    archives = _archives_of(alfred)
    work = target.with_name(f"{target.name}.partial")
    with _one_import(target):
        # Another process may have made it while this one waited.
        _check_free(target)
        if archives:
            given, alfred = alfred, unpack(archives, work, partial(progress, "unpacking"))
            if find_root(alfred) is None:
                raise _no_data(given)
        info, damaged = _build(alfred, target, work, splits, skip_damaged, workers, progress)
        shutil.rmtree(work, ignore_errors=True)
    return ImportReport(target, info, folder_bytes(target), tuple(damaged))


@contextmanager
def _one_import(target: Path) -> Iterator[None]:
    """Waits for another import into a folder; once the store is there, the lock is removed.

    The lock is not in the work folder, which that other import deletes in the end.
    """
    lock = target.with_name(f".{target.name}.lock")
    with file_lock(lock):
        try:
            yield
        finally:
            if is_store(target):
                lock.unlink(missing_ok=True)


def _check_free(target: Path) -> None:
    if is_store(target):
        raise DataError(f"{target}: is a store already; delete it or choose another folder")
    if target.exists() and not target.is_dir():
        raise DataError(f"{target}: is a file; choose a folder for the store")
    if target.exists() and any(target.iterdir()):
        raise DataError(f"{target}: exists and is not empty; choose another folder")
    if target == Path.cwd():
        raise DataError(f"{target}: is the current folder; choose one that does not exist yet")


def _archives_of(alfred: Path) -> list[Path]:
    """The archives that are to be unpacked; none if the data is there as it is."""
    if find_root(alfred) is not None:
        return []
    archives = archives_in(alfred) if alfred.exists() else []
    if not archives:
        raise _no_data(alfred)
    return archives


def _no_data(alfred: Path) -> DataError:
    return DataError(
        f"{alfred}: not ALFRED's data: expected a folder json_2.1.0 with train, valid_seen or "
        "valid_unseen in it, or tar archives of it"
    )


def _build(
    alfred: Path,
    target: Path,
    work: Path,
    splits: Sequence[Split],
    skip_damaged: bool,
    workers: int,
    progress: Progress,
) -> tuple[StoreInfo, list[str]]:
    """Builds a store from a folder; says what it holds, and what is wrong with the damaged."""
    root = find_root(alfred)
    if root is None:
        raise _no_data(alfred)
    found = [split for split in splits if (root / split.value).is_dir()]
    chunks = [chunk for split in found for chunk in _chunks(root, split, work, skip_damaged)]
    if not chunks:
        raise DataError(f"{root}: no trajectories found")
    with Steps(workers, progress) as pool:
        damaged = [m for group in pool.do("reading", _read_chunk, chunks) for m in group]
        evidence = read_evidence(chunk.folder / "evidence.zip" for chunk in chunks)
        if not evidence:
            raise DataError(f"{root}: none of the files could be read; the first: {damaged[0]}")
        folders = _layout_folders(alfred, root)
        layouts = {number: read_layout(folders, number) for number in evidence}
        rooms = build_rooms(evidence, layouts, pool)
    content = work / "store"
    shutil.rmtree(content, ignore_errors=True)
    content.mkdir(parents=True)
    trajectories, episodes = {}, {}
    digest = hashlib.sha256(f"{STORE_VERSION}".encode())
    for split in found:
        parts = [archive_path(c.folder, split) for c in chunks if c.split is split]
        summary = merge_archives(content, split, parts)
        trajectories[split.value] = summary.trajectories
        entries = TrajectoryArchive(content).entries(split)
        episodes[split.value] = sum(is_listed(entry.key) for entry in entries)
        digest.update(summary.sha256.encode())
    write_layouts(content, layouts)
    digest.update(write_rooms(content, rooms).encode())
    label = f"alfred-2.1.0-embedded-{digest.hexdigest()[:8]}"
    numbers = tuple(room.number for room in rooms)
    info = StoreInfo(label, trajectories, episodes, numbers, len(damaged))
    write_info(content, info)
    if target.exists():
        target.rmdir()
    os.replace(content, target)
    return info, damaged


def _layout_folders(alfred: Path, root: Path) -> tuple[Path, ...]:
    """Where the folder ``layouts`` may be."""
    return alfred / "gen", root.parent / "gen", root.parent.parent / "gen", alfred


def check_extent(trajectory: Trajectory, name: str) -> None:
    """Raises ``DataError`` if something is farther away than any room of AI2-THOR reaches."""
    scene = trajectory.scene
    points = [("the expert's path", max(abs(v) for v in p)) for p in stood_points(trajectory)]
    points.append(("scene.init_action", abs(scene.start.y)))
    for k, act in enumerate(trajectory.actions):
        if act.object_id is not None:
            field = f"plan.low_actions[{k}].api_action.objectId"
            points.append((field, max(map(abs, position_of(act.object_id)))))
    for k, pose in enumerate(scene.object_poses):
        points.append((f"scene.object_poses[{k}].position", max(map(abs, pose.position))))
    for field, distance in points:
        if distance > LARGEST_ROOM:
            raise DataError(
                f"{name}: {field}: expected coordinates within {LARGEST_ROOM:g} m, "
                f"found {distance:g}"
            )


def _chunks(root: Path, split: Split, work: Path, skip_damaged: bool) -> Iterator[_Chunk]:
    files, stamps = [], []
    for task in sorted(os.listdir(root / split.value)):
        folder = root / split.value / task
        for trial in sorted(os.listdir(folder)) if folder.is_dir() else ():
            path = folder / trial / FILE_NAME
            key = f"{task}/{trial}"
            if TrajectoryName.parse(key) is None or not path.is_file():
                continue
            status = path.stat()
            files.append((key, path))
            stamps.append(f"{key} {status.st_mtime_ns} {status.st_size}")
    for k in range(0, len(files), CHUNK):
        about = (str(STORE_VERSION), _code_hash(), str(skip_damaged), *stamps[k : k + CHUNK])
        stamp = hashlib.sha256("\n".join(about).encode()).hexdigest()
        folder = work / f"{split.value}-{k // CHUNK:04d}"
        yield _Chunk(split, folder, tuple(files[k : k + CHUNK]), stamp, skip_damaged)


@cache
def _code_hash() -> str:
    """Of the whole package: an import takes minutes, so any change of it begins anew."""
    return hash_of_code(Path(gym_clalfred.__file__).parent.rglob("*.py"))


def _read_chunk(chunk: _Chunk) -> list[str]:
    """Reads the files of a chunk unless that is done; returns what is wrong with them."""
    done = chunk.folder / "done.json"
    if done.is_file():
        try:
            document = Field.read(done)
            if document["stamp"].text() == chunk.stamp:
                return [message.text() for message in document["damaged"]]
        except DataError:
            pass
    damaged: list[str] = []
    recorder = Recorder()

    def read() -> Iterator[Trajectory]:
        for key, path in chunk.files:
            try:
                trajectory = _read_file(key, path)
            except DataError as error:
                if not chunk.skip_damaged:
                    raise
                damaged.append(str(error))
                continue
            recorder.add(trajectory)
            yield trajectory

    write_archive(chunk.folder, chunk.split, read())
    recorder.write(chunk.folder / "evidence.zip")
    with atomic_file(done) as file:
        file.write(json.dumps({"stamp": chunk.stamp, "damaged": damaged}).encode())
    return damaged


def _read_file(key: str, path: Path) -> Trajectory:
    trajectory = read_trajectory(path, key)
    check_extent(trajectory, str(path))
    return name_holders(name_ids(trajectory))
