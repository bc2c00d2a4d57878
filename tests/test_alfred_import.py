"""Importing ALFRED: geometry is recovered from masks, damage is named, nothing is half-written."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tarfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from trajectories import MUG, clean_a_mug, trajectories

from gym_clalfred.data.alfred_import import importer, unpack
from gym_clalfred.data.alfred_import.blocks import rectangles
from gym_clalfred.data.alfred_import.boxes import BoxFitter, FixtureView, Surroundings
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, SAMPLES, bases, project
from gym_clalfred.data.alfred_import.evidence import name_holders, name_ids, sightings
from gym_clalfred.data.alfred_import.importer import check_extent, import_alfred
from gym_clalfred.data.alfred_import.items import ItemView, fit_items
from gym_clalfred.data.alfred_import.records import Recorder, read_evidence
from gym_clalfred.data.alfred_import.rooms import Reconstruction, RoomEvidence, plain_shape
from gym_clalfred.data.alfred_import.trim import trim
from gym_clalfred.data.alfred_json import dump_trajectory, encode_trajectory
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.errors import DataError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import ObjectPose
from gym_clalfred.simulator.embedded.catalog import Look, build_mesh, model_of, style_of
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room import Decor
from gym_clalfred.tasks.spec import TaskSpec, TaskType

POSES = ((0.0, 0.0, 0, 30), (0.5, 0.0, 0, 30), (-0.5, 0.25, 0, 45), (-1.25, 1.25, 90, 30))


def rendered_views(low: tuple[float, ...], high: tuple[float, ...]) -> list[FixtureView]:
    """Masks of a box as the simulator's own renderer shows it."""
    decor = Decor((0, 0, 0), "plain", (0, 0, 0), "plain", (0, 0, 0))
    ground = MeshBuilder().box((-0.1, -9.1, -0.1), (0.1, -9.0, 0.1), Paint((0, 0, 0))).build()
    stage, camera = Stage(ground, decor), Renderer(SAMPLES)
    mesh = MeshBuilder().box(low, high, Paint((9, 9, 9))).build()  # type: ignore[arg-type]
    stage.put(1, mesh, (0.0, 0.0, 0.0), 0.0, carried=True)
    views = []
    for x, z, yaw, pitch in POSES:
        images = camera.render(stage, (x, EYE_HEIGHT, z), [(yaw, pitch)], rgb=False)
        assert images.instances is not None
        views.append(FixtureView(x, z, yaw, pitch, images.instances[0] == 1))
    return views


def test_silhouettes_agree_with_the_renderer() -> None:
    low, high = (-0.3, 0.6, 0.9), (0.3, 1.1, 1.4)
    around = Surroundings(np.zeros((0, 2)))
    fitter = BoxFitter(rendered_views(low, high), (0, 0.8, 1.1), (0.6, 0.5, 0.5), around)
    assert fitter.agreements(np.array([*low, *high])).min() > 0.97


def test_a_box_is_found_from_its_masks() -> None:
    low, high = (-0.25, 0.0, 0.95), (0.45, 0.75, 1.45)
    around = Surroundings(np.array([[x, z] for x, z, _, _ in POSES]))
    fitter = BoxFitter(rendered_views(low, high), (0.1, 0.0, 1.2), (0.5, 0.6, 0.5), around)
    found = fitter.fit(np.array([-0.15, 0.0, 0.95, 0.35, 0.6, 1.45]))
    assert found.agreement > 0.93
    assert np.abs(found.box - [*low, *high]).max() < 0.1


def test_a_box_where_the_agent_stood_counts_less() -> None:
    views = rendered_views((-0.3, 0.0, 0.9), (0.3, 0.8, 1.4))
    walked = np.array([[0.0, 1.0], [0.0, 1.25], [0.25, 1.0], [0.25, 1.25]])
    start = np.array([-0.3, 0.0, 0.9, 0.3, 0.8, 1.4])
    free = BoxFitter(views, (0, 0, 1.1), (0.6, 0.8, 0.5), Surroundings(np.zeros((0, 2))))
    held = BoxFitter(views, (0, 0, 1.1), (0.6, 0.8, 0.5), Surroundings(walked))
    assert held.fit(start).score < free.fit(start).score


def test_size_and_origin_of_an_object_are_found_from_its_masks() -> None:
    name = "Bowl_12345678"
    size, origin = np.array((0.26, 0.11, 0.26)), np.array((0.03, -0.05, 0.0))
    usual = np.array(model_of(ObjectClass.Bowl).size(style_of(name)))
    mesh = build_mesh(ObjectClass.Bowl, tuple(usual), style_of(name), Look())
    used = np.arange(mesh.corners.shape[1]) < mesh.counts[:, None]
    points = mesh.corners[used].astype(float) / usual * size
    views = []
    for k, (x, z) in enumerate(((0, 0), (0.5, 0), (-0.5, 0), (0, 0.25), (0.25, 0.25))):
        position, turned = np.array((0.1, 0.9, 1.1)), 90.0 * k
        sine, cosine = np.sin(np.radians(turned)), np.cos(np.radians(turned))
        own = points + origin
        world = np.stack(
            [
                own[:, 0] * cosine + own[:, 2] * sine,
                own[:, 1],
                own[:, 2] * cosine - own[:, 0] * sine,
            ],
            axis=1,
        )
        basis = bases(np.array([0.0]), np.array([30.0]))
        seen = project((world + position)[None], np.array([[x, EYE_HEIGHT, z]]), basis)[0]
        left, top = np.floor(seen[:, :2].min(axis=0)).astype(int)
        right, bottom = np.ceil(seen[:, :2].max(axis=0)).astype(int)
        edges = (int(left), int(top), int(right), int(bottom))
        views.append(ItemView((x, z), 0, 30, (0.1, 0.9, 1.1), turned, edges))
    shape = fit_items({name: views})[name].shape
    assert np.abs(np.array(shape.size) - size).max() < 0.015
    assert np.abs(np.array(shape.origin) - origin).max() < 0.015


@given(arrays(np.bool_, (9, 7)))
def test_rectangles_are_disjoint_and_only_cover_what_is_set(cells: NDArray[np.bool_]) -> None:
    covered = np.zeros(cells.shape, dtype=int)
    for i0, j0, i1, j1 in rectangles(cells, most=100):
        covered[i0:i1, j0:j1] += 1
    assert covered.max(initial=0) <= 1
    assert ((covered == 1) == cells).all()


_coordinate = st.floats(-2, 2)


@given(st.lists(st.tuples(*[_coordinate] * 6), max_size=4))
def test_trimming_only_ever_cuts(rays: list[tuple[float, ...]]) -> None:
    box = np.array([-0.5, 0.0, -0.5, 0.5, 1.0, 0.5])
    cut = trim(box, np.array(rays).reshape(-1, 6), np.zeros((0, 6)), -1)
    assert (cut[:3] >= box[:3]).all()
    assert (cut[3:] <= box[3:]).all()
    assert (cut[3:] - cut[:3] > 0.01).all()


def test_a_box_is_cut_back_from_a_line_of_sight() -> None:
    box = np.array([-0.5, 0.0, 1.0, 0.5, 1.0, 1.5])
    ray = np.array([[0.0, 1.6, 0.0, 0.0, 0.85, 1.6]])
    cut = trim(box, ray, np.zeros((0, 6)), -1)
    assert cut[4] < 0.95
    assert (cut[[0, 1, 3]] == box[[0, 1, 3]]).all()


def test_an_id_one_centimetre_beside_the_pose_becomes_the_poses_own() -> None:
    shifted = MUG.replace("-00.40", "-00.39")
    before = clean_a_mug()
    actions = tuple(
        replace(
            act,
            object_id=shifted if act.object_id == MUG else act.object_id,
            held_id=shifted if act.held_id == MUG else act.held_id,
        )
        for act in before.actions
    )
    after = name_ids(replace(before, actions=actions))
    assert after.actions == before.actions


def test_sightings_tell_what_was_moved() -> None:
    seen = list(sightings(name_ids(clean_a_mug())))
    mugs = [one for one in seen if one.target == MUG]
    assert [one.pose is not None for one in mugs] == [True, False]
    assert mugs[1].put_in is not None
    assert mugs[1].put_in.endswith("SinkBasin")


def test_an_expert_who_does_not_fill_the_movable_found_it_filled() -> None:
    before = clean_a_mug()
    poses = (
        ObjectPose("Spoon_1", (1.2, 0.9, -0.4)),
        ObjectPose("Spoon_1", (3.0, 0.9, -0.4)),
        *before.scene.object_poses,
    )
    task = TaskSpec(TaskType.MOVABLE, ObjectClass.Spoon, ObjectClass.Shelf, ObjectClass.Mug)
    scene = replace(before.scene, object_poses=poses)
    after = name_holders(replace(before, task=task, scene=scene))
    assert [pose.holder for pose in after.scene.object_poses] == [MUG, None, MUG]


@settings(max_examples=40, deadline=None)
@given(trajectory=trajectories())
def test_whatever_can_be_read_leaves_evidence(
    trajectory: Trajectory, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("records") / "evidence.zip"
    recorder = Recorder()
    recorder.add(name_holders(name_ids(trajectory)))
    recorder.write(path)
    rooms = read_evidence([path])
    assert set(rooms) == {trajectory.scene.number}
    names = {pose.name for pose in trajectory.scene.object_poses}
    assert rooms[trajectory.scene.number].names == names


def test_a_fixture_is_rebuilt_where_it_was_seen() -> None:
    name = "SideTable|+00.10|+00.00|+01.20"
    evidence = RoomEvidence(201, walked={(x, z) for x, z, _, _ in POSES})
    evidence.views[name, True] = rendered_views((-0.2, 0.0, 0.95), (0.4, 0.6, 1.45))
    evidence.access[name] = Counter({0: 4})
    room = Reconstruction(evidence, {"Mug_1": plain_shape("Mug_1")}).build()
    (table,) = room.fixtures
    assert table.name == name
    assert table.yaw == 180.0
    assert np.hypot(table.position[0] - 0.1, table.position[2] - 1.2) < 0.15
    assert table.surfaces
    assert abs(table.position[1] + table.size[1] - 0.6) < 0.1


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
    archive = tmp_path / "archives" / "json_2.1.0-train.tar.xz"
    archive.parent.mkdir()
    with tarfile.open(archive, "w:xz") as file:
        file.add(root / "json_2.1.0", "json_2.1.0")
        for name in ("../json_2.1.0/train/a/b/traj_data.json", "/tmp/evil", "json_2.1.0/notes.txt"):
            file.add(files_of(root)[0], name)
    report = import_alfred(archive.parent, tmp_path / "store", workers=1)
    assert report.info == import_alfred(root, tmp_path / "whole", workers=1).info
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


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "data.tar.xz").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"data\.tar\.xz"):
        import_alfred(tmp_path, tmp_path / "store", workers=1)


def test_an_existing_store_is_not_overwritten(tmp_path: Path) -> None:
    root = alfred_folder(tmp_path, 1)
    import_alfred(root, tmp_path / "store", workers=1)
    with pytest.raises(DataError, match="already"):
        import_alfred(root, tmp_path / "store", workers=1)


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
