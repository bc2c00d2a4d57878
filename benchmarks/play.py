"""From key press to answered frame on the page of ``clalfred-play``: ``python -m benchmarks.play``.

Presses keys over a real WebSocket on this machine and prints how long the answers take, in
wall-clock time and in processor time of the whole process. The five views are rendered at 600
pixels. ``--screenshot docs/play.png`` draws the page with Chromium instead.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

import click
import uvicorn
from PIL import Image
from websockets.sync.client import connect

from clalfred.scripts.play.server import Hub, listen, make_app, settings
from clalfred.scripts.play.session import EpisodeChoice, Library
from gym_clalfred.actions import Action
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.simulator.contract import SIGHT_PIXELS
from tests.helpers.browser import CHROMIUM, browser

#: Width of the screenshot in the docs, and its colours, so that it stays small.
PICTURE_WIDTH = 1150
PICTURE_COLOURS = 256
PAGE_SIZE = "1480,1080"

#: Where the large view is on the page.
FRONT = (
    "(() => { const box = document.querySelector('.view.front').getBoundingClientRect();"
    " return [box.x, box.y, box.width] })()"
)


@contextlib.contextmanager
def served(hub: Hub) -> Iterator[int]:
    """Serves a hub in a thread; gives the port."""
    listener = listen(0)
    server = uvicorn.Server(uvicorn.Config(make_app(hub), **settings()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def time_keys(hub: Hub, presses: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each answer: on the clock, and of the processor."""
    clock, processor = [], []
    keys = [Action.RotateLeft, Action.MoveAhead, Action.RotateRight, Action.LookDown, Action.LookUp]
    with served(hub) as port:
        address = f"ws://127.0.0.1:{port}/talk?token={hub.token}"
        with connect(address, origin=f"http://127.0.0.1:{port}", max_size=None) as socket:  # type: ignore[arg-type]
            socket.recv()
            for number in range(-10, presses):
                text = json.dumps({"do": "act", "action": keys[number % len(keys)].name})
                wall, spent = time.perf_counter(), time.process_time()
                socket.send(text)
                socket.recv()
                if number >= 0:
                    clock.append(1000 * (time.perf_counter() - wall))
                    processor.append(1000 * (time.process_time() - spent))
    return clock, processor


def draw_page(hub: Hub, path: Path) -> None:
    """The page in the middle of an episode, with the pointer on what is to be picked up."""
    if CHROMIUM is None:
        raise click.ClickException("chromium is not installed: expected it on the PATH")
    name = hub.enter(None)
    session = hub.session(name)
    session.handle({"do": "show"})
    actions = session.worlds[0].episode.trajectory.actions
    first = next(number for number, one in enumerate(actions) if one.object_id)
    for one in actions[:first]:
        session.handle({"do": "act", "action": one.action.name})
    mask = session.worlds[0].simulator.sight().mask(actions[first].object_id or "")
    rows, columns = mask.nonzero()
    spot = float(columns[len(columns) // 2]) + 0.5, float(rows[len(rows) // 2]) + 0.5
    with (
        tempfile.TemporaryDirectory() as folder,
        served(hub) as port,
        browser(Path(folder) / "profile", size=PAGE_SIZE) as open_tab,
    ):
        tab = open_tab(f"http://127.0.0.1:{port}/?token={hub.token}#{name}")
        tab.wait("document.body?.dataset.answers >= 1")
        x, y, width = tab.value(FRONT)
        tab.click(x + spot[0] * width / SIGHT_PIXELS, y + spot[1] * width / SIGHT_PIXELS)
        picture = Image.open(tab.screenshot(Path(folder) / "page.png")).convert("RGB")
    size = (PICTURE_WIDTH, picture.height * PICTURE_WIDTH // picture.width)
    small = picture.resize(size, Image.Resampling.LANCZOS).quantize(PICTURE_COLOURS, kmeans=1)
    buffer = io.BytesIO()
    small.save(buffer, "png", optimize=True)
    with atomic_file(path) as file:
        file.write(buffer.getvalue())


@click.command()
@click.option("--presses", type=click.IntRange(min=2), default=200, show_default=True)
@click.option("--tier", default="tiny", show_default=True)
@click.option("--task", default="", help="Only episodes of this task.")
@click.option("--screenshot", type=click.Path(path_type=Path), help="Draw the page instead.")
def main(presses: int, tier: str, task: str, screenshot: Path | None) -> None:
    """Time the answers to key presses, or draw the page."""
    hub = Hub(Library(EpisodeChoice(tier=tier, task=task, roam=screenshot is None)))
    if screenshot is not None:
        draw_page(hub, screenshot)
        click.echo(f"{screenshot}: {screenshot.stat().st_size / 1000:.0f} kB")
        return
    for name, values in zip(("clock", "processor"), time_keys(hub, presses)):
        cuts = quantiles(values, n=20)
        click.echo(
            f"{name:9s}  median {cuts[9]:5.1f} ms   95 % {cuts[18]:5.1f}   best {min(values):5.1f}"
        )


if __name__ == "__main__":
    main()
