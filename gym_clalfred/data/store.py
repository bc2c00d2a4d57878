"""The local store that ``clalfred-data import`` makes: real ALFRED episodes with their rooms.

``<store>/store.json`` says what it is, ``<store>/<split>.zip`` holds the trajectories as a tier
does, ``<store>/rooms.zip`` one document per reconstructed room, ``<store>/layouts.json`` what
ALFRED's layout files tell about the rooms.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from gym_clalfred.data.alfred_folder import as_listed
from gym_clalfred.data.archive import ZIP_DAMAGE, TrajectoryArchive
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeEntry
from gym_clalfred.data.fields import Field
from gym_clalfred.data.index import IndexRow
from gym_clalfred.data.room_json import dump_room, parse_room
from gym_clalfred.data.trajectory import EpisodeKey, Split, room_of
from gym_clalfred.errors import DataError
from gym_clalfred.schema import Natural, read
from gym_clalfred.simulator.contract import ObjectPose
from gym_clalfred.simulator.embedded.room_model import Room

STORE_NAME = "store.json"
ROOMS_NAME = "rooms.zip"
STORE_VERSION = 4
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)

Poses = tuple[ObjectPose, ...]


class StoreInfo(msgspec.Struct, frozen=True):
    """What a store holds.

    Args:
        label: names the data in results.
        trajectories: by split.
        episodes: by split.
        rooms: numbers of the reconstructed rooms.
        skipped: files that could not be read.
    """

    label: str
    trajectories: dict[str, Natural]
    episodes: dict[str, Natural]
    rooms: tuple[Natural, ...]
    skipped: Natural
    version: Natural = STORE_VERSION


class _StoreVersion(msgspec.Struct):
    version: Natural


def is_store(path: Path) -> bool:
    """Whether a folder is a store."""
    return (path / STORE_NAME).is_file()


def read_info(folder: str | Path) -> StoreInfo:
    """Reads ``store.json``; raises ``DataError`` if the folder is not a store of this version."""
    path = Path(folder) / STORE_NAME
    version = read(path, _StoreVersion).version
    if version != STORE_VERSION:
        raise DataError(
            f"{path}: version {version}, this release reads {STORE_VERSION}: "
            "delete the store and make it again with clalfred-data import"
        )
    return read(path, StoreInfo)


def write_info(folder: Path, info: StoreInfo) -> None:
    """Writes ``store.json``, which makes a folder a store; so it comes last."""
    with atomic_file(folder / STORE_NAME) as file:
        file.write(msgspec.json.format(msgspec.json.encode(info), indent=1) + b"\n")


def write_rooms(folder: Path, rooms: Iterable[Room]) -> str:
    """Writes ``rooms.zip``; the digest is over names and contents, not over compressed bytes."""
    digest = hashlib.sha256()
    with (
        atomic_file(folder / ROOMS_NAME) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for room in rooms:
            entry = zipfile.ZipInfo(_room_entry(room.number), _TIMESTAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            content = json.dumps(dump_room(room), separators=(",", ":")).encode()
            digest.update(f"{entry.filename}\n{len(content)}\n".encode() + content)
            archive.writestr(entry, content)
    return digest.hexdigest()


class RoomFile:
    """The rooms of a folder with a ``rooms.zip``.

    Args:
        folder: of a store, or another one with rebuilt rooms.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / ROOMS_NAME
        self._rooms: dict[int, Room] = {}

    def numbers(self) -> tuple[int, ...]:
        """Of all rooms."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = archive.namelist()
        except ZIP_DAMAGE as error:
            raise DataError(f"{self.path}: damaged ({error}); import the data again") from None
        return tuple(sorted(int("".join(filter(str.isdigit, name))) for name in names))

    def room(self, number: int) -> Room:
        """The room with a number; the same object each time."""
        if number not in self._rooms:
            name = _room_entry(number)
            try:
                with zipfile.ZipFile(self.path) as archive:
                    content = archive.read(name)
            except KeyError:
                raise DataError(
                    f"{self.path}: has no room {number}; it knows {list(self.numbers())}"
                ) from None
            except ZIP_DAMAGE as error:
                raise DataError(f"{self.path}: damaged ({error}); import the data again") from None
            self._rooms[number] = parse_room(Field.parse(content, f"{self.path}/{name}"))
        return self._rooms[number]


class AlfredStore(TrajectoryArchive):
    """Real ALFRED episodes in rooms reconstructed for the embedded simulator.

    Args:
        folder: a store.
    """

    remedy = "import the data again"
    has_generated_rooms = False

    def __init__(self, folder: str | Path) -> None:
        self.info = read_info(folder)
        super().__init__(folder, self.info.label)
        self._rooms = RoomFile(folder)
        self._lived_in: dict[int, Room] = {}
        self._recorded: dict[int, dict[Poses, Poses]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return AlfredStore, (self.folder,)

    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        """The index of a split; empty if the store was made without it."""
        split = Split(split)
        return super().entries(split) if split.value in self.info.trajectories else ()

    def room(self, number: int) -> Room:
        """The reconstructed room; the same object each time."""
        return self._rooms.room(number)

    def lived_in_room(self, number: int) -> Room:
        """The room with the small objects of its first episode as its own; the same each time.

        ``room`` has none: every episode brings its own.
        """
        if number not in self._lived_in:
            room = self.room(number)
            key = next(self._episodes_in(number), None)
            if key is not None:
                room = replace(room, items=self.episode(key).trajectory.scene.object_poses)
            self._lived_in[number] = room
        return self._lived_in[number]

    def recorded_poses(self, number: int, poses: Poses) -> Poses | None:
        """The poses of an episode whose objects are at these, with what is known to hold them.

        Programs written for AI2-THOR send the poses alone. ``None`` if no episode has them.
        """
        if number not in self._recorded:
            known: dict[Poses, Poses] = {}
            for key in self._episodes_in(number):
                whole = self.episode(key).trajectory.scene.object_poses
                known.setdefault(_without_holders(whole), whole)
            self._recorded[number] = known
        return self._recorded[number].get(_without_holders(poses))

    def _episodes_in(self, number: int) -> Iterator[EpisodeKey]:
        """One episode of each trajectory in a room."""
        for split in Split:
            done: set[str] = set()
            for entry in self.entries(split):
                trajectory = entry.key.trajectory
                if trajectory not in done and room_of(trajectory) == number:
                    done.add(trajectory)
                    yield entry.key

    def read_index(self, split: Split) -> Iterable[IndexRow]:
        """As ALFRED's split lists them."""
        return as_listed(split, super().read_index(split))


def _without_holders(poses: Poses) -> Poses:
    return tuple(replace(pose, holder=None) for pose in poses)


def _room_entry(number: int) -> str:
    return f"FloorPlan{number}.json"


def folder_bytes(folder: Path) -> int:
    """Size on disk of the files in a folder."""
    return sum(os.path.getsize(path) for path in folder.iterdir() if path.is_file())
