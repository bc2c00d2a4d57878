"""The models of all classes, put together from records, surfaces and shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import CLASSES, ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance, mirror, show_condition, tip
from gym_clalfred.simulator.embedded.catalog.shapes import shape_of
from gym_clalfred.simulator.embedded.catalog.style import MIRRORED, fraction
from gym_clalfred.simulator.embedded.catalog.surfaces import surfaces_of
from gym_clalfred.simulator.embedded.render.mesh import Mesh, MeshBuilder
from gym_clalfred.simulator.embedded.room_model import Rectangle, Surface

#: How far drawers come out, as a share of their depth.
_DRAWER_SHARE = 0.7


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


@dataclass(frozen=True)
class Model:
    """How the objects of one class are built; everything else follows from the arguments."""

    object_class: ObjectClass

    def size(self, style: int) -> Vector:
        """Usual extents (width x, height y, depth z) in metres for a style."""
        return EXTENTS[self.object_class].of(style)

    def mesh(self, size: Vector, style: int, look: Appearance) -> Mesh:
        """Polygons in the object's own frame; fills ``size`` while closed.

        A tipped object's extents are ``posed_size``.
        """
        builder = MeshBuilder()
        shape_of(self.object_class)(builder, size, style, look)
        mesh = tip(builder.build(), size) if look.tipped else builder.build()
        if style & MIRRORED:
            mesh = mirror(mesh)
        return show_condition(mesh, look)

    def surfaces(self, size: Vector, style: int) -> tuple[Surface, ...]:
        """Where things stand in or on it; empty if it holds nothing."""
        surfaces = surfaces_of(self.object_class, size, style)
        if not style & MIRRORED:
            return surfaces
        return tuple(replace(surface, area=_mirrored(surface.area)) for surface in surfaces)

    def slide(self, size: Vector, is_open: bool) -> float:
        """Metres by which the object with its contents moves towards its front while open.

        Drawers come out of their furniture; nothing else moves as a whole.
        """
        if self.object_class is ObjectClass.Drawer and is_open:
            return _DRAWER_SHARE * size[2]
        return 0.0


def _mirrored(area: Rectangle) -> Rectangle:
    return Rectangle(-area.x1, area.z0, -area.x0, area.z1)


_MODELS = {object_class: Model(object_class) for object_class in EXTENTS}


def model_of(object_class: ObjectClass) -> Model:
    """The model of a class; raises ``BadInputError`` for ``NoObject``."""
    try:
        return _MODELS[object_class]
    except KeyError:
        raise BadInputError(
            f"no model for {object_class!r}: expected an object class other than NoObject"
        ) from None


@lru_cache(maxsize=16384)
def build_mesh(object_class: ObjectClass, size: Vector, style: int, look: Appearance) -> Mesh:
    """The mesh of an object, made once per size, style and look."""
    return model_of(object_class).mesh(size, style, look)
