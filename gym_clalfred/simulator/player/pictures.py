"""Pictures of any size and field of view, from anywhere, of a stage."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.render.stage import Stage

#: Renderers kept for the sizes and fields of view in use; each owns some working memory.
KEPT_RENDERERS = 4


@dataclass(frozen=True)
class PlayerCamera:
    """Where a camera is and looks; ``field_of_view`` is the vertical one, in degrees."""

    position: Vector
    yaw: float
    pitch: float
    field_of_view: float


@dataclass(frozen=True)
class Channels:
    """What a picture consists of."""

    depth: bool = False
    instances: bool = False


@dataclass(frozen=True)
class Picture:
    """One camera's view; row 0 is the top.

    Args:
        rgb: (H, W, 3) uint8.
        depth: (H, W) float32 metres, or ``None``.
        instances: (H, W) int16, 0 for the room itself, or ``None``.
    """

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32] | None
    instances: NDArray[np.int16] | None


class CameraRenderers:
    """Draws pictures of ``width`` x ``height`` pixels with as few renderers as possible."""

    def __init__(self) -> None:
        self._renderers: dict[tuple[int, int, float], Renderer] = {}

    def shoot(
        self, stage: Stage, cameras: list[PlayerCamera], width: int, height: int, channels: Channels
    ) -> list[Picture]:
        """The pictures of some cameras, in their order."""
        pictures: dict[int, Picture] = {}
        groups: dict[tuple[Vector, float], list[int]] = {}
        for k, camera in enumerate(cameras):
            groups.setdefault((camera.position, camera.field_of_view), []).append(k)
        for (position, field_of_view), members in groups.items():
            images = self.renderer(width, height, field_of_view).render(
                stage,
                position,
                [(cameras[k].yaw, cameras[k].pitch) for k in members],
                depth=channels.depth,
                instances=channels.instances,
            )
            assert images.rgb is not None
            rows, columns = _window(width, height)
            for v, k in enumerate(members):
                pictures[k] = Picture(
                    images.rgb[v, rows, columns],
                    None if images.depth is None else images.depth[v, rows, columns],
                    None if images.instances is None else images.instances[v, rows, columns],
                )
        return [pictures[k] for k in range(len(cameras))]

    def renderer(self, width: int, height: int, field_of_view: float) -> Renderer:
        """A renderer of square pictures whose middle is the wanted one."""
        key = (width, height, field_of_view)
        renderer = self._renderers.pop(key, None)
        if renderer is None:
            renderer = Renderer(max(width, height))
            renderer.focal = focal_length(height, field_of_view)
        self._renderers[key] = renderer
        while len(self._renderers) > KEPT_RENDERERS:
            del self._renderers[next(iter(self._renderers))]
        return renderer


def focal_length(height: int, field_of_view: float) -> np.float32:
    """In pixels, of a camera with a vertical field of view in degrees."""
    return np.float32(height / 2 / math.tan(math.radians(field_of_view / 2)))


def _window(width: int, height: int) -> tuple[slice, slice]:
    side = max(width, height)
    top, left = (side - height) // 2, (side - width) // 2
    return slice(top, top + height), slice(left, left + width)
