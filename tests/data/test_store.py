"""The store: what was imported is what is read, and damage is said clearly."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_folder import LISTED_ANNOTATIONS
from gym_clalfred.data.archive import write_archive
from gym_clalfred.data.fields import Field
from gym_clalfred.data.room_json import dump_room, parse_room
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.store import AlfredStore, StoreInfo, write_info, write_rooms
from gym_clalfred.data.trajectory import EpisodeKey, Split, Trajectory
from gym_clalfred.errors import DataError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room_model import (
    Block,
    Body,
    ItemShape,
    PlacementHint,
    Rectangle,
    Room,
    Surface,
)
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.trajectories import clean_a_mug


def measured_room(number: int = 7) -> Room:
    """A generated room with everything that only reconstructed ones have."""
    room = make_room(number)
    hints = (PlacementHint(None, 0.05, 0.02), PlacementHint(ObjectClass.Mug, -0.05, 0.01, 90.0))
    surface = Surface(Rectangle(-0.2, -0.1, 0.2, 0.1), 0.4, 0.3, True, 0.0, hints)
    first, *rest = room.fixtures
    first = replace(
        first,
        surfaces=(surface,),
        blocks=(Block((-0.1, 0.0, -0.1), (0.1, 0.2, 0.1)),),
        part_of=None,
    )
    plain = tuple(replace(one, surfaces=(), part_of=None, solid=True) for one in rest)
    return replace(
        room,
        fixtures=(first, *plain),
        items=(),
        bodies=(Body((0.0, 0.0, 0.0), (0.5, 0.8, 0.4), (170, 116, 64), "wood"),),
        shapes={
            "Mug_1a2b": ItemShape((0.1, 0.1, 0.12), (0.0, -0.02, 0.01), 90.0),
            "Watch_3c4d": ItemShape(
                (0.08, 0.02, 0.05), blocks=(Block((0, 0, 0), (0.04, 0.02, 0.02)),)
            ),
        },
    )


def make_store(folder: Path, trajectories: list[Trajectory], room: Room) -> Path:
    folder.mkdir()
    summary = write_archive(folder, Split.TRAIN, trajectories)
    write_rooms(folder, [room])
    counts = {"train": summary.trajectories}, {"train": summary.episodes}
    write_info(folder, StoreInfo("alfred-test", *counts, (room.number,), 0))
    return folder


def test_rooms_survive_a_round_trip() -> None:
    room = measured_room()
    document = json.loads(json.dumps(dump_room(room)))
    assert parse_room(Field(document, "room")) == room


@pytest.mark.parametrize(
    ("part", "row", "words"),
    [
        ("walls", [1.0, 2.0, 3.0], r"walls\[0\]: expected a row with x0, z0, x1, z1, openings"),
        ("floor", [0, 0, 1, 1, 1], r"floor\[0\]: expected a row with nothing but x0, z0, x1, z1"),
        ("walls", [0, 0, 1, 1, ["door", 0, 1, 0]], r"walls\[0\]\[4\]: expected a row with kind"),
        ("bodies", [0, 0, 0, 1, 1, 1, 9, 9, 900, "wood"], r"\[8\]: .* from 0 to 255, found 900"),
        ("bodies", [0, 0, 0, 1, 1, 1, 9, 9, 9, "fur"], r"bodies\[0\]\[9\]: expected a texture"),
        ("walkable", [0.5], r"walkable\[0\]: expected 2 numbers, found \[0.5\]"),
    ],
)
def test_a_damaged_row_of_a_room_is_named(part: str, row: list[Any], words: str) -> None:
    document = json.loads(json.dumps({**dump_room(measured_room()), part: [row]}))
    with pytest.raises(DataError, match=f"^a room: .*{words}"):
        parse_room(Field(document, "a room"))


def test_the_store_gives_back_trajectories_and_rooms(tmp_path: Path) -> None:
    trajectory, room = clean_a_mug(), measured_room()
    source = open_source(data=make_store(tmp_path / "store", [trajectory], room))
    assert isinstance(source, AlfredStore)
    assert source.label == "alfred-test"
    keys = [entry.key for entry in source.entries(Split.TRAIN)]
    assert [key.annotation for key in keys] == [0, 1, 2]
    assert source.episode(keys[1]).trajectory == trajectory
    assert source.room(7) == room
    assert source.room(7) is source.room(7)


def test_a_store_is_pickled_by_its_folder(tmp_path: Path) -> None:
    store = AlfredStore(make_store(tmp_path / "store", [clean_a_mug()], measured_room()))
    store.room(7)
    content = pickle.dumps(store)
    assert len(content) < 500
    assert pickle.loads(content).entries(Split.TRAIN) == store.entries(Split.TRAIN)


def test_holders_are_kept(tmp_path: Path) -> None:
    before = clean_a_mug()
    pose = replace(before.scene.object_poses[0], holder="Shelf|+00.10|+01.40|+02.00")
    before = replace(before, scene=replace(before.scene, object_poses=(pose,)))
    store = AlfredStore(make_store(tmp_path / "store", [before], measured_room()))
    key = EpisodeKey(Split.TRAIN, before.key, 0)
    assert store.episode(key).trajectory.scene.object_poses[0].holder == pose.holder


def test_poses_alone_find_the_holders_that_were_recorded_with_them(tmp_path: Path) -> None:
    before = clean_a_mug()
    held = replace(before.scene.object_poses[0], holder="Shelf|+00.10|+01.40|+02.00")
    before = replace(before, scene=replace(before.scene, object_poses=(held,)))
    store = AlfredStore(make_store(tmp_path / "store", [before], measured_room()))
    sent = replace(held, holder=None)
    assert store.recorded_poses(7, (sent,)) == (held,)
    assert store.recorded_poses(7, (replace(sent, position=(0.0, 0.0, 0.0)),)) is None
    assert store.recorded_poses(7, ()) is None
    assert store.recorded_poses(8, (sent,)) is None


def test_the_published_list_of_annotations_is_followed(tmp_path: Path) -> None:
    (split, key), count = next(iter(LISTED_ANNOTATIONS.items()))
    folder, trial = key.split("/")
    number = int(folder.rsplit("-", 1)[1])
    task = replace(
        clean_a_mug().task,
        type=TaskType.PICK_TWO_AND_PLACE,
        target=ObjectClass.CellPhone,
        receptacle=ObjectClass.Sofa,
    )
    before = clean_a_mug(trial=trial, number=number)
    trajectory = replace(before, folder=folder, task=task)
    store = AlfredStore(make_store(tmp_path / "store", [trajectory], measured_room(number)))
    assert len(store.entries(split)) == count


@pytest.mark.parametrize("content", [b"", b"{}", b'{"version": 99}', b"[1, 2"])
def test_a_damaged_description_is_named(tmp_path: Path, content: bytes) -> None:
    folder = make_store(tmp_path / "store", [clean_a_mug()], measured_room())
    (folder / "store.json").write_bytes(content)
    with pytest.raises(DataError, match=r"store\.json"):
        AlfredStore(folder)


def test_a_store_of_another_version_is_to_be_made_again(tmp_path: Path) -> None:
    folder = make_store(tmp_path / "store", [clean_a_mug()], measured_room())
    (folder / "store.json").write_bytes(b'{"version": 99}')
    with pytest.raises(DataError, match=r"version 99, this release reads .* clalfred-data import"):
        AlfredStore(folder)


def test_damaged_and_missing_rooms_are_named(tmp_path: Path) -> None:
    folder = make_store(tmp_path / "store", [clean_a_mug()], measured_room())
    with pytest.raises(DataError, match=r"no room 9.*\[7\]"):
        AlfredStore(folder).room(9)
    content = (folder / "rooms.zip").read_bytes()
    (folder / "rooms.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"rooms\.zip.*import"):
        AlfredStore(folder).room(7)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_flipped_bytes_in_a_room_are_named_or_harmless(tmp_path: Path, share: float) -> None:
    room = measured_room()
    folder = make_store(tmp_path / "store", [clean_a_mug()], room)
    content = (folder / "rooms.zip").read_bytes()
    at = int(share * len(content))
    for offset in range(at, min(at + 20, len(content))):
        damaged = bytearray(content)
        damaged[offset] ^= 0xFF
        (folder / "rooms.zip").write_bytes(damaged)
        try:
            read = AlfredStore(folder).room(7)
        except DataError as error:
            assert "rooms.zip" in str(error)  # noqa: PT017
        else:
            assert read == room


def test_splits_can_be_given_by_name(tmp_path: Path) -> None:
    store = AlfredStore(make_store(tmp_path / "store", [clean_a_mug()], measured_room()))
    assert store.entries("train") == store.entries(Split.TRAIN)  # type: ignore[arg-type]
    assert store.entries("valid_seen") == ()  # type: ignore[arg-type]


def test_the_environment_opens_a_store(tmp_path: Path) -> None:
    room = measured_room()
    x, z = sorted(room.walkable)[0]
    before = clean_a_mug()
    start = replace(before.scene.start, x=x, z=z)
    trajectory = replace(before, scene=replace(before.scene, start=start))
    folder = make_store(tmp_path / "store", [trajectory], room)
    env = gymnasium.make("CLAlfred-BehaviorIL-v0", data=folder, image_size=32)
    observation, _ = env.reset(seed=0)
    assert observation["goal"].startswith("Put a clean mug on the shelf")
    env.step((int(Action.RotateLeft), 0))
    env.close()
