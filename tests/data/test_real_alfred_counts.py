"""Every count that SPEC sections 2 and 3 give comes out of the readers on the real data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gym_clalfred.data.alfred_folder import LISTED_ANNOTATIONS, AlfredFolder
from gym_clalfred.data.alfred_reader import parse_trajectory
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.episode_source import EpisodeEntry
from gym_clalfred.data.index import TrajectoryName
from gym_clalfred.data.splits import SplitFolder, read_alfred_splits
from gym_clalfred.data.trajectory import ALFRED_SPLITS, EpisodeKey, Split, Trajectory
from gym_clalfred.language.tokenizer import Tokenizer, build_vocabulary, count_words
from gym_clalfred.rooms import VALID_UNSEEN_NUMBERS, RoomType
from gym_clalfred.stream import Setup, build_schedule, from_split_folder, group_by_task
from gym_clalfred.stream.orders import PAPER_ORDERS, RELEASED_ORDERS
from gym_clalfred.tasks.spec import TaskType, find_task
from tests.helpers.alfred_data import alfred_data

pytestmark = pytest.mark.alfred

#: Train, valid seen, valid unseen.
EPISODES = (21_023, 820, 821)
PER_BEHAVIOR = {
    TaskType.PICK_TWO_AND_PLACE: (3554, 124, 81),
    TaskType.PICK_AND_PLACE: (3245, 142, 100),
    TaskType.MOVABLE: (3244, 115, 109),
    TaskType.COOL: (2944, 126, 109),
    TaskType.HEAT: (2943, 107, 136),
    TaskType.CLEAN: (2842, 112, 113),
    TaskType.EXAMINE: (2251, 94, 173),
}
PER_ROOM = {
    RoomType.KITCHEN: (11_056, 432, 468),
    RoomType.LIVING_ROOM: (3456, 129, 146),
    RoomType.BEDROOM: (3370, 106, 120),
    RoomType.BATHROOM: (3141, 153, 87),
}
BALANCED = (3141, 106, 87)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("alfred")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLALFRED_CACHE", str(tmp_path / "cache"))


def check_counts(keys: list[EpisodeKey] | tuple[EpisodeKey, ...], column: int) -> None:
    names = [TrajectoryName.parse(key.trajectory) for key in keys]
    assert len(set(keys)) == len(keys) == EPISODES[column]
    behaviors = Counter(name.task_type for name in names if name)
    rooms = Counter(RoomType.of(name.number) for name in names if name)
    assert behaviors == {task: counts[column] for task, counts in PER_BEHAVIOR.items()}
    assert rooms == {room: counts[column] for room, counts in PER_ROOM.items()}


def check_entries(entries: tuple[EpisodeEntry, ...], column: int) -> None:
    check_counts([entry.key for entry in entries], column)
    behaviors = Counter(entry.task_type for entry in entries)
    rooms = Counter(entry.room_type for entry in entries)
    assert behaviors == {task: counts[column] for task, counts in PER_BEHAVIOR.items()}
    assert rooms == {room: counts[column] for room, counts in PER_ROOM.items()}
    balanced = group_by_task(entries, Setup.ENVIRONMENT_IL)
    assert {len(keys) for keys in balanced.values()} == {BALANCED[column]}


def check_lengths(
    entries: tuple[EpisodeEntry, ...], expected: tuple[int, int, float, int, int, int]
) -> None:
    trajectories, scenes, mean, median, p95, longest = expected
    lengths = {entry.key.trajectory: entry.length for entry in entries}
    names = [TrajectoryName.parse(key) for key in lengths]
    values = np.array(list(lengths.values()))
    assert len(lengths) == trajectories
    assert len({name.number for name in names if name}) == scenes
    assert round(float(values.mean()), 1) == mean
    assert np.median(values) == median
    assert np.percentile(values, 95, method="lower") == p95
    assert values.max() == longest


class Listening(AlfredFolder):
    """Keeps the words of what it reads, so that a test reads every file only once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.words: Counter[str] = Counter()
        self.missing_steps = 0

    def read(self, split: Split, key: str) -> Trajectory:
        trajectory = super().read(split, key)
        for annotation in trajectory.annotations[: LISTED_ANNOTATIONS.get((split, key))]:
            self.words.update(count_words((annotation.goal, *annotation.steps)))
            self.missing_steps += len(trajectory.plan) - len(annotation.steps)
        return trajectory


@pytest.mark.slow
def test_train(scratch: Path) -> None:
    source = Listening(alfred_data("json_2.1.0-train", scratch))
    entries = source.entries(Split.TRAIN)
    check_entries(entries, 0)
    check_lengths(entries, (6574, 108, 49.8, 45, 97, 234))
    listed = read_alfred_splits(
        alfred_data("layouts_and_splits", scratch) / "data" / "splits" / "oct21.json"
    )
    assert {entry.key for entry in entries} == set(listed[Split.TRAIN])
    # Of 27 in all; the others are in the validation splits.
    assert source.missing_steps == 21
    tokenizer = Tokenizer.default()
    assert all(word in tokenizer for word in build_vocabulary(source.words))
    unknown = sum(count for word, count in source.words.items() if word not in tokenizer)
    assert unknown / source.words.total() < 0.001


def test_valid_seen(scratch: Path) -> None:
    source = AlfredFolder(alfred_data("json_2.1.0-valid_seen", scratch))
    entries = source.entries(Split.VALID_SEEN)
    check_entries(entries, 1)
    check_lengths(entries, (251, 88, 50.1, 44, 95, 165))
    for entry in entries:
        if entry.key.annotation == 0:
            trajectory = source.episode(entry.key).trajectory
            again = parse_trajectory(encode_trajectory(trajectory), "written")
            assert again == trajectory


def test_alfreds_own_split_file(scratch: Path) -> None:
    listed = read_alfred_splits(
        alfred_data("layouts_and_splits", scratch) / "data" / "splits" / "oct21.json"
    )
    for column, split in enumerate(ALFRED_SPLITS):
        check_counts(listed[split], column)
    names = [TrajectoryName.parse(key.trajectory) for key in listed[Split.VALID_UNSEEN]]
    assert {name.number for name in names if name} == set(VALID_UNSEEN_NUMBERS)
    assert len({key.trajectory for key in listed[Split.VALID_UNSEEN]}) == 255


@pytest.fixture(scope="module")
def split_folders(scratch: Path) -> Path:
    return alfred_data("cl_alfred_embodied_split", scratch) / "embodied_split"


@pytest.mark.parametrize("order", range(1, 6))
def test_the_authors_behavior_streams(split_folders: Path, order: int) -> None:
    schedule = from_split_folder(split_folders / "behavior_il", order)
    assert schedule.tasks == tuple(t.value for t in PAPER_ORDERS[Setup.BEHAVIOR_IL][order])
    check_counts(schedule.keys, 0)
    for index, task in enumerate(schedule.tasks):
        assert schedule.task_ids.count(index) == PER_BEHAVIOR[find_task(task)][0]


@pytest.mark.parametrize("order", range(1, 6))
def test_the_authors_environment_streams(split_folders: Path, order: int) -> None:
    schedule = from_split_folder(split_folders / "environment_il", order)
    assert schedule.tasks == tuple(t.value for t in RELEASED_ORDERS[Setup.ENVIRONMENT_IL][order])
    assert schedule.block_starts == (0, 3141, 6282, 9423)
    assert len(schedule) == 4 * BALANCED[0]


@pytest.mark.parametrize("order", range(1, 6))
def test_the_authors_imbalanced_streams(split_folders: Path, order: int) -> None:
    schedule = from_split_folder(split_folders / "environment_il_nosampling", order)
    assert schedule.tasks == tuple(t.value for t in PAPER_ORDERS[Setup.ENVIRONMENT_IL][order])
    check_counts(schedule.keys, 0)


@pytest.mark.parametrize(("split", "column"), [(Split.VALID_SEEN, 1), (Split.VALID_UNSEEN, 2)])
def test_the_authors_evaluation_sets(split_folders: Path, split: Split, column: int) -> None:
    whole = SplitFolder(split_folders / "behavior_il").evaluation(split)
    check_counts(whole, column)
    # The imbalanced setup is released with half of the validation episodes.
    half = SplitFolder(split_folders / "environment_il_nosampling").evaluation(split)
    assert set(half) < set(whole)
    assert len(set(half)) == len(half) == EPISODES[column] // 2 - (column == 1)


@pytest.mark.parametrize(("split", "column"), [(Split.VALID_SEEN, 1), (Split.VALID_UNSEEN, 2)])
def test_the_authors_balanced_evaluation_sets(
    split_folders: Path, split: Split, column: int
) -> None:
    keys = SplitFolder(split_folders / "environment_il").evaluation(split)
    names = [TrajectoryName.parse(key.trajectory) for key in keys]
    rooms = Counter(RoomType.of(name.number) for name in names if name)
    assert rooms == dict.fromkeys(RoomType, BALANCED[column])


def test_the_authors_episodes_are_in_the_data(split_folders: Path, scratch: Path) -> None:
    source = AlfredFolder(alfred_data("json_2.1.0-valid_seen", scratch))
    keys = {entry.key for entry in source.entries(Split.VALID_SEEN)}
    assert set(SplitFolder(split_folders / "behavior_il").evaluation(Split.VALID_SEEN)) == keys
    schedule = build_schedule(source, Setup.ENVIRONMENT_IL, split=Split.VALID_SEEN)
    assert len(schedule) == 4 * BALANCED[1]
