"""The polygons of one scene, ready to be drawn."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render import placing, room_light
from gym_clalfred.simulator.embedded.render import shadows as shadow_maps
from gym_clalfred.simulator.embedded.render.arrays import I32, LightMaps, SceneArrays
from gym_clalfred.simulator.embedded.render.mesh import MAX_CORNERS, Mesh
from gym_clalfred.simulator.embedded.render.raster import CARRIED
from gym_clalfred.simulator.embedded.render.shell import Window, windows_of
from gym_clalfred.simulator.embedded.render.textures import REPEATS
from gym_clalfred.simulator.embedded.room_model import Decor, Room

Arrays = TypeVar("Arrays", SceneArrays, LightMaps)

#: Metres per texel of a light map: the room's own, and objects'.
ROOM_TEXEL = 0.06
OBJECT_TEXEL = 0.03

#: Polygons of the room get a light map from this area (square metres).
ROOM_RECEIVER_AREA = 0.05

#: How much brighter the floor is where the sun falls through a window.
SUN = 0.3

#: Polygons of the room darken what meets them from this area.
CORNER_AREA = 0.5


class FreeRanges:
    """Which parts of an array are free; the first that fits is handed out."""

    def __init__(self) -> None:
        self.end = 0
        self._free: list[tuple[int, int]] = []

    def take(self, length: int) -> int:
        """Start of a free part of this length; ``end`` grows when there is none."""
        for i, (start, size) in enumerate(self._free):
            if size >= length:
                if size == length:
                    del self._free[i]
                else:
                    self._free[i] = (start + length, size - length)
                return start
        start, self.end = self.end, self.end + length
        return start

    def give(self, start: int, length: int) -> None:
        """Makes a part free again, joined with free neighbours."""
        self._free.append((start, length))
        self._free.sort()
        joined: list[tuple[int, int]] = []
        for first, size in self._free:
            if joined and sum(joined[-1]) == first:
                joined[-1] = (joined[-1][0], joined[-1][1] + size)
            else:
                joined.append((first, size))
        self._free = joined


@dataclass
class _ObjectRange:
    """Where one object's data is."""

    slot: int
    first: int
    count: int
    receivers: I32 = field(default_factory=lambda: np.empty(0, dtype=np.int32))


class Stage:
    """The polygons of one scene, grouped by object, in arrays that grow as needed.

    Args:
        shell: walls, floor, ceiling and windows in world coordinates; instance 0.
        decor: the room's light.
        room: its windows let the sun in; may be left out.
    """

    def __init__(self, shell: Mesh, decor: Decor, room: Room | None = None) -> None:
        direction = np.asarray(decor.light_direction, dtype=np.float64)
        direction /= np.linalg.norm(direction)
        self._placed: dict[int, _ObjectRange] = {}
        self._polygons, self._texels, self._fine_texels = FreeRanges(), FreeRanges(), FreeRanges()
        self._free_receivers: list[int] = []
        self.objects = 0
        self.receivers = 0
        self._is_lit = True
        self._scratch = np.zeros((2, 1 << 16), dtype=np.float32)
        self.scene = SceneArrays(
            light=np.array([*direction, *decor.light_colour, decor.ambient], dtype=np.float32),
            spans=np.zeros((256, 4), dtype=np.int32),
            spheres=np.zeros((256, 4), dtype=np.float32),
            boxes=np.zeros((256, 8), dtype=np.float32),
            corners=np.zeros((4096, MAX_CORNERS, 3), dtype=np.float32),
            counts=np.zeros(4096, dtype=np.int32),
            planes=np.zeros((4096, 4), dtype=np.float32),
            paints=np.zeros((4096, 16), dtype=np.float32),
            patterns=np.zeros(4096, dtype=np.int32),
            owners=np.zeros(4096, dtype=np.int16),
            receivers_of=np.full(4096, -1, dtype=np.int32),
            fine_axes=np.zeros((256, 8), dtype=np.float32),
            fine_maps=np.zeros((256, 3), dtype=np.int32),
            fine=np.zeros(1 << 19, dtype=np.uint8),
        )
        self._lights = LightMaps(
            axes=np.zeros((256, 8), dtype=np.float32),
            frames=np.zeros((256, 4), dtype=np.float32),
            maps=np.zeros((256, 3), dtype=np.int32),
            dirty=np.zeros((256, 4), dtype=np.int32),
            base=np.ones(1 << 16, dtype=np.float32),
            shadow=np.zeros(1 << 16, dtype=np.int32),
            coarse=np.ones(1 << 16, dtype=np.float32),
        )
        # Polygons without a light map read this byte.
        self.scene.fine[self._fine_texels.take(1)] = int(shadow_maps.PLAIN_LIGHT)
        self._put_shell(shell, () if room is None else windows_of(room))

    def put(
        self, instance: int, mesh: Mesh, position: Vector, yaw: float, *, carried: bool = False
    ) -> None:
        """Adds or replaces the object with this instance index (at least 1).

        Args:
            position: centre of its base.
            yaw: degrees clockwise seen from above; 0 leaves its front towards +z.
            carried: it casts and catches no shadows, is quickly moved, and can be left out of a
                picture.
        """
        if instance < 1:
            raise ValueError(f"instances of objects start at 1, got {instance}")
        placed = self._placed.get(instance)
        if placed is not None and carried and self._is_carried(placed, len(mesh)):
            self._place(placed, instance, mesh, position, yaw)
            return
        self.remove(instance)
        placed = self._write(instance, mesh, position, yaw)
        self.scene.spans[placed.slot, 3] = CARRIED if carried else shadow_maps.CASTING
        if carried:
            return
        self._cast(1, self._slot(placed), self._all_receivers())
        if not len(mesh.shelves):
            return
        receivers = self._make_receivers(
            placed, mesh.shelves, OBJECT_TEXEL, shadow_maps.OBJECT_FINER
        )
        self._cast(1, _COUNTING[: self.objects], receivers)
        placed.receivers = receivers

    def remove(self, instance: int) -> None:
        """Takes the object out of the scene; nothing happens if it is not there."""
        placed = self._placed.pop(instance, None)
        if placed is None:
            return
        for r in placed.receivers:
            for maps, blocks in (
                (self._lights.maps, self._texels),
                (self.scene.fine_maps, self._fine_texels),
            ):
                first, width, height = maps[r].tolist()
                blocks.give(first, width * height)
            self._lights.maps[r, 1] = 0
            self._lights.dirty[r] = 0
            self._free_receivers.append(int(r))
        self._cast(-1, self._slot(placed), self._all_receivers())
        self._polygons.give(placed.first, placed.count)
        self._shift(placed.slot + 1, -1)

    def light_up(self) -> None:
        """Brings the light maps up to date, before they are drawn."""
        if not self._is_lit:
            shadow_maps.refresh(self.receivers, self.scene, self._lights)
            self._is_lit = True

    def copy(self) -> Stage:
        """An independent stage with the same objects; quicker than building one anew."""
        return deepcopy(self)

    def __contains__(self, instance: int) -> bool:
        return instance in self._placed

    def _all_receivers(self) -> I32:
        return _COUNTING[: self.receivers]

    def _slot(self, placed: _ObjectRange) -> I32:
        return _COUNTING[placed.slot : placed.slot + 1]

    def _cast(self, sign: int, slots: I32, receivers: I32) -> None:
        self._is_lit = False
        shadow_maps.cast(sign, slots, receivers, self.scene, self._lights, self._scratch)

    def _is_carried(self, placed: _ObjectRange, polygons: int) -> bool:
        """Whether it is carried and has so many polygons."""
        return placed.count == polygons and bool(self.scene.spans[placed.slot, 3] == CARRIED)

    def _write(
        self, instance: int, mesh: Mesh, position: Vector, yaw: float, *, rooted: bool = True
    ) -> _ObjectRange:
        count = len(mesh)
        first = self._polygons.take(count)
        while self._polygons.end > len(self.scene.counts):
            self._grow(_PER_POLYGON)
        if self.objects == len(self.scene.spans):
            self._grow(_PER_OBJECT)
        # In order of their instances, whatever came and went before: where two things meet, the
        # one that is drawn first shows.
        slot = int(np.searchsorted(self.scene.spans[: self.objects, 2], instance))
        self._shift(slot, 1)
        self.scene.spans[slot] = (first, count, instance, 0)
        placed = _ObjectRange(slot, first, count)
        self._place(placed, instance, mesh, position, yaw, rooted)
        self._placed[instance] = placed
        return placed

    def _place(
        self,
        placed: _ObjectRange,
        instance: int,
        mesh: Mesh,
        position: Vector,
        yaw: float,
        rooted: bool = True,
    ) -> None:
        """Writes a mesh where there is room for it."""
        turn = math.radians(yaw)
        sine, cosine = math.sin(turn), math.cos(turn)
        x, y, z = position
        placing.place(
            placed.first,
            placed.slot,
            instance,
            position,
            (sine, cosine),
            rooted,
            mesh.faces,
            REPEATS,
            tuple(self.scene),
        )
        low, high = mesh.bounds
        middle_x, middle_z = (low[0] + high[0]) / 2, (low[2] + high[2]) / 2
        self.scene.boxes[placed.slot] = (
            x + cosine * middle_x + sine * middle_z,
            z + cosine * middle_z - sine * middle_x,
            (high[0] - low[0]) / 2,
            (high[2] - low[2]) / 2,
            sine,
            cosine,
            y + low[1],
            y + high[1],
        )

    def _shift(self, slot: int, by: int) -> None:
        """Moves all objects from a slot on by one slot, up or down."""
        for name in _PER_OBJECT:
            array = getattr(self.scene, name)
            array[slot + by : self.objects + by] = array[slot : self.objects].copy()
        self.objects += by
        for moved in range(slot + by, self.objects):
            self._placed[int(self.scene.spans[moved, 2])].slot = moved

    def _grow(self, names: tuple[str, ...]) -> None:
        """Doubles the length of arrays."""
        self.scene = _doubled(self.scene, names)
        self._lights = _doubled(self._lights, names)

    def _refine(self, r: int) -> None:
        scene, lights, chart = self.scene, self._lights, self._lights.maps[r]
        shadow_maps.refine(
            0, 0, chart[1], chart[2], chart, lights.coarse, scene.fine_maps[r], scene.fine
        )

    def _put_shell(self, shell: Mesh, windows: tuple[Window, ...]) -> None:
        placed = self._write(0, shell, (0.0, 0.0, 0.0), 0.0, rooted=False)
        # Not an object: it casts no shadows, and stays.
        del self._placed[0]
        large = np.flatnonzero((shell.areas >= ROOM_RECEIVER_AREA) & (shell.glow == 0))
        receivers = self._make_receivers(placed, large, ROOM_TEXEL, shadow_maps.ROOM_FINER)
        scene, lights, light = self.scene, self._lights, self.scene.light
        part = slice(placed.first, placed.first + placed.count)
        used = np.arange(MAX_CORNERS) < scene.counts[part, None]
        corners = scene.corners[part]
        low = np.where(used[..., None], corners, np.inf).min(axis=1)
        high = np.where(used[..., None], corners, -np.inf).max(axis=1)
        big = shell.areas >= CORNER_AREA
        boxes = np.concatenate([low, high], axis=1)[big].astype(np.float32)
        room_light.bake_corners(receivers, boxes, scene.planes[part][big], lights)
        for r in receivers[lights.frames[receivers, 1] > 0.9]:
            for corners, outward in windows:
                # Nothing from behind the wall, less the more the sun grazes it.
                facing = outward[0] * light[0] + outward[1] * light[2]
                if facing > 0.1 and light[1] > 0.1:
                    strength = np.float32(SUN * min(1.0, 2 * facing))
                    room_light.shine(corners, light, strength, r, lights, self._scratch)
        lights.coarse[:] = lights.base
        for r in receivers:
            self._refine(r)

    def _make_receivers(
        self, placed: _ObjectRange, polygons: NDArray[np.int64], texel: float, finer: int
    ) -> I32:
        """Gives light maps to some polygons of an object; their receivers' indices."""
        made = []
        for p in polygons + placed.first:
            r = self._free_receivers.pop() if self._free_receivers else self.receivers
            if r == self.receivers:
                self.receivers += 1
                if r == len(self._lights.maps):
                    self._grow(_PER_RECEIVER)
            width, height = shadow_maps.describe_receiver(
                p, r, np.float32(texel), self.scene, self._lights
            )
            first = self._texels.take(width * height)
            while self._texels.end > len(self._lights.base):
                self._grow(_PER_TEXEL)
            fine_width, fine_height = (width - 2) * finer + 2, (height - 2) * finer + 2
            fine_first = self._fine_texels.take(fine_width * fine_height)
            while self._fine_texels.end > len(self.scene.fine):
                self._grow(("fine",))
            scene, lights = self.scene, self._lights
            lights.maps[r] = (first, width, height)
            scene.fine_maps[r] = (fine_first, fine_width, fine_height)
            scene.fine_axes[r] = lights.axes[r] * finer
            texels = slice(first, first + width * height)
            lights.base[texels] = 1.0
            lights.shadow[texels] = 0
            lights.coarse[texels] = 1.0
            fine_texels = slice(fine_first, fine_first + fine_width * fine_height)
            scene.fine[fine_texels] = int(shadow_maps.PLAIN_LIGHT)
            scene.receivers_of[p] = r
            made.append(r)
        return np.array(made, dtype=np.int32)


def _doubled(arrays: Arrays, names: tuple[str, ...]) -> Arrays:
    """The same arrays, those of these names twice as long."""
    longer = {
        name: np.concatenate([array, np.zeros_like(array)])
        for name, array in arrays._asdict().items()
        if name in names
    }
    return arrays._replace(**longer)


_PER_OBJECT = ("spans", "spheres", "boxes")
_PER_POLYGON = ("corners", "counts", "planes", "paints", "patterns", "owners", "receivers_of")
_PER_RECEIVER = ("axes", "frames", "maps", "dirty", "fine_axes", "fine_maps")
_PER_TEXEL = ("base", "shadow", "coarse")
_COUNTING = np.arange(1 << 14, dtype=np.int32)
