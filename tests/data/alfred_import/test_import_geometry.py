"""What masks and actions of ALFRED tell: boxes, sizes, poses and what was moved."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.blocks import rectangles
from gym_clalfred.data.alfred_import.boxes import BoxFitter, FixtureView, Surroundings
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, SAMPLES, bases, project
from gym_clalfred.data.alfred_import.evidence import name_holders, name_ids, sightings
from gym_clalfred.data.alfred_import.items import ItemView, fit_items
from gym_clalfred.data.alfred_import.record_file import Recorder, read_evidence
from gym_clalfred.data.alfred_import.rooms import Reconstruction, RoomEvidence, plain_shape
from gym_clalfred.data.alfred_import.trim import trim
from gym_clalfred.data.trajectory import Trajectory
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import ObjectPose
from gym_clalfred.simulator.embedded.catalog import Appearance, build_mesh, model_of, style_of
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room_model import Decor
from gym_clalfred.tasks.spec import TaskSpec, TaskType
from tests.helpers.trajectories import MUG, clean_a_mug, trajectories

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
    mesh = build_mesh(ObjectClass.Bowl, tuple(usual), style_of(name), Appearance())
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


def test_a_front_is_widened_so_that_a_line_of_sight_enters_by_it() -> None:
    box = np.array([-0.2, 0.0, -0.4, 0.2, 0.6, 0.0])
    ray = np.array([[0.0, 1.6, 0.3, 0.0, 0.1, -0.2]])  # passes the plane of the front at 0.7
    none = np.zeros((0, 6))
    grown = trim(box, none, ray, 5, growth=0.15)
    assert grown[4] > 0.7
    assert grown[5] == box[5]
    assert trim(box, none, ray, 5)[5] < box[5]
