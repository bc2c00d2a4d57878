"""The whole check of a store: replays by id, class and mask, the rooms, and held-out rooms."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path

from gym_clalfred.data.alfred_import.building import Progress, Steps, build_rooms
from gym_clalfred.data.alfred_import.layouts import read_layouts
from gym_clalfred.data.alfred_import.record_file import Recorder, read_evidence
from gym_clalfred.data.fidelity import Naming, Replay
from gym_clalfred.data.fidelity_report import experts_of, measure, survey_rooms
from gym_clalfred.data.fidelity_rooms import RoomSurvey
from gym_clalfred.data.store import AlfredStore, write_rooms
from gym_clalfred.data.trajectory import EpisodeKey, Split, room_of

#: Trajectories that are read by one process at a time.
_CHUNK = 200

#: Split and key of an expert.
Expert = tuple[Split, str]


class HeldOut(str, Enum):
    """What is left out of rebuilding: every second trial, or every second task of a room."""

    TRIAL = "trial"
    TASK = "task"


@dataclass
class FidelityCheck:
    """What was found.

    Args:
        by_id: replays by object id.
        others: replays by other namings.
        surveys: of the store's rooms; empty for held-out rooms.
    """

    by_id: dict[Split, list[Replay]] = field(default_factory=dict)
    others: dict[Naming, dict[Split, list[Replay]]] = field(default_factory=dict)
    surveys: list[RoomSurvey] = field(default_factory=list)


def check(
    store: AlfredStore,
    splits: Sequence[Split],
    *,
    every: int = 1,
    namings: Sequence[str] = (),
    held_out: str | None = None,
    workers: int = 1,
    progress: Progress = lambda step, done, total: None,
) -> FidelityCheck:
    """Replays the experts of some splits.

    Args:
        store: with episodes and rooms.
        splits: whose experts are replayed.
        every: replay only every so many-th expert.
        namings: values of ``Naming`` beside the object id.
        held_out: a value of ``HeldOut``: rebuild rooms from the other half of the experts first.
        workers: number of processes.
        progress: called with the step's name, how much of it is done, and of how much.
    """
    found = FidelityCheck()
    with tempfile.TemporaryDirectory() as scratch:
        rooms, keys = None, None
        if held_out is not None:
            rooms = Path(scratch)
            everyone = [(split, key) for split in splits for key in experts_of(store, split)]
            first, second = halves(everyone, HeldOut(held_out))
            _rebuild(store, first, rooms, workers, progress)
            keys = [key for _, key in second]
        else:
            found.surveys = survey_rooms(store, splits, every, workers)
        for naming in (Naming.ID, *map(Naming, namings)):
            parts = found.by_id if naming is Naming.ID else found.others.setdefault(naming, {})
            for split in splits:
                parts[split] = measure(
                    store,
                    split,
                    every=every,
                    naming=naming,
                    keys=keys,
                    rooms=rooms,
                    workers=workers,
                    progress=partial(progress, f"{split.value} by {naming.value}"),
                )
    return found


def halves(experts: Sequence[Expert], by: HeldOut) -> tuple[list[Expert], list[Expert]]:
    """Experts to rebuild rooms from, and experts to replay in them.

    Within each room every second trial or task, in the order of their names, is left out. A task is
    what ALFRED names by a folder; all its trials are on one side.
    """
    units: dict[int, list[str]] = {}
    for _, key in sorted(experts, key=lambda expert: expert[1]):
        known = units.setdefault(room_of(key), [])
        unit = _unit_of(key, by)
        if unit not in known[-1:]:
            known.append(unit)
    left_out = {(room, unit) for room, names in units.items() for unit in names[1::2]}
    sides: tuple[list[Expert], list[Expert]] = ([], [])
    for split, key in experts:
        sides[(room_of(key), _unit_of(key, by)) in left_out].append((split, key))
    return sides


def _rebuild(
    store: AlfredStore,
    experts: Sequence[Expert],
    folder: Path,
    workers: int,
    progress: Progress = lambda step, done, total: None,
) -> None:
    """Rebuilds the rooms of a store from some of its experts, and of nothing of the others.

    Args:
        store: with trajectories and layouts.
        experts: to rebuild from.
        folder: where ``rooms.zip`` goes.
        workers: number of processes.
        progress: called with the step's name, how much of it is done, and of how much.
    """
    with tempfile.TemporaryDirectory() as scratch, Steps(workers, progress) as pool:
        jobs = [
            (store.folder, Path(scratch) / f"{k:06d}.zip", list(experts[k : k + _CHUNK]))
            for k in range(0, len(experts), _CHUNK)
        ]
        paths = pool.do("reading", _record, jobs)
        rooms = build_rooms(read_evidence(paths), read_layouts(store.folder), pool)
    write_rooms(folder, rooms)


def _record(job: tuple[Path, Path, list[Expert]]) -> Path:
    folder, path, experts = job
    store, recorder = AlfredStore(folder), Recorder()
    for split, key in experts:
        recorder.add(store.episode(EpisodeKey(split, key, 0)).trajectory)
    recorder.write(path)
    return path


def _unit_of(key: str, by: HeldOut) -> str:
    return key if by is HeldOut.TRIAL else key.split("/")[0]
