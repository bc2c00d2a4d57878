"""Milliseconds per rendered observation: ``python -m benchmarks.renderer``.

Five views from one eye in a synthetic room of 110 objects, one thread, best of many. If MuJoCo is
installed, its offscreen renderer draws a room of boxes at the same sizes, without ids.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import PeerUnavailable, mujoco_renderer
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder, Paint, Texture
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.render.shell import shell_of
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room_model import Decor, Opening, Rectangle, Room, Wall

SIZES = (84, 128, 224, 300)
OBJECTS = 110
EYE = (0.25, 1.575, -1.25)
VIEWS = [(0, 15), (-90, 15), (90, 15), (0, 0), (0, 30)]


def make_stage() -> Stage:
    """A room of 6 by 5 metres with tables, shelves and small things on them."""
    window = (Opening("window", 2.0, 3.6, 0.9, 2.1),)
    corners = [(-3.0, -2.5), (-3.0, 2.5), (3.0, 2.5), (3.0, -2.5)]
    walls = tuple(Wall(*corners[i], *corners[(i + 1) % 4], window) for i in range(4))
    decor = Decor((214, 205, 186), "wallpaper", (176, 132, 88), "planks", (244, 242, 236))
    room = Room(1, (Rectangle(-3, -2.5, 3, 2.5),), walls, 2.6, (), frozenset(), (), decor)
    stage = Stage(shell_of(room), decor, room)
    random = np.random.default_rng(0)
    wood = Paint((150, 100, 60), Texture.WOOD, 0.4)
    table = MeshBuilder().box((-0.6, 0.71, -0.35), (0.6, 0.75, 0.35), wood)
    for x in (-0.57, 0.52):
        for z in (-0.32, 0.27):
            table.box((x, 0, z), (x + 0.05, 0.71, z + 0.05), wood)
    tops = [(-2.2, 1.8), (-0.4, 2.0), (1.6, 1.8), (2.2, -0.5), (-2.2, -0.6), (0.6, 0.6)]
    for k, (x, z) in enumerate(tops, start=1):
        stage.put(k, table.build(), (x, 0.0, z), 0)
    for k in range(len(tops) + 1, OBJECTS + 1):
        paint = Paint(tuple(random.integers(40, 255, 3).tolist()))
        mesh = MeshBuilder()
        if k % 2:
            mesh.lathe([(0.03, 0), (0.05, 0.05), (0.04, 0.12)], paint)
        else:
            mesh.box((-0.05, 0, -0.07), (0.05, 0.08, 0.07), paint)
        x, z = tops[k % len(tops)]
        x, z = x + random.uniform(-0.5, 0.5), z + random.uniform(-0.28, 0.28)
        stage.put(k, mesh.build(), (x, 0.75, z), random.uniform(0, 360))
    return stage


def best_of(call: Callable[[], object], seconds: float = 1.0) -> float:
    """Milliseconds of the fastest call within some seconds."""
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def peer_milliseconds(size: int) -> float | None:
    """MuJoCo's time for five views in colour; None if it is not available."""
    try:
        return 1000 / mujoco_renderer(size, seconds=1.0)
    except PeerUnavailable:
        return None


def main() -> None:
    """Prints the table."""
    stage = make_stage()
    polygons = int(stage.scene.spans[: stage.objects, 1].sum())
    print(f"{OBJECTS} objects, {polygons} polygons, five views, milliseconds (best)")
    print("size   rgb+ids   rgb  ids  rgb+ids+depth  one view ids   MuJoCo rgb")
    for size in SIZES:
        renderer = Renderer(size)

        def timed(
            views: list[tuple[int, int]] = VIEWS, renderer: Renderer = renderer, **outputs: Any
        ) -> float:
            return best_of(lambda: renderer.render(stage, EYE, views, **outputs))

        ours = timed()
        columns = [
            ours,
            timed(instances=False),
            timed(rgb=False),
            timed(depth=True),
            timed(VIEWS[:1], rgb=False),
        ]
        peer = peer_milliseconds(size)
        other = "not installed" if peer is None else f"{peer:.1f} ({peer / ours:.0f} times ours)"
        print(f"{size:4d}  " + "  ".join(f"{value:6.3f}" for value in columns) + f"   {other}")


if __name__ == "__main__":
    main()
