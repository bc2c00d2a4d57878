"""The authors' split folder: taken as it is, in its own sequence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_clalfred.data.splits import SplitFolder, common_task, read_alfred_splits
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.rooms import RoomType
from gym_clalfred.stream import from_split_folder
from gym_clalfred.tasks.spec import TaskType

HEAT = "pick_heat_then_place_in_recep-Egg-None-SinkBasin-20/trial_T2"
COOL = "pick_cool_then_place_in_recep-Mug-None-Shelf-3/trial_T1"
LAMP = "look_at_obj_in_light-Box-None-FloorLamp-212/trial_T1"


def entry(task: str, annotation: int = 0, **more: Any) -> dict[str, Any]:
    return {"klass": 0, "task": {"repeat_idx": annotation, "task": task}, "swapColor": 0, **more}


def write(folder: Path, order: int, task: int, content: Any) -> None:
    name = f"embodied_data_disjoint_rand{order}_cls1_task{task}.json"
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, 1, 0, [entry(HEAT, 2), entry(COOL, 0), entry(HEAT, 0)])
    write(tmp_path, 1, 1, [entry(LAMP, 1)])
    (tmp_path / "valid_seen.json").write_text(json.dumps([{"repeat_idx": 1, "task": COOL}]))
    (tmp_path / "notes.txt").write_text("not part of it")
    return tmp_path


def test_the_sequence_is_the_files_own(folder: Path) -> None:
    schedule = from_split_folder(folder, 1)
    assert schedule.keys == (
        EpisodeKey(Split.TRAIN, HEAT, 2),
        EpisodeKey(Split.TRAIN, COOL, 0),
        EpisodeKey(Split.TRAIN, HEAT, 0),
        EpisodeKey(Split.TRAIN, LAMP, 1),
    )
    assert schedule.task_ids == (0, 0, 0, 1)
    assert schedule.block_starts == (0, 3)
    assert schedule.tasks == ("Kitchen", "look_at_obj_in_light")
    assert SplitFolder(folder).orders == (1,)


def test_entries_without_colour_swap(folder: Path) -> None:
    bare = entry(HEAT)
    del bare["swapColor"]
    write(folder, 2, 0, [bare])
    assert from_split_folder(folder, 2).keys == (EpisodeKey(Split.TRAIN, HEAT, 0),)


def test_evaluation_sets(folder: Path) -> None:
    expected = (EpisodeKey(Split.VALID_SEEN, COOL, 1),)
    assert SplitFolder(folder).evaluation(Split.VALID_SEEN) == expected
    with pytest.raises(DataError, match=r"valid_unseen\.json: cannot be read"):
        SplitFolder(folder).evaluation(Split.VALID_UNSEEN)


def test_orders_that_are_not_there(folder: Path) -> None:
    with pytest.raises(DataError, match="has no order 3"):
        from_split_folder(folder, 3)
    write(folder, 4, 0, [entry(HEAT)])
    write(folder, 4, 2, [entry(COOL)])
    with pytest.raises(DataError, match=r"tasks \[0, 2\]"):
        from_split_folder(folder, 4)


@pytest.mark.parametrize("name", [".", "missing"])
def test_a_folder_without_streams(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="not a split folder"):
        SplitFolder(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("[{", "not a JSON document"),
        ({}, "document"),
        ([3], r"\[0\]"),
        ([{"klass": 0}], r"\[0\]\.task: missing"),
        ([entry("../../etc/passwd")], r"\[0\]\.task\.task"),
        ([entry("pick_up-Egg-None-SinkBasin-20/trial")], r"\[0\]\.task\.task"),
        ([entry("look_at_obj_in_light-Box-None-FloorLamp-99/trial")], r"\[0\]\.task\.task"),
        ([entry("look_at_obj_in_light-Yak-None-FloorLamp-212/trial")], r"\[0\]\.task\.task"),
        ([entry(HEAT, -1)], r"repeat_idx"),
        ([entry(HEAT, True)], r"repeat_idx"),
    ],
)
def test_damaged_files(folder: Path, content: Any, field: str) -> None:
    write(folder, 5, 0, content)
    with pytest.raises(DataError, match=rf"rand5_cls1_task0\.json: .*{field}|{field}"):
        from_split_folder(folder, 5)


def test_an_episode_listed_twice(folder: Path) -> None:
    write(folder, 5, 0, [entry(HEAT), entry(HEAT)])
    with pytest.raises(BadInputError, match="occurs twice"):
        from_split_folder(folder, 5)


def test_what_episodes_have_in_common() -> None:
    def keys(*names: str) -> list[EpisodeKey]:
        return [EpisodeKey(Split.TRAIN, name, 0) for name in names]

    assert common_task(keys(HEAT, HEAT)) is TaskType.HEAT
    assert common_task(keys(HEAT, COOL)) is RoomType.KITCHEN
    assert common_task(keys(HEAT, LAMP)) is None


def test_alfreds_split_file(tmp_path: Path) -> None:
    rows = {
        "tests_seen": [{"repeat_idx": 0, "task": "trial_only"}],
        "train": [{"repeat_idx": 1, "task": HEAT}, {"repeat_idx": 0, "task": HEAT}],
        "valid_seen": [{"repeat_idx": 0, "task": COOL}],
        "valid_unseen": [],
    }
    (tmp_path / "oct21.json").write_text(json.dumps(rows))
    splits = read_alfred_splits(tmp_path / "oct21.json")
    assert [key.annotation for key in splits[Split.TRAIN]] == [1, 0]
    assert splits[Split.VALID_SEEN] == (EpisodeKey(Split.VALID_SEEN, COOL, 0),)
    assert splits[Split.VALID_UNSEEN] == ()
    # Its tests have no demonstrations, so they are no episodes.
    assert set(splits) == {Split.TRAIN, Split.VALID_SEEN, Split.VALID_UNSEEN}
