"""``python -m clalfred.scripts.gallery``: pictures for the docs, rooms and a film."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import hypot
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from clalfred.agents.acting.recording import Performer, record
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.store import AlfredStore, Poses
from gym_clalfred.data.trajectory import EpisodeKey, Split, room_of
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator

SHEET_ROOMS = (1, 6, 12, 203, 211, 224, 302, 308, 320, 402, 410, 424)
COLUMNS = 4
TILE = 300
PITCH = 15

#: Metres between the places from which one room is shown.
APART = 0.75

#: An episode of the tiny tier with washing, opening and closing, for the film.
FILM_EPISODE = "train/pick_clean_then_place_in_recep-Potato-None-Microwave-17/trial_train_0_00015#2"
FILM_FPS = 4


def best_views(
    simulator: EmbeddedSimulator, room: Room, poses: Poses, count: int
) -> list[NDArray[np.uint8]]:
    """Views of a room from different places, each chosen to show the most new objects."""
    views: list[tuple[float, float, set[int], NDArray[np.uint8]]] = []
    points = sorted(room.walkable)
    for x, z in points[:: max(1, len(points) // 40)]:
        for yaw in (0, 90, 180, 270):
            pose = AgentPose(x, AGENT_HEIGHT, z, yaw, PITCH)
            simulator.reset(Scene(number=room.number, start=pose, object_poses=poses))
            frame = simulator.frame()
            assert frame.instances is not None
            front = frame.instances[0]
            pixels = np.bincount(front[front > 0], minlength=1)
            if pixels.max() < 0.35 * front.size:
                shown = set(np.flatnonzero(pixels > 60).tolist())
                views.append((x, z, shown, frame.rgb[0].copy()))
    chosen: list[NDArray[np.uint8]] = []
    known: set[int] = set()
    while views and len(chosen) < count:
        at_x, at_z, shown, picture = max(views, key=lambda one: (len(one[2] - known), len(one[2])))
        known |= shown
        chosen.append(picture)
        views = [one for one in views if hypot(one[0] - at_x, one[1] - at_z) >= APART]
    return chosen


def contact_sheet(
    numbers: Sequence[int] = SHEET_ROOMS,
    rooms: Callable[[int], Room] = make_room,
    poses: Callable[[int], Poses] = lambda number: (),
    places: int = 1,
) -> Image.Image:
    """Views of rooms, with the rooms' numbers and types; a row per room if there are several."""
    simulator = EmbeddedSimulator(RenderOptions(image_size=TILE), rooms)
    columns = COLUMNS if places == 1 else places
    rows = -(-len(numbers) * places // columns)
    sheet = Image.new("RGB", (columns * TILE, rows * TILE))
    font = ImageFont.load_default(size=16)
    for index, number in enumerate(numbers):
        for place, view in enumerate(best_views(simulator, rooms(number), poses(number), places)):
            tile = Image.fromarray(view)
            draw = ImageDraw.Draw(tile)
            label = f"FloorPlan{number} · {RoomType.of(number).value}"
            draw.rectangle((0, TILE - 26, TILE, TILE), fill=(16, 18, 24))
            draw.text((8, TILE - 23), label, fill=(232, 235, 241), font=font)
            row, column = divmod(index * places + place, columns)
            sheet.paste(tile, (column * TILE, row * TILE))
    simulator.close()
    return sheet


def some_rooms(numbers: Iterable[int]) -> list[int]:
    """Three rooms of each type, spread evenly over the available ones."""
    chosen: list[int] = []
    for room_type in RoomType:
        found = sorted(number for number in numbers if RoomType.of(number) is room_type)
        chosen += [found[k * (len(found) - 1) // 2] for k in range(3)] if found else []
    return list(dict.fromkeys(chosen))


@click.command()
@click.option("--rooms", default="docs/rooms.jpg", show_default=True, help="Sheet of rooms.")
@click.option("--film", default="docs/expert.gif", show_default=True, help="Film, .gif or .mp4.")
@click.option("--data", type=click.Path(), help="Draw rooms of this imported store, and no film.")
@click.option("--places", default=6, show_default=True, help="Views of each of a store's rooms.")
def main(rooms: str, film: str, data: str | None, places: int) -> None:
    """Draw twelve rooms of the embedded household, and film the expert in an episode."""
    if data is not None:
        store = AlfredStore(data)
        keys = [entry.key for split in Split for entry in store.entries(split)]
        found = {room_of(key.trajectory): key for key in keys}
        sheet = contact_sheet(
            some_rooms(found),
            store.room,
            lambda number: store.episode(found[number]).trajectory.scene.object_poses,
            places,
        )
        sheet.save(Path(rooms), quality=60, optimize=True)
        return
    contact_sheet().save(Path(rooms), quality=82, optimize=True)
    record(
        film,
        open_source("tiny", None),
        EpisodeKey.parse(FILM_EPISODE),
        [Performer("expert")],
        fps=FILM_FPS,
    )
    for path in (rooms, film):
        click.echo(f"{path}: {Path(path).stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
