"""Opens the source of episodes that ``tier=`` or ``data=`` names."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gym_clalfred.data.alfred_folder import AlfredFolder, find_root
from gym_clalfred.data.archive import (
    ZIP_DAMAGE,
    TrajectoryArchive,
    archive_path,
    write_archive,
)
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.manifest import is_intact, read_manifest
from gym_clalfred.data.store import AlfredStore, is_store
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError, DataError

__all__ = [
    "AlfredFolder",
    "AlfredStore",
    "EpisodeEntry",
    "EpisodeSource",
    "TrajectoryArchive",
    "open_source",
    "write_archive",
]


@dataclass(frozen=True)
class FolderKind:
    """A kind of data folder: its name, how to recognise it, how to open it."""

    description: str
    recognise: Callable[[Path], bool]
    open: Callable[[Path], EpisodeSource]


#: Kinds of folders that ``data=`` may name; the first that recognises a folder opens it.
FOLDER_KINDS: list[FolderKind] = [
    FolderKind("a store made by clalfred-data import", is_store, AlfredStore),
    FolderKind(
        "a tier's folder with train.zip",
        lambda path: bool(_archives(path)),
        lambda path: TrajectoryArchive(path, _archive_label(path)),
    ),
    FolderKind(
        "ALFRED's json_2.1.0 folder or the one that contains it",
        lambda path: find_root(path) is not None,
        AlfredFolder,
    ),
]


def open_source(
    tier: str = "small", data: str | Path | EpisodeSource | None = None
) -> EpisodeSource:
    """Opens the episodes that an environment or a stream uses.

    Args:
        tier: ``tiny``, ``small`` or ``full``: generated data, made on first use.
        data: a folder instead of a tier, of one of ``FOLDER_KINDS`` (``~`` is expanded); or an open
            source.
    """
    if isinstance(data, EpisodeSource):
        return data
    if data is None:
        from gym_clalfred.data.tiers import tier_source

        return tier_source(tier)
    if not isinstance(data, (str, os.PathLike)):
        raise BadInputError(f"data {data!r}: expected a folder")
    path = Path(os.path.expanduser(data))
    if not path.is_dir():
        found = "a file" if path.exists() else "nothing there"
        raise DataError(f"data {str(path)!r}: expected a folder, found {found}")
    for kind in FOLDER_KINDS:
        if kind.recognise(path):
            return kind.open(path)
    expected = ", or ".join(kind.description for kind in FOLDER_KINDS)
    raise DataError(f"data {str(path)!r}: no episodes found: expected {expected}")


def _archives(folder: Path) -> dict[str, Path]:
    """The archives in a folder by split."""
    paths = {split.value: archive_path(folder, split) for split in Split}
    return {split: path for split, path in paths.items() if path.is_file()}


def _archive_label(folder: Path) -> str:
    """Names archives by their contents: equal labels mean equal episodes.

    A manifest that describes just these archives has the label; else it is the folder's name with a
    hash of the archives' tables of contents, which hold a checksum of every file.
    """
    archives = _archives(folder)
    try:
        manifest = read_manifest(folder)
    except DataError:
        manifest = None
    if manifest and set(manifest.splits) == set(archives) and is_intact(folder, manifest):
        return manifest.label
    digest = hashlib.sha256()
    for split, path in archives.items():
        try:
            with zipfile.ZipFile(path) as archive:
                files = [(file.filename, file.file_size, file.CRC) for file in archive.infolist()]
        except ZIP_DAMAGE as error:
            raise DataError(f"{path}: damaged ({error}); copy or make it again") from None
        digest.update(json.dumps([split, files]).encode())
    return f"{folder.resolve().name}-{digest.hexdigest()[:8]}"
