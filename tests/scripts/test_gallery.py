"""Sheets of rooms: which rooms of a store are shown, and from how many places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner
from PIL import Image

from clalfred.scripts.gallery import TILE, main, some_rooms
from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.alfred_writer import encode_trajectory
from tests.helpers.trajectories import clean_a_mug


def test_three_rooms_of_each_type_are_shown() -> None:
    numbers = [*range(1, 31), *range(201, 231), 301, 302]
    assert some_rooms(numbers) == [1, 15, 30, 201, 215, 230, 301, 302]


def test_a_store_is_shown_from_places_apart(tmp_path: Path) -> None:
    trajectory = clean_a_mug()
    folder = tmp_path / "alfred" / "json_2.1.0" / "train" / trajectory.key
    folder.mkdir(parents=True)
    (folder / "traj_data.json").write_bytes(encode_trajectory(trajectory))
    layouts = tmp_path / "alfred" / "gen" / "layouts"
    layouts.mkdir(parents=True)
    points = [(x / 4, z / 4) for x in range(-8, 9) for z in range(-8, 9)]
    np.save(layouts / "FloorPlan7-layout.npy", np.array(points))
    store = import_alfred(tmp_path / "alfred", tmp_path / "store", workers=1).store
    sheet = tmp_path / "sheet.png"
    options = ["--data", str(store), "--rooms", str(sheet), "--places", "2"]
    result = CliRunner().invoke(main, options, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    picture = np.asarray(Image.open(sheet).convert("RGB"))
    assert picture.shape == (TILE, 2 * TILE, 3)
    left, right = picture[: TILE - 30, :TILE], picture[: TILE - 30, TILE:]
    assert left.any()
    assert right.any()
    assert (left != right).any()
