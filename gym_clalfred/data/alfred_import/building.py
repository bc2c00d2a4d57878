"""From the evidence of all rooms to the rooms: shapes of small objects first, then room by room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from gym_clalfred.data.alfred_import.hulls import carve_items
from gym_clalfred.data.alfred_import.items import (
    ItemFit,
    ItemView,
    class_shapes,
    complete_pieces,
    fit_items,
)
from gym_clalfred.data.alfred_import.layouts import Layout
from gym_clalfred.data.alfred_import.rooms import Reconstruction, RoomEvidence, plain_shape
from gym_clalfred.data.alfred_import.usual_items import USUAL_ITEMS
from gym_clalfred.data.pool import WorkerPool
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.room_model import ItemShape, Room

#: Called with a step's name, how much of it is done, and of how much.
Progress = Callable[[str, int, int], None]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


class Steps(WorkerPool):
    """Processes with a report of their progress, step by step."""

    def __init__(self, workers: int, progress: Progress) -> None:
        super().__init__(workers)
        self._progress = progress

    def do(self, step: str, work: Callable[[_Job], _Result], jobs: Sequence[_Job]) -> list[_Result]:
        """The results in the order of the jobs."""
        self._progress(step, 0, len(jobs))
        results = []
        for result in self.map(work, jobs):
            results.append(result)
            self._progress(step, len(results), len(jobs))
        return results


def build_rooms(
    evidence: Mapping[int, RoomEvidence], layouts: Mapping[int, Layout], pool: Steps
) -> list[Room]:
    """Rebuilds rooms, in the order of their numbers.

    Args:
        evidence: by room, what trajectories tell.
        layouts: by room, what ALFRED's layout files tell.
        pool: does the work.
    """
    known = {
        number: replace(room, layout=layouts.get(number, Layout()))
        for number, room in sorted(evidence.items())
    }
    fits = _fit_all(known, pool)
    jobs = [(room, shapes_of(room, fits)) for room in known.values()]
    return pool.do("rebuilding rooms", build_room, jobs)


def build_room(job: tuple[RoomEvidence, dict[str, ItemShape]]) -> Room:
    """Rebuilds one room from its evidence and the shapes of its small objects."""
    return Reconstruction(*job).build()


def shapes_of(room: RoomEvidence, fits: Mapping[str, ItemFit]) -> dict[str, ItemShape]:
    """The shapes of all small objects of a room by name, measured or usual."""
    usual = {**USUAL_ITEMS, **class_shapes(fits)}
    shapes = complete_pieces(fits)
    for name in sorted(room.names):
        if name in fits:
            shapes[name] = fits[name].shape
        else:
            shapes[name] = usual.get(ObjectClass[name.split("_")[0]], plain_shape(name))
    return shapes


def _fit_all(evidence: Mapping[int, RoomEvidence], pool: Steps) -> dict[str, ItemFit]:
    """Measures all names, one job per class."""
    views: dict[str, dict[str, list[ItemView]]] = {}
    for room in evidence.values():
        for seen in room.seen:
            if seen.put_in is None:
                x, y, z = seen.view.position
                view = replace(seen.view, position=(x, y + room.rise, z))
                names = views.setdefault(seen.name.split("_")[0], {})
                names.setdefault(seen.name, []).append(view)
    groups = sorted(views.values(), key=lambda names: -len(names))
    measured = pool.do("measuring", fit_items, groups)
    carved = pool.do("carving", carve_items, list(zip(measured, groups)))
    return {name: fit for fits in carved for name, fit in fits.items()}
