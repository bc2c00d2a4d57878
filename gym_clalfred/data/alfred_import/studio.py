"""Draws single objects as the simulator does, to choose the shape that masks agree with best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.boxes import FixtureView
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, SAMPLES
from gym_clalfred.data.alfred_import.items import ON_EDGE, ItemView
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import Appearance, build_blocks, build_mesh, posed_size
from gym_clalfred.simulator.embedded.render.mesh import Mesh, MeshBuilder, Paint
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room_model import Decor, ItemShape


class Studio:
    """An empty place with a camera.

    Args:
        size: pixels along each side of its pictures; by default those of the samples of masks.
    """

    def __init__(self, size: int = SAMPLES) -> None:
        decor = Decor((0, 0, 0), "plain", (0, 0, 0), "plain", (0, 0, 0))
        ground = MeshBuilder().box((-0.1, -9.1, -0.1), (0.1, -9.0, 0.1), Paint((0, 0, 0)))
        self._stage = Stage(ground.build(), decor)
        self._camera = Renderer(size)

    def agreement(
        self, mesh: Mesh, position: Vector, yaw: float, views: Sequence[FixtureView]
    ) -> float:
        """Mean intersection over union of an object's picture and its masks."""
        self._stage.put(1, mesh, position, yaw, carried=True)
        total = 0.0
        for view in views:
            ours = self._mask((view.x, view.z), view.yaw, view.pitch)
            total += _overlap(ours, view.samples)
        self._stage.remove(1)
        return total / len(views)

    def agreement_of_item(
        self, mesh: Mesh, poses: Sequence[tuple[Vector, float]], views: Sequence[ItemView]
    ) -> float:
        """The same for a pickupable that was in another pose (base centre, yaw) in each view."""
        total = 0.0
        for (position, yaw), view in zip(poses, views):
            self._stage.put(1, mesh, position, yaw, carried=True)
            total += _overlap(self._mask(view.eye, view.yaw, view.pitch), view.mask())
        self._stage.remove(1)
        return total / len(views)

    def _mask(self, at: tuple[float, float], yaw: float, pitch: float) -> NDArray[np.bool_]:
        eye = (at[0], EYE_HEIGHT, at[1])
        images = self._camera.render(self._stage, eye, [(yaw, pitch)], rgb=False)
        assert images.instances is not None
        return np.asarray(images.instances[0] == 1)


def _overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    return int(np.count_nonzero(a & b)) / max(int(np.count_nonzero(a | b)), 1)


def form_of(object_class: ObjectClass, shape: ItemShape) -> Mesh:
    """The mesh of a measured pickupable; its colours do not matter here."""
    if shape.blocks:
        return build_blocks(object_class, shape.blocks, 0)
    tipped = object_class in ON_EDGE
    size = posed_size(shape.size, tipped)
    return build_mesh(object_class, size, 0, Appearance(tipped=tipped))
