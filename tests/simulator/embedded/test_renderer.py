"""The renderer against a brute-force ray caster, its conventions, and the stage's bookkeeping."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.simulator.embedded.render import shadows
from gym_clalfred.simulator.embedded.render.mesh import (
    MAX_CORNERS,
    Mesh,
    MeshBuilder,
    Paint,
    Texture,
)
from gym_clalfred.simulator.embedded.render.readout import LEAST_INVERSE, write_depth
from gym_clalfred.simulator.embedded.render.renderer import (
    KEPT_PICTURES,
    PicturePool,
    Renderer,
    camera_basis,
)
from gym_clalfred.simulator.embedded.render.shell import shell_of, texture_named
from gym_clalfred.simulator.embedded.render.stage import FreeRanges, Stage
from gym_clalfred.simulator.embedded.render.textures import texture_atlas
from gym_clalfred.simulator.embedded.room_model import Decor, Opening, Rectangle, Room, Wall
from tests.helpers.cases import for_each

GREY = Paint((150, 150, 150))
EYE = (0.0, 1.575, 0.0)
FOCAL_AT_300 = 259.8076


def make_room(openings: tuple[Opening, ...] = ()) -> Room:
    corners = [(-3.0, -3.0), (-3.0, 3.0), (3.0, 3.0), (3.0, -3.0)]
    walls = tuple(
        Wall(*corners[i], *corners[(i + 1) % 4], openings if i == 1 else ()) for i in range(4)
    )
    decor = Decor((210, 200, 190), "plain", (150, 110, 80), "planks", (240, 240, 240))
    return Room(1, (Rectangle(-3, -3, 3, 3),), walls, 2.6, (), frozenset(), (), decor)


def make_stage(openings: tuple[Opening, ...] = ()) -> Stage:
    room = make_room(openings)
    return Stage(shell_of(room), room.decor, room)


def box(width: float, height: float, depth: float, paint: Paint = GREY) -> Mesh:
    half_w, half_d = width / 2, depth / 2
    return MeshBuilder().box((-half_w, 0, -half_d), (half_w, height, half_d), paint).build()


def random_scene(seed: int) -> list[tuple[Mesh, tuple[float, float, float], float]]:
    random = np.random.default_rng(seed)
    scene = []
    for _ in range(25):
        if random.random() < 0.5:
            mesh = box(*random.uniform(0.05, 0.8, 3))
        else:
            mesh = MeshBuilder().cylinder(*random.uniform(0.05, 0.4, 1), 0.0, 0.5, GREY).build()
        x, y, z = random.uniform(-2.3, 2.3), random.uniform(0, 1.8), random.uniform(-2.3, 2.3)
        scene.append((mesh, (x, y, z), random.uniform(0, 360)))
    return scene


def cast_rays(
    parts: list[tuple[int, Mesh, tuple[float, float, float], float]],
    eye: tuple[float, float, float],
    yaw: float,
    pitch: float,
    size: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Instance ids and depths by intersecting every pixel's ray with every polygon, in float64."""
    y, p = math.radians(yaw), math.radians(pitch)
    forward = np.array([math.sin(y) * math.cos(p), -math.sin(p), math.cos(y) * math.cos(p)])
    right = np.array([math.cos(y), 0.0, -math.sin(y)])
    up = np.cross(forward, right)
    focal = size / 2 / math.tan(math.radians(30))
    offsets = (np.arange(size) + 0.5 - size / 2) / focal
    rays = forward + offsets[None, :, None] * right - offsets[:, None, None] * up
    ids = np.zeros((size, size), dtype=np.int64)
    depths = np.full((size, size), np.inf)
    for instance, mesh, position, turn in parts:
        t = math.radians(turn)
        rotation = np.array(
            [[math.cos(t), 0, math.sin(t)], [0, 1, 0], [-math.sin(t), 0, math.cos(t)]]
        )
        for q in range(len(mesh)):
            corners = mesh.corners[q, : mesh.counts[q]].astype(np.float64) @ rotation.T
            corners = corners + np.array(position) - np.array(eye)
            normal = rotation @ mesh.normals[q]
            if np.dot(normal, corners[0]) >= 0:
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                depth = np.dot(normal, corners[0]) / (rays @ normal)
            inside = (depth > 0.02) & (depth < depths)
            points = rays * np.where(inside, depth, 0)[..., None]
            following = np.roll(corners, -1, axis=0)
            sides = [
                np.cross(b - a, points - a) @ normal
                for a, b in zip(corners, following, strict=True)
            ]
            inside &= np.all(np.array(sides) >= 0, axis=0) | np.all(np.array(sides) <= 0, axis=0)
            depths = np.where(inside, depth, depths)
            ids = np.where(inside, instance, ids)
    return ids, depths


@pytest.mark.parametrize("seed", range(4))
def test_ids_and_depth_agree_with_ray_casting(seed: int) -> None:
    room = make_room()
    shell = shell_of(room)
    stage = Stage(shell, room.decor, room)
    scene = random_scene(seed)
    parts = [(0, shell, (0.0, 0.0, 0.0), 0.0)]
    for k, (mesh, position, yaw) in enumerate(scene, start=1):
        stage.put(k, mesh, position, yaw)
        parts.append((k, mesh, position, yaw))
    size = 150
    views = [(20.0 * seed, 15.0), (200.0 + 31 * seed, -20.0), (90.0, 60.0)]
    images = Renderer(size).render(stage, EYE, views, depth=True)
    for v, (yaw, pitch) in enumerate(views):
        ids, depths = cast_rays(parts, EYE, yaw, pitch, size)
        differ = images.instances[v] != ids
        assert differ.mean() < 1e-3
        # Beside edges the two may choose different polygons of one object.
        assert np.mean(np.abs(images.depth[v] - depths)[~differ] > 1e-3) < 1e-3


def test_every_pixel_of_a_closed_room_shows_something() -> None:
    openings = (Opening("window", 1.0, 2.5, 0.9, 2.0), Opening("door", 4.0, 4.9, 0.0, 2.05))
    stage = make_stage(openings)
    for size in (84, 301):
        depth = (
            Renderer(size)
            .render(
                stage,
                EYE,
                [(yaw, pitch) for yaw in range(0, 360, 45) for pitch in (-30, 0, 45)],
                depth=True,
            )
            .depth
        )
        assert np.mean(depth > 6.0) < 2e-5


@pytest.mark.parametrize(
    ("position", "column", "row"),
    [
        ((0, 1.575, 2), 0, 0),
        ((0.5, 1.575, 2), 1, 0),
        ((-0.5, 1.575, 2), -1, 0),
        ((0, 1.0, 2), 0, 1),
        ((0, 2.1, 2), 0, -1),
    ],
)
def test_where_things_appear_at_yaw_0(
    position: tuple[float, float, float], column: int, row: int
) -> None:
    stage = make_stage()
    stage.put(1, box(0.1, 0.1, 0.1), (position[0], position[1] - 0.05, position[2]), 0)
    rows, columns = np.nonzero(Renderer(300).render(stage, EYE, [(0, 0)]).instances[0] == 1)
    assert np.sign(round((columns.mean() - 149.5) / 10)) == column
    assert np.sign(round((rows.mean() - 149.5) / 10)) == row


@pytest.mark.parametrize(
    ("yaw", "direction"), [(0, (0, 1)), (90, (1, 0)), (180, (0, -1)), (270, (-1, 0)), (45, (1, 1))]
)
def test_yaw_turns_clockwise_from_z_to_x(yaw: int, direction: tuple[int, int]) -> None:
    stage = make_stage()
    x, z = direction
    stage.put(1, box(0.2, 0.2, 0.2), (1.5 * x, 1.475, 1.5 * z), 0)
    names = Renderer(101).render(stage, EYE, [(yaw, 0)]).instances[0]
    assert names[50, 50] == 1


def test_pitch_is_positive_downwards() -> None:
    stage = make_stage()
    stage.put(1, box(0.4, 0.01, 0.4), (0, 0, 1.575), 0)
    names = Renderer(101).render(stage, EYE, [(0, 45), (0, -45)]).instances
    assert names[0, 50, 50] == 1
    assert not (names[1] == 1).any()


def test_objects_turn_clockwise_seen_from_above() -> None:
    """At yaw 90 the front of an object, local +z, looks towards +x."""
    builder = MeshBuilder().box((-0.1, 0, -0.1), (0.1, 0.2, 0.1), Paint((10, 10, 10)))
    mesh = builder.box((-0.1, 0, 0.1), (0.1, 0.2, 0.5), Paint((255, 255, 255), glow=1.0)).build()
    stage = make_stage()
    stage.put(1, mesh, (0, 1.475, 2), 90)
    images = Renderer(200).render(stage, EYE, [(0, 0)])
    bright = (images.rgb[0].min(axis=2) > 250) & (images.instances[0] == 1)
    assert np.nonzero(bright)[1].mean() > 105


def test_a_compact_disc_has_the_width_that_the_focal_length_gives() -> None:
    """ALFRED measures a CD as 0.111 m from masks of 300 px and a focal length of 259.81 px."""
    mesh = MeshBuilder().box((-0.0555, 0, -0.001), (0.0555, 0.111, 0.001), GREY).build()
    stage = make_stage()
    stage.put(1, mesh, (0, EYE[1] - 0.0555, 0.751), 0)
    mask = Renderer(300).render(stage, EYE, [(0, 0)]).instances[0] == 1
    expected = 0.111 / 0.75 * FOCAL_AT_300
    assert abs(mask.any(axis=0).sum() - expected) <= 1
    assert abs(mask.any(axis=1).sum() - expected) <= 1


@pytest.mark.parametrize("size", [84, 300])
def test_a_mask_ends_where_the_corners_project(size: int) -> None:
    position, yaw, pitch = np.array([0.4, 0.5, 1.9]), 12.0, 20.0
    stage = make_stage()
    stage.put(1, box(0.3, 0.5, 0.2), tuple(position), 0)
    images = Renderer(size).render(stage, EYE, [(yaw, pitch)])
    rows, columns = np.nonzero(images.instances[0] == 1)
    corners = position + [(x, y, z) for x in (-0.15, 0.15) for y in (0, 0.5) for z in (-0.1, 0.1)]
    camera = (corners - EYE) @ camera_basis(yaw, pitch).astype(np.float64).T
    focal = FOCAL_AT_300 * size / 300
    x = size / 2 + focal * camera[:, 0] / camera[:, 2]
    y = size / 2 - focal * camera[:, 1] / camera[:, 2]
    assert (columns.min(), columns.max() + 1) == pytest.approx((x.min(), x.max()), abs=1)
    assert (rows.min(), rows.max() + 1) == pytest.approx((y.min(), y.max()), abs=1)


def test_polygons_that_cross_the_near_plane_are_cut() -> None:
    """A table top that begins behind the eye fills the lower part of the picture."""
    stage = make_stage()
    stage.put(1, box(4.0, 0.02, 4.0), (0, 1.3, 0), 0)
    images = Renderer(120).render(stage, EYE, [(0, 0)], depth=True)
    rows = np.nonzero((images.instances[0] == 1).all(axis=1))[0]
    assert rows.max() == 119
    height = EYE[1] - 1.32
    focal = 60 / math.tan(math.radians(30))
    expected = height * focal / (rows + 0.5 - 60)
    assert images.depth[0, rows, 60] == pytest.approx(expected, abs=1e-3)


def test_views_of_one_call_equal_single_views() -> None:
    stage = make_stage()
    for k, (mesh, position, yaw) in enumerate(random_scene(9), start=1):
        stage.put(k, mesh, position, yaw)
    views = [(0, 30), (-90, 30), (90, 30), (0, 15), (0, 45)]
    renderer = Renderer(84)
    together = renderer.render(stage, EYE, views, depth=True)
    for v, view in enumerate(views):
        alone = Renderer(84).render(stage, EYE, [view], depth=True)
        assert np.array_equal(together.rgb[v], alone.rgb[0])
        assert np.array_equal(together.instances[v], alone.instances[0])
        assert np.array_equal(together.depth[v], alone.depth[0])
    only_names = renderer.render(stage, EYE, views, rgb=False)
    assert only_names.rgb is None
    assert only_names.depth is None
    assert np.array_equal(only_names.instances, together.instances)
    assert renderer.render(stage, EYE, views, instances=False).instances is None


def test_pictures_belong_to_the_caller() -> None:
    stage = make_stage()
    renderer = Renderer(32)
    first = renderer.render(stage, EYE, [(0, 0)], depth=True)
    before = first.rgb.copy(), first.instances.copy(), first.depth.copy()
    stage.put(1, box(1, 1, 0.2), (0, 1, 1.5), 0)
    second = renderer.render(stage, EYE, [(0, 0)], depth=True)
    assert not np.array_equal(first.rgb, second.rgb)
    for image, kept in zip((first.rgb, first.instances, first.depth), before, strict=True):
        assert np.array_equal(image, kept)


def test_memory_is_used_again_once_nobody_refers_to_it() -> None:
    memory = PicturePool()
    kept = [memory.take(100, np.uint8)[:60].reshape(6, 10) for _ in range(KEPT_PICTURES + 2)]
    for k, part in enumerate(kept):
        part[:] = k
    assert [int(part[0, 0]) for part in kept] == list(range(len(kept)))
    address = kept[-1].ctypes.data
    row = kept.pop()[3]
    assert memory.take(100, np.uint8).ctypes.data != address
    del row, part
    assert memory.take(100, np.uint8).ctypes.data == address


def test_what_is_carried_can_be_left_out_and_changes_nothing_else() -> None:
    stage = make_stage()
    stage.put(1, box(0.2, 0.2, 0.2), (0, 1.475, 1.0), 0, carried=True)
    stage.put(2, box(0.4, 0.4, 0.2), (0, 1.375, 2.0), 0)
    renderer = Renderer(64)
    names = renderer.render(stage, EYE, [(0, 0)]).instances
    without = renderer.render(stage, EYE, [(0, 0)], carried=False).instances
    assert names[0, 32, 32] == 1
    assert without[0, 32, 32] == 2
    assert np.array_equal(np.where(names == 1, without, names), without)
    assert np.array_equal(renderer.render(stage, EYE, [(0, 0)]).instances, names)


def picture(stage: Stage) -> bytes:
    images = Renderer(64).render(stage, EYE, [(0, 30), (120, 20), (240, 40)])
    return images.rgb.tobytes() + images.instances.tobytes()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3)), min_size=1, max_size=25))
def test_moving_things_about_leaves_no_trace(moves: list[tuple[int, int]]) -> None:
    """Whatever was put, moved and removed: the picture depends on what is there now, only."""
    table, small = box(1.2, 0.7, 0.8), box(0.1, 0.1, 0.1)
    places = [(0.0, 0.7, 1.5), (0.3, 0.0, 1.0), (-1.0, 0.7, -0.5)]

    def put(stage: Stage, instance: int, place: int) -> None:
        mesh = table if instance == 6 else small
        x, y, z = places[place]
        # Apart from each other: which of two coplanar faces shows depends on their order.
        x, y = (x, 0.0) if instance == 6 else (x + 0.15 * instance, y + 0.001 * instance)
        stage.put(instance, mesh, (x, y, z), 30.0 * instance)

    stage, now = make_stage(), {}
    for instance, place in moves:
        if place == 3:
            stage.remove(instance)
            now.pop(instance, None)
        else:
            put(stage, instance, place)
            now[instance] = place
    fresh = make_stage()
    for instance, place in now.items():
        put(fresh, instance, place)
    assert picture(stage) == picture(fresh)
    assert all((k in stage) == (k in now) for k in range(1, 7))


def test_a_copy_is_independent() -> None:
    stage = make_stage()
    stage.put(1, box(0.5, 0.7, 0.5), (0, 0, 1.5), 0)
    before = picture(stage)
    twin = stage.copy()
    twin.put(2, box(0.2, 0.2, 0.2), (0, 0.7, 1.5), 0)
    twin.remove(1)
    assert picture(stage) == before
    assert picture(twin) != before


def test_the_stage_grows_with_what_is_put() -> None:
    stage = make_stage()
    for k in range(1, 801):
        stage.put(k, box(0.02, 0.02, 0.02), (-2 + 0.005 * k, 0.0, 1.5), 0)
    stage.put(801, box(0.5, 0.5, 0.5), (0, 1.3, 2.0), 0)
    assert Renderer(64).render(stage, EYE, [(0, 0)]).instances[0, 32, 32] == 801


def test_small_things_darken_what_they_stand_on() -> None:
    stage = make_stage()
    stage.put(1, box(1.0, 0.7, 1.0, Paint((200, 200, 200))), (0, 0, 1.5), 0)
    renderer = Renderer(150)
    bare = renderer.render(stage, EYE, [(0, 30)])
    stage.put(2, box(0.1, 0.1, 0.1), (0, 0.7, 1.5), 0)
    images = renderer.render(stage, EYE, [(0, 30)])
    top = (images.instances[0] == 1) & (bare.instances[0] == 1)
    change = bare.rgb[0].astype(int).sum(axis=2) - images.rgb[0].astype(int).sum(axis=2)
    assert change[top].max() > 60
    assert change[top].min() >= 0
    stage.remove(2)
    assert np.array_equal(renderer.render(stage, EYE, [(0, 30)]).rgb, bare.rgb)


@pytest.mark.parametrize("times", [shadows.ROOM_FINER, shadows.OBJECT_FINER])
@given(
    width=st.integers(3, 20),
    height=st.integers(3, 20),
    changed=st.tuples(*[st.floats(0, 1)] * 4),
)
def test_drawn_light_is_interpolated_where_it_changed(
    times: int, width: int, height: int, changed: tuple[float, ...]
) -> None:
    coarse = np.random.default_rng(width * height).uniform(0.1, 2.2, width * height)
    coarse = coarse.astype(np.float32)
    fine_width, fine_height = (width - 2) * times + 2, (height - 2) * times + 2
    charts = [
        np.array([0, *size], np.int32) for size in ((width, height), (fine_width, fine_height))
    ]

    def refined(left: int, top: int, right: int, bottom: int) -> np.ndarray:
        fine = np.zeros(fine_width * fine_height, dtype=np.uint8)
        shadows.refine(left, top, right, bottom, charts[0], coarse, charts[1], fine)
        return fine.reshape(fine_height, fine_width)

    everything = refined(0, 0, width, height)
    y, x = np.mgrid[:fine_height, :fine_width] / times
    j, i = y.astype(int), x.astype(int)
    grid, t, s = coarse.reshape(height, width).astype(np.float64), y - j, x - i
    upper = grid[j, i] * (1 - s) + grid[j, i + 1] * s
    lower = grid[j + 1, i] * (1 - s) + grid[j + 1, i + 1] * s
    expected = np.minimum((upper * (1 - t) + lower * t) * 128, 255)
    assert np.abs(everything - np.floor(expected)).max() <= 1
    columns, rows = sorted(changed[:2]), sorted(changed[2:])
    left, right = int(columns[0] * (width - 1)), int(columns[1] * (width - 1)) + 1
    top, bottom = int(rows[0] * (height - 1)), int(rows[1] * (height - 1)) + 1
    part = refined(left, top, right, bottom)
    touched = np.zeros((height, width), dtype=bool)
    touched[top:bottom, left:right] = True
    near = touched[j, i] | touched[j, i + 1] | touched[j + 1, i] | touched[j + 1, i + 1]
    assert (part[near] == everything[near]).all()
    assert (part[~near] == 0).all()


def test_windows_and_lamps_shine_by_themselves() -> None:
    stage = make_stage()
    lamp = Paint((250, 220, 180), glow=1.0)
    stage.put(1, box(0.3, 0.3, 0.3, lamp), (0, 1.4, 1.5), 0)
    images = Renderer(60).render(stage, EYE, [(0, 0)])
    assert np.abs(images.rgb[0][images.instances[0] == 1].astype(int) - [250, 220, 180]).max() <= 2


@for_each(Texture)
def test_every_texture_can_be_told_from_plain_paint(texture: Texture) -> None:
    stage = make_stage()
    stage.put(1, box(1.2, 1.2, 0.1, Paint((180, 150, 120), texture, 0.3)), (0, 1.0, 1.2), 0)
    images = Renderer(120).render(stage, EYE, [(0, 0)])
    # Within a row, as light changes with height.
    assert (images.instances[0, 60, 20:100] == 1).all()
    patch = images.rgb[0, 40:80, 20:100].astype(float)
    variety = patch.std(axis=1).max() + (patch - patch[:, :1]).std(axis=0).max()
    assert (variety > 1.5) == (texture is not Texture.PLAIN)


def test_texture_levels_keep_their_brightness() -> None:
    texels, levels = texture_atlas()
    for texture in Texture:
        means = []
        for level, side in ((0, 256), (8, 1)):
            rows = np.arange(side)[:, None] * 256 + np.arange(side)[None]
            values = texels[levels[texture, level] + rows]
            red = (values & 255).astype(float)
            means.append(np.sqrt(np.mean(red**2)))
        assert means[1] == pytest.approx(means[0], abs=1.5)


def test_textures_are_named_in_any_case_and_others_refused() -> None:
    assert texture_named("Planks") is Texture.PLANKS
    with pytest.raises(ValueError, match=r"unknown texture 'velvet'.*planks"):
        texture_named("velvet")


def test_instances_start_at_one_and_sizes_too() -> None:
    with pytest.raises(ValueError, match="start at 1"):
        make_stage().put(0, box(1, 1, 1), (0, 0, 0), 0)
    with pytest.raises(ValueError, match="at least 1 pixel"):
        Renderer(0)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=60))
def test_blocks_never_overlap_and_are_used_again(steps: list[tuple[bool, int]]) -> None:
    blocks, taken = FreeRanges(), []
    for give, length in steps:
        if give and taken:
            blocks.give(*taken.pop(length % len(taken)))
        else:
            taken.append((blocks.take(length), length))
        used = [i for start, size in taken for i in range(start, start + size)]
        assert len(used) == len(set(used))
        assert max(used, default=-1) < max(blocks.end, 1)
    for start, length in taken:
        blocks.give(start, length)
    assert blocks.end == 0 or blocks.take(blocks.end) == 0


def test_meshes_know_their_area_and_box() -> None:
    mesh = box(2.0, 0.5, 1.0)
    assert mesh.areas.sum() == pytest.approx(2 * (2 * 0.5 + 2 * 1 + 0.5 * 1))
    assert mesh.bounds == ((-1.0, 0.0, -0.5), (1.0, 0.5, 0.5))
    assert [mesh.normals[p].tolist() for p in mesh.shelves] == [[0.0, 1.0, 0.0]]
    assert mesh.corners.shape == (6, MAX_CORNERS, 3)


def test_depth_is_rounded_as_ieee_says_on_every_processor():
    """Quick reciprocals differ between processors, and what is put down by sight with them."""
    inverse = np.random.default_rng(0).uniform(0, 20, 4_001).astype(np.float32)
    found = np.empty_like(inverse)
    write_depth(inverse, found)
    np.testing.assert_array_equal(found, np.float32(1) / np.maximum(inverse, LEAST_INVERSE))


@given(st.permutations(range(1, 6)), st.lists(st.integers(1, 5), max_size=4))
@settings(max_examples=20, deadline=None)
def test_objects_are_drawn_in_one_order_whatever_came_and_went(
    order: list[int], again: list[int]
) -> None:
    stage = make_stage()
    for instance in [*order, *again]:
        stage.remove(instance)
        stage.put(instance, box(0.2, 0.1 * instance, 0.2), (0.0, 0.0, 2.0), 0.0)
    stage.remove(3)
    left = [0, 1, 2, 4, 5]
    assert stage.scene.spans[: stage.objects, 2].tolist() == left
    # What belongs to an object moves with it: a taller box has a larger sphere.
    radii = stage.scene.spheres[1 : stage.objects, 3].tolist()
    assert radii == sorted(set(radii))
