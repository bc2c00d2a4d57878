"""Importing ALFRED: what is read twice is the same, damage is named, nothing is half-written."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.data import alfred_folder as alfred_folder_module
from gym_clalfred.data.alfred_import import importer, unpack
from gym_clalfred.data.alfred_import.importer import check_extent, import_alfred
from gym_clalfred.data.alfred_import.layouts import read_layouts
from gym_clalfred.data.alfred_import.record_file import Recorder
from gym_clalfred.data.alfred_writer import dump_trajectory, encode_trajectory
from gym_clalfred.data.store import AlfredStore, is_store
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import DataError
from gym_clalfred.objects import ObjectClass
from tests.helpers.trajectories import clean_a_mug


def alfred_folder(tmp_path: Path, count: int = 3) -> Path:
    """A folder in ALFRED's layout with some trajectories of one room."""
    root = tmp_path / "alfred"
    for k in range(count):
        trajectory = clean_a_mug(trial=f"trial_T{k}")
        folder = root / "json_2.1.0" / "train" / trajectory.key
        folder.mkdir(parents=True)
        (folder / "traj_data.json").write_bytes(encode_trajectory(trajectory))
    return root


def files_of(root: Path) -> list[Path]:
    return sorted(root.rglob("traj_data.json"))


def test_import_makes_a_store_and_the_same_one_again(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path)
    reports = [import_alfred(root, tmp_path / f"store{k}", workers=1) for k in range(2)]
    assert reports[0].info == reports[1].info
    assert reports[0].info.trajectories == {"train": 3}
    assert reports[0].info.rooms == (7,)
    contents = [(report.store / "rooms.zip").read_bytes() for report in reports]
    assert contents[0] == contents[1]
    assert not list(tmp_path.glob("*.partial"))


def test_layouts_add_to_where_the_agent_can_stand(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    layouts = root / "gen" / "layouts"
    layouts.mkdir(parents=True)
    np.save(layouts / "FloorPlan7-layout.npy", np.array([[5.0, 5.0], [5.25, 5.0]]))
    report = import_alfred(root, tmp_path / "store", workers=1)
    assert (5.25, 5.0) in AlfredStore(report.store).room(7).walkable


def test_a_damaged_layout_is_named(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    layouts = root / "gen" / "layouts"
    layouts.mkdir(parents=True)
    (layouts / "FloorPlan7-layout.npy").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"FloorPlan7-layout\.npy"):
        import_alfred(root, tmp_path / "store", workers=1)
    assert not (tmp_path / "store").exists()


def test_a_damaged_file_stops_the_import_or_is_counted(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path)
    bad = files_of(root)[1]
    bad.write_bytes(bad.read_bytes()[:500])
    with pytest.raises(DataError, match=bad.parent.name):
        import_alfred(root, tmp_path / "store", workers=1)
    assert not (tmp_path / "store").exists()
    report = import_alfred(root, tmp_path / "store", workers=1, skip_damaged=True)
    assert report.info.skipped == len(report.damaged) == 1
    assert str(bad) in report.damaged[0]
    assert report.info.trajectories == {"train": 2}


def interrupted_at_the_third(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Reading the third file ends as by Ctrl-C; the list gets the names of all that are read."""
    read = importer._read_file
    seen: list[str] = []

    def interrupted(key: str, path: Path) -> Trajectory:
        seen.append(key)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return read(key, path)

    monkeypatch.setattr(importer, "_read_file", interrupted)
    return seen


def test_only_what_is_missing_is_read_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = alfred_folder(tmp_path)
    monkeypatch.setattr(importer, "CHUNK", 1)
    seen = interrupted_at_the_third(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        import_alfred(root, tmp_path / "store", workers=1)
    assert not (tmp_path / "store").exists()
    report = import_alfred(root, tmp_path / "store", workers=1)
    assert seen[2:] == [seen[2], seen[2]]
    assert report.info.trajectories == {"train": 3}


_KILLED = """
import os, signal, sys
from gym_clalfred.data.alfred_import import importer
importer.CHUNK = 1
read, seen = importer._read_file, []
def killed(key, path):
    seen.append(key)
    if len(seen) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return read(key, path)
importer._read_file = killed
importer.import_alfred(sys.argv[1], sys.argv[2], workers=1)
"""


def test_an_import_that_was_killed_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = alfred_folder(tmp_path), tmp_path / "store"
    process = subprocess.run([sys.executable, "-c", _KILLED, str(root), str(store)], check=False)
    assert process.returncode == -signal.SIGKILL
    assert not store.exists()
    monkeypatch.setattr(importer, "CHUNK", 1)
    read, seen = importer._read_file, []
    monkeypatch.setattr(
        importer, "_read_file", lambda key, path: seen.append(key) or read(key, path)
    )
    report = import_alfred(root, store, workers=1)
    assert len(seen) == 1
    assert report.info == import_alfred(root, tmp_path / "whole", workers=1).info


def test_archives_are_read_where_they_are(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path)
    layouts = root / "gen" / "layouts"
    layouts.mkdir(parents=True)
    np.save(layouts / "FloorPlan7-layout.npy", np.array([[0.25, 0.5]]))
    (layouts / "FloorPlan7-objects.json").write_text('["Window", "Fridge"]')
    standing = '{"Fridge|+01.00|+00.00|+03.00": [0.25, 0.5, 0, 0]}'
    (layouts / "FloorPlan7-openable.json").write_text(standing)
    archive = tmp_path / "archives" / "json_2.1.0-train.tar.xz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:xz") as file:
        file.add(root / "json_2.1.0", "json_2.1.0")
        file.add(root / "gen", "gen")
        for name in ("../json_2.1.0/train/a/b/traj_data.json", "/tmp/evil", "json_2.1.0/notes.txt"):
            file.add(files_of(root)[0], name)
    report = import_alfred(archive.parent, tmp_path / "store", workers=1)
    assert report.info == import_alfred(root, tmp_path / "whole", workers=1).info
    layout = read_layouts(report.store)[7]
    assert layout == read_layouts(tmp_path / "whole")[7]
    assert len(layout.points) == len(layout.receptacles) == 1
    assert layout.classes == {ObjectClass.Window, ObjectClass.Fridge}
    assert import_alfred(archive, tmp_path / "alone", workers=1).info == report.info
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "alfred", "alone", "archives", "store", "whole",
    ]  # fmt: skip


def interrupt_reading(monkeypatch: pytest.MonkeyPatch, alfred: Path, store: Path) -> None:
    """Imports until the first file would be read."""

    def interrupted(key: str, path: Path) -> Trajectory:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(importer, "_read_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            import_alfred(alfred, store, workers=1)


def packed(root: Path, archive: Path, *files: Path) -> Path:
    """An archive of some of a folder's files."""
    with tarfile.open(archive, "w") as file:
        for path in files:
            file.add(path, path.relative_to(root))
    return archive


def test_only_the_archives_that_are_given_now_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = alfred_folder(tmp_path), tmp_path / "store"
    first, second, third = files_of(root)
    interrupt_reading(monkeypatch, packed(root, tmp_path / "a.tar", first, second), store)
    report = import_alfred(packed(root, tmp_path / "b.tar", third), store, workers=1)
    keys = {entry.key.trajectory for entry in AlfredStore(store).entries(Split.TRAIN)}
    assert keys == {f"{third.parent.parent.name}/{third.parent.name}"}
    assert report.info.trajectories == {"train": 1}


def test_what_is_no_longer_in_an_archive_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, archive = alfred_folder(tmp_path), tmp_path / "a.tar"
    interrupt_reading(monkeypatch, packed(root, archive, *files_of(root)), tmp_path / "store")
    packed(root, archive, files_of(root)[0])
    assert import_alfred(archive, tmp_path / "store", workers=1).info.trajectories == {"train": 1}


def test_archives_are_not_unpacked_again_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = alfred_folder(tmp_path)
    archive = packed(root, tmp_path / "a.tar", *files_of(root))
    interrupt_reading(monkeypatch, archive, tmp_path / "store")

    def again(archive: Path, target: Path) -> None:
        raise AssertionError(f"unpacks {archive} again")

    monkeypatch.setattr(unpack, "_unpack_one", again)
    assert import_alfred(archive, tmp_path / "store", workers=1).info.trajectories == {"train": 3}


def test_what_other_code_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = alfred_folder(tmp_path)
    monkeypatch.setattr(importer, "CHUNK", 1)
    seen = interrupted_at_the_third(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        import_alfred(root, tmp_path / "store", workers=1)
    monkeypatch.setattr(importer, "_code_hash", lambda: "another release")
    import_alfred(root, tmp_path / "store", workers=1)
    assert seen[3:] == seen[:3]


def test_two_imports_at_once_make_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, store = alfred_folder(tmp_path, 1), tmp_path / "store"
    read, begun, go_on, seen = importer._read_file, Event(), Event(), []

    def held(key: str, path: Path) -> Trajectory:
        seen.append(key)
        begun.set()
        go_on.wait(60)
        return read(key, path)

    monkeypatch.setattr(importer, "_read_file", held)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(import_alfred, root, store, workers=1)
        assert begun.wait(60)
        second = pool.submit(import_alfred, root, store, workers=1)
        wait([second], timeout=0.5)
        waits = not second.done()
        go_on.set()
    assert waits
    assert first.result().info.trajectories == {"train": 1}
    assert isinstance(second.exception(), DataError)
    assert "already" in str(second.exception())
    assert len(seen) == 1


@pytest.mark.parametrize("packing", ["xz", "gz", "bz2"])
def test_a_damaged_archive_is_named(tmp_path: Path, packing: str) -> None:
    root, archive = alfred_folder(tmp_path), tmp_path / f"data.tar.{packing}"
    with tarfile.open(archive, f"w:{packing}") as file:  # type: ignore[call-overload]
        file.add(root / "json_2.1.0", "json_2.1.0")
    whole = archive.read_bytes()
    middle = len(whole) // 2
    for damaged in (
        b"nothing",
        whole[:middle],
        whole[:middle] + b"\xff" * 64 + whole[middle + 64 :],
    ):
        archive.write_bytes(damaged)
        with pytest.raises(DataError, match=rf"data\.tar\.{packing}: cannot be unpacked"):
            import_alfred(archive, tmp_path / "store", workers=1)


def test_archives_of_a_whole_checkout_are_read(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    with tarfile.open(tmp_path / "checkout.tar", "w") as file:
        file.add(root / "json_2.1.0", "alfred-master/data/json_2.1.0")
    report = import_alfred(tmp_path / "checkout.tar", tmp_path / "store", workers=1)
    assert report.info == import_alfred(root, tmp_path / "whole", workers=1).info


def test_archives_of_something_else_are_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "thesis.tar", "w") as file:
        file.add(__file__, "thesis.tex")
    with pytest.raises(DataError, match=r"thesis\.tar: not ALFRED's data"):
        import_alfred(tmp_path / "thesis.tar", tmp_path / "store", workers=1)


def test_the_current_folder_is_no_place_for_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = alfred_folder(tmp_path, 1)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(DataError, match="is the current folder"):
        import_alfred(root, ".", workers=1)
    assert import_alfred(root, "store", workers=1).store == tmp_path / "here" / "store"


def test_layouts_of_a_checkout_are_found_from_its_data_folder(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    layouts = tmp_path / "gen" / "layouts"
    layouts.mkdir(parents=True)
    np.save(layouts / "FloorPlan7-layout.npy", np.array([[2.5, 2.5]]))
    for k, alfred in enumerate((root, root / "json_2.1.0")):
        store = import_alfred(alfred, tmp_path / f"store{k}", workers=1).store
        assert read_layouts(store)[7].points == {(2.5, 2.5)}


def test_the_store_counts_the_episodes_that_alfred_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = alfred_folder(tmp_path, 2)
    listed = {(Split.TRAIN, clean_a_mug(trial="trial_T1").key): 1}
    monkeypatch.setattr(alfred_folder_module, "LISTED_ANNOTATIONS", listed)
    report = import_alfred(root, tmp_path / "store", workers=1)
    whole = len(clean_a_mug().annotations)
    assert report.info.episodes == {"train": whole + 1}
    assert len(AlfredStore(tmp_path / "store").entries(Split.TRAIN)) == whole + 1


def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    """Workers must not run the user's script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "print('started', flush=True)\n"
        "from gym_clalfred.data.alfred_import.importer import import_alfred\n"
        f"import_alfred({str(alfred_folder(tmp_path))!r}, {str(tmp_path / 'store')!r}, workers=2)\n"
    )
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=300
    )
    assert result.stdout == "started\n"
    assert is_store(tmp_path / "store")


def test_an_existing_store_is_not_overwritten(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    import_alfred(root, tmp_path / "store", workers=1)
    with pytest.raises(DataError, match="already"):
        import_alfred(root, tmp_path / "store", workers=1)


def test_a_file_is_no_place_for_a_store(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    (tmp_path / "store").write_text("mine")
    with pytest.raises(DataError, match="is a file; choose a folder"):
        import_alfred(root, tmp_path / "store", workers=1)
    assert (tmp_path / "store").read_text() == "mine"


def test_what_is_not_alfred_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"json_2\.1\.0"):
        import_alfred(tmp_path, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_absurd_coordinates_are_named() -> None:
    before = clean_a_mug()
    poses = (replace(before.scene.object_poses[0], position=(900.0, 0.9, 0.0)),)
    with pytest.raises(DataError, match=r"some file: scene\.object_poses\[0\]"):
        check_extent(replace(before, scene=replace(before.scene, object_poses=poses)), "some file")
    far = replace(before.actions[-1], object_id="Fridge|+900.00|+00.00|+00.00")
    with pytest.raises(DataError, match=r"some file: plan\.low_actions\[\d+\]"):
        check_extent(replace(before, actions=(far,)), "some file")


_junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, inner in pairs:
        found.append((*path, key))
        if isinstance(inner, (dict, list)):
            found += _places(inner, (*path, key))
    return found


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_an_error_that_names_the_file(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = dump_trajectory(clean_a_mug())
    *path, last = data.draw(st.sampled_from(_places(document)))
    inner: Any = document
    for key in path:
        inner = inner[key]
    if data.draw(st.booleans()):
        del inner[last]
    else:
        inner[last] = data.draw(_junk)
    file = tmp_path_factory.mktemp("damaged") / "traj_data.json"
    file.write_text(json.dumps(document))
    message = ""
    try:
        Recorder().add(importer._read_file(clean_a_mug().key, file))
    except DataError as error:
        message = str(error)
    assert not message or str(file) in message


@settings(max_examples=40, deadline=None)
@given(share=st.floats(0.0, 0.999))
def test_a_truncated_file_is_an_error_that_names_it(
    share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = encode_trajectory(clean_a_mug()).rstrip()
    file = tmp_path_factory.mktemp("truncated") / "traj_data.json"
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=re.escape(str(file))):
        importer._read_file(clean_a_mug().key, file)


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_damage_stops_an_import_that_leaves_out_damaged_files(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    root = alfred_folder(folder, 2)
    file = files_of(root)[0]
    document = json.loads(file.read_bytes())
    *path, last = data.draw(st.sampled_from(_places(document)))
    inner: Any = document
    for key in path:
        inner = inner[key]
    inner[last] = data.draw(_junk)
    file.write_text(json.dumps(document))
    report = import_alfred(root, folder / "store", workers=1, skip_damaged=True)
    assert report.info.trajectories["train"] + report.info.skipped == 2
    assert not list(folder.glob("*.partial"))


def test_splits_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    report = import_alfred(alfred_folder(tmp_path, 1), tmp_path / "store", workers=1)
    store = AlfredStore(report.store)
    assert len(store.entries(Split.TRAIN)) == 3
    assert store.entries(Split.VALID_UNSEEN) == ()
