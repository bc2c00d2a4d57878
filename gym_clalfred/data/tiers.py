"""The generated data by tier: made on first use, found again afterwards."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gym_clalfred.data.archive import TrajectoryArchive, archive_path, write_archive
from gym_clalfred.data.cache import CACHE_VARIABLE, cache_dir, file_lock
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.manifest import (
    FILE_NAMES,
    MANIFEST_NAME,
    ArchiveEntry,
    Manifest,
    code_fingerprint,
    file_sha256,
    is_intact,
    read_manifest,
    write_manifest,
)
from gym_clalfred.data.pool import WorkerPool
from gym_clalfred.data.progress_lines import with_progress
from gym_clalfred.data.quotas import TIERS, Tier
from gym_clalfred.data.requests import Request, check_tier, split_requests
from gym_clalfred.data.storage import make_folder
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import BadInputError, DataError, StorageError

if TYPE_CHECKING:
    from gym_clalfred.data.generate import TrajectoryGenerator


def tier_source(
    name: str = "small", *, cache: str | Path | None = None, workers: int | None = None
) -> EpisodeSource:
    """The episodes of a tier; generates them if they are not in the cache.

    Args:
        name: ``tiny``, ``small`` or ``full``.
        cache: folder for generated data; the user's cache folder by default.
        workers: processes that generate; as many as there are cores by default.
    """
    if not isinstance(name, str) or name not in TIERS:
        raise BadInputError(f"no tier is called {name!r}: expected one of {', '.join(TIERS)}")
    tier = TIERS[name]
    folder = tier_folder(tier, cache)
    manifest = _usable_manifest(folder, tier)
    if manifest is None:
        try:
            manifest = _made_by_one(tier, folder, workers)
        except OSError as error:
            raise StorageError(
                f"{folder}: cannot be written to ({error.strerror or error}); make room there or "
                f"choose another folder for the cache with {CACHE_VARIABLE}"
            ) from error
    return TrajectoryArchive(folder, manifest.label)


def _made_by_one(tier: Tier, folder: Path, workers: int | None) -> Manifest:
    """The manifest of a tier that one process makes while others wait."""
    lock = folder.with_name(f"{folder.name}.lock")
    with file_lock(lock, f"waiting for another process that generates tier {tier.name}"):
        manifest = _usable_manifest(folder, tier)
        if manifest is None:
            _remove_leftovers(folder)
            manifest = make_tier(tier, folder, workers)
    return manifest


def verify_tier(name: str, *, cache: str | Path | None = None) -> bool:
    """Whether a tier is in the cache and matches the hashes in its manifest."""
    folder = tier_folder(TIERS[name], cache)
    return _usable_manifest(folder, TIERS[name], thorough=True) is not None


def tier_folder(tier: Tier, cache: str | Path | None = None) -> Path:
    """The folder of a tier; each version of the generating code has its own.

    Readers in any process open archives lazily, so one version never replaces the files of
    another.
    """
    return _tiers_folder(cache) / f"{tier.name}-{code_fingerprint()}"


def foreign_tiers(cache: str | Path | None = None) -> list[Path]:
    """Folders made by other versions of the code; delete them when no run uses them."""
    parent, own = _tiers_folder(cache), f"-{code_fingerprint()}"
    found = sorted(parent.iterdir()) if parent.is_dir() else []
    return [path for path in found if path.is_dir() and own not in path.name]


def make_tier(tier: Tier, folder: Path, workers: int | None = None) -> Manifest:
    """Generates a tier into a folder, which appears only when it is complete.

    A tier that is in the folder is replaced.

    Raises:
        BadInputError: if the folder holds something else, or the tier asks for impossible episodes.
    """
    if folder.exists() and not _may_replace(folder):
        raise BadInputError(f"{folder}: exists and is not a tier; choose another folder")
    check_tier(tier)
    make_folder(folder.parent)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        splits = _make_splits(tier, unfinished, workers or os.cpu_count() or 1)
        manifest = Manifest(tier.name, tier.seed, code_fingerprint(), splits)
        write_manifest(unfinished, manifest)
        if folder.exists():
            shutil.rmtree(folder)
        os.chmod(unfinished, 0o755)
        os.replace(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return manifest


def _may_replace(folder: Path) -> bool:
    """Whether it is empty or a tier, whole or damaged."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    return MANIFEST_NAME in names or names <= FILE_NAMES


def _tiers_folder(cache: str | Path | None) -> Path:
    return (Path(cache) if cache is not None else cache_dir()) / "tiers"


def _remove_leftovers(folder: Path) -> None:
    """Removes the files of a process that was killed while it made the tier; needs the lock."""
    for unfinished in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def _make_splits(tier: Tier, folder: Path, workers: int) -> dict[str, ArchiveEntry]:
    requests = [request for split in Split for request in split_requests(tier, split)]
    trajectories = with_progress(
        _generate_all(requests, workers),
        len(requests),
        f"generating tier {tier.name}",
        "trajectories",
    )
    entries = {}
    for split in Split:
        # One stream for all splits, so that the workers start only once.
        part = itertools.islice(trajectories, tier.trajectories(split))
        summary = write_archive(folder, split, part)
        path = archive_path(folder, split)
        entries[split.value] = ArchiveEntry(
            summary.trajectories,
            summary.episodes,
            path.stat().st_size,
            file_sha256(path),
            summary.sha256,
        )
    trajectories.close()
    return entries


def _generate_all(requests: Sequence[Request], workers: int) -> Iterator[Trajectory]:
    """The trajectories in the order of their requests, whatever the number of workers.

    With one worker everything happens in this process. The others start when the first one has made
    a trajectory: on a new machine it compiles the simulator, and they use the compiled code.
    """
    try:
        with WorkerPool(min(workers, len(requests))) as pool:
            yield from pool.map(_make_trajectory, requests[:1])
            yield from pool.map(_make_trajectory, requests[1:])
    finally:
        _generator.cache_clear()


def _make_trajectory(request: Request) -> Trajectory:
    return _generator().make(request)


@cache
def _generator() -> TrajectoryGenerator:
    """One for each process."""
    # Imported late: readers of a finished tier need no simulator.
    from gym_clalfred.data.generate import TrajectoryGenerator

    return TrajectoryGenerator()


def _usable_manifest(folder: Path, tier: Tier, thorough: bool = False) -> Manifest | None:
    """The manifest of a cached tier if it is the present version of it and undamaged."""
    try:
        manifest = read_manifest(folder)
    except DataError:
        return None
    expected = {split.value: (tier.trajectories(split), tier.episodes(split)) for split in Split}
    found = {name: (entry.trajectories, entry.episodes) for name, entry in manifest.splits.items()}
    identity = (manifest.tier, manifest.seed, manifest.generator)
    if identity != (tier.name, tier.seed, code_fingerprint()) or found != expected:
        return None
    return manifest if is_intact(folder, manifest, thorough) else None
