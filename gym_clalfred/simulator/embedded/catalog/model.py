"""The interface of the catalogue: one ``Model`` per object class, found by ``model_of``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.mesh import Mesh
from gym_clalfred.simulator.embedded.room import Surface


@dataclass(frozen=True)
class Look:
    """The part of an object's state that changes how it looks; ``tipped`` is ``fit.is_tipped``."""

    is_open: bool = False
    is_on: bool = False
    is_dirty: bool = False
    heated: bool = False
    cooled: bool = False
    tipped: bool = False


class Model(ABC):
    """How the objects of one class are built. Stateless: everything follows from the arguments."""

    @abstractmethod
    def size(self, style: int) -> Vector:
        """Usual extents (width x, height y, depth z) in metres for a style."""

    @abstractmethod
    def mesh(self, size: Vector, style: int, look: Look) -> Mesh:
        """Polygons in the object's own frame; fills ``size`` while closed."""

    def surfaces(self, size: Vector, style: int) -> tuple[Surface, ...]:
        """Where things stand in or on it; empty if it holds nothing."""
        return ()

    def slide(self, size: Vector, is_open: bool) -> float:
        """Metres by which the object with its contents moves towards its front while open."""
        return 0.0
