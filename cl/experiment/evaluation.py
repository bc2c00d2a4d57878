"""Evaluating an agent on chosen episodes: which ones, one line per episode, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clalfred.agents.behavior_cloning import BehaviorCloning
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.metrics import EpisodeResult
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.stream import first_annotations, group_by_task
from gym_clalfred.stream.orders import resolve_order

#: The splits that agents are evaluated on.
SPLITS = (Split.VALID_SEEN, Split.VALID_UNSEEN)

#: Rolls an agent out; results come in any order.
Evaluate = Callable[[BehaviorCloning, Sequence[EpisodeKey]], Iterator[EpisodeResult]]


@dataclass(frozen=True)
class Record:
    """What came of one episode, and where it belongs.

    Args:
        split: where the episode is from.
        on: number of its task in the stream's order, from 0.
        result: what came of it.
    """

    split: str
    on: int
    result: EpisodeResult

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"split": self.split, "on": self.on, **asdict(self.result)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """The inverse of ``to_dict``."""
        rest = {name: value for name, value in values.items() if name not in ("split", "on")}
        return cls(values["split"], values["on"], EpisodeResult(**rest))


#: Episodes by split and by the task's number.
EvaluationSets = dict[Split, list[tuple[EpisodeKey, ...]]]


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
    known = [task.value for task in config.task_setup.tasks]
    if not set(streamed) <= set(known):
        raise BadInputError(
            f"setup {config.setup!r} has the tasks {', '.join(known)}, but the stream has "
            f"{', '.join(streamed)}: give the setup that the split folder is of"
        )
    tasks = resolve_order(config.task_setup, streamed)
    balanced = config.scenario.is_balanced_by_room
    sets: EvaluationSets = {}
    for split in SPLITS:
        entries = first_annotations(source.entries(split), config.evaluated_annotations)
        if not entries and any(source.entries(other) for other in SPLITS):
            sets[split] = [() for _ in tasks]
            continue
        groups = group_by_task(entries, config.task_setup, tasks=tasks, balanced=balanced, seed=0)
        sets[split] = [spread(groups[task], config.evaluation_episodes) for task in tasks]
    return sets


def spread(keys: Sequence[EpisodeKey], count: int | None) -> tuple[EpisodeKey, ...]:
    """At most ``count`` of the keys, evenly spread over them."""
    if count is None or count >= len(keys):
        return tuple(keys)
    return tuple(keys[(2 * index + 1) * len(keys) // (2 * count)] for index in range(count))


def evaluate_tasks(
    agent: BehaviorCloning,
    sets: EvaluationSets,
    tasks: Sequence[int],
    path: Path,
    evaluate: Evaluate,
    listen: Callable[[Record, int], None] = lambda record, total: None,
) -> list[Record]:
    """Records of all episodes of some tasks, in the order of the sets.

    Args:
        agent: what to evaluate; it must choose the same in the same episode each time.
        sets: from ``evaluation_sets``.
        tasks: numbers of the tasks.
        path: a file of JSON lines that says what is done already; the rest is appended.
        evaluate: rolls the agent out.
        listen: called with each new record and the number of records in the end.
    """
    wanted = {
        str(key): (split, task, key)
        for split, groups in sets.items()
        for task in tasks
        for key in groups[task]
    }
    done = {record.result.episode: record for record in read_lines(path)}
    done = {name: record for name, record in done.items() if name in wanted}
    left = [key for name, (_, _, key) in wanted.items() if name not in done]
    # Half a line at the end of a killed process must not spoil the next one.
    with atomic_file(path) as whole:
        whole.write("".join(map(_line, done.values())).encode())
    with path.open("a", encoding="utf-8") as file:
        for result in evaluate(agent, left) if left else ():
            split, task, _ = wanted[result.episode]
            record = done[result.episode] = Record(split.value, task, result)
            file.write(_line(record))
            file.flush()
            listen(record, len(wanted))
    return [done[name] for name in wanted]


def read_lines(path: Path) -> list[Record]:
    """The complete records of a file of JSON lines; none if there is no such file."""
    records = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(Record.from_dict(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                break  # the process was killed while it wrote this line
    return records


def _line(record: Record) -> str:
    return json.dumps(record.to_dict()) + "\n"
