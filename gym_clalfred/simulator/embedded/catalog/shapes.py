"""The register of drawing functions, one per class, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.model import Look
from gym_clalfred.simulator.embedded.render.mesh import MeshBuilder

Draw = Callable[[MeshBuilder, Vector, int, Look], None]

#: Draws an object of a class of some size, style and look in its own frame.
SHAPES: dict[ObjectClass, Draw] = {}


def shape(*object_classes: ObjectClass) -> Callable[[Draw], Draw]:
    """Registers a function as the one that draws these classes."""

    def register(draw: Draw) -> Draw:
        for object_class in object_classes:
            SHAPES[object_class] = draw
        return draw

    return register
