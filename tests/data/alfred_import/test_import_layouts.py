"""ALFRED's layout files: what is read, what is refused, and what a store keeps of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gym_clalfred.data.alfred_import.layouts import (
    Layout,
    Standing,
    read_layout,
    read_layouts,
    write_layouts,
)
from gym_clalfred.errors import DataError
from gym_clalfred.objects import ObjectClass

FRIDGE = "Fridge|+00.97|+00.00|+01.25"


def layout_folder(tmp_path: Path, receptacles: object, classes: object = ("Fridge",)) -> Path:
    folder = tmp_path / "layouts"
    folder.mkdir(exist_ok=True)
    np.save(folder / "FloorPlan7-layout.npy", np.array([[0.26, 0.0], [0.25, 0.25]]))
    (folder / "FloorPlan7-openable.json").write_text(json.dumps(receptacles))
    (folder / "FloorPlan7-objects.json").write_text(json.dumps(classes))
    return tmp_path


def test_all_three_files_are_read(tmp_path: Path) -> None:
    classes = ["Fridge", "Window", "Sculpture"]
    folder = layout_folder(tmp_path, {FRIDGE: [0.0, 1.25, 450, 0]}, classes)
    layout = read_layout([tmp_path / "nowhere", folder], 7)
    assert layout.points == {(0.25, 0.0), (0.25, 0.25)}
    assert layout.receptacles == {FRIDGE: Standing(0.0, 1.25, 90, 0)}
    assert layout.classes == {ObjectClass.Fridge, ObjectClass.Window}
    assert read_layout([folder], 8) == Layout()


@pytest.mark.parametrize(
    ("receptacles", "message"),
    [
        ([FRIDGE], "an object with receptacles by id"),
        ({"Fridge": [0, 0, 90, 0]}, "an object id"),
        ({FRIDGE: [0, 0, 90]}, "x, z, yaw and pitch"),
        ({FRIDGE: [0, 0, 45, 0]}, "quarter turns"),
        ({FRIDGE: [0, 900, 90, 0]}, "within 40 m"),
        ({FRIDGE: [0, "0", 90, 0]}, "a number"),
        ({"Fridge|+99.00|+00.00|+01.25": [0, 0, 90, 0]}, "a place in the room"),
    ],
)
def test_a_damaged_list_is_named(tmp_path: Path, receptacles: object, message: str) -> None:
    folder = layout_folder(tmp_path, receptacles)
    with pytest.raises(DataError, match=rf"FloorPlan7-openable\.json.*{message}"):
        read_layout([folder], 7)


def test_a_store_keeps_layouts(tmp_path: Path) -> None:
    layout = Layout(
        frozenset({(0.25, -1.0)}),
        {FRIDGE: Standing(0.0, 1.25, 90, -30)},
        frozenset({ObjectClass.Fridge}),
    )
    write_layouts(tmp_path, {7: layout, 8: Layout()})
    assert read_layouts(tmp_path) == {7: layout, 8: Layout()}
    (tmp_path / "layouts.json").write_text('{"seven": {}}')
    with pytest.raises(DataError, match="scene number"):
        read_layouts(tmp_path)
