"""Compiled kernels of the light that an empty room has: sun through windows, soft dark corners."""

from __future__ import annotations

import numpy as np

from gym_clalfred.simulator.embedded.render.arrays import F32, I32, ONE, ZERO, LightMaps
from gym_clalfred.simulator.embedded.render.shadows import blur, fill
from gym_clalfred.simulator.jit import exact


@exact
def shine(
    corners: F32, light: F32, strength: np.float32, r: int, lights: LightMaps, scratch: F32
) -> None:
    """Adds the patch of sun that falls through a window onto a level receiver, at height 0.

    Args:
        corners: (4, 3) of the window.
        light: direction to the sun first.
        scratch: (2, S) working memory.
    """
    axes, chart, base = lights.axes[r], lights.maps[r], lights.base
    width, height = chart[1], chart[2]
    if width * height > scratch.shape[1]:
        return
    weights = scratch[0]
    weights[: width * height] = ZERO
    a, b = np.empty(16, dtype=np.float32), np.empty(16, dtype=np.float32)
    for k in range(len(corners)):
        fall = corners[k, 1] / light[1]
        x, z = corners[k, 0] - fall * light[0], corners[k, 2] - fall * light[2]
        a[k] = axes[0] * x + axes[2] * z + axes[3]
        b[k] = axes[4] * x + axes[6] * z + axes[7]
    fill(a, b, len(corners), strength, width, height, weights, (width, height, 0, 0))
    blur(weights, scratch[1], 0, width, width, height)
    for t in range(width * height):
        base[chart[0] + t] += weights[t]


@exact
def bake_corners(receivers: I32, boxes: F32, planes: F32, lights: LightMaps) -> None:
    """Darkens the room's own receivers towards the walls, floor and ceiling that they meet.

    Args:
        boxes: (S, 6) low and high corners of the room's polygons.
        planes: (S, 4) of the same polygons.
    """
    axes, frames, maps, base = lights.axes, lights.frames, lights.maps, lights.base
    for r in receivers:
        width, height = maps[r, 1], maps[r, 2]
        size = ONE / (axes[r, 0] ** 2 + axes[r, 1] ** 2 + axes[r, 2] ** 2)
        for j in range(height):
            for i in range(width):
                a, b = np.float32(i) - axes[r, 3], np.float32(j) - axes[r, 7]
                x = size * (a * axes[r, 0] + b * axes[r, 4]) + frames[r, 0] * frames[r, 3]
                y = size * (a * axes[r, 1] + b * axes[r, 5]) + frames[r, 1] * frames[r, 3]
                z = size * (a * axes[r, 2] + b * axes[r, 6]) + frames[r, 2] * frames[r, 3]
                nearest = np.float32(1e30)
                for s in range(len(boxes)):
                    facing = (
                        frames[r, 0] * planes[s, 0]
                        + frames[r, 1] * planes[s, 1]
                        + frames[r, 2] * planes[s, 2]
                    )
                    if facing < np.float32(0.9):
                        dx = max(boxes[s, 0] - x, ZERO, x - boxes[s, 3])
                        dy = max(boxes[s, 1] - y, ZERO, y - boxes[s, 4])
                        dz = max(boxes[s, 2] - z, ZERO, z - boxes[s, 5])
                        nearest = min(nearest, dx * dx + dy * dy + dz * dz)
                dark = np.exp(-np.sqrt(nearest) * np.float32(3.0))
                shade = ONE - np.float32(0.28) * dark
                base[maps[r, 0] + j * width + i] = shade
