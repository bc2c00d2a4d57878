"""Usual extents of every object class in metres."""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import CLASSES
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.style import fraction


@dataclass(frozen=True)
class Extent:
    """Median width (x), height (y) and depth (z), and the share by which styles differ from it."""

    width: float
    height: float
    depth: float
    spread: float

    def of(self, style: int) -> Vector:
        """The extents of one style, to the millimetre; the three scale together."""
        factor = 1.0 + self.spread * (2.0 * fraction(style, "size") - 1.0)
        return (
            round(self.width * factor, 3),
            round(self.height * factor, 3),
            round(self.depth * factor, 3),
        )

    @property
    def median(self) -> Vector:
        """The extents without variation."""
        return (self.width, self.height, self.depth)


#: The extents of every class but ``NoObject``.
EXTENTS = {kind: Extent(*CLASSES[kind].size) for kind in sorted(CLASSES)}
