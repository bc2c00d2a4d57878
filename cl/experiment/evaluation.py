"""Evaluating an agent along a run: on which episodes, and where each result belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.result_file import EpisodeOutcome, EpisodeResult
from clalfred.agents.acting.rollout import RolloutConfig, evaluate
from clalfred.cl.experiment.config import EVALUATED, RunConfig
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.errors import BadInputError
from gym_clalfred.schema import Natural
from gym_clalfred.stream import first_annotations, group_by_task
from gym_clalfred.stream.orders import resolve_order

#: In rooms that training knows, and in others.
SPLITS = ("seen", "unseen")


class Record(EpisodeOutcome, frozen=True):
    """What came of one episode, and where it belongs.

    Args:
        split: ``seen`` or ``unseen``, by its room.
        on: number of its task in the stream's order, from 0.
    """

    split: str
    on: Natural


#: Episodes by split, ``seen`` or ``unseen``, and by the task's number.
EvaluationSets = dict[str, list[tuple[EpisodeKey, ...]]]


def evaluation_sets(
    config: RunConfig, source: EpisodeSource, streamed: Sequence[str]
) -> EvaluationSets:
    """The episodes to evaluate on, for each split and each task in the order of the stream.

    Data without one of the splits, as ALFRED's may be, is evaluated on the other.

    Args:
        config: of the run.
        source: has the episodes.
        streamed: the tasks of the stream, first to last; the authors' files have orders of their
            own.
    """
    known = [task.value for task in config.task_setup.known_tasks]
    if not set(streamed) <= set(known):
        raise BadInputError(
            f"setup {config.setup!r} has the tasks {', '.join(known)}, but the stream has "
            f"{', '.join(streamed)}: give the setup that the split folder is of"
        )
    tasks = resolve_order(config.task_setup, streamed)
    balanced = config.task_setup.is_balanced_by_room
    sets: EvaluationSets = {}
    splits = EVALUATED[config.evaluate_on]
    if not any(source.entries(split) for split in splits.values()):
        raise BadInputError(
            f"evaluate_on {config.evaluate_on!r}: {source.label} has no such episodes; choose "
            f"{' or '.join(name for name in EVALUATED if name != config.evaluate_on)}"
        )
    for name, split in splits.items():
        entries = first_annotations(source.entries(split), config.evaluated_annotations)
        if not entries:
            sets[name] = [() for _ in tasks]
            continue
        groups = group_by_task(entries, config.task_setup, tasks=tasks, balanced=balanced, seed=0)
        sets[name] = [spread(groups[task], config.evaluation_episodes) for task in tasks]
    return sets


def thinned(sets: EvaluationSets, count: int | None) -> EvaluationSets:
    """At most ``count`` episodes of each task and split."""
    return {split: [spread(one, count) for one in tasks] for split, tasks in sets.items()}


def spread(keys: Sequence[EpisodeKey], count: int | None) -> tuple[EpisodeKey, ...]:
    """At most ``count`` of the keys, evenly spread over them."""
    if count is None or count >= len(keys):
        return tuple(keys)
    return tuple(keys[(2 * index + 1) * len(keys) // (2 * count)] for index in range(count))


def evaluate_tasks(
    policy: Policy,
    source: EpisodeSource,
    sets: EvaluationSets,
    tasks: Sequence[int],
    rollout: RolloutConfig,
    path: Path,
    on_record: Callable[[Record, int], None] = lambda record, total: None,
) -> list[Record]:
    """Records of all episodes of some tasks, in the order of the sets.

    Args:
        policy: what to evaluate.
        source: has the episodes.
        sets: from ``evaluation_sets``.
        tasks: numbers of the tasks.
        rollout: how to run them.
        path: a file of JSON lines that says what is done already; the rest is appended.
        on_record: called with each new record and the number of records in the end.
    """
    places = {
        str(key): (split, task, key)
        for split, groups in sets.items()
        for task in tasks
        for key in groups[task]
    }

    def record(result: EpisodeResult) -> Record:
        split, task, _ = places[result.episode]
        return Record(split, task, **result.outcome())

    results = evaluate(
        policy,
        source,
        [key for _, _, key in places.values()],
        rollout,
        path,
        lambda result: on_record(record(result), len(places)),
    )
    return [record(result) for result in results]
