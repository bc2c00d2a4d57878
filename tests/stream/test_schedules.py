"""Schedules: every episode once, and mixed as docs/STREAMS.md says."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.data.episode_source import EpisodeEntry
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.rooms import RoomType
from gym_clalfred.stream import Schedule, Setup, build_schedule, group_by_task
from gym_clalfred.stream.builders import KINDS, Groups, blurry, disjoint, gaussian
from gym_clalfred.stream.orders import PAPER_ORDERS, RELEASED_ORDERS, TaskLabel, resolve_order
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.trajectories import ListSource

setups = st.sampled_from(list(Setup))
kinds = st.sampled_from(KINDS)
shares = st.floats(0, 1)


@st.composite
def orders(draw: st.DrawFn, setup: Setup) -> int | list[TaskLabel]:
    own = st.permutations(list(setup.tasks)).flatmap(
        lambda tasks: st.integers(1, len(tasks)).map(lambda size: tasks[:size])
    )
    return draw(st.integers(1, 5) | own)


def groups_of(*sizes: int) -> Groups:
    return {
        task: tuple(EpisodeKey(Split.TRAIN, f"{task.value}/{n}", 0) for n in range(size))
        for task, size in zip(ALFRED_TASKS, sizes)
    }


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_each_episode_comes_exactly_once(data: st.DataObject) -> None:
    source = ListSource()
    setup = data.draw(setups)
    order = data.draw(orders(setup))
    balanced = data.draw(st.sampled_from((None, True, False)))
    schedule = build_schedule(
        source,
        setup,
        kind=data.draw(kinds),
        order=order,
        balanced=balanced,
        seed=data.draw(st.integers(0, 2**40)),
        disjoint_share=data.draw(shares),
        blur_share=data.draw(shares),
        width=data.draw(st.floats(1e-3, 1e3)),
    )
    tasks = resolve_order(setup, order)
    entries = {entry.key: entry for entry in source.entries(Split.TRAIN)}
    assert len(set(schedule.keys)) == len(schedule)
    assert schedule.tasks == tuple(task.value for task in tasks)
    for position, key in enumerate(schedule.keys):
        assert schedule.task_of(position) == setup.task_of(entries[key]).value
    per_task = Counter(setup.task_of(entry) for entry in entries.values())
    smallest = min(per_task.values())
    evened = balanced or (balanced is None and setup is Setup.ENVIRONMENT_IL)
    for index, task in enumerate(tasks):
        expected = smallest if evened else per_task[task]
        assert schedule.task_ids.count(index) == expected


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_disjoint_never_returns_to_an_earlier_task(data: st.DataObject) -> None:
    setup = data.draw(setups)
    order = data.draw(orders(setup))
    schedule = build_schedule(
        ListSource(), setup, order=order, seed=data.draw(st.integers(0, 1000))
    )
    runs = [task for task, _ in groupby(schedule.task_ids)]
    assert runs == list(range(len(schedule.tasks)))
    starts = [schedule.task_ids.index(task) for task in runs]
    assert list(schedule.block_starts) == starts
    assert schedule.block_ends == (*starts[1:], len(schedule))


def test_a_tasks_sequence_does_not_depend_on_its_place() -> None:
    source = ListSource()
    sequences = []
    for order in (1, 2, [TaskType.HEAT], [TaskType.COOL, TaskType.HEAT]):
        schedule = build_schedule(source, order=order, balanced=True, seed=3)
        heat = schedule.tasks.index(TaskType.HEAT.value)
        sequences.append([k for k, t in zip(schedule.keys, schedule.task_ids) if t == heat])
    assert all(sequence == sequences[0] for sequence in sequences)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds(kind: str) -> None:
    source = ListSource(size=5)
    same = [build_schedule(source, kind=kind, seed=4) for _ in range(2)]
    assert same[0] == same[1]
    assert same[0].digest == same[1].digest
    other = build_schedule(source, kind=kind, seed=5)
    assert other.keys != same[0].keys
    assert other.digest != same[0].digest
    assert set(other.keys) == set(same[0].keys)


def test_balancing_draws_without_bias() -> None:
    entries = [
        EpisodeEntry(EpisodeKey(Split.TRAIN, f"k/{n}", 0), TaskType.HEAT, RoomType.KITCHEN, 9)
        for n in range(20)
    ] + [
        EpisodeEntry(EpisodeKey(Split.TRAIN, f"b/{n}", 0), TaskType.CLEAN, RoomType.BATHROOM, 9)
        for n in range(5)
    ]
    tasks = (RoomType.KITCHEN, RoomType.BATHROOM)
    counts: Counter[EpisodeKey] = Counter()
    for seed in range(800):
        groups = group_by_task(entries, Setup.ENVIRONMENT_IL, tasks=tasks, seed=seed)
        assert [len(groups[task]) for task in tasks] == [5, 5]
        counts.update(groups[RoomType.KITCHEN])
    # Each of 20 is drawn with probability 1/4: 200 times, standard deviation 12.2.
    assert len(counts) == 20
    assert all(abs(count - 200) < 5 * 12.2 for count in counts.values())


# Blurry


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(2, 60), min_size=2, max_size=7),
    shares,
    st.floats(0, 0.7),
    st.integers(0, 1000),
)
def test_blurry_moves_its_share(
    sizes: list[int], disjoint_share: float, blur_share: float, seed: int
) -> None:
    groups = groups_of(*sizes)
    schedule = blurry(groups, seed=seed, disjoint_share=disjoint_share, blur_share=blur_share)
    assert len(schedule.block_starts) == len(sizes)
    blocks = np.searchsorted(schedule.block_starts, range(len(schedule)), side="right") - 1
    table = np.zeros((len(sizes), len(sizes)), dtype=int)
    np.add.at(table, (np.array(schedule.task_ids), blocks), 1)
    outside = table.sum(axis=1) - np.diag(table)
    moved = np.array([round(blur_share * size) for size in sizes])
    pure = round(disjoint_share * len(sizes))
    assert sum(out == 0 for out in outside) >= pure
    assert sum(outside != moved) <= pure
    for task, row in enumerate(table):
        others = np.delete(row, task)
        assert others.max() - others.min() <= 1


def test_blurry_with_no_share_is_disjoint_in_its_blocks() -> None:
    groups = groups_of(10, 20, 30)
    schedule = blurry(groups, blur_share=0.0)
    assert schedule.block_starts == (0, 10, 30)
    assert schedule.task_ids == disjoint(groups).task_ids


def test_strangers_are_spread_over_the_whole_block() -> None:
    groups = groups_of(2000, 2000)
    schedule = blurry(groups, blur_share=0.5, seed=1)
    first = np.array(schedule.task_ids[:2000])
    positions = np.flatnonzero(first == 1) / 2000
    # Uniform on [0, 1]: mean 1/2 with standard error sqrt(1/12/1000) = 0.009.
    assert len(positions) == 1000
    assert abs(positions.mean() - 0.5) < 0.045


# Gaussian


@pytest.mark.parametrize("width", [0.2, 0.5, 2.0])
def test_gaussian_mixes_as_its_formula_says(width: float) -> None:
    sizes = (8000, 4000, 8000, 2000)
    count = len(sizes)
    schedule = gaussian(groups_of(*sizes), width=width, seed=7)
    assert schedule.block_starts == ()
    times = np.linspace(-8 * width, count + 8 * width, 200_001) / count
    centres = (np.arange(count)[:, None] + 0.5) / count
    sigma = width / count
    intensity = np.array(sizes)[:, None] * np.exp(-((times - centres) ** 2) / (2 * sigma**2))
    arrived = np.cumsum(intensity.sum(axis=0))
    window = np.minimum((arrived / arrived[-1] * 20).astype(int), 19)
    ids = np.array(schedule.task_ids).reshape(20, -1)
    for part in range(20):
        inside = intensity[:, window == part].sum(axis=1)
        expected = inside / inside.sum()
        found = np.bincount(ids[part], minlength=count) / ids.shape[1]
        error = np.sqrt(expected * (1 - expected) / ids.shape[1])
        # The window's own edges move a little, hence the constant.
        assert np.all(np.abs(found - expected) < 5 * error + 0.03)


def test_a_narrow_gaussian_is_disjoint() -> None:
    groups = groups_of(30, 50, 20)
    assert gaussian(groups, width=0.01).task_ids == disjoint(groups).task_ids


def test_a_wide_gaussian_is_a_uniform_mix() -> None:
    schedule = gaussian(groups_of(5000, 5000), width=100.0)
    half = np.mean(schedule.task_ids[:5000])
    assert abs(half - 0.5) < 5 * np.sqrt(0.25 / 5000) + 0.01


# Orders and bad input


@pytest.mark.parametrize("setup", Setup)
def test_the_papers_orders_are_permutations(setup: Setup) -> None:
    for orders in (PAPER_ORDERS, RELEASED_ORDERS):
        assert list(orders[setup]) == [1, 2, 3, 4, 5]
        for tasks in orders[setup].values():
            assert sorted(tasks) == sorted(setup.tasks)


def test_released_orders_differ_where_spec_says() -> None:
    for number in range(1, 6):
        behavior = [resolve_order(Setup.BEHAVIOR_IL, number, released=r) for r in (False, True)]
        assert behavior[0] == behavior[1]
        rooms = [resolve_order(Setup.ENVIRONMENT_IL, number, released=r) for r in (False, True)]
        assert (rooms[0] == rooms[1]) == (number <= 3)


def test_orders_by_any_name() -> None:
    names = ["Pick2&Place", "look_at_obj_in_light", TaskType.HEAT]
    expected = (TaskType.PICK_TWO_AND_PLACE, TaskType.EXAMINE, TaskType.HEAT)
    assert resolve_order(Setup.BEHAVIOR_IL, names) == expected


@pytest.mark.parametrize(
    "order", [0, 6, -1, True, [], ["Heat", "Heat"], ["Kitchen"], "Heat", [3], None, 1.5]
)
def test_bad_orders(order: object) -> None:
    with pytest.raises(BadInputError, match="order"):
        resolve_order(Setup.BEHAVIOR_IL, order)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "random"},
        {"setup": "class_il"},
        {"seed": -1},
        {"seed": 1.5},
        {"kind": "blurry", "blur_share": 1.5},
        {"kind": "blurry", "disjoint_share": -0.1},
        {"kind": "blurry", "blur_share": float("nan")},
        {"kind": "gaussian", "width": 0.0},
        {"kind": "gaussian", "width": float("inf")},
    ],
)
def test_bad_arguments(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInputError):
        build_schedule(ListSource(), **wrong)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    plain = build_schedule(ListSource(), order=2, seed=3)
    assert build_schedule(ListSource(), order=np.int64(2), seed=np.int64(3)) == plain


def test_a_task_without_episodes() -> None:
    with pytest.raises(BadInputError, match="no episodes of Bathroom"):
        build_schedule(ListSource(rooms=(1, 201, 301)), Setup.ENVIRONMENT_IL)
    subset = [RoomType.KITCHEN, RoomType.BEDROOM]
    assert build_schedule(ListSource(rooms=(1, 201, 301)), Setup.ENVIRONMENT_IL, order=subset)


# Schedules as data


@pytest.mark.parametrize("kind", KINDS)
def test_saving_and_loading(kind: str, tmp_path: Path) -> None:
    schedule = build_schedule(ListSource(), Setup.ENVIRONMENT_IL, kind=kind, order=4)
    schedule.save(tmp_path / "schedule.json")
    loaded = Schedule.load(tmp_path / "schedule.json")
    assert loaded == schedule
    assert loaded.digest == schedule.digest


def test_loading_what_is_no_schedule(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    for content in ("", "{}", '{"version": 1, "tasks": ["a"], "episodes": [["x", "y", 0, 0]]}'):
        path.write_text(content)
        with pytest.raises(DataError, match=r"schedule\.json"):
            Schedule.load(path)
    with pytest.raises(DataError, match="cannot be read"):
        Schedule.load(tmp_path / "missing.json")


def test_a_schedule_checks_itself() -> None:
    one, two = EpisodeKey(Split.TRAIN, "a/b", 0), EpisodeKey(Split.TRAIN, "a/b", 1)
    with pytest.raises(BadInputError, match="occurs twice"):
        Schedule("x", ("t",), (one, one), (0, 0))
    with pytest.raises(BadInputError, match="2 episodes but 1 tasks"):
        Schedule("x", ("t",), (one, two), (0,))
    with pytest.raises(BadInputError, match="task ids"):
        Schedule("x", ("t",), (one, two), (0, 1))
    with pytest.raises(BadInputError, match="block starts"):
        Schedule("x", ("t",), (one, two), (0, 0), (1,))
