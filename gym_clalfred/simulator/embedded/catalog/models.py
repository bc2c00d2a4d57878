"""The models of all classes, put together from the tables of sizes, surfaces and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.condition import show_condition, tip
from gym_clalfred.simulator.embedded.catalog.model import Look, Model
from gym_clalfred.simulator.embedded.catalog.shapes import shape_of
from gym_clalfred.simulator.embedded.catalog.sizes import EXTENTS
from gym_clalfred.simulator.embedded.catalog.surfaces import surfaces_of
from gym_clalfred.simulator.embedded.render.mesh import Mesh, MeshBuilder
from gym_clalfred.simulator.embedded.room import Surface

#: How far drawers come out, as a share of their depth.
_DRAWER_SHARE = 0.7


@dataclass(frozen=True)
class CatalogModel(Model):
    """The model of one class."""

    object_class: ObjectClass

    def size(self, style: int) -> Vector:
        """Usual extents for a style."""
        return EXTENTS[self.object_class].of(style)

    def mesh(self, size: Vector, style: int, look: Look) -> Mesh:
        """Polygons in the object's own frame; a tipped object's extents are ``posed_size``."""
        builder = MeshBuilder()
        shape_of(self.object_class)(builder, size, style, look)
        mesh = tip(builder.build(), size) if look.tipped else builder.build()
        return show_condition(mesh, look)

    def surfaces(self, size: Vector, style: int) -> tuple[Surface, ...]:
        """Where things stand in or on it."""
        return surfaces_of(self.object_class, size, style)

    def slide(self, size: Vector, is_open: bool) -> float:
        """Drawers come out of their furniture; nothing else moves as a whole."""
        if self.object_class is ObjectClass.Drawer and is_open:
            return _DRAWER_SHARE * size[2]
        return 0.0


_MODELS = {object_class: CatalogModel(object_class) for object_class in EXTENTS}


def model_of(object_class: ObjectClass) -> Model:
    """The model of a class; raises ``BadInputError`` for ``NoObject``."""
    try:
        return _MODELS[object_class]
    except KeyError:
        raise BadInputError(
            f"no model for {object_class!r}: expected an object class other than NoObject"
        ) from None


@lru_cache(maxsize=16384)
def build_mesh(object_class: ObjectClass, size: Vector, style: int, look: Look) -> Mesh:
    """The mesh of an object, made once per size, style and look."""
    return model_of(object_class).mesh(size, style, look)
