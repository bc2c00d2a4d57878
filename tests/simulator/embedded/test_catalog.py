"""The catalogue: every class has a size, a sound mesh, and surfaces that hold what they must."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import OPENABLE, PICKUPABLE, RECEPTACLES, SLICED_FORM, TOGGLEABLE
from gym_clalfred.objects import ObjectClass as C
from gym_clalfred.simulator.embedded.catalog import (
    HOLLOW,
    PEDESTAL,
    STOVE,
    Appearance,
    build_mesh,
    centres,
    fits,
    is_tipped,
    model_of,
    parts,
    posed_size,
    style_of,
)
from gym_clalfred.simulator.embedded.catalog.models import EXTENTS
from gym_clalfred.simulator.embedded.render.mesh import MAX_CORNERS, Mesh
from gym_clalfred.simulator.embedded.room_model import Rectangle, Surface
from tests.helpers.cases import for_each

CLASSES = [object_class for object_class in C if object_class is not C.NoObject]
LOOKS = [
    Appearance(),
    Appearance(is_open=True),
    Appearance(is_on=True),
    Appearance(is_open=True, is_on=True),
    Appearance(is_dirty=True, heated=True),
    Appearance(cooled=True, tipped=True),
]
VARIANTS = {C.CounterTop: (STOVE, HOLLOW), C.Sink: (PEDESTAL,)}
#: What is in these does not stand on a floor.
HANGERS = {C.TowelHolder, C.HandTowelHolder, C.Toaster}
#: Details such as labels stand this far before the body they are on.
DETAIL = 0.0015


def styles(object_class: C, count: int) -> list[int]:
    """Some styles of a class, with the variants that are chosen on purpose."""
    usual = [style_of(f"{object_class.name}_{tag}") for tag in range(count)]
    return usual + [usual[0] | bit for bit in VARIANTS.get(object_class, ())]


def points(mesh: Mesh) -> np.ndarray:
    """All corners in use, (N, 3)."""
    return mesh.corners[np.arange(MAX_CORNERS) < mesh.counts[:, None]]


@for_each(CLASSES)
def test_meshes_are_sound(object_class: C) -> None:
    model = model_of(object_class)
    for style in styles(object_class, 4):
        size = model.size(style)
        for look in LOOKS:
            mesh = model.mesh(size, style, look)
            assert len(mesh) > 0
            assert np.isfinite(mesh.corners).all()
            normals = mesh.normals.astype(np.float64)
            assert np.allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
            for count in np.unique(mesh.counts):
                alike = mesh.counts == count
                corners = mesh.corners[alike, :count].astype(np.float64)
                normal = normals[alike]
                height = np.einsum("pcx,px->pc", corners - corners[:, :1], normal)
                assert np.abs(height).max() < 1e-4, "not planar"
                edges = np.roll(corners, -1, axis=1) - corners
                lengths = np.linalg.norm(edges, axis=2)
                assert lengths.min() > 1e-6, "a corner occurs twice"
                turns = np.einsum(
                    "pcx,px->pc", np.cross(edges, np.roll(edges, -1, axis=1)), normal
                ) / (lengths * np.roll(lengths, -1, axis=1))
                convex = (turns > -1e-3).all(axis=1) | (turns < 1e-3).all(axis=1)
                assert convex.all(), "not convex"


@for_each(CLASSES)
def test_no_two_paints_share_a_place(object_class: C) -> None:
    """Overlapping polygons in one plane would flicker as the agent moves."""
    model = model_of(object_class)
    for style in styles(object_class, 4):
        size = model.size(style)
        for look in (Appearance(), Appearance(is_open=True, is_on=True)):
            mesh = model.mesh(size, style, look)
            used = (np.arange(MAX_CORNERS) < mesh.counts[:, None])[..., None]
            low = np.where(used, mesh.corners, np.inf).min(axis=1)
            high = np.where(used, mesh.corners, -np.inf).max(axis=1)
            flat = np.abs(mesh.normals).max(axis=1) > 0.9999
            for axis in range(3):
                across = [other for other in range(3) if other != axis]
                for sign in (-1, 1):
                    (rows,) = np.nonzero(flat & (sign * mesh.normals[:, axis] > 0.9))
                    level = mesh.corners[rows, 0, axis]
                    together = np.abs(level[:, None] - level) < 2e-4
                    overlap = np.minimum(high[rows, None], high[rows]) - np.maximum(
                        low[rows, None], low[rows]
                    )
                    shared = np.clip(overlap[..., across], 0, None).prod(axis=-1)
                    alike = (mesh.colours[rows, None] == mesh.colours[rows]).all(axis=-1)
                    assert not (together & ~alike & (shared > 2e-6)).any()


@for_each(CLASSES)
def test_a_closed_object_stays_in_its_box(object_class: C) -> None:
    model = model_of(object_class)
    for style in styles(object_class, 6):
        width, height, depth = size = model.size(style)
        assert min(size) > 0
        low, high = np.array([-width / 2, 0, -depth / 2]), np.array([width / 2, height, depth / 2])
        corners = points(model.mesh(size, style, Appearance()))
        assert (corners >= low - DETAIL).all()
        assert (corners <= high + DETAIL).all()
        tipped = posed_size(size, True)
        corners = points(model.mesh(size, style, Appearance(tipped=True)))
        assert (np.abs(corners[:, 0]) <= tipped[0] / 2 + DETAIL).all()
        assert (np.abs(corners[:, 2]) <= tipped[2] / 2 + DETAIL).all()
        assert corners[:, 1].min() >= -DETAIL
        assert corners[:, 1].max() <= tipped[1] + DETAIL


@for_each(sorted(set(CLASSES) - PICKUPABLE))
def test_fixtures_are_drawn_to_measure(object_class: C) -> None:
    """A room may make a fixture wider than usual; its mesh follows."""
    model = model_of(object_class)
    style = style_of(f"{object_class.name}_3")
    width, height, depth = model.size(style)
    usual = np.ptp(points(model.mesh((width, height, depth), style, Appearance()))[:, 0])
    wide = np.ptp(points(model.mesh((1.3 * width, height, depth), style, Appearance()))[:, 0])
    assert wide > 1.1 * usual


def test_budgets_of_polygons() -> None:
    counts = {
        object_class: [
            len(build_mesh(object_class, model_of(object_class).size(style), style, Appearance()))
            for style in styles(object_class, 8)
        ]
        for object_class in CLASSES
    }
    assert max(max(row) for row in counts.values()) <= 75
    assert np.mean([np.mean(row) for row in counts.values()]) <= 25


@for_each(CLASSES)
def test_surfaces_lie_in_the_box(object_class: C) -> None:
    model = model_of(object_class)
    for style in styles(object_class, 8):
        width, height, depth = size = model.size(style)
        surfaces = model.surfaces(size, style)
        if object_class in RECEPTACLES and not style & STOVE:
            assert surfaces
        if object_class not in RECEPTACLES:
            assert not surfaces
        for surface in surfaces:
            area = surface.area
            assert -width / 2 - 1e-9 <= area.x0 < area.x1 <= width / 2 + 1e-9
            assert -depth / 2 - 1e-9 <= area.z0 < area.z1 <= depth / 2 + 1e-9
            assert 0 <= surface.y <= height + 1e-9
            assert surface.clearance > 0.05
            if surface.inside:
                assert surface.overhang == 0
                assert surface.y + surface.clearance <= height
    hides = any(s.inside for s in model.surfaces(model.size(1), 1))
    assert hides == (object_class in OPENABLE & RECEPTACLES)


@for_each(sorted(ACCEPTS))
def test_receptacles_hold_what_alfred_puts_there(holder: C) -> None:
    model = model_of(holder)
    for item in sorted(ACCEPTS[holder]):
        sizes = [(EXTENTS[holder].median, EXTENTS[item].median)]
        sizes += [(model.size(k), model_of(item).size(7 * k + 1)) for k in range(12)]
        for size, item_size in sizes:
            posed = posed_size(item_size, is_tipped(item, holder))
            room = [fits(surface, posed) for surface in model.surfaces(size, 0)]
            assert any(room), f"{item.name} does not fit in {holder.name}"


@for_each(sorted(RECEPTACLES - HANGERS))
def test_things_stand_on_what_is_drawn(holder: C) -> None:
    """Under the middle of a surface lies a polygon that faces up."""
    dishes = (C.Bowl, C.Pan, C.Pot)
    model = model_of(holder)
    for style in styles(holder, 6):
        size = model.size(style)
        mesh = model.mesh(size, style, Appearance(is_open=True))
        surfaces = model.surfaces(size, style)
        for surface in surfaces[:1] if holder in dishes else surfaces:
            x = (surface.area.x0 + surface.area.x1) / 2
            z = (surface.area.z0 + surface.area.z1) / 2
            gaps = []
            for i in np.flatnonzero(mesh.normals[:, 1] > 0.99):
                corners = mesh.corners[i, : mesh.counts[i]]
                low, high = corners.min(axis=0), corners.max(axis=0)
                if low[0] <= x <= high[0] and low[2] <= z <= high[2]:
                    gaps.append(surface.y - corners[:, 1].mean())
            assert any(-0.002 <= gap <= 0.007 for gap in gaps), (style, surface)


def test_two_targets_fit_in_one_receptacle() -> None:
    """Pick two tasks put two objects of a class into one receptacle."""
    for holder, item in (
        (C.Fridge, C.Apple),
        (C.Microwave, C.Mug),
        (C.SinkBasin, C.Plate),
        (C.GarbageCan, C.Tomato),
        (C.Drawer, C.SprayBottle),
        (C.Toaster, C.BreadSliced),
        (C.Cabinet, C.Pan),
        (C.Safe, C.Vase),
        (C.Toilet, C.SprayBottle),
        (C.Plate, C.Fork),
    ):
        size = posed_size(EXTENTS[item].median, is_tipped(item, holder))
        surfaces = model_of(holder).surfaces(EXTENTS[holder].median, 0)
        places = [
            max(count_places(surface, size, sideways) for sideways in (False, True))
            for surface in surfaces
        ]
        assert sum(places) >= 2, f"two {item.name} do not fit in {holder.name}"


def count_places(surface: Surface, size: tuple[float, float, float], sideways: bool) -> int:
    """How many items of a size stand on a surface in rows and columns."""
    area = centres(surface, size, sideways)
    if area is None:
        return 0
    width, depth = (size[2], size[0]) if sideways else (size[0], size[2])
    return int(1 + (area.x1 - area.x0) // width) * int(1 + (area.z1 - area.z0) // depth)


def test_the_rule_of_fit() -> None:
    shelf = Surface(Rectangle(-0.2, -0.1, 0.2, 0.1), 0.5, 0.3, overhang=0.25)
    area = centres(shelf, (0.1, 0.1, 0.1))
    assert area is not None
    assert (area.x0, area.z0, area.x1, area.z1) == pytest.approx((-0.175, -0.075, 0.175, 0.075))
    assert centres(shelf, (0.1, 0.31, 0.1)) is None
    assert centres(shelf, (0.1, 0.1, 0.41)) is None
    assert centres(shelf, (0.1, 0.1, 0.41), sideways=True) is not None
    assert fits(shelf, (0.1, 0.1, 0.41))
    drawer = Surface(Rectangle(-0.2, -0.1, 0.2, 0.1), 0.0, 0.2, inside=True, overhang=0.0)
    assert fits(drawer, (0.4, 0.2, 0.2))
    assert not fits(drawer, (0.4, 0.2, 0.201))


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.floats(0.01, 0.6)] * 3),
    st.floats(0.05, 1.0),
    st.floats(0.05, 1.0),
    st.floats(0.0, 0.4),
    st.booleans(),
)
def test_centres_keep_the_overhang(
    size: tuple[float, float, float], width: float, depth: float, overhang: float, sideways: bool
) -> None:
    surface = Surface(Rectangle(0, 0, width, depth), 0.0, 1.0, overhang=overhang)
    area = centres(surface, size, sideways)
    extents = (size[2], size[0]) if sideways else (size[0], size[2])
    if area is None:
        assert extents[0] * (1 - 2 * overhang) > width or extents[1] * (1 - 2 * overhang) > depth
        return
    for x, z in ((area.x0, area.z0), (area.x1, area.z1)):
        out = max(extents[0] / 2 - x, x + extents[0] / 2 - width) / extents[0]
        assert out <= overhang + 1e-3
        out = max(extents[1] / 2 - z, z + extents[1] / 2 - depth) / extents[1]
        assert out <= overhang + 1e-3


def test_tipping_is_a_turn_about_the_own_x_axis() -> None:
    style = style_of("SprayBottle_1")
    model = model_of(C.SprayBottle)
    size = model.size(style)
    upright, lying = (model.mesh(size, style, Appearance(tipped=t)) for t in (False, True))
    before, after = points(upright).astype(float), points(lying).astype(float)
    assert np.allclose(
        np.linalg.norm(before[1:] - before[:-1], axis=1),
        np.linalg.norm(after[1:] - after[:-1], axis=1),
        atol=1e-6,
    )
    turned = np.linalg.det(np.linalg.lstsq(before - before[0], after - after[0], rcond=None)[0])
    assert turned == pytest.approx(1.0, abs=1e-3)
    assert is_tipped(C.SprayBottle, C.Drawer)
    assert not is_tipped(C.SprayBottle, C.CounterTop)
    assert is_tipped(C.Fork, C.Mug)
    assert not is_tipped(C.Fork, None)


def differs(a: Mesh, b: Mesh) -> bool:
    """Whether two meshes are drawn differently."""
    return len(a) != len(b) or not all(
        np.array_equal(getattr(a, field), getattr(b, field))
        for field in ("corners", "colours", "textures", "glow")
    )


@for_each(sorted(OPENABLE | TOGGLEABLE))
def test_states_show(object_class: C) -> None:
    model = model_of(object_class)
    for style in styles(object_class, 6):
        size = model.size(style)
        is_open = object_class is C.Laptop
        plain = model.mesh(size, style, Appearance(is_open=is_open))
        if object_class in OPENABLE:
            assert differs(
                model.mesh(size, style, Appearance()),
                model.mesh(size, style, Appearance(is_open=True)),
            )
        if object_class in TOGGLEABLE:
            assert differs(plain, model.mesh(size, style, Appearance(is_open=is_open, is_on=True)))


@pytest.mark.parametrize(
    "look", [Appearance(is_dirty=True), Appearance(heated=True), Appearance(cooled=True)]
)
def test_conditions_show_on_every_item(look: Appearance) -> None:
    for object_class in sorted(PICKUPABLE):
        model = model_of(object_class)
        style = style_of(f"{object_class.name}_1")
        size = model.size(style)
        assert differs(model.mesh(size, style, Appearance()), model.mesh(size, style, look))


@pytest.mark.parametrize("object_class", [C.Fridge, C.Microwave, C.Cabinet, C.Safe, C.Drawer])
def test_open_containers_can_be_looked_into(object_class: C) -> None:
    """No polygon covers what stands inside from the front (a drawer: from above)."""
    model = model_of(object_class)
    for style in styles(object_class, 8):
        size = model.size(style)
        mesh = model.mesh(size, style, Appearance(is_open=True))
        axis, across = (1, (0, 2)) if object_class is C.Drawer else (2, (0, 1))
        for surface in model.surfaces(size, style):
            area = surface.area
            middle = np.array([(area.x0 + area.x1) / 2, surface.y + 0.05, (area.z0 + area.z1) / 2])
            for i, count in enumerate(mesh.counts):
                if mesh.normals[i, axis] < 0.5:
                    continue
                corners = mesh.corners[i, :count]
                if corners[:, axis].min() <= middle[axis]:
                    continue
                inside = all(corners[:, a].min() < middle[a] < corners[:, a].max() for a in across)
                assert not inside, f"polygon {i} hides the inside"


def test_drawers_slide_out_and_nothing_else() -> None:
    size = EXTENTS[C.Drawer].median
    assert model_of(C.Drawer).slide(size, False) == 0.0
    assert 0.25 <= model_of(C.Drawer).slide(size, True) <= size[2]
    for object_class in CLASSES:
        if object_class is not C.Drawer:
            assert model_of(object_class).slide(EXTENTS[object_class].median, True) == 0.0


def test_slices_are_smaller_than_the_whole() -> None:
    for whole, piece in SLICED_FORM.items():
        if piece is not C.EggCracked:
            assert np.prod(EXTENTS[piece].median) < 0.5 * np.prod(EXTENTS[whole].median)


def test_the_sink_leaves_its_hole_open() -> None:
    """From above, nothing of the sink covers the basin."""
    for bit in (0, PEDESTAL):
        size = EXTENTS[C.Sink].median
        basin = parts.sink_basin(size)
        mesh = model_of(C.Sink).mesh(size, bit, Appearance())
        for i, count in enumerate(mesh.counts):
            corners = mesh.corners[i, :count]
            if mesh.normals[i, 1] > 0.5 and corners[:, 1].min() > basin.offset[1]:
                x, z = basin.offset[0], basin.offset[2]
                low, high = corners.min(axis=0), corners.max(axis=0)
                assert not (low[0] < x < high[0] and low[2] < z < high[2])


def test_parts_sit_on_their_wholes() -> None:
    sink, tub, stove = (EXTENTS[c].median for c in (C.Sink, C.Bathtub, C.CounterTop))
    basin = parts.sink_basin(sink)
    assert basin.offset[1] + basin.size[1] == pytest.approx(sink[1])
    basin = parts.bathtub_basin(tub)
    assert basin.offset[1] + basin.size[1] == pytest.approx(tub[1])
    burners = parts.stove_burners(stove)
    assert len({burner.offset for burner in burners}) == 4
    assert all(burner.offset[1] == stove[1] for burner in burners)
    for surface in model_of(C.CounterTop).surfaces(stove, STOVE):
        for burner in burners:
            assert not surface.area.x0 < burner.offset[0] < surface.area.x1
    faucet = parts.sink_faucet(sink)
    spout = faucet.offset[2] + faucet.size[2] / 2 - 0.02
    hole = parts.sink_basin(sink)
    assert abs(spout - hole.offset[2]) < hole.size[2] / 2
    knobs = parts.stove_knobs(stove)
    assert len(knobs) == len(burners)
    assert {knob.object_class for knob in knobs} == {C.StoveKnob}


def test_styles_vary_shape_and_colour() -> None:
    for object_class in (C.Apple, C.Mug, C.Sofa, C.Bed, C.Vase, C.Book, C.Chair, C.Cabinet):
        model = model_of(object_class)
        looks = {
            model.mesh((0.5, 0.5, 0.5), style, Appearance()).colours.tobytes()
            for style in range(40)
        }
        assert len(looks) >= 4, object_class


def test_style_is_the_checksum_of_the_name() -> None:
    assert style_of("123456789") == 0xCBF43926


def test_equal_arguments_give_equal_bytes_in_another_process() -> None:
    program = (
        "import zlib\n"
        "from gym_clalfred.objects import ObjectClass\n"
        "from gym_clalfred.simulator.embedded.catalog import Appearance, build_mesh, model_of\n"
        "total = 0\n"
        "for c in list(ObjectClass)[1:]:\n"
        "    size = model_of(c).size(12345)\n"
        "    mesh = build_mesh(c, size, 12345, Appearance(is_on=True))\n"
        "    total = zlib.crc32(mesh.corners.tobytes() + mesh.colours.tobytes(), total)\n"
        "print(total)\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def test_meshes_are_built_once() -> None:
    size = EXTENTS[C.Mug].median
    assert build_mesh(C.Mug, size, 5, Appearance()) is build_mesh(C.Mug, size, 5, Appearance())


def test_no_object_has_no_model() -> None:
    with pytest.raises(BadInputError, match="NoObject"):
        model_of(C.NoObject)
