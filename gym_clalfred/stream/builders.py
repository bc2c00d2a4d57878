"""Builds disjoint, blurry and Gaussian schedules; docs/STREAMS.md has the formulas.

All randomness depends on ``seed`` and the task's name, not on its place in the order. A task has
the same subsample in the same sequence in every order.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from gym_clalfred.checks import whole_number
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.splits import SplitFolder, common_task
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError
from gym_clalfred.setups import Setup, TaskLabel
from gym_clalfred.stream.orders import resolve_order
from gym_clalfred.stream.schedule import Schedule

KINDS = ("disjoint", "blurry", "gaussian")

#: Separate random streams by purpose, so that no draw depends on how many others were made.
_SUBSAMPLE, _SHUFFLE, _BLUR, _MIX = range(4)

Groups = dict[TaskLabel, tuple[EpisodeKey, ...]]


def build_schedule(
    source: EpisodeSource,
    setup: Setup | str = Setup.BEHAVIOR_IL,
    *,
    kind: str = "disjoint",
    order: int | Sequence[TaskLabel | str] = 1,
    released_order: bool = False,
    balanced: bool | None = None,
    seed: int = 0,
    split: Split = Split.TRAIN,
    disjoint_share: float = 0.0,
    blur_share: float = 0.1,
    width: float = 0.5,
) -> Schedule:
    """A schedule over a split of a source.

    Args:
        source: where the episodes are.
        setup: ``behavior-il``, ``environment-il`` or ``imbalanced-environment-il``.
        kind: ``disjoint``, ``blurry`` or ``gaussian``.
        order: the number of one of the paper's orders, or any sequence of tasks.
        released_order: the released files' orders instead of the paper's.
        balanced: subsample every task to the size of the smallest; by default only for
            Environment-IL, as in the paper.
        seed: of subsampling and of the sequence within tasks.
        split: normally train.
        disjoint_share: for ``blurry``, see ``blurry``.
        blur_share: for ``blurry``, see ``blurry``.
        width: for ``gaussian``, see ``gaussian``.
    """
    setup = Setup.parse(setup)
    seed = whole_number("seed", seed, 0)
    if isinstance(order, np.integer):
        order = int(order)
    tasks = resolve_order(setup, order, released=released_order)
    groups = group_by_task(source.entries(split), setup, tasks=tasks, balanced=balanced, seed=seed)
    name = _name(setup, kind, order)
    if kind == "disjoint":
        return disjoint(groups, name=name, seed=seed)
    if kind == "blurry":
        return blurry(
            groups, name=name, seed=seed, disjoint_share=disjoint_share, blur_share=blur_share
        )
    if kind == "gaussian":
        return gaussian(groups, name=name, seed=seed, width=width)
    raise BadInputError(f"kind {kind!r}: expected one of {', '.join(KINDS)}")


def schedule_of(env: gym.Env[Any, Any], seed: int = 0) -> Schedule:
    """The disjoint schedule of an environment's setup, order, split, tasks and rooms.

    Tasks of the order that the environment's ``tasks`` and ``rooms`` leave without episodes do not
    occur in it.
    """
    base: Any = env.unwrapped
    setup, entries = base.setup, base.selection.entries(base.source, base.split)
    tasks = resolve_order(setup, base.order)
    if base.selection:
        left = {setup.task_of(entry) for entry in entries}
        tasks = tuple(task for task in tasks if task in left)
    groups = group_by_task(entries, setup, tasks=tasks, seed=seed)
    return disjoint(groups, name=_name(setup, "disjoint", base.order), seed=seed)


def first_annotations(
    entries: Iterable[EpisodeEntry], count: int | None
) -> tuple[EpisodeEntry, ...]:
    """The entries with at most ``count`` annotations per trajectory; all of them for ``None``."""
    return tuple(entry for entry in entries if count is None or entry.key.annotation < count)


def group_by_task(
    entries: Iterable[EpisodeEntry],
    setup: Setup | str,
    *,
    tasks: Sequence[TaskLabel] | None = None,
    balanced: bool | None = None,
    seed: int = 0,
) -> Groups:
    """The episodes of every task in the source's order; also the evaluation sets of a split.

    Args:
        entries: a split's index.
        setup: what a task is.
        tasks: which tasks, in which order; all of the setup's if not given.
        balanced: keep as many of each task as the smallest has, drawn without replacement; by
            default for Environment-IL only.
        seed: of the draw.
    """
    setup = Setup.parse(setup)
    tasks = setup.tasks if tasks is None else tasks
    if balanced is None:
        balanced = setup.is_balanced_by_room
    found: dict[TaskLabel, list[EpisodeKey]] = {}
    for entry in entries:
        found.setdefault(setup.task_of(entry), []).append(entry.key)
    missing = [task.value for task in tasks if task not in found]
    if missing:
        raise BadInputError(f"the data has no episodes of {', '.join(missing)}")
    # The smallest of all tasks, not only of the requested ones, so that shares never vary.
    size = min(map(len, found.values()), default=0)
    groups: Groups = {}
    for task in tasks:
        keys = found[task]
        if balanced:
            chosen = _generator(seed, _SUBSAMPLE, task).choice(len(keys), size, replace=False)
            keys = [keys[index] for index in sorted(chosen)]
        groups[task] = tuple(keys)
    return groups


def disjoint(groups: Groups, *, name: str = "disjoint", seed: int = 0) -> Schedule:
    """All episodes of the first task, then all of the second, and so on."""
    blocks = [
        [(index, key) for key in _shuffled(keys, seed, task)]
        for index, (task, keys) in enumerate(groups.items())
    ]
    return _from_blocks(name, groups, blocks)


def blurry(
    groups: Groups,
    *,
    name: str = "blurry",
    seed: int = 0,
    disjoint_share: float = 0.0,
    blur_share: float = 0.1,
) -> Schedule:
    """As i-Blurry-N-M: some episodes of a task appear in the other tasks' blocks.

    Args:
        groups: the tasks, in order.
        name: of the schedule.
        seed: of all draws.
        disjoint_share: N; this share of the tasks keeps to its own block.
        blur_share: M; this share of each other task's episodes leaves its block and is spread
            evenly over the blocks of all other tasks.
    """
    for label, share in (("disjoint_share", disjoint_share), ("blur_share", blur_share)):
        if not 0 <= share <= 1:
            raise BadInputError(f"{label} {share!r}: expected a share from 0 to 1")
    # Ranked by a number drawn per task, so that the choice does not depend on the order.
    ranks = {task: _generator(seed, _BLUR, task).random() for task in groups}
    pure = sorted(groups, key=lambda task: ranks[task])[: round(disjoint_share * len(groups))]
    blocks: list[list[tuple[int, EpisodeKey]]] = [[] for _ in groups]
    for index, (task, keys) in enumerate(groups.items()):
        sequence = _shuffled(keys, seed, task)
        others = [block for block in range(len(groups)) if block != index]
        leaving = 0 if task in pure or not others else round(blur_share * len(sequence))
        blocks[index] += [(index, key) for key in sequence[leaving:]]
        for number, key in enumerate(sequence[:leaving]):
            blocks[others[number % len(others)]].append((index, key))
    for (task, _), block in zip(groups.items(), blocks):
        _generator(seed, _MIX, task).shuffle(block)
    return _from_blocks(name, groups, [block for block in blocks if block])


def gaussian(
    groups: Groups, *, name: str = "gaussian", seed: int = 0, width: float = 0.5
) -> Schedule:
    """Each task's share of the stream rises and falls as a Gaussian; there are no blocks.

    Args:
        groups: the tasks, in order.
        name: of the schedule.
        seed: of all draws.
        width: standard deviation of a task's bump in units of the distance between two bumps.
    """
    if not width > 0 or not np.isfinite(width):
        raise BadInputError(f"width {width!r}: expected a positive number")
    times: list[tuple[float, int, EpisodeKey]] = []
    for index, (task, keys) in enumerate(groups.items()):
        sequence = _shuffled(keys, seed, task)
        noise = _generator(seed, _MIX, task).standard_normal(len(sequence))
        arrivals = (index + 0.5 + width * noise) / len(groups)
        times += [(float(time), index, key) for time, key in zip(arrivals, sequence)]
    times.sort(key=lambda arrival: arrival[0])
    return Schedule(
        name,
        tuple(task.value for task in groups),
        tuple(key for _, _, key in times),
        tuple(index for _, index, _ in times),
    )


def from_split_folder(path: str | Path, order: int = 1) -> Schedule:
    """The authors' own stream: exactly the episodes of their files, in the same order."""
    folder = SplitFolder(path)
    blocks = folder.stream(order)
    tasks = tuple(common_task(block) for block in blocks)
    names = tuple(task.value if task else f"task {n}" for n, task in enumerate(tasks))
    return Schedule(
        f"{folder.path.name}-{order}",
        names,
        tuple(key for block in blocks for key in block),
        tuple(index for index, block in enumerate(blocks) for _ in block),
        tuple(int(start) for start in np.cumsum([0, *map(len, blocks)])[:-1]),
    )


def _from_blocks(
    name: str, groups: Groups, blocks: Sequence[Sequence[tuple[int, EpisodeKey]]]
) -> Schedule:
    starts = np.cumsum([0, *map(len, blocks)])[:-1]
    return Schedule(
        name,
        tuple(task.value for task in groups),
        tuple(key for block in blocks for _, key in block),
        tuple(index for block in blocks for index, _ in block),
        tuple(int(start) for start in starts),
    )


def _shuffled(keys: Sequence[EpisodeKey], seed: int, task: TaskLabel) -> list[EpisodeKey]:
    return [keys[index] for index in _generator(seed, _SHUFFLE, task).permutation(len(keys))]


def _generator(seed: int, purpose: int, task: TaskLabel) -> np.random.Generator:
    return np.random.default_rng([seed, purpose, zlib.crc32(task.value.encode())])


def _name(setup: Setup, kind: str, order: int | Sequence[TaskLabel | str]) -> str:
    """As published results name their streams."""
    tasks = "behavior_il" if setup is Setup.BEHAVIOR_IL else "environment_il"
    return f"{tasks}-{kind}-{order if isinstance(order, int) else 'own'}"
