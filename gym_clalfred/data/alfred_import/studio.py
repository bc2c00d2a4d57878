"""Draws single objects as the simulator does, to choose the shape that masks agree with best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_clalfred.data.alfred_import.boxes import FixtureView
from gym_clalfred.data.alfred_import.camera import EYE_HEIGHT, SAMPLES
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.mesh import Mesh, MeshBuilder, Paint
from gym_clalfred.simulator.embedded.render.renderer import Renderer
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room import Decor


class Studio:
    """An empty place with a camera whose pixels are the samples of masks."""

    def __init__(self) -> None:
        decor = Decor((0, 0, 0), "plain", (0, 0, 0), "plain", (0, 0, 0))
        ground = MeshBuilder().box((-0.1, -9.1, -0.1), (0.1, -9.0, 0.1), Paint((0, 0, 0)))
        self._stage = Stage(ground.build(), decor)
        self._camera = Renderer(SAMPLES)

    def agreement(
        self, mesh: Mesh, position: Vector, yaw: float, views: Sequence[FixtureView]
    ) -> float:
        """Mean intersection over union of an object's picture and its masks."""
        self._stage.put(1, mesh, position, yaw, carried=True)
        total = 0.0
        for view in views:
            eye = (view.x, EYE_HEIGHT, view.z)
            images = self._camera.render(self._stage, eye, [(view.yaw, view.pitch)], rgb=False)
            assert images.instances is not None
            ours = images.instances[0] == 1
            union = int(np.count_nonzero(ours | view.samples))
            total += int(np.count_nonzero(ours & view.samples)) / max(union, 1)
        self._stage.remove(1)
        return total / len(views)
