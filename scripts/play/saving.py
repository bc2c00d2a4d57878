"""Saves what was done on the page as a demonstration in ALFRED's format.

A folder of demonstrations holds ``json_2.1.0/<split>/<folder>/<trial>/traj_data.json``, as ALFRED's
download does, and one ``<split>.zip`` made of them, which is what ``data=`` streams and simulates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from clalfred.scripts.play.world import TakenAction
from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_folder import FILE_NAME, ROOT_NAME, AlfredFolder
from gym_clalfred.data.alfred_reader import folder_name, parse_trajectory
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.archive import write_archive
from gym_clalfred.data.cache import atomic_file, file_lock
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.storage import make_folder
from gym_clalfred.data.store import StoreInfo, is_store, write_info, write_rooms
from gym_clalfred.data.trajectory import (
    Episode,
    EpisodeKey,
    ExpertAction,
    HighStep,
    Split,
    Trajectory,
)
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.expert.recorder import location_of
from gym_clalfred.options import MAX_STEPS
from gym_clalfred.simulator.contract import AgentPose
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.simulator.object_ids import class_of

_NAME = re.compile(r"[A-Za-z0-9_]{1,60}")
_GOTO = "GotoLocation"


@dataclass(frozen=True)
class Saved:
    """A demonstration on disk.

    Args:
        path: its ``traj_data.json``.
        actions: how many it has, without Stop.
        by_class: whether it also solves the episode for agents that name a class, not pixels.
    """

    path: Path
    actions: int
    by_class: bool


def save_demonstration(
    folder: Path,
    source: EpisodeSource,
    episode: Episode,
    deeds: Sequence[TakenAction],
    *,
    name: str = "",
) -> Saved:
    """Writes a demonstration if it solves its episode when replayed; at once or not at all.

    Args:
        folder: of demonstrations; made if it is not there.
        source: where the episode is from, for its room.
        episode: what was to be done.
        deeds: what was done; what failed is left out.
        name: of the trial: letters, digits and underscores; by its content if empty.

    Raises:
        BadInputError: for a bad name, or if the replay does not solve the episode.
    """
    if name and not _NAME.fullmatch(name):
        raise BadInputError(
            f"name {name[:80]!r}: expected 1 to 60 letters, digits and underscores; rename it"
        )
    trajectory = as_trajectory(episode, deeds, name)
    again = parse_trajectory(encode_trajectory(trajectory), trajectory.key)
    if not solves(source, again, episode.key.split):
        raise BadInputError(
            "expected a demonstration that meets every goal condition when it is replayed, found "
            "one that does not; finish the task first"
        )
    by_class = solves(source, again, episode.key.split, by_class=True)
    folder = folder.absolute()
    path = folder / ROOT_NAME / episode.key.split.value / trajectory.key / FILE_NAME
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BadInputError(f"{path}: leads out of {folder}; remove the link in it")
    make_folder(folder)
    with file_lock(folder / ".lock", f"{folder}: waiting for another process that saves"):
        _check_kind(folder, source)
        with atomic_file(path) as file:
            file.write(encode_trajectory(trajectory))
        _pack(folder, source, episode.key.split)
    return Saved(path, len(trajectory.actions), by_class)


def as_trajectory(episode: Episode, deeds: Sequence[TakenAction], name: str = "") -> Trajectory:
    """What was done as a trajectory with the episode's words, failures and Stop left out."""
    worked = [deed for deed in deeds if deed.reason is None and deed.action is not Action.Stop]
    if not worked:
        raise BadInputError("expected at least one action to save, found none; act first")
    original = episode.trajectory
    steps = _steps(original, worked)
    actions = tuple(
        ExpertAction(
            deed.action,
            step,
            deed.object_id,
            deed.held_id if deed.action is Action.PutObject else None,
            deed.mask,
        )
        for deed, step in zip(worked, steps)
    )
    trajectory = replace(
        original,
        folder=folder_name(original.task, original.scene.number),
        trial="trial",
        plan=_plan(original.plan, worked, steps),
        actions=actions,
        annotations=(episode.annotation,),
    )
    digest = hashlib.sha256(encode_trajectory(trajectory)).hexdigest()[:16]
    return replace(trajectory, trial=f"trial_{name or f'play_{digest}'}")


def solves(
    source: EpisodeSource,
    trajectory: Trajectory,
    split: Split,
    *,
    by_class: bool = False,
) -> bool:
    """Whether the environment, told to do what a trajectory does, says success.

    Args:
        source: for the room.
        trajectory: what to do.
        split: where it belongs.
        by_class: point at objects by their class instead of by the recorded pixels.
    """
    key = EpisodeKey(split, trajectory.key, 0)
    steps = max(MAX_STEPS, len(trajectory.actions) + 1)
    env = ClAlfredEnv(
        source=_Single(source, Episode(key, trajectory)),
        split=split.value,
        image_size=8,
        masks=False,
        max_steps=steps,
    )
    with closing(env):
        env.reset(options={"episode": key})
        for one in trajectory.actions:
            if one.mask is not None and not by_class:
                step = env.act_with_mask(one.action, one.mask.decode())
            else:
                kind = class_of(one.object_id) if one.object_id else 0
                step = env.step((int(one.action), int(kind)))
            if step[2] or not step[4]["action_success"]:
                return False
        return bool(env.step((int(Action.Stop), 0))[4]["success"])


def current_steps(original: Trajectory, deeds: Sequence[TakenAction]) -> tuple[int, int]:
    """The first and the last instruction to follow now, by the expert's interactions.

    Only an interaction shows that the walk before it is over, so both are current together. After
    the expert's last interaction both numbers are past the end.
    """
    matched = _matched(original, [deed for deed in deeds if deed.reason is None])
    expert = _interactions(original)
    place = max(matched.values(), default=-1)
    if place + 1 == len(expert):
        return len(original.plan), len(original.plan)
    done, following = (-1 if place < 0 else expert[place].step), expert[place + 1].step
    return min(done + 1, following), following


def _interactions(original: Trajectory) -> list[ExpertAction]:
    return [one for one in original.actions if one.object_id is not None]


def _matched(original: Trajectory, worked: Sequence[TakenAction]) -> dict[int, int]:
    """Which of the expert's interactions each deed is, in order, by action and class."""
    expert = _interactions(original)
    matched: dict[int, int] = {}
    first = 0
    for number, deed in enumerate(worked):
        if deed.object_id is None:
            continue
        for place in range(first, len(expert)):
            wanted = expert[place]
            same = wanted.action is deed.action
            if same and class_of(wanted.object_id or "") is deed.object_class:
                matched[number] = place
                first = place + 1
                break
    return matched


def _steps(original: Trajectory, worked: Sequence[TakenAction]) -> list[int]:
    """The high-level step of each action; walking belongs to the GotoLocation before a match."""
    expert = _interactions(original)
    matched = _matched(original, worked)
    steps: list[int] = []
    for number, deed in enumerate(worked):
        least = steps[-1] if steps else 0
        later = [expert[place].step for at, place in matched.items() if at >= number]
        step = max(least, later[0] if later else least)
        walking = deed.object_id is None
        before = step - 1
        if walking and before >= least and original.plan[before].action == _GOTO:
            step = before
        steps.append(step)
    return steps


def _plan(
    plan: tuple[HighStep, ...], worked: Sequence[TakenAction], steps: Sequence[int]
) -> tuple[HighStep, ...]:
    """The expert's plan with the places and objects of what was really done."""
    last: dict[int, AgentPose] = {}
    for number, step in enumerate(steps):
        following = worked[min(number + 1, len(worked) - 1)]
        last[step] = following.pose
    made = []
    for number, high in enumerate(plan):
        if number not in last:
            made.append(high)
        elif high.action == _GOTO:
            made.append(replace(high, location=location_of(last[number])))
        else:
            made.append(
                replace(high, object_id=None, receptacle_id=None, target=None, receptacle=None)
            )
    return tuple(made)


def _check_kind(folder: Path, source: EpisodeSource) -> None:
    """A folder has either generated rooms or imported ones, never both."""
    has_files = (folder / ROOT_NAME).is_dir()
    if has_files and is_store(folder) == source.has_generated_rooms:
        kind = "imported" if source.has_generated_rooms else "generated"
        raise BadInputError(
            f"{folder}: holds demonstrations in {kind} rooms; save into another folder"
        )
    if not has_files and any(folder.glob("*.zip")):
        raise BadInputError(f"{folder}: holds other data; save into another folder")


def _pack(folder: Path, source: EpisodeSource, split: Split) -> None:
    """Makes the split's archive of all its files again, with their rooms if need be."""
    files = AlfredFolder(folder, skip_damaged=True)
    keys = [entry.key for entry in files.entries(split)]
    write_archive(folder, split, (files.episode(key).trajectory for key in keys))
    if source.has_generated_rooms:
        return
    entries = {each: files.entries(each) for each in Split}
    numbers = sorted(
        {files.episode(one.key).trajectory.scene.number for e in entries.values() for one in e}
    )
    write_rooms(folder, (source.room(number) for number in numbers))
    counts = {each.value: len(found) for each, found in entries.items() if found}
    label = f"{source.label}-demonstrations"
    write_info(folder, StoreInfo(label, counts, counts, tuple(numbers), 0))


class _Single(EpisodeSource):
    """One episode, in the rooms of another source."""

    def __init__(self, source: EpisodeSource, episode: Episode) -> None:
        self.label = source.label
        self._source, self._episode = source, episode

    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        """Only the one."""
        trajectory = self._episode.trajectory
        entry = EpisodeEntry(
            self._episode.key, trajectory.task.type, trajectory.room_type, len(trajectory.actions)
        )
        return (entry,) if split is self._episode.key.split else ()

    def episode(self, key: EpisodeKey) -> Episode:
        """The one."""
        if key != self._episode.key:
            raise DataError(f"{self.label}: has no episode {key}")
        return self._episode

    def room(self, number: int) -> Room:
        """As the other source has it."""
        return self._source.room(number)
