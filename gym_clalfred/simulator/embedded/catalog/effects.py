"""How the state of any object shows in its mesh: tipping, dirt, heat and cold."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.mesh import (
    MAX_CORNERS,
    Colour,
    Mesh,
    MeshBuilder,
    Paint,
    Texture,
)

_DIRT: Colour = (92, 66, 36)
_WARM: Colour = (255, 96, 40)
_COLD: Colour = (110, 180, 255)
_STEAM = Paint((240, 240, 242), glow=0.5)


@dataclasses.dataclass(frozen=True)
class Appearance:
    """The part of an object's state that changes how it looks; ``tipped`` is ``fit.is_tipped``."""

    is_open: bool = False
    is_on: bool = False
    is_dirty: bool = False
    heated: bool = False
    cooled: bool = False
    tipped: bool = False


def tip(mesh: Mesh, size: Vector) -> Mesh:
    """The mesh turned about the x axis: what pointed up points to the front, -z points up."""
    used = (np.arange(MAX_CORNERS) < mesh.counts[:, None])[..., None]
    moved = _turn(mesh.corners - (0.0, size[1] / 2, size[2] / 2)) * used
    return dataclasses.replace(
        mesh,
        corners=moved.astype(np.float32),
        normals=_turn(mesh.normals),
        bends=_turn(mesh.bends),
    )


def mirror(mesh: Mesh) -> Mesh:
    """The mesh with left and right exchanged."""
    flip = np.array((-1.0, 1.0, 1.0), dtype=np.float32)
    return dataclasses.replace(
        mesh, corners=mesh.corners * flip, normals=mesh.normals * flip, bends=mesh.bends * flip
    )


def _turn(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.stack((vectors[..., 0], -vectors[..., 2], vectors[..., 1]), axis=-1)


def show_condition(mesh: Mesh, look: Appearance) -> Mesh:
    """The mesh as dirty, heated or cooled as ``look`` says."""
    if not (look.is_dirty or look.heated or look.cooled):
        return mesh
    colours = mesh.colours.astype(np.float32)
    textures, scales = mesh.textures, mesh.scales
    if look.is_dirty:
        colours = _towards(colours, _DIRT, 0.5)
        textures = np.full_like(textures, Texture.SPECKLES)
        scales = np.full_like(scales, 0.1)
    if look.cooled:
        colours = _towards(colours, _COLD, 0.45)
    if look.heated:
        colours = _towards(colours, _WARM, 0.25)
    mesh = dataclasses.replace(
        mesh, colours=colours.round().astype(np.uint8), textures=textures, scales=scales
    )
    return _join(mesh, _steam(mesh)) if look.heated else mesh


def _towards(colours: NDArray[np.float32], target: Colour, share: float) -> NDArray[np.float32]:
    return (1.0 - share) * colours + share * np.asarray(target, dtype=np.float32)


def _steam(mesh: Mesh) -> Mesh:
    """Two thin wisps above the middle of the object, each bent once, seen from the four sides."""
    used = np.arange(mesh.corners.shape[1]) < mesh.counts[:, None]
    points = mesh.corners[used]
    low, high = points.min(axis=0), points.max(axis=0)
    x, z = (float((low[axis] + high[axis]) / 2) for axis in (0, 2))
    top, reach = float(high[1]), 0.25 * float(high[0] - low[0])
    builder = MeshBuilder()
    for side in (-1.0, 1.0):
        bends = [(side * 0.5 * reach, 0.005), (side * reach, 0.03), (side * 0.4 * reach, 0.06)]
        for (u0, y0), (u1, y1) in itertools.pairwise(bends):
            quad = [(u0 - 0.003, y0), (u0 + 0.003, y0), (u1 + 0.003, y1), (u1 - 0.003, y1)]
            for facing in (-1.0, 1.0):
                along_x = [(x + u, top + y, z) for u, y in quad]
                along_z = [(x, top + y, z + u) for u, y in quad]
                builder.polygon(along_x, (0.0, 0.0, facing), _STEAM)
                builder.polygon(along_z, (facing, 0.0, 0.0), _STEAM)
    return builder.build()


def _join(first: Mesh, second: Mesh) -> Mesh:
    return Mesh(
        *(
            np.concatenate((getattr(first, field.name), getattr(second, field.name)))
            for field in dataclasses.fields(Mesh)
        )
    )
