"""The fidelity report of a store: replays its experts, sums them up, shows the worst cases."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from gym_clalfred.data.alfred_import.layouts import Layout, read_layouts
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.fidelity import Encounter, Naming, Replay, replay
from gym_clalfred.data.fidelity_rooms import RoomSurvey, survey, survey_text
from gym_clalfred.data.pool import WorkerPool
from gym_clalfred.data.store import AlfredStore, RoomFile
from gym_clalfred.data.trajectory import EpisodeKey, Split, room_of
from gym_clalfred.errors import BadInputError
from gym_clalfred.simulator.contract import RenderOptions, View
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.tables import markdown

_CHUNK = 40
_METRE = 80
_RED, _BLUE, _GREEN = (214, 60, 52), (56, 96, 214), (60, 170, 90)


@dataclass(frozen=True)
class Summary:
    """Figures over some replays.

    Args:
        experts: number of replays.
        solved: of them, how many were a full success by the rules.
        moves: recorded moves.
        blocked: of them, how many the room does not allow.
        masks: recorded masks.
        iou: mean intersection over union of recorded masks and ours.
        small_iou: the same for pickupables only.
        centre_error: median distance of the centres in pixels.
    """

    experts: int
    solved: int
    moves: int
    blocked: int
    masks: int
    iou: float
    small_iou: float
    centre_error: float


def summarise(replays: Sequence[Replay]) -> Summary:
    """Figures over some replays."""
    met = [encounter for one in replays for encounter in one.encounters]
    return Summary(
        experts=len(replays),
        solved=sum(one.success for one in replays),
        moves=sum(one.moves for one in replays),
        blocked=sum(one.blocked for one in replays),
        masks=len(met),
        iou=_mean([encounter.iou for encounter in met]),
        small_iou=_mean([encounter.iou for encounter in met if encounter.is_small]),
        centre_error=float(np.median([e.centre_error for e in met])) if met else 0.0,
    )


def experts_of(store: AlfredStore, split: Split, every: int = 1) -> list[str]:
    """Keys of every so many-th expert of a split, those of one room together."""
    if every < 1:
        raise BadInputError(f"every must be at least 1, got {every}")
    keys = {entry.key.trajectory for entry in store.entries(split)}
    return sorted(keys, key=lambda key: (room_of(key), key))[::every]


def measure(
    store: AlfredStore,
    split: Split,
    *,
    every: int = 1,
    naming: Naming = Naming.ID,
    keys: Sequence[str] | None = None,
    rooms: Path | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Replay]:
    """Replays the experts of a split.

    Args:
        store: with episodes and rooms.
        split: which experts.
        every: replay only every so many-th.
        naming: how interactions name their objects.
        keys: replay only these experts.
        rooms: folder with other rooms than the store's; experts in rooms it lacks are left out.
        workers: number of processes.
        progress: called with how many are done, and of how many.
    """
    chosen = experts_of(store, split, every)
    if keys is not None:
        wanted = set(keys)
        chosen = [key for key in experts_of(store, split) if key in wanted][::every]
    if rooms is not None:
        known = set(RoomFile(rooms).numbers())
        chosen = [key for key in chosen if room_of(key) in known]
    jobs = [
        (store.folder, split, chosen[k : k + _CHUNK], naming, rooms)
        for k in range(0, len(chosen), _CHUNK)
    ]
    found: list[Replay] = []
    with WorkerPool(workers) as pool:
        for part in pool.map(_replay_some, jobs):
            found += part
            progress(len(found), len(chosen))
    return found


def survey_rooms(
    store: AlfredStore, splits: Sequence[Split], every: int = 1, workers: int = 1
) -> list[RoomSurvey]:
    """Looks at all rooms of some experts at the starts of their trials."""
    starts: dict[int, list[tuple[Split, str]]] = {}
    for split in splits:
        for key in experts_of(store, split, every):
            starts.setdefault(room_of(key), []).append((split, key))
    layouts = read_layouts(store.folder)
    jobs = [
        (store.folder, number, layouts.get(number, Layout()), experts)
        for number, experts in sorted(starts.items())
    ]
    with WorkerPool(workers) as pool:
        return list(pool.map(_survey, jobs))


def report_text(
    replays: Mapping[Split, Sequence[Replay]],
    others: Mapping[Naming, Mapping[Split, Sequence[Replay]]] | None = None,
    surveys: Sequence[RoomSurvey] = (),
) -> str:
    """The report in words and tables, Markdown.

    Args:
        replays: by object id.
        others: by other namings.
        surveys: of the rooms.
    """
    lines = ["# Fidelity of reconstructed rooms", ""]
    lines += _table("split", {split.value: list(part) for split, part in replays.items()})
    for naming, parts in (others or {}).items():
        lines += ["", *_solved_table(naming, parts)]
    if surveys:
        lines += ["", survey_text(surveys)]
    for split, part in replays.items():
        lines += ["", f"## {split.value}", ""]
        lines += _table("task type", _grouped(part, lambda one: one.task_type))
        lines += ["", *_action_table(part), ""]
        lines += _table("room", _grouped(part, lambda one: f"{one.number:03d}"))
        lines += _failed(part, "")
        for naming, parts in (others or {}).items():
            lines += _failed(parts.get(split, ()), f" by {naming.value}")
    return "\n".join(lines) + "\n"


def _failed(replays: Sequence[Replay], how: str) -> list[str]:
    failed = [one for one in replays if not one.success]
    head = f"### Experts that do not replay{how} ({len(failed)})"
    return ["", head, "", *(f"- {one.key}: {why(one)}" for one in failed)]


def _solved_table(naming: Naming, parts: Mapping[Split, Sequence[Replay]]) -> list[str]:
    rows = [[f"by {naming.value}", "experts", "solved", "other objects chosen"]]
    for split, part in parts.items():
        solved = sum(one.success for one in part) / max(len(part), 1)
        strays = sum(len(one.strays) for one in part)
        rows.append([split.value, f"{len(part)}", f"{solved:.2%}", f"{strays}"])
    return [markdown(rows)]


def why(one: Replay) -> str:
    """In words, what went wrong first in a replay."""
    if one.failures:
        index, failure = one.failures[0]
        for encounter in one.encounters:
            if encounter.index == index:
                what = f"{encounter.action.name} {encounter.object_class.name}"
                return f"action {index}, {what}: {failure.value}"
        return f"action {index}: {failure.value}"
    return "not met at the end: " + "; ".join(one.unmet) if one.unmet else "solved"


def report_json(
    replays: Mapping[Split, Sequence[Replay]],
    others: Mapping[Naming, Mapping[Split, Sequence[Replay]]] | None = None,
    surveys: Sequence[RoomSurvey] = (),
) -> dict[str, Any]:
    """The figures as a document."""
    document: dict[str, Any] = {
        split.value: {
            "all": _figures(part),
            "solved_by": {
                naming.value: sum(one.success for one in parts.get(split, ()))
                for naming, parts in (others or {}).items()
            },
            "task_types": _by_group(part, lambda one: one.task_type),
            "rooms": _by_group(part, lambda one: str(one.number)),
            "failed": {one.key: why(one) for one in part if not one.success},
        }
        for split, part in replays.items()
    }
    if surveys:
        document["surveys"] = [asdict(one) for one in surveys]
    return document


def write_report(
    store: AlfredStore,
    replays: Mapping[Split, Sequence[Replay]],
    folder: Path,
    pictures: int = 24,
    others: Mapping[Naming, Mapping[Split, Sequence[Replay]]] | None = None,
    surveys: Sequence[RoomSurvey] = (),
) -> None:
    """Writes ``report.md``, ``report.json``, pictures of the worst masks and maps of the rooms."""
    document = report_json(replays, others, surveys)
    with atomic_file(folder / "report.json") as file:
        file.write((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())
    with atomic_file(folder / "report.md") as file:
        file.write(report_text(replays, others, surveys).encode())
    numbers = sorted({one.number for part in replays.values() for one in part})
    for number in numbers:
        _save(folder / "maps" / f"FloorPlan{number}.png", draw_map(store.room(number)))
    for split, part in replays.items():
        cases = [(encounter, one) for one in part for encounter in one.encounters]
        cases.sort(key=lambda case: (case[0].iou, case[1].key, case[0].index))
        for k, (encounter, one) in enumerate(cases[:pictures]):
            picture = draw_case(store, EpisodeKey(split, one.key, 0), encounter)
            _save(folder / "worst" / f"{split.value}-{k:02d}.png", picture)


def draw_case(store: AlfredStore, key: EpisodeKey, encounter: Encounter) -> Image.Image:
    """Our view with our mask, and the recorded mask over ours, side by side.

    Red is recorded only, blue ours only, green both.
    """
    trajectory = store.episode(key).trajectory
    simulator = EmbeddedSimulator(RenderOptions(image_size=300), store.room)
    simulator.reset(trajectory.scene)
    for act in trajectory.actions[: encounter.index]:
        simulator.step(act.action, act.object_id)
    act = trajectory.actions[encounter.index]
    assert act.mask is not None
    assert act.object_id is not None
    ours, recorded = simulator.sight().mask(act.object_id), act.mask.decode()
    view = simulator.frame().rgb[View.FRONT]
    masks = np.zeros_like(view)
    masks[recorded & ~ours], masks[ours & ~recorded], masks[ours & recorded] = _RED, _BLUE, _GREEN
    picture = Image.fromarray(np.concatenate([view, masks], axis=1))
    what = f"{encounter.iou:.2f} {act.action.name} {act.object_id}"
    ImageDraw.Draw(picture).text((4, 4), what, fill=(255, 255, 0))
    simulator.close()
    return picture


def draw_map(room: Room) -> Image.Image:
    """The room from above: walkable points, fixtures with their names, their fronts in red."""
    area = room.floor[0]
    width, depth = area.x1 - area.x0, area.z1 - area.z0
    picture = Image.new("RGB", (int(width * _METRE), int(depth * _METRE)), (250, 250, 247))
    pen = ImageDraw.Draw(picture)

    def at(x: float, z: float) -> tuple[float, float]:
        return (x - area.x0) * _METRE, (area.z1 - z) * _METRE

    for x, z in sorted(room.walkable):
        column, row = at(x, z)
        pen.ellipse((column - 3, row - 3, column + 3, row + 3), fill=(200, 208, 200))
    for fixture in sorted(room.fixtures, key=lambda one: one.position[1]):
        w, d = fixture.size[0] / 2, fixture.size[2] / 2
        corners = [(-w, -d), (w, -d), (w, d), (-w, d)]
        for block in fixture.blocks:
            low, high = block.low, block.high
            sides = [(low[0], low[2]), (high[0], low[2]), (high[0], high[2]), (low[0], high[2])]
            pen.polygon(_placed(sides, fixture.position, fixture.yaw, at), fill=(222, 206, 176))
        outline = _placed(corners, fixture.position, fixture.yaw, at)
        pen.polygon(outline, outline=(90, 90, 90))
        pen.line([outline[2], outline[3]], fill=_RED, width=2)
        pen.text(outline[0], fixture.object_class.name, fill=(40, 40, 40))
    return picture


def _placed(
    corners: Iterable[tuple[float, float]],
    position: tuple[float, float, float],
    yaw: float,
    at: Callable[[float, float], tuple[float, float]],
) -> list[tuple[float, float]]:
    points = []
    for x, z in corners:
        dx, dz = turn(x, z, yaw)
        points.append(at(position[0] + dx, position[2] + dz))
    return points


def _replay_some(job: tuple[Path, Split, list[str], Naming, Path | None]) -> list[Replay]:
    folder, split, keys, naming, rooms = job
    store = AlfredStore(folder)
    room = store.room if rooms is None else RoomFile(rooms).room
    simulator = EmbeddedSimulator(RenderOptions(image_size=8), room)
    trajectories = (store.episode(EpisodeKey(split, key, 0)).trajectory for key in keys)
    return [replay(simulator, trajectory, naming) for trajectory in trajectories]


def _survey(job: tuple[Path, int, Layout, list[tuple[Split, str]]]) -> RoomSurvey:
    folder, number, layout, experts = job
    store = AlfredStore(folder)
    trajectories = (store.episode(EpisodeKey(*expert, 0)).trajectory for expert in experts)
    return survey(store.room(number), layout, trajectories)


def _grouped(replays: Iterable[Replay], by: Callable[[Replay], str]) -> dict[str, list[Replay]]:
    groups: dict[str, list[Replay]] = {}
    for one in replays:
        groups.setdefault(by(one), []).append(one)
    return dict(sorted(groups.items()))


def _figures(replays: Sequence[Replay]) -> dict[str, Any]:
    """A summary; what is not finite, such as the distance to a mask that is empty, is ``None``."""
    figures = summarise(replays).__dict__
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _by_group(replays: Sequence[Replay], key: Callable[[Replay], str]) -> dict[str, Any]:
    return {name: _figures(part) for name, part in _grouped(replays, key).items()}


def _table(head: str, groups: Mapping[str, Sequence[Replay]]) -> list[str]:
    names = "experts|solved|moves allowed|masks|IoU|IoU small|centre px"
    rows = [[head, *names.split("|")]]
    for name, part in groups.items():
        s = summarise(part)
        solved, moves = s.solved / max(s.experts, 1), 1.0 - s.blocked / max(s.moves, 1)
        errors = [f"{s.iou:.3f}", f"{s.small_iou:.3f}", f"{s.centre_error:.1f}"]
        rows.append([name, f"{s.experts}", f"{solved:.2%}", f"{moves:.2%}", f"{s.masks}", *errors])
    return [markdown(rows)]


def _action_table(replays: Iterable[Replay]) -> list[str]:
    groups: dict[str, list[Encounter]] = {}
    for one in replays:
        for encounter in one.encounters:
            groups.setdefault(encounter.action.name, []).append(encounter)
    rows = [["action", "done", "allowed", "IoU", "centre px"]]
    for name, part in sorted(groups.items()):
        allowed = sum(one.failure is None for one in part) / len(part)
        error = float(np.median([one.centre_error for one in part]))
        overlap = _mean([one.iou for one in part])
        rows.append([name, f"{len(part)}", f"{allowed:.2%}", f"{overlap:.3f}", f"{error:.1f}"])
    return [markdown(rows)]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def _save(path: Path, picture: Image.Image) -> None:
    with atomic_file(path) as file:
        picture.save(file, "PNG")
