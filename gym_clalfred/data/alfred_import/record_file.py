"""Evidence of single trajectories on disk: what the reconstruction of a room needs of them.

A file holds ``records.json`` (one record per trajectory), ``masks.npy``, the sampled masks of
fixtures as packed bits, and ``items.npy``, the coarse masks of pickupables likewise.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.boxes import FixtureView
from gym_clalfred.data.alfred_import.camera import SAMPLES, sample
from gym_clalfred.data.alfred_import.evidence import (
    Holding,
    holdings,
    sightings,
    stood_points,
)
from gym_clalfred.data.alfred_import.items import CELLS, ItemView, divide
from gym_clalfred.data.alfred_import.rooms import RoomEvidence, SeenItem
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.trajectory import Trajectory
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import ObjectPose
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT

_RECORDS = "records.json"
_MASKS = "masks.npy"
_ITEMS = "items.npy"


class Recorder:
    """Collects the records of trajectories and writes them to a file."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._masks: list[NDArray[np.uint8]] = []
        self._items: list[NDArray[np.uint8]] = []

    def add(self, trajectory: Trajectory) -> None:
        """Adds a trajectory whose ids went through ``name_ids``."""
        items, fixtures = [], []
        for seen in sightings(trajectory):
            mask = seen.mask.decode()
            where = [seen.x, seen.z, seen.yaw, seen.pitch]
            if seen.name is None:
                fixtures.append([seen.target, seen.is_open, *where, len(self._masks)])
                self._masks.append(np.packbits(sample(mask)))
            elif seen.pose is not None or seen.put_in is not None:
                pose = seen.pose or ObjectPose(seen.name, (0.0, 0.0, 0.0))
                rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
                edges = (
                    int(columns[0]),
                    int(rows[0]),
                    int(columns[-1]) + 1,
                    int(rows[-1]) + 1,
                )
                items.append(
                    [
                        seen.name,
                        seen.put_in if seen.pose is None else None,
                        *where,
                        *pose.position,
                        pose.rotation[1],
                        *edges,
                        *(seen.put_from or (seen.x, seen.z)),
                        len(self._items),
                    ]
                )
                self._items.append(np.packbits(divide(mask, edges)))
        self._records.append(
            {
                "room": trajectory.scene.number,
                "agent_y": trajectory.scene.start.y,
                "stood": sorted(stood_points(trajectory)),
                "poses": [
                    [pose.name, *(round(v, 3) for v in pose.position), round(pose.rotation[1], 1)]
                    for pose in trajectory.scene.object_poses
                ],
                "held": [
                    [
                        held.holder.name,
                        *held.fixture,
                        held.pose.name,
                        *held.pose.position,
                        held.pose.rotation[1],
                    ]
                    for held in holdings(trajectory)
                ],
                "items": items,
                "fixtures": fixtures,
            }
        )

    def write(self, path: Path) -> None:
        """Writes the file; it takes its name only when it is whole."""
        with (
            atomic_file(path) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            archive.writestr(_RECORDS, json.dumps(self._records, separators=(",", ":")))
            for name, masks, side in (
                (_MASKS, self._masks, SAMPLES),
                (_ITEMS, self._items, CELLS),
            ):
                table = np.array(masks, dtype=np.uint8).reshape(-1, (side * side + 7) // 8)
                array = BytesIO()
                np.save(array, table, allow_pickle=False)
                archive.writestr(name, array.getvalue())


def read_evidence(paths: Iterable[Path]) -> dict[int, RoomEvidence]:
    """All rooms that some files of records tell about, without what layouts add."""
    rooms: dict[int, RoomEvidence] = {}
    heights: dict[int, list[float]] = {}
    for record, masks, cells in _read(paths):
        number = record["room"]
        room = rooms.setdefault(number, RoomEvidence(number))
        heights.setdefault(number, []).append(record["agent_y"])
        room.walked.update((x, z) for x, z in record["stood"])
        room.poses.update((name, (x, y, z), yaw) for name, x, y, z, yaw in record["poses"])
        for holder, x, y, z, name, *pose, turn in record["held"]:
            at_start = ObjectPose(name, tuple(pose), (0.0, turn, 0.0))
            room.held.append(Holding(ObjectClass[holder], (x, y, z), at_start))
        for name, is_open, x, z, yaw, pitch, index in record["fixtures"]:
            view = FixtureView(x, z, yaw, pitch, _unpacked(masks[index], SAMPLES))
            room.views.setdefault((name, is_open), []).append(view)
            room.access.setdefault(name, Counter())[yaw] += 1
        for name, put_in, x, z, yaw, pitch, *rest in record["items"]:
            position, turn, edges = tuple(rest[:3]), rest[3], tuple(rest[4:8])
            mask = _unpacked(cells[rest[10]], CELLS)
            view_of = ItemView((x, z), yaw, pitch, position, turn, edges, mask)
            room.seen.append(SeenItem(name, view_of, put_in, (rest[8], rest[9])))
    for number, room in rooms.items():
        room.rise = round(AGENT_HEIGHT - float(np.median(heights[number])), 4)
    return rooms


def _unpacked(bits: NDArray[np.uint8], side: int) -> NDArray[np.bool_]:
    return np.unpackbits(bits, count=side * side).astype(np.bool_).reshape(side, side)


def _read(
    paths: Iterable[Path],
) -> Iterator[tuple[dict[str, Any], NDArray[np.uint8], NDArray[np.uint8]]]:
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            masks, cells = (
                np.load(BytesIO(archive.read(name)), allow_pickle=False)
                for name in (_MASKS, _ITEMS)
            )
            for record in json.loads(archive.read(_RECORDS)):
                yield record, masks, cells
