"""Evaluates a trained agent on any episodes, outside of its run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.result_file import EpisodeResult
from clalfred.agents.acting.rollout import RolloutConfig, evaluate
from clalfred.agents.numerics.allocation import keep_freed_memory
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import spread
from clalfred.cl.metrics import Scores, score
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.names import choose
from gym_clalfred.rooms import RoomType
from gym_clalfred.stream import first_annotations
from gym_clalfred.tasks.spec import task_types


@dataclass(frozen=True)
class EvaluationSummary:
    """The outcome of an evaluation: overall, and by task type.

    Args:
        results: of each episode, in the order of the source.
        overall: over all of them.
        by_task: over those of each task type, by the paper's name.
    """

    results: tuple[EpisodeResult, ...]
    overall: Scores
    by_task: dict[str, Scores]


def evaluate_agent(
    policy: Policy,
    config: RunConfig,
    source: EpisodeSource,
    keys: tuple[EpisodeKey, ...],
    *,
    lines: str | Path | None = None,
    workers: int = 1,
    on_result: Callable[[EpisodeResult], None] | None = None,
) -> EvaluationSummary:
    """Rolls an agent out in episodes.

    Args:
        policy: from ``load_agent``.
        config: backend and step limit are taken from it.
        source: where the episodes are.
        keys: which to run, for example from ``select``.
        lines: a JSON lines file; episodes in it are not run again, new ones are added. One of
            another agent, or of other limits, is refused.
        workers: processes; the results do not depend on it.
        on_result: called with each new result.
    """
    if not keys:
        raise BadInputError("no episode was chosen: widen the task or room filter")
    keep_freed_memory()
    rollout = RolloutConfig(workers=workers, max_steps=config.step_limit, backend=config.backend)
    results = evaluate(policy, source, keys, rollout, lines, on_result)
    return summarize(results, source)


def summarize(results: Sequence[EpisodeResult], source: EpisodeSource) -> EvaluationSummary:
    """Scores over all results, which are of one split, and by task type."""
    split = EpisodeKey.parse(results[0].episode).split
    types = {str(entry.key): entry.task_type for entry in source.entries(split)}
    groups: dict[str, list[EpisodeResult]] = {}
    for result in results:
        groups.setdefault(types[result.episode].paper_name, []).append(result)
    by_task = {name: score(groups[name]) for name in sorted(groups)}
    return EvaluationSummary(tuple(results), score(results), by_task)


def select(
    source: EpisodeSource,
    split: str,
    *,
    task: str | None = None,
    room: str | None = None,
    annotations: int | None = None,
    limit: int | None = None,
) -> tuple[EpisodeKey, ...]:
    """Episodes of a split.

    Args:
        source: where they are.
        split: such as ``valid_seen``.
        task: only those of a task type, by the paper's name.
        room: only those in rooms of a type.
        annotations: at most this many of each trajectory.
        limit: at most this many, evenly spread.

    Raises:
        BadInputError: for an unknown name, or a split that the source has no episodes of.
    """
    choose("split", split, [one.value for one in Split])
    if not source.entries(Split(split)):
        there = ", ".join(one.value for one in Split if source.entries(one))
        raise BadInputError(f"split {split}: {source.label} has no such episodes, only {there}")
    if task is not None:
        choose("task", task, [one.paper_name for one in task_types()])
    if room is not None:
        choose("room", room, [one.value for one in RoomType])
    keys = [
        entry.key
        for entry in first_annotations(source.entries(Split(split)), annotations)
        if task in (None, entry.task_type.paper_name) and room in (None, entry.room_type.value)
    ]
    return spread(keys, limit)


def with_changes(
    config: RunConfig,
    *,
    tier: str | None = None,
    data: str | None = None,
    backend: str | None = None,
    annotations: int | None = None,
    max_steps: int | None = None,
) -> RunConfig:
    """The config of an agent's run, to be evaluated with other data or another simulator."""
    changes: dict[str, Any] = {
        "tier": tier,
        "data": data,
        "backend": backend,
        "evaluation_annotations": annotations,
        "max_steps": max_steps,
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    if "tier" in changes:
        changes.setdefault("data", None)  # the run's folder of episodes would win over a tier
    return RunConfig.recorded({**config.to_dict(), **changes})
