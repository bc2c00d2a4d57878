"""ALFRED's layout files of a room: grid points, receptacles with a place to stand, classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.fields import Field
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import GRID_METRES
from gym_clalfred.simulator.object_ids import position_of

LAYOUTS_NAME = "layouts.json"

#: How the names of ALFRED's files about a room end: points, receptacles, classes.
LAYOUT_FILES = ("layout.npy", "openable.json", "objects.json")

#: AI2-THOR's rooms are all within so many metres of the origin.
LARGEST_ROOM = 40.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Standing:
    """Where ALFRED stands to use a receptacle: x, z in metres, yaw and pitch in degrees."""

    x: float
    z: float
    yaw: int
    pitch: int


@dataclass(frozen=True)
class Layout:
    """What the layout files tell about a room.

    Args:
        points: grid points on which the agent can stand.
        receptacles: by id, with the place from which each is used.
        classes: of all objects in the room.
    """

    points: frozenset[Point] = frozenset()
    receptacles: Mapping[str, Standing] = field(default_factory=dict)
    classes: frozenset[ObjectClass] = frozenset()


def read_layout(folders: Iterable[Path], number: int) -> Layout:
    """Reads ``FloorPlan<number>-{layout.npy,openable.json,objects.json}`` of the first folder.

    Args:
        folders: where the folder ``layouts`` may be; what no folder has is left empty.
        number: of the scene.
    """
    for folder in folders:
        stem = folder / "layouts" / f"FloorPlan{number}"
        files = [stem.with_name(f"{stem.name}-{end}") for end in LAYOUT_FILES]
        if not any(path.is_file() for path in files):
            continue
        points, receptacles, classes = files
        return Layout(
            _read_points(points) if points.is_file() else frozenset(),
            _receptacles(Field.read(receptacles)) if receptacles.is_file() else {},
            _classes(Field.read(classes)) if classes.is_file() else frozenset(),
        )
    return Layout()


def write_layouts(folder: Path, layouts: Mapping[int, Layout]) -> None:
    """Writes the layouts of all rooms of a store."""
    document = {
        str(number): {
            "points": sorted(layout.points),
            "receptacles": {
                name: [at.x, at.z, at.yaw, at.pitch]
                for name, at in sorted(layout.receptacles.items())
            },
            "classes": sorted(one.name for one in layout.classes),
        }
        for number, layout in sorted(layouts.items())
    }
    with atomic_file(folder / LAYOUTS_NAME) as file:
        file.write(json.dumps(document, separators=(",", ":")).encode())


def read_layouts(folder: Path) -> dict[int, Layout]:
    """The layouts of a store by room; raises ``DataError`` naming the field."""
    root = Field.read(folder / LAYOUTS_NAME)
    if not isinstance(root.value, dict):
        root.fail("an object")
    layouts = {}
    for name in root.value:
        if not name.isdecimal():
            root[name].fail("a scene number as its key")
        room = root[name]
        points = frozenset(_point(row) for row in room["points"])
        receptacles = _receptacles(room["receptacles"])
        layouts[int(name)] = Layout(points, receptacles, _classes(room["classes"]))
    return layouts


def _read_points(path: Path) -> frozenset[Point]:
    try:
        points = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: not a layout: {error}") from None
    wrong = points.ndim != 2 or points.shape[-1] != 2 or points.dtype.kind not in "fi"
    if wrong or not (np.abs(points) <= LARGEST_ROOM).all():
        raise DataError(f"{path}: expected (N, 2) coordinates in metres")
    snapped = np.round(points / GRID_METRES) * GRID_METRES + 0.0
    return frozenset((float(x), float(z)) for x, z in snapped)


def _receptacles(root: Field) -> dict[str, Standing]:
    """Receptacles by id; sinks and bathtubs are listed by their basins, which hold things."""
    if not isinstance(root.value, dict):
        root.fail("an object with receptacles by id")
    found = {}
    for name in root.value:
        try:
            far = max(map(abs, position_of(name))) > LARGEST_ROOM
        except BadInputError:
            root[name].fail("an object id as its key")
        row = list(root[name])
        if len(row) != 4 or far:
            root[name].fail("x, z, yaw and pitch, and a place in the room as its key")
        at = [value.metres() for value in row[:2]]
        yaw, pitch = (value.degrees() for value in row[2:])
        if max(map(abs, at)) > LARGEST_ROOM or yaw % 90:
            root[name].fail(f"x, z within {LARGEST_ROOM:g} m and a yaw of quarter turns")
        found[name] = Standing(at[0], at[1], int(yaw) % 360, round(pitch))
    return found


def _classes(root: Field) -> frozenset[ObjectClass]:
    """The classes that are listed; AI2-THOR knows more of them than ALFRED."""
    names = {name.text() for name in root}
    return frozenset(ObjectClass[name] for name in names & ObjectClass.__members__.keys())


def _point(row: Field) -> Point:
    values = [value.metres() for value in row]
    if len(values) != 2:
        row.fail("x and z")
    return values[0], values[1]
