"""A store of real episodes under the authors' own split folder: their sequence, human words."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium
import pytest

from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split
from gym_clalfred.stream import TaskStream, from_split_folder
from tests.helpers.alfred_data import alfred_data

pytestmark = pytest.mark.alfred

#: How many episodes of each of the authors' files are taken.
PER_TASK = 2


def shortened(folder: Path, target: Path) -> list[tuple[str, int]]:
    """The first order of a split folder with a few episodes per task; returns all of them."""
    target.mkdir()
    listed = []
    for number in range(7):
        name = f"embodied_data_disjoint_rand1_cls1_task{number}.json"
        entries = json.loads((folder / name).read_text())[:PER_TASK]
        (target / name).write_text(json.dumps(entries))
        listed += [(entry["task"]["task"], entry["task"]["repeat_idx"]) for entry in entries]
    return listed


def test_the_authors_sequence_comes_out_of_a_store(tmp_path: Path) -> None:
    splits = alfred_data("cl_alfred_embodied_split", tmp_path / "splits") / "embodied_split"
    train = alfred_data("json_2.1.0-train", tmp_path / "data") / "json_2.1.0" / "train"
    listed = shortened(splits / "behavior_il", tmp_path / "short")
    for trajectory, _ in listed:
        part = tmp_path / "part" / "json_2.1.0" / "train" / trajectory
        if not part.exists():
            part.parent.mkdir(parents=True, exist_ok=True)
            part.symlink_to(train / trajectory)
    store = import_alfred(tmp_path / "part", tmp_path / "store", workers=1).store

    schedule = from_split_folder(tmp_path / "short")
    env = gymnasium.make("CLAlfred-BehaviorIL-v0", data=store, image_size=32)
    stream = TaskStream(env.unwrapped, schedule)
    words = AlfredStore(store)
    seen = []
    while not stream.exhausted:
        observation, _ = stream.reset()
        key = schedule.keys[len(seen)]
        seen.append((key.trajectory, key.annotation))
        assert env.unwrapped.episode.key == key
        assert observation["goal"] == words.episode(key).annotation.goal
    assert seen == listed
    assert {key.split for key in schedule.keys} == {Split.TRAIN}
    env.close()
