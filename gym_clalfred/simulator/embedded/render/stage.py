"""The polygons of one scene, ready to be drawn."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render import placing, room_light
from gym_clalfred.simulator.embedded.render import shadows as shadow_maps
from gym_clalfred.simulator.embedded.render.mesh import MAX_CORNERS, Mesh
from gym_clalfred.simulator.embedded.render.raster import CARRIED
from gym_clalfred.simulator.embedded.render.shell import Window, windows_of
from gym_clalfred.simulator.embedded.render.textures import REPEATS
from gym_clalfred.simulator.embedded.room import Decor, Room

#: Metres per texel of a light map: the room's own, and objects'.
ROOM_TEXEL = 0.06
OBJECT_TEXEL = 0.03

#: Polygons of the room get a light map from this area (square metres).
ROOM_RECEIVER_AREA = 0.05

#: How much brighter the floor is where the sun falls through a window.
SUN = 0.3

#: Polygons of the room darken what meets them from this area.
CORNER_AREA = 0.5


class Blocks:
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
class _Placed:
    """Where one object's data is."""

    slot: int
    first: int
    count: int
    receivers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))


class Stage:
    """The polygons of one scene in flat float32 arrays, grouped by object, in world coordinates.

    Args:
        shell: walls, floor, ceiling and windows in world coordinates; instance 0.
        decor: the room's light.
        room: its windows let the sun in; may be left out.
    """

    def __init__(self, shell: Mesh, decor: Decor, room: Room | None = None) -> None:
        direction = np.asarray(decor.light_direction, dtype=np.float64)
        direction /= np.linalg.norm(direction)
        self.light = np.array([*direction, *decor.light_colour, decor.ambient], dtype=np.float32)
        self._placed: dict[int, _Placed] = {}
        self._polygons, self._texels, self._fine_texels = Blocks(), Blocks(), Blocks()
        self._free_receivers: list[int] = []
        self.objects = 0
        self.receivers = 0
        self._is_lit = True
        # Per object.
        self.spans = np.zeros((256, 4), dtype=np.int32)
        self.spheres = np.zeros((256, 4), dtype=np.float32)
        self._boxes = np.zeros((256, 8), dtype=np.float32)
        # Per polygon.
        self.corners = np.zeros((4096, MAX_CORNERS, 3), dtype=np.float32)
        self.counts = np.zeros(4096, dtype=np.int32)
        self.planes = np.zeros((4096, 4), dtype=np.float32)
        self.paints = np.zeros((4096, 16), dtype=np.float32)
        self.patterns = np.zeros(4096, dtype=np.int32)
        self.owners = np.zeros(4096, dtype=np.int16)
        self.receivers_of = np.full(4096, -1, dtype=np.int32)
        # Per receiver, and per texel of their light maps.
        self._receiver_axes = np.zeros((256, 8), dtype=np.float32)
        self._receiver_frames = np.zeros((256, 4), dtype=np.float32)
        self._receiver_maps = np.zeros((256, 3), dtype=np.int32)
        self._dirty = np.zeros((256, 4), dtype=np.int32)
        self.fine_axes = np.zeros((256, 8), dtype=np.float32)
        self.fine_maps = np.zeros((256, 3), dtype=np.int32)
        self._base = np.ones(1 << 16, dtype=np.float32)
        self._shadow = np.zeros(1 << 16, dtype=np.int32)
        self._coarse = np.ones(1 << 16, dtype=np.float32)
        self.fine = np.zeros(1 << 19, dtype=np.uint8)
        self._scratch = np.zeros((2, 1 << 16), dtype=np.float32)
        # Polygons without a light map read this byte.
        self.fine[self._fine_texels.take(1)] = int(shadow_maps.PLAIN_LIGHT)
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
        self.spans[placed.slot, 3] = CARRIED if carried else shadow_maps.CASTING
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
                (self._receiver_maps, self._texels),
                (self.fine_maps, self._fine_texels),
            ):
                first, width, height = maps[r].tolist()
                blocks.give(first, width * height)
            self._receiver_maps[r, 1] = 0
            self._dirty[r] = 0
            self._free_receivers.append(int(r))
        self._cast(-1, self._slot(placed), self._all_receivers())
        self._polygons.give(placed.first, placed.count)
        self._shift(placed.slot + 1, -1)

    def light_up(self) -> None:
        """Brings the light maps up to date, before they are drawn."""
        if not self._is_lit:
            shadow_maps.refresh(
                self.receivers,
                self._receiver_maps,
                self._base,
                self._shadow,
                self._coarse,
                self.fine_maps,
                self.fine,
                self._dirty,
            )
            self._is_lit = True

    def copy(self) -> Stage:
        """An independent stage with the same objects; quicker than building one anew."""
        twin = Stage.__new__(Stage)
        for name, value in vars(self).items():
            twin.__dict__[name] = value.copy() if isinstance(value, np.ndarray) else deepcopy(value)
        return twin

    def __contains__(self, instance: int) -> bool:
        return instance in self._placed

    def _all_receivers(self) -> NDArray[np.int32]:
        return _COUNTING[: self.receivers]

    def _slot(self, placed: _Placed) -> NDArray[np.int32]:
        return _COUNTING[placed.slot : placed.slot + 1]

    def _cast(self, sign: int, slots: NDArray[np.int32], receivers: NDArray[np.int32]) -> None:
        self._is_lit = False
        shadow_maps.cast(
            sign,
            slots,
            self.spans,
            self.spheres,
            self._boxes,
            self.light,
            self.corners,
            self.counts,
            receivers,
            self._receiver_axes,
            self._receiver_frames,
            self._receiver_maps,
            self._shadow,
            self._dirty,
            self._scratch,
        )

    def _is_carried(self, placed: _Placed, polygons: int) -> bool:
        """Whether it is carried and has so many polygons."""
        return placed.count == polygons and bool(self.spans[placed.slot, 3] == CARRIED)

    def _write(
        self, instance: int, mesh: Mesh, position: Vector, yaw: float, *, rooted: bool = True
    ) -> _Placed:
        count = len(mesh)
        first = self._polygons.take(count)
        while self._polygons.end > len(self.counts):
            self._grow(_PER_POLYGON)
        if self.objects == len(self.spans):
            self._grow(_PER_OBJECT)
        # In order of their instances, whatever came and went before: where two things meet, the
        # one that is drawn first shows.
        slot = int(np.searchsorted(self.spans[: self.objects, 2], instance))
        self._shift(slot, 1)
        self.spans[slot] = (first, count, instance, 0)
        placed = _Placed(slot, first, count)
        self._place(placed, instance, mesh, position, yaw, rooted)
        self._placed[instance] = placed
        return placed

    def _place(
        self,
        placed: _Placed,
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
            instance,
            x,
            y,
            z,
            sine,
            cosine,
            rooted,
            mesh.corners,
            mesh.counts,
            mesh.normals,
            mesh.colours,
            mesh.textures,
            mesh.scales,
            mesh.glow,
            mesh.bends,
            REPEATS,
            self.light,
            self.corners,
            self.counts,
            self.planes,
            self.paints,
            self.patterns,
            self.owners,
            self.receivers_of,
            self.spheres[placed.slot],
        )
        low, high = mesh.bounds
        middle_x, middle_z = (low[0] + high[0]) / 2, (low[2] + high[2]) / 2
        self._boxes[placed.slot] = (
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
            array = getattr(self, name)
            array[slot + by : self.objects + by] = array[slot : self.objects].copy()
        self.objects += by
        for moved in range(slot + by, self.objects):
            self._placed[int(self.spans[moved, 2])].slot = moved

    def _grow(self, names: tuple[str, ...]) -> None:
        """Doubles the length of arrays."""
        for name in names:
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros_like(array)]))

    def _refine(self, r: int) -> None:
        chart = self._receiver_maps[r]
        shadow_maps.refine(
            0, 0, chart[1], chart[2], chart, self._coarse, self.fine_maps[r], self.fine
        )

    def _put_shell(self, shell: Mesh, windows: tuple[Window, ...]) -> None:
        placed = self._write(0, shell, (0.0, 0.0, 0.0), 0.0, rooted=False)
        # Not an object: it casts no shadows, and stays.
        del self._placed[0]
        large = np.flatnonzero((shell.areas >= ROOM_RECEIVER_AREA) & (shell.glow == 0))
        receivers = self._make_receivers(placed, large, ROOM_TEXEL, shadow_maps.ROOM_FINER)
        part = slice(placed.first, placed.first + placed.count)
        used = np.arange(MAX_CORNERS) < self.counts[part, None]
        corners = self.corners[part]
        low = np.where(used[..., None], corners, np.inf).min(axis=1)
        high = np.where(used[..., None], corners, -np.inf).max(axis=1)
        big = shell.areas >= CORNER_AREA
        room_light.bake_corners(
            receivers,
            self._receiver_axes,
            self._receiver_frames,
            self._receiver_maps,
            np.concatenate([low, high], axis=1)[big].astype(np.float32),
            self.planes[part][big],
            self._base,
        )
        for r in receivers[self._receiver_frames[receivers, 1] > 0.9]:
            for corners, outward in windows:
                # Nothing from behind the wall, less the more the sun grazes it.
                facing = outward[0] * self.light[0] + outward[1] * self.light[2]
                if facing > 0.1 and self.light[1] > 0.1:
                    room_light.shine(
                        corners,
                        self.light,
                        np.float32(SUN * min(1.0, 2 * facing)),
                        self._receiver_axes[r],
                        self._receiver_maps[r],
                        self._base,
                        self._scratch,
                    )
        self._coarse[:] = self._base
        for r in receivers:
            self._refine(r)

    def _make_receivers(
        self, placed: _Placed, polygons: NDArray[np.int64], texel: float, finer: int
    ) -> NDArray[np.int32]:
        """Gives light maps to some polygons of an object; their receivers' indices."""
        made = []
        for p in polygons + placed.first:
            r = self._free_receivers.pop() if self._free_receivers else self.receivers
            if r == self.receivers:
                self.receivers += 1
                if r == len(self._receiver_maps):
                    self._grow(_PER_RECEIVER)
            width, height = shadow_maps.describe_receiver(
                self.corners[p, : self.counts[p]],
                self.planes[p],
                np.float32(texel),
                self._receiver_axes[r],
                self._receiver_frames[r],
            )
            first = self._texels.take(width * height)
            while self._texels.end > len(self._base):
                self._grow(_PER_TEXEL)
            fine_width, fine_height = (width - 2) * finer + 2, (height - 2) * finer + 2
            fine_first = self._fine_texels.take(fine_width * fine_height)
            while self._fine_texels.end > len(self.fine):
                self._grow(("fine",))
            self._receiver_maps[r] = (first, width, height)
            self.fine_maps[r] = (fine_first, fine_width, fine_height)
            self.fine_axes[r] = self._receiver_axes[r] * finer
            texels = slice(first, first + width * height)
            self._base[texels] = 1.0
            self._shadow[texels] = 0
            self._coarse[texels] = 1.0
            fine_texels = slice(fine_first, fine_first + fine_width * fine_height)
            self.fine[fine_texels] = int(shadow_maps.PLAIN_LIGHT)
            self.receivers_of[p] = r
            made.append(r)
        return np.array(made, dtype=np.int32)


_PER_OBJECT = ("spans", "spheres", "_boxes")
_PER_POLYGON = (
    "corners",
    "counts",
    "planes",
    "paints",
    "patterns",
    "owners",
    "receivers_of",
)
_PER_RECEIVER = (
    "_receiver_axes",
    "_receiver_frames",
    "_receiver_maps",
    "_dirty",
    "fine_axes",
    "fine_maps",
)
_PER_TEXEL = ("_base", "_shadow", "_coarse")
_COUNTING = np.arange(1 << 14, dtype=np.int32)
