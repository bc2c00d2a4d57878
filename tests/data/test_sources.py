"""Sources of episodes: ALFRED's folder and archives give the same, and damage is noticed."""

from __future__ import annotations

import json
import os
import pickle
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gym_clalfred.data import EpisodeSource, open_source
from gym_clalfred.data.alfred_folder import LISTED_ANNOTATIONS, AlfredFolder
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.archive import TrajectoryArchive, archive_path, write_archive
from gym_clalfred.data.cache import atomic_file, cache_dir
from gym_clalfred.data.index import TrajectoryName
from gym_clalfred.data.manifest import (
    MANIFEST_NAME,
    ArchiveEntry,
    Manifest,
    file_sha256,
    write_manifest,
)
from gym_clalfred.data.trajectory import EpisodeKey, Split, Trajectory
from gym_clalfred.errors import BadInputError, DataError
from tests.helpers.trajectories import clean_a_mug

TRAJECTORIES = tuple(
    clean_a_mug(trial=f"trial_T{n}", number=number, annotations=1 + n)
    for number in (7, 401)
    for n in range(3)
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLALFRED_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "alfred"
    for trajectory in TRAJECTORIES:
        path = root / "json_2.1.0" / "train" / trajectory.key / "traj_data.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(encode_trajectory(trajectory))
    return root


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    write_archive(tmp_path / "tier", Split.TRAIN, TRAJECTORIES)
    return tmp_path / "tier"


@pytest.fixture(params=["folder", "archive"])
def source(request: pytest.FixtureRequest) -> EpisodeSource:
    return open_source(data=request.getfixturevalue(request.param))


def test_every_annotation_is_an_episode(source: EpisodeSource) -> None:
    entries = source.entries(Split.TRAIN)
    assert len(entries) == sum(len(made.annotations) for made in TRAJECTORIES)
    assert len({entry.key for entry in entries}) == len(entries)
    by_key = {made.key: made for made in TRAJECTORIES}
    for entry in entries:
        made = by_key[entry.key.trajectory]
        assert (entry.task_type, entry.room_type) == (made.task.type, made.room_type)
        assert entry.length == len(made.actions)
        episode = source.episode(entry.key)
        assert episode.trajectory == made
        assert episode.annotation == made.annotations[entry.key.annotation]


def test_sources_are_pickled_by_path(source: EpisodeSource) -> None:
    entries = source.entries(Split.TRAIN)
    content = pickle.dumps(source)
    assert len(content) < 500
    copy = pickle.loads(content)
    assert copy.label == source.label
    assert copy.entries(Split.TRAIN) == entries
    assert copy.episode(entries[0].key) == source.episode(entries[0].key)


@pytest.mark.parametrize(
    "trajectory",
    ["../../etc", "/etc/passwd", "a/../../b", f"../train/{TRAJECTORIES[0].key}", "nothing/here"],
)
def test_a_name_never_leads_out_of_the_data(source: EpisodeSource, trajectory: str) -> None:
    with pytest.raises(DataError, match="has no episode"):
        source.episode(EpisodeKey(Split.TRAIN, trajectory, 0))
    assert TrajectoryName.parse(trajectory) is None


@pytest.mark.parametrize("annotation", [-1, 1, 99])
def test_an_annotation_that_is_not_there(source: EpisodeSource, annotation: int) -> None:
    with pytest.raises(DataError, match="has no episode"):
        source.episode(EpisodeKey(Split.TRAIN, TRAJECTORIES[0].key, annotation))


def test_a_split_that_is_not_there(source: EpisodeSource) -> None:
    assert source.entries(Split.VALID_SEEN) == ()
    with pytest.raises(DataError, match="has no episode"):
        source.episode(EpisodeKey(Split.VALID_SEEN, TRAJECTORIES[0].key, 0))


def test_opening_by_either_path(folder: Path) -> None:
    inner = open_source(data=folder / "json_2.1.0")
    assert inner.entries(Split.TRAIN) == open_source(data=str(folder)).entries(Split.TRAIN)
    assert open_source(data=inner) is inner
    checkout = folder.parent / "checkout"
    (checkout / "data").mkdir(parents=True)
    (checkout / "data" / "json_2.1.0").symlink_to(folder / "json_2.1.0")
    assert open_source(data=checkout).entries(Split.TRAIN) == inner.entries(Split.TRAIN)


def test_a_path_without_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing there"):
        open_source(data=tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="found a file"):
        open_source(data=tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"json_2\.1\.0 folder"):
        open_source(data=tmp_path / "empty")
    with pytest.raises(DataError, match=r"not ALFRED's data"):
        AlfredFolder(tmp_path / "empty")


def test_alfreds_folder_has_no_rooms(folder: Path) -> None:
    with pytest.raises(DataError, match="clalfred-data import"):
        AlfredFolder(folder).room(7)


def test_a_home_folder_is_found_by_its_sign(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert open_source(data=f"~/{folder.name}").entries(Split.TRAIN)


# ALFRED's folder and its index


def file_of(folder: Path, trajectory: Trajectory) -> Path:
    return folder / "json_2.1.0" / "train" / trajectory.key / "traj_data.json"


def test_the_index_saves_reading_the_files_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = AlfredFolder(folder).entries(Split.TRAIN)
    read: list[str] = []
    original = AlfredFolder.read
    monkeypatch.setattr(
        AlfredFolder, "read", lambda self, *name: read.append(name[1]) or original(self, *name)
    )
    assert AlfredFolder(folder).entries(Split.TRAIN) == first
    assert read == []
    changed = clean_a_mug("trial_T0", 7, annotations=5)
    path = file_of(folder, changed)
    path.write_bytes(encode_trajectory(changed))
    assert len(AlfredFolder(folder).entries(Split.TRAIN)) == len(first) + 4
    assert read == [changed.key]


@pytest.mark.parametrize("content", ["", "{}", '{"version": 1, "rows": [3], "stamps": []}', "x"])
def test_a_damaged_index_is_made_again(folder: Path, content: str) -> None:
    first = AlfredFolder(folder).entries(Split.TRAIN)
    (index,) = (cache_dir() / "alfred_index").iterdir()
    index.write_text(content)
    assert AlfredFolder(folder).entries(Split.TRAIN) == first


def test_a_cache_that_cannot_be_written_is_no_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "blocked").write_text("a file where the folder should be")
    monkeypatch.setenv("CLALFRED_CACHE", str(tmp_path / "blocked"))
    assert len(AlfredFolder(folder).entries(Split.TRAIN)) == 12


def test_damaged_files_raise_or_are_counted(folder: Path) -> None:
    broken = file_of(folder, TRAJECTORIES[1])
    broken.write_bytes(broken.read_bytes()[:1000])
    with pytest.raises(DataError, match=str(broken)):
        AlfredFolder(folder).entries(Split.TRAIN)
    lenient = AlfredFolder(folder, skip_damaged=True)
    left = {entry.key.trajectory for entry in lenient.entries(Split.TRAIN)}
    assert left == {made.key for made in TRAJECTORIES} - {TRAJECTORIES[1].key}
    (message,) = lenient.damaged(Split.TRAIN)
    assert str(broken) in message
    assert pickle.loads(pickle.dumps(lenient)).skip_damaged


def test_a_file_in_the_wrong_folder(folder: Path) -> None:
    file_of(folder, TRAJECTORIES[0]).write_bytes(encode_trajectory(TRAJECTORIES[1]))
    with pytest.raises(DataError, match="belongs in another folder"):
        AlfredFolder(folder).entries(Split.TRAIN)


def test_unlisted_annotations_are_no_episodes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LISTED_ANNOTATIONS, (Split.TRAIN, TRAJECTORIES[2].key), 1)
    source = AlfredFolder(folder)
    keys = [entry.key for entry in source.entries(Split.TRAIN)]
    assert sum(key.trajectory == TRAJECTORIES[2].key for key in keys) == 1
    with pytest.raises(DataError, match="has no episode"):
        source.episode(EpisodeKey(Split.TRAIN, TRAJECTORIES[2].key, 1))


# Archives


def test_equal_trajectories_give_equal_bytes(tmp_path: Path) -> None:
    one = write_archive(tmp_path / "a", Split.TRAIN, iter(TRAJECTORIES))
    two = write_archive(tmp_path / "b", Split.TRAIN, list(TRAJECTORIES))
    assert one == two
    assert (one.trajectories, one.episodes) == (6, 12)
    contents = [archive_path(tmp_path / name, Split.TRAIN).read_bytes() for name in "ab"]
    assert contents[0] == contents[1]
    other = write_archive(tmp_path / "c", Split.TRAIN, reversed(TRAJECTORIES))
    assert other.sha256 != one.sha256


def test_an_unpacked_archive_is_alfreds_folder(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive_path(archive, Split.TRAIN)) as file:
        file.extractall(tmp_path / "unpacked")
    unpacked = AlfredFolder(tmp_path / "unpacked")
    packed = TrajectoryArchive(archive)
    assert set(unpacked.entries(Split.TRAIN)) == set(packed.entries(Split.TRAIN))


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    def breaks() -> Iterator[Trajectory]:
        yield TRAJECTORIES[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_archive(tmp_path / "tier", Split.TRAIN, breaks())
    assert os.listdir(tmp_path / "tier") == []
    write_archive(tmp_path / "tier", Split.TRAIN, TRAJECTORIES)
    before = archive_path(tmp_path / "tier", Split.TRAIN).read_bytes()
    with pytest.raises(RuntimeError, match="no more"):
        write_archive(tmp_path / "tier", Split.TRAIN, breaks())
    assert archive_path(tmp_path / "tier", Split.TRAIN).read_bytes() == before
    assert os.listdir(tmp_path / "tier") == ["train.zip"]


def test_a_trajectory_goes_in_once(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="occurs twice"):
        write_archive(tmp_path, Split.TRAIN, [TRAJECTORIES[0], TRAJECTORIES[0]])


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.95])
def test_a_truncated_archive(archive: Path, keep: float) -> None:
    path = archive_path(archive, Split.TRAIN)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep if keep >= 1 else keep * len(content))])
    with pytest.raises(DataError, match=r"train\.zip"):
        TrajectoryArchive(archive).entries(Split.TRAIN)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999])
def test_flipped_bytes(archive: Path, share: float) -> None:
    """Whatever byte is wrong, reading gives the right trajectory or one clear error."""
    path = archive_path(archive, Split.TRAIN)
    content = bytearray(path.read_bytes())
    at = int(share * len(content))
    for offset in range(at, min(at + 40, len(content))):
        damaged = bytearray(content)
        damaged[offset] ^= 0xFF
        path.write_bytes(damaged)
        source = TrajectoryArchive(archive)
        for made in TRAJECTORIES:
            try:
                read = source.episode(EpisodeKey(Split.TRAIN, made.key, 0)).trajectory
            except DataError as error:
                assert "train.zip" in str(error)  # noqa: PT017
            else:
                assert read == made


@pytest.mark.parametrize(
    "row",
    [
        ["../../evil", 1, 5],
        ["/etc/passwd", 1, 5],
        [TRAJECTORIES[0].key, 0, 5],
        [TRAJECTORIES[0].key, 1, -5],
        [TRAJECTORIES[0].key, 1],
        {},
    ],
)
def test_an_index_with_a_bad_row(tmp_path: Path, row: object) -> None:
    index = {"version": 1, "split": "train", "trajectories": [row]}
    with zipfile.ZipFile(tmp_path / "train.zip", "w") as file:
        file.writestr("index.json", json.dumps(index))
    with pytest.raises(DataError, match=r"index\.json: trajectories\[0\]"):
        TrajectoryArchive(tmp_path).entries(Split.TRAIN)


def test_an_index_that_promises_too_much(tmp_path: Path) -> None:
    index = {"version": 1, "split": "train", "trajectories": [[TRAJECTORIES[0].key, 1, 5]]}
    with zipfile.ZipFile(tmp_path / "train.zip", "w") as file:
        file.writestr("index.json", json.dumps(index))
    source = TrajectoryArchive(tmp_path)
    with pytest.raises(DataError, match="has no entry"):
        source.episode(source.entries(Split.TRAIN)[0].key)


def test_an_archive_of_another_split(archive: Path) -> None:
    archive_path(archive, Split.TRAIN).rename(archive_path(archive, Split.VALID_SEEN))
    with pytest.raises(DataError, match="'valid_seen'"):
        TrajectoryArchive(archive).entries(Split.VALID_SEEN)


# Atomic files


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    with atomic_file(path) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    with pytest.raises(TypeError), atomic_file(path) as file:
        file.write("text where bytes belong")  # type: ignore[arg-type]
    assert path.read_bytes() == b"one"
    assert os.listdir(path.parent) == ["file"]


# How a folder of archives is named


def with_manifest(folder: Path) -> Manifest:
    """Writes the manifest of a folder that holds the training split only."""
    path = archive_path(folder, Split.TRAIN)
    entry = ArchiveEntry(6, 12, path.stat().st_size, file_sha256(path), "contents")
    manifest = Manifest("tiny", 0, "some code", {"train": entry})
    write_manifest(folder, manifest)
    return manifest


def test_a_tiers_folder_has_its_manifests_label(archive: Path) -> None:
    manifest = with_manifest(archive)
    source = open_source(data=archive)
    assert source.label == manifest.label
    assert pickle.loads(pickle.dumps(source)).label == manifest.label


def test_archives_without_a_manifest_are_labelled_by_their_contents(tmp_path: Path) -> None:
    labels = []
    for parent, made in (("a", TRAJECTORIES), ("b", TRAJECTORIES), ("c", TRAJECTORIES[:-1])):
        write_archive(tmp_path / parent / "mine", Split.TRAIN, made)
        labels.append(open_source(data=tmp_path / parent / "mine").label)
    assert labels[0] == labels[1] != labels[2]
    assert all(re.fullmatch(r"mine-[0-9a-f]{8}", label) for label in labels)


def test_equal_keys_with_other_contents_get_another_label(tmp_path: Path) -> None:
    before = TRAJECTORIES[0]
    after = replace(before, scene=replace(before.scene, random_seed=before.scene.random_seed + 1))
    sources = []
    for parent, made in (("a", before), ("b", after)):
        write_archive(tmp_path / parent / "mine", Split.TRAIN, [made])
        sources.append(open_source(data=tmp_path / parent / "mine"))
    assert sources[0].entries(Split.TRAIN) == sources[1].entries(Split.TRAIN)
    assert sources[0].label != sources[1].label


def other_archive(folder: Path) -> None:
    write_archive(folder, Split.TRAIN, TRAJECTORIES[:-1])


def further_archive(folder: Path) -> None:
    write_archive(folder, Split.VALID_SEEN, TRAJECTORIES)


def unreadable_manifest(folder: Path) -> None:
    (folder / MANIFEST_NAME).write_text("{")


def manifest_of_unknown_splits(folder: Path) -> None:
    path = folder / MANIFEST_NAME
    path.write_bytes(path.read_bytes().replace(b'"train"', b'"trains"'))


@pytest.mark.parametrize(
    "change", [other_archive, further_archive, unreadable_manifest, manifest_of_unknown_splits]
)
def test_a_manifest_of_other_archives_labels_nothing(
    archive: Path, change: Callable[[Path], None]
) -> None:
    with_manifest(archive)
    change(archive)
    assert re.fullmatch(r"tier-[0-9a-f]{8}", open_source(data=archive).label)


def test_a_damaged_archive_cannot_be_labelled(archive: Path) -> None:
    archive_path(archive, Split.TRAIN).write_bytes(b"half")
    with pytest.raises(DataError, match=r"train\.zip: damaged"):
        open_source(data=archive)


@pytest.mark.parametrize("number", ["", "-1", "x", "1" * 5000])
def test_a_number_that_is_none_is_no_episode(number: str) -> None:
    with pytest.raises(BadInputError, match="expected an episode"):
        EpisodeKey.parse(f"train/{TRAJECTORIES[0].key}#{number}")


def test_the_cache_may_be_named_from_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLALFRED_CACHE", "~/clalfred")
    assert cache_dir() == Path.home() / "clalfred"


def test_a_trajectory_without_annotations_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no annotation"):
        write_archive(tmp_path, Split.TRAIN, [replace(TRAJECTORIES[0], annotations=())])
    assert not archive_path(tmp_path, Split.TRAIN).exists()
