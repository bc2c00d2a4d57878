"""``python -m clalfred.scripts.gallery``: pictures for the docs, rooms and a film."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from clalfred.agents.acting.recording import Performer, record
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room import AGENT_HEIGHT
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator

SHEET_ROOMS = (1, 6, 12, 203, 211, 224, 302, 308, 320, 402, 410, 424)
COLUMNS = 4
TILE = 300
PITCH = 15

#: Of the tiny tier: what is washed, opened, filled and closed in it makes a good film.
FILM_EPISODE = "train/pick_clean_then_place_in_recep-Potato-None-Microwave-17/trial_train_0_00015#2"
FILM_FPS = 4


def best_view(simulator: EmbeddedSimulator, number: int) -> NDArray[np.uint8]:
    """The view of a room that shows the most different objects, among all places to stand."""
    best, picture = -1, np.zeros((TILE, TILE, 3), dtype=np.uint8)
    points = sorted(make_room(number).walkable)
    for x, z in points[:: max(1, len(points) // 40)]:
        for yaw in (0, 90, 180, 270):
            pose = AgentPose(x, AGENT_HEIGHT, z, yaw, PITCH)
            simulator.reset(Scene(number=number, start=pose))
            frame = simulator.frame()
            assert frame.instances is not None
            front = frame.instances[0]
            pixels = np.bincount(front[front > 0])
            score = int((pixels > 60).sum())
            if score > best and pixels.max(initial=0) < 0.35 * front.size:
                best, picture = score, frame.rgb[0]
    return picture


def contact_sheet(numbers: tuple[int, ...] = SHEET_ROOMS) -> Image.Image:
    """One picture per room, with its number and type."""
    simulator = EmbeddedSimulator(RenderOptions(image_size=TILE))
    rows = -(-len(numbers) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * TILE, rows * TILE))
    font = ImageFont.load_default(size=16)
    for index, number in enumerate(numbers):
        tile = Image.fromarray(best_view(simulator, number))
        draw = ImageDraw.Draw(tile)
        label = f"FloorPlan{number} · {RoomType.of(number).value}"
        draw.rectangle((0, TILE - 26, TILE, TILE), fill=(16, 18, 24))
        draw.text((8, TILE - 23), label, fill=(232, 235, 241), font=font)
        sheet.paste(tile, (index % COLUMNS * TILE, index // COLUMNS * TILE))
    simulator.close()
    return sheet


@click.command()
@click.option("--rooms", default="docs/rooms.jpg", show_default=True, help="Sheet of rooms.")
@click.option("--film", default="docs/expert.gif", show_default=True, help="Film, .gif or .mp4.")
def main(rooms: str, film: str) -> None:
    """Draw twelve rooms of the embedded household, and film the expert in an episode."""
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
