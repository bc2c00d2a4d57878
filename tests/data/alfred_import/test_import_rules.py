"""Rules by which rooms are inferred: what holds what, what is free, where things land."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_import.blocks import board_rectangles, on_level
from gym_clalfred.data.alfred_import.boxes import FixtureView
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, SAMPLES, bases, project
from gym_clalfred.data.alfred_import.evidence import holdings, name_holders, name_ids
from gym_clalfred.data.alfred_import.furniture import hold_inside
from gym_clalfred.data.alfred_import.hints import with_hints
from gym_clalfred.data.alfred_import.hulls import carve, carve_items
from gym_clalfred.data.alfred_import.items import CELLS, ItemFit, ItemView, divide
from gym_clalfred.data.alfred_import.studio import Studio
from gym_clalfred.data.trajectory import ExpertAction, RunLengthMask
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import SIGHT_PIXELS, ObjectPose
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.room_model import (
    Block,
    Fixture,
    ItemShape,
    Rectangle,
    Surface,
)
from gym_clalfred.tasks.spec import TaskSpec, TaskType
from tests.helpers.trajectories import MUG, clean_a_mug

FRIDGE = "Fridge|+02.00|+00.00|+00.50"
APPLE = "Apple|+02.00|+01.10|+00.50"
SLICED_APPLE = ObjectPose("Apple_1", (2.0, 1.1, 0.5))
MASK = RunLengthMask(((30000, 40),))


def slicing_an_apple(*around: ExpertAction):
    """An expert who only slices an apple, between other actions."""
    before = clean_a_mug()
    cut = ExpertAction(Action.SliceObject, 0, APPLE, None, MASK)
    task = TaskSpec(TaskType.PICK_AND_PLACE, ObjectClass.Apple, ObjectClass.Fridge, sliced=True)
    scene = replace(before.scene, object_poses=(*before.scene.object_poses, SLICED_APPLE))
    actions = (*around[:1], cut, *around[1:])
    return replace(before, task=task, scene=scene, actions=actions, plan=())


def test_a_pose_that_is_recorded_twice_is_one_object() -> None:
    before = clean_a_mug()
    poses = before.scene.object_poses
    after = name_ids(replace(before, scene=replace(before.scene, object_poses=(*poses, *poses))))
    assert after.scene.object_poses == poses
    assert MUG in {act.object_id for act in after.actions}


def test_what_is_sliced_behind_an_open_door_is_in_there() -> None:
    door = [
        ExpertAction(action, 0, FRIDGE, None, MASK)
        for action in (Action.OpenObject, Action.CloseObject)
    ]
    (held,) = holdings(slicing_an_apple(*door))
    assert (held.holder, held.pose) == (ObjectClass.Fridge, SLICED_APPLE)
    assert not list(holdings(slicing_an_apple()))


def test_what_is_only_sliced_was_where_it_belongs() -> None:
    after = name_holders(slicing_an_apple())
    holders = {pose.name: pose.holder for pose in after.scene.object_poses}
    assert holders["Apple_1"] == "Fridge|+02.00|+01.10|+00.50"
    assert [name for name, holder in holders.items() if holder] == ["Apple_1"]


def test_what_is_taken_while_nothing_is_open_is_in_nothing_closed() -> None:
    after = name_holders(name_ids(clean_a_mug()))
    (pose,) = [pose for pose in after.scene.object_poses if pose.object_class is ObjectClass.Mug]
    room = make_room(7)
    x, y, z = pose.position
    cabinet = Fixture(
        "Cabinet|+09.00|+00.00|+09.00", ObjectClass.Cabinet, (x, y - 0.1, z), 0.0, (0.6, 0.6, 0.6),
        surfaces=(Surface(Rectangle(-0.3, -0.3, 0.3, 0.3), 0.1, 0.5, inside=True),),
    )  # fmt: skip
    room = replace(room, fixtures=(cabinet,), shapes={pose.name: ItemShape((0.1, 0.1, 0.1))})
    for holder, hidden in ((pose.holder, False), (None, True)):
        scene = replace(after.scene, object_poses=(replace(pose, holder=holder),))
        mug = Household(room, scene).get(MUG)
        assert mug is not None
        assert mug.hidden is hidden


def test_a_container_reaches_around_what_was_in_it() -> None:
    box = np.array([0.0, 0.0, 0.0, 0.5, 1.0, 0.3])
    grown = hold_inside(box, 0, [(0.25, 0.3, -0.1), (0.25, 3.0, 0.1)])
    assert grown[2] < -0.15
    assert (grown[[0, 1, 3, 4, 5]] == box[[0, 1, 3, 4, 5]]).all()


def level_view(x0: float, x1: float, z0: float, z1: float, level: float) -> FixtureView:
    """The mask of a level rectangle as seen from the origin."""
    rows, columns = np.mgrid[:SAMPLES, :SAMPLES]
    everything = FixtureView(0.0, 0.0, 0, 45, np.ones((SAMPLES, SAMPLES), dtype=np.bool_))
    points = on_level(everything, level)
    inside = (points[:, 0] > x0) & (points[:, 0] < x1) & (points[:, 1] > z0) & (points[:, 1] < z1)
    samples = np.zeros((SAMPLES, SAMPLES), dtype=np.bool_)
    samples[rows.ravel(), columns.ravel()] = inside
    return replace(everything, samples=samples)


def test_a_board_has_no_cells_through_which_a_basin_is_seen() -> None:
    level, none = 0.9, np.zeros((0, 2))
    board = level_view(-0.3, 0.3, 0.3, 0.9, level)
    basin = level_view(-0.1, 0.1, 0.5, 0.7, level)
    whole = board_rectangles([board], (0.0, 0.6), level, none, none, none)
    cut = board_rectangles([board], (0.0, 0.6), level, none, none, on_level(basin, level))

    def covers(found: list[tuple[float, float, float, float]], x: float, z: float) -> bool:
        return any(x0 < x < x1 and z0 < z < z1 for x0, z0, x1, z1 in found)

    assert covers(whole, 0.01, 0.61)
    assert not covers(cut, 0.01, 0.61)
    assert covers(cut, 0.22, 0.61)


def ring_views(shape: ItemShape) -> list[ItemView]:
    """Masks of a flat ring that fills a box, from several sides."""
    angles = np.linspace(0, 2 * np.pi, 400)
    views = []
    for x, z in ((0.0, 0.0), (0.25, 0.0), (-0.25, 0.0), (0.0, 0.25)):
        points = np.concatenate(
            [
                np.stack(
                    [
                        share * shape.size[0] / 2 * np.cos(angles),
                        np.full(400, shape.size[1] / 2),
                        share * shape.size[2] / 2 * np.sin(angles),
                    ],
                    axis=1,
                )
                for share in np.linspace(0.75, 1.0, 40)
            ]
        )
        position = np.array((0.0, 0.9, 0.7))
        basis = bases(np.array([0.0]), np.array([45.0]))
        seen = project((points + position)[None], np.array([[x, EYE_HEIGHT, z]]), basis)[0]
        mask = np.zeros((SIGHT_PIXELS, SIGHT_PIXELS), dtype=np.bool_)
        mask[seen[:, 1].astype(int), seen[:, 0].astype(int)] = True
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        edges = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
        views.append(ItemView((x, z), 0, 45, tuple(position), 0.0, edges, divide(mask, edges)))
    return views


def test_a_ring_is_carved_out_of_its_masks() -> None:
    shape = ItemShape((0.2, 0.01, 0.2))
    views = ring_views(shape)
    blocks = carve(shape, views)
    assert blocks
    assert not any(b.low[0] < 0 < b.high[0] and b.low[2] < 0 < b.high[2] for b in blocks)
    fits = {"Watch_1": ItemFit(shape, 0.0, len(views)), "Plate_1": ItemFit(shape, 0.0, len(views))}
    carved = carve_items((fits, {"Watch_1": views, "Plate_1": views}))
    assert carved["Watch_1"].shape.blocks == blocks
    # What holds things keeps the catalogue's form.
    assert carved["Plate_1"].shape == shape


def test_coarse_masks_keep_edges_and_holes() -> None:
    mask = np.zeros((SIGHT_PIXELS, SIGHT_PIXELS), dtype=np.bool_)
    mask[100:148, 60:108] = True
    mask[116:132, 76:92] = False
    edges = (60, 100, 108, 148)
    view = ItemView((0, 0), 0, 0, (0, 0, 0), 0.0, edges, divide(mask, edges))
    assert view.cells.shape == (CELLS, CELLS)
    assert (view.mask() == mask).all()


def test_things_land_where_most_of_their_class_did() -> None:
    surface = Surface(Rectangle(-0.3, -0.3, 0.3, 0.3), 0.1, 1.0)
    sink = Fixture(
        "SinkBasin|1", ObjectClass.SinkBasin, (0.0, 0.8, 0.8), 180.0, (0.6, 0.2, 0.6),
        surfaces=(surface,), blocks=(Block((0, 0, 0), (0.1, 0.1, 0.1)),),
    )  # fmt: skip
    shape = ItemShape((0.08, 0.08, 0.08))

    def seen_at(x: float, z: float) -> ItemView:
        corners = np.array(
            [
                (x + dx, 0.9 + dy, z + dz)
                for dx in (-0.04, 0.04)
                for dy in (0, 0.08)
                for dz in (-0.04, 0.04)
            ]
        )
        basis = bases(np.array([0.0]), np.array([45.0]))
        seen = project(corners[None], np.array([[0.0, EYE_HEIGHT, 0.0]]), basis)[0]
        left, top = np.floor(seen[:, :2].min(axis=0)).astype(int)
        right, bottom = np.ceil(seen[:, :2].max(axis=0)).astype(int)
        return ItemView((0.0, 0.0), 0, 45, (0, 0, 0), 0.0, (left, top, right, bottom))

    put = [("Apple_1", seen_at(0.1, 0.7))] * 3 + [("Apple_1", seen_at(-0.1, 0.7))]
    put += [("Egg_1", seen_at(0.0, 0.8))]
    hinted = with_hints(sink, put, {"Apple_1": shape, "Egg_1": shape}, Studio(SIGHT_PIXELS))
    assert hinted.surfaces is not None
    apple = hinted.surfaces[0].hint_for(ObjectClass.Apple)
    egg = hinted.surfaces[0].hint_for(ObjectClass.Egg)
    other = hinted.surfaces[0].hint_for(ObjectClass.Mug)
    assert apple is not None
    assert egg is not None
    assert other is not None
    # The sink faces the agent, so that its own x and z point the other way.
    assert np.hypot(apple.x + 0.1, apple.z - 0.1) < 0.03
    assert np.hypot(egg.x, egg.z) < 0.03
    assert other.object_class is None
    assert (other.x, other.z) == (apple.x, apple.z)
