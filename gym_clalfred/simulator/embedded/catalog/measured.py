"""Meshes of objects whose form was measured: blocks in the colours of their class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog.effects import Appearance, show_condition, tip
from gym_clalfred.simulator.embedded.catalog.models import build_mesh, model_of
from gym_clalfred.simulator.embedded.catalog.shapes import choose_worktop
from gym_clalfred.simulator.embedded.render.mesh import Mesh, MeshBuilder, Paint, Texture
from gym_clalfred.simulator.embedded.room_model import Block

#: Half the width of a jet of water, and how far it falls below the base of its tap.
_JET = 0.011
_FALL = 0.15

#: Names of a block's faces, by the axis of their normals, those at the low end first.
_FACES = ("xyz", "XYZ")


@lru_cache(maxsize=4096)
def build_blocks(
    object_class: ObjectClass,
    blocks: tuple[Block, ...],
    style: int,
    size: Vector = (0.0, 0.0, 0.0),
    look: Appearance = Appearance(),  # noqa: B008 - frozen, so sharing it is safe
) -> Mesh:
    """The mesh of an object whose form was measured, in the colours of its class.

    While it is on, a tap runs; of anything else, the faces shine that look where the catalogue's
    form shines.

    Args:
        size: of all blocks together; only used to tip the object.
        look: what of its state shows.
    """
    paint = _paint_of(object_class, style)
    light = _light_of(object_class, style) if look.is_on else None
    builder = MeshBuilder()
    top = max(block.high[1] for block in blocks)
    for block in blocks:
        shining = "" if light is None else light.faces_of(block, top)
        builder.box(block.low, block.high, paint, faces=_others(shining))
        if light is not None:
            builder.box(block.low, block.high, light.paint, faces=shining)
    if light is not None and object_class is ObjectClass.Faucet:
        _pour(builder, blocks, light.paint)
    mesh = builder.build()
    return show_condition(tip(mesh, size) if look.tipped else mesh, look)


@dataclass(frozen=True)
class _LitParts:
    """What shines of the catalogue's form of a class while it is on.

    Args:
        paint: of the largest of its polygons.
        faces: directions into which they look.
        low, high: where they are, as shares of the height.
    """

    paint: Paint
    faces: str
    low: float
    high: float

    def faces_of(self, block: Block, top: float) -> str:
        """The faces that shine of a block of an object of height ``top``."""
        reaches = block.high[1] >= self.low * top and block.low[1] <= self.high * top
        return self.faces if reaches else ""


@lru_cache(maxsize=1024)
def _light_of(object_class: ObjectClass, style: int) -> _LitParts | None:
    size = model_of(object_class).size(style)
    mesh = build_mesh(object_class, size, style, Appearance(is_on=True))
    shines = (mesh.glow > 0) & ~_is_in(mesh, build_mesh(object_class, size, style, Appearance()))
    if not shines.any():
        return None
    paint, faces = _largest_paint(mesh, shines), ""
    if object_class is not ObjectClass.Faucet:
        normals = mesh.normals[shines]
        axes = np.argmax(np.abs(normals), axis=1)
        far = normals[np.arange(len(axes)), axes] > 0
        faces = "".join(sorted({_FACES[end][axis] for axis, end in zip(axes, far.astype(int))}))
    used = shines[:, None] & (np.arange(mesh.corners.shape[1]) < mesh.counts[:, None])
    heights = mesh.corners[..., 1][used] / size[1]
    return _LitParts(paint, faces, min(float(heights.min()), 1.0), float(heights.max()))


def _pour(builder: MeshBuilder, blocks: tuple[Block, ...], water: Paint) -> None:
    """A jet before the foremost block in the upper half of a tap."""
    middle = max(block.high[1] for block in blocks) / 2
    upper = [block for block in blocks if block.high[1] > middle]
    spout = max(upper, key=lambda block: (block.high[2], block.high[1]))
    x, z = (spout.low[0] + spout.high[0]) / 2, spout.high[2] + _JET
    top = (max(spout.low[1], middle) + spout.high[1]) / 2
    builder.box((x - _JET, -_FALL, z - _JET), (x + _JET, top, z + _JET), water)


def _paint_of(object_class: ObjectClass, style: int) -> Paint:
    """The worktop's, or that of the catalogue's largest polygon of the class."""
    if object_class is ObjectClass.CounterTop:
        return choose_worktop(style)
    mesh = build_mesh(object_class, model_of(object_class).size(style), style, Appearance())
    return _largest_paint(mesh, np.ones(len(mesh), dtype=bool))


def _largest_paint(mesh: Mesh, among: NDArray[np.bool_]) -> Paint:
    k = int(np.argmax(np.where(among, mesh.areas, -1.0)))
    red, green, blue = mesh.colours[k].tolist()
    return Paint(
        (red, green, blue),
        Texture(int(mesh.textures[k])),
        float(mesh.scales[k]),
        float(mesh.glow[k]),
    )


def _is_in(mesh: Mesh, other: Mesh) -> NDArray[np.bool_]:
    """(P,) which polygons of a mesh another one has too, with the same glow and colour."""
    known = {_key(other, k) for k in range(len(other))}
    return np.array([_key(mesh, k) in known for k in range(len(mesh))], dtype=bool)


def _key(mesh: Mesh, k: int) -> bytes:
    return b"".join(part[k].tobytes() for part in (mesh.corners, mesh.colours, mesh.glow))


def _others(faces: str) -> str:
    return "".join(face for face in "xXyYzZ" if face not in faces)
