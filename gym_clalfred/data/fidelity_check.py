"""The whole check of a store: replays by id, class and mask, the rooms, and held-out rooms."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gym_clalfred.data.alfred_import.building import Progress
from gym_clalfred.data.fidelity import Naming, Replay
from gym_clalfred.data.fidelity_held_out import HeldOut, halves, rebuild
from gym_clalfred.data.fidelity_report import experts_of, measure, survey_rooms
from gym_clalfred.data.fidelity_rooms import RoomSurvey
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split


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
            rebuild(store, first, rooms, workers, progress)
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
