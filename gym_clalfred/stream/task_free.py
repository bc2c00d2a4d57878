"""The part of an episode that a learner sees: words and actions, nothing that names the task."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import Episode, EpisodeKey, RunLengthMask, Split
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.object_ids import class_of


@dataclass(frozen=True)
class DemonstratedAction:
    """One action of the expert; an interaction has the class and the pixels of its target."""

    action: Action
    target: ObjectClass = ObjectClass.NoObject
    mask: RunLengthMask | None = None


@dataclass(frozen=True)
class TaskHint:
    """Task information for a learner that declares that it needs it; others get no hint.

    Args:
        starts_block: whether a new task's block begins with this episode; ``None`` if the learner
            did not declare ``needs_boundaries``.
        label: the behaviour or room type of the episode; ``None`` if the learner did not declare
            ``needs_labels``.
    """

    starts_block: bool | None = None
    label: str | None = None


@dataclass(frozen=True)
class Demonstration:
    """An episode as a task-free learner may see it.

    Args:
        id: opaque name of the episode, the same in every schedule.
        frames_id: opaque name of the expert's views, shared by all annotations of a trajectory.
            Caches of frames and features use it, see ``frames_index``.
        goal: the goal sentence.
        instructions: one sentence per step.
        actions: the expert's actions, the last one ``Stop``.
        hint: ``None`` for a task-free learner.
    """

    id: str
    frames_id: str
    goal: str
    instructions: tuple[str, ...]
    actions: tuple[DemonstratedAction, ...]
    hint: TaskHint | None = None

    def __len__(self) -> int:
        return len(self.actions)


def demonstration_of(
    episode: Episode, source: EpisodeSource, hint: TaskHint | None = None
) -> Demonstration:
    """The part of an episode that a learner may see."""
    actions = tuple(
        DemonstratedAction(
            step.action,
            class_of(step.object_id) if step.object_id else ObjectClass.NoObject,
            step.mask,
        )
        for step in episode.trajectory.actions
    )
    return Demonstration(
        id=_opaque(source.label, str(episode.key)),
        frames_id=frames_id(source, episode.key),
        goal=episode.annotation.goal,
        instructions=episode.annotation.steps,
        actions=(*actions, DemonstratedAction(Action.Stop)),
        hint=hint,
    )


def frames_id(source: EpisodeSource, key: EpisodeKey) -> str:
    """``Demonstration.frames_id`` of an episode."""
    return _opaque(source.label, f"{key.split.value}/{key.trajectory}")


def frames_index(source: EpisodeSource, split: Split) -> dict[str, EpisodeKey]:
    """Maps ``frames_id`` to an episode with these frames; for caches, not for learners."""
    index: dict[str, EpisodeKey] = {}
    for entry in source.entries(split):
        index.setdefault(frames_id(source, entry.key), entry.key)
    return index


def _opaque(label: str, name: str) -> str:
    return hashlib.sha256(f"{label}|{name}".encode()).hexdigest()[:16]
