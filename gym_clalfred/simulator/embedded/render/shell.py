"""The shell of a room as polygons: floor, ceiling, walls with their windows and doors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.render.mesh import Colour, Mesh, MeshBuilder, Paint, Texture
from gym_clalfred.simulator.embedded.room_model import Opening, Room, Wall

#: Metres per repeat of each pattern on floors and on walls; others repeat every metre.
FLOOR_SCALE = {
    Texture.PLANKS: 0.12,
    Texture.TILES: 0.33,
    Texture.CARPET: 0.6,
    Texture.MARBLE: 0.9,
    Texture.CHECKS: 0.6,
    Texture.TERRAZZO: 0.5,
    Texture.BRICKS: 0.25,
    Texture.WOOD: 0.8,
}
WALL_SCALE = {
    Texture.TILES: 0.2,
    Texture.BRICKS: 0.24,
    Texture.WALLPAPER: 0.22,
    Texture.STRIPES: 0.2,
    Texture.PLANKS: 0.14,
    Texture.MARBLE: 0.7,
}

BODY_SCALE = {Texture.WOOD: 0.4, Texture.METAL: 0.6}

SKIRTING_HEIGHT = 0.09
SKIRTING_DEPTH = 0.015
WINDOW_RECESS = 0.14
DOOR_RECESS = 0.05
FRAME = 0.05

Window = tuple[NDArray[np.float32], tuple[float, float]]

WHITE: Colour = (238, 236, 230)
DOOR_WOOD: Colour = (156, 116, 78)
BRASS: Colour = (190, 160, 90)


def texture_named(name: str) -> Texture:
    """The texture that a room's decor names, in any case."""
    try:
        return Texture[name.upper()]
    except KeyError:
        known = ", ".join(texture.name.lower() for texture in Texture)
        raise ValueError(f"unknown texture {name!r}; known are {known}") from None


def shell_of(room: Room) -> Mesh:
    """Walls, floor, ceiling, windows, doors and bodies of a room, in world coordinates."""
    builder = MeshBuilder()
    decor = room.decor
    floor_texture = texture_named(decor.floor_texture)
    floor = Paint(decor.floor_colour, floor_texture, FLOOR_SCALE.get(floor_texture, 1.0))
    ceiling = Paint(decor.ceiling_colour)
    for area in room.floor:
        for y, normal, paint in ((0.0, 1.0, floor), (room.height, -1.0, ceiling)):
            builder.polygon(
                [
                    (area.x0, y, area.z0),
                    (area.x0, y, area.z1),
                    (area.x1, y, area.z1),
                    (area.x1, y, area.z0),
                ],
                (0.0, normal, 0.0),
                paint,
            )
    wall_texture = texture_named(decor.wall_texture)
    paint = Paint(decor.wall_colour, wall_texture, WALL_SCALE.get(wall_texture, 1.0))
    for wall in room.walls:
        _WallBuilder(builder, wall, room.height).build(paint)
    for body in room.bodies:
        texture = texture_named(body.texture)
        builder.box(body.low, body.high, Paint(body.colour, texture, BODY_SCALE.get(texture, 1.0)))
    return builder.build()


def windows_of(room: Room) -> tuple[Window, ...]:
    """The room's windows: (4, 3) corners, and the direction (x, z) out of the room."""
    windows = []
    for wall in room.walls:
        at = _WallBuilder(MeshBuilder(), wall, room.height)
        for opening in wall.openings:
            if opening.kind != "door":
                (left, right), (low, high) = (
                    (opening.start, opening.end),
                    (opening.bottom, opening.top),
                )
                places = ((left, low), (left, high), (right, high), (right, low))
                corners = np.array([at.point(*place, 0.0) for place in places], dtype=np.float32)
                out_x, _, out_z = at.direction(0.0, 0.0, 1.0)
                windows.append((corners, (out_x, out_z)))
    return tuple(windows)


class _WallBuilder:
    """Builds one wall in its own coordinates: metres along it, up, and out of the room."""

    def __init__(self, builder: MeshBuilder, wall: Wall, height: float) -> None:
        self._builder = builder
        self._wall = wall
        self._height = height
        self._length = math.hypot(wall.x1 - wall.x0, wall.z1 - wall.z0)
        self._dx = (wall.x1 - wall.x0) / self._length
        self._dz = (wall.z1 - wall.z0) / self._length

    def build(self, paint: Paint) -> None:
        at = 0.0
        for opening in sorted(self._wall.openings, key=lambda opening: opening.start):
            self._panel(at, opening.start, 0.0, self._height, paint)
            self._panel(opening.start, opening.end, 0.0, opening.bottom, paint)
            self._panel(opening.start, opening.end, opening.top, self._height, paint)
            self._skirting(at, opening.start)
            if opening.bottom > SKIRTING_HEIGHT:
                self._skirting(opening.start, opening.end)
            if opening.kind == "door":
                self._door(opening)
            else:
                self._window(opening)
            at = opening.end
        self._panel(at, self._length, 0.0, self._height, paint)
        self._skirting(at, self._length)

    def point(self, along: float, up: float, out: float) -> Vector:
        return (
            self._wall.x0 + along * self._dx - out * self._dz,
            up,
            self._wall.z0 + along * self._dz + out * self._dx,
        )

    def direction(self, along: float, up: float, out: float) -> Vector:
        return (along * self._dx - out * self._dz, up, along * self._dz + out * self._dx)

    def _quad(self, points: list[tuple[float, float, float]], normal: Vector, paint: Paint) -> None:
        self._builder.polygon(
            [self.point(*point) for point in points], self.direction(*normal), paint
        )

    def _panel(
        self, left: float, right: float, low: float, high: float, paint: Paint, out: float = 0.0
    ) -> None:
        """A rectangle that faces the room."""
        if right - left < 1e-6 or high - low < 1e-6:
            return
        self._quad(
            [(left, low, out), (left, high, out), (right, high, out), (right, low, out)],
            (0, 0, -1),
            paint,
        )

    def _bar(
        self,
        left: float,
        right: float,
        low: float,
        high: float,
        near: float,
        far: float,
        paint: Paint,
    ) -> None:
        """A box without its back; ``near`` and ``far`` are metres out of the room."""
        self._panel(left, right, low, high, paint, near)
        for side, normal in ((left, -1), (right, 1)):
            self._quad(
                [(side, low, near), (side, high, near), (side, high, far), (side, low, far)],
                (normal, 0, 0),
                paint,
            )
        for side, normal in ((low, -1), (high, 1)):
            self._quad(
                [(left, side, near), (right, side, near), (right, side, far), (left, side, far)],
                (0, normal, 0),
                paint,
            )

    def _skirting(self, left: float, right: float) -> None:
        if right - left < 0.02:
            return
        paint = Paint(WHITE)
        near = -SKIRTING_DEPTH
        self._panel(left, right, 0.0, SKIRTING_HEIGHT, paint, near)
        self._quad(
            [
                (left, SKIRTING_HEIGHT, near),
                (right, SKIRTING_HEIGHT, near),
                (right, SKIRTING_HEIGHT, 0.0),
                (left, SKIRTING_HEIGHT, 0.0),
            ],
            (0, 1, 0),
            paint,
        )

    def _reveal(self, opening: Opening, depth: float, paint: Paint) -> None:
        """The four inner sides of a hole in the wall."""
        left, right, low, high = opening.start, opening.end, opening.bottom, opening.top
        for side, normal in ((left, 1), (right, -1)):
            self._quad(
                [(side, low, 0), (side, high, 0), (side, high, depth), (side, low, depth)],
                (normal, 0, 0),
                paint,
            )
        for side, normal in ((low, 1), (high, -1)):
            self._quad(
                [(left, side, 0), (right, side, 0), (right, side, depth), (left, side, depth)],
                (0, normal, 0),
                paint,
            )

    def _window(self, opening: Opening) -> None:
        left, right, low, high = opening.start, opening.end, opening.bottom, opening.top
        white = Paint(WHITE)
        self._reveal(opening, WINDOW_RECESS, white)
        self._panel(
            left,
            right,
            low,
            high,
            Paint((255, 255, 255), Texture.SKY, high - low, glow=1.0),
            WINDOW_RECESS,
        )
        near, far = WINDOW_RECESS - 0.04, WINDOW_RECESS
        half = FRAME / 2
        centre, middle = (left + right) / 2, low + 0.62 * (high - low)
        for a, b in ((left, left + FRAME), (centre - half, centre + half), (right - FRAME, right)):
            self._bar(a, b, low, high, near, far, white)
        for a, b in ((low, low + FRAME), (middle - half, middle + half), (high - FRAME, high)):
            self._bar(left, right, a, b, near + 0.005, far, white)
        self._bar(left - 0.05, right + 0.05, low - 0.04, low, -0.06, 0.0, white)

    def _door(self, opening: Opening) -> None:
        left, right, low, high = opening.start, opening.end, opening.bottom, opening.top
        white, wood = Paint(WHITE), Paint(DOOR_WOOD, Texture.WOOD, 0.5)
        self._reveal(opening, DOOR_RECESS, white)
        self._panel(left, right, low, high, wood, DOOR_RECESS)
        for a, b, c, d in (
            (left - 0.08, left, low, high + 0.08),
            (right, right + 0.08, low, high + 0.08),
            (left, right, high, high + 0.08),
        ):
            self._bar(a, b, c, d, -0.02, 0.0, white)
        width = right - left
        dark = Paint((138, 100, 66), Texture.WOOD, 0.4)
        for a, b in ((0.08, 0.42), (0.5, 0.92)):
            self._bar(
                left + 0.16 * width,
                right - 0.16 * width,
                low + a * (high - low),
                low + b * (high - low),
                DOOR_RECESS - 0.012,
                DOOR_RECESS,
                dark,
            )
        self._bar(
            left + 0.06,
            left + 0.18,
            low + 1.0,
            low + 1.03,
            DOOR_RECESS - 0.05,
            0.04,
            Paint(BRASS, Texture.METAL),
        )
