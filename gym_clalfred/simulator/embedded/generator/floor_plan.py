"""A room while it is being furnished: what stands where, and where there is space left."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.catalog.parts import Part
from gym_clalfred.simulator.embedded.generator.shell import Shell, Side
from gym_clalfred.simulator.embedded.placement import extents, turn
from gym_clalfred.simulator.embedded.room_model import Fixture, Opening
from gym_clalfred.simulator.geometry import Box

#: Free floor kept in front of doors that open, drawers that slide and seats.
FRONT_METRES = 0.65

#: Height up to which things keep the agent away.
BODY_METRES = 1.8

#: How far the front of a built-in drawer or cabinet stands out of the body that holds it.
PROUD_METRES = 0.01


class DoesNotFitError(Exception):
    """Something that the room must have does not fit, so another layout is tried."""


@dataclass(frozen=True)
class WallPlace:
    """A free place at a wall: the side and the distance of the centre along it."""

    side: Side
    t: float


def box_of(position: Vector, size: Vector, yaw: float) -> Box:
    """The axis-parallel box of an object that is turned by a multiple of 90 degrees."""
    width, depth = extents(size, yaw)
    x, y, z = position
    return Box(x - width / 2, y, z - depth / 2, x + width / 2, y + size[1], z + depth / 2)


@dataclass
class FloorPlan:
    """Collects fixtures; every placing method keeps them from overlapping.

    Args:
        number: of the room, which names and styles follow from.
        shell: floor and walls.
        rng: all choices come from it.
    """

    number: int
    shell: Shell
    rng: np.random.Generator
    fixtures: list[Fixture] = field(default_factory=list)
    openings: dict[Side, list[Opening]] = field(default_factory=dict)
    _boxes: list[Box] = field(default_factory=list)
    _clear: list[Box] = field(default_factory=list)
    _named: dict[ObjectClass, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._boxes = self.shell.solids()

    # Choices

    def chance(self, probability: float) -> bool:
        """True with the probability."""
        return bool(self.rng.random() < probability)

    def between(self, low: float, high: float, step: float = 0.05) -> float:
        """A multiple of ``step`` in the range."""
        return round(low + step * int(self.rng.integers(0, round((high - low) / step) + 1)), 3)

    def shuffled_sides(self) -> list[Side]:
        """The walls in random order."""
        return [self.shell.sides[i] for i in self.rng.permutation(len(self.shell.sides))]

    def style(self, label: object) -> int:
        """A style that is the same for everything in the room with the same label."""
        return zlib.crc32(f"{self.number}/{label}".encode())

    def usual_size(self, object_class: ObjectClass, style: int | None = None) -> Vector:
        """The catalogue's size, to the centimetre."""
        size = model_of(object_class).size(self.style(object_class) if style is None else style)
        return round(size[0], 2), round(size[1], 2), round(size[2], 2)

    # Adding

    def add(
        self,
        object_class: ObjectClass,
        position: Vector,
        yaw: float,
        size: Vector,
        *,
        style: int | None = None,
        part_of: Fixture | None = None,
        solid: bool = True,
        blocks: bool = True,
    ) -> Fixture:
        """Adds a fixture without asking whether there is space."""
        count = self._named.get(object_class, 0)
        self._named[object_class] = count + 1
        tag = zlib.crc32(f"{self.number}/{object_class.name}/{count}".encode())
        fixture = Fixture(
            name=f"{object_class.name}_{tag:08x}",
            object_class=object_class,
            position=(round(position[0], 4), round(position[1], 4), round(position[2], 4)),
            yaw=yaw % 360.0,
            size=(round(size[0], 4), round(size[1], 4), round(size[2], 4)),
            style=self.style(object_class) if style is None else style,
            part_of=part_of.name if part_of is not None else None,
            solid=solid,
        )
        self.fixtures.append(fixture)
        if blocks:
            self._boxes.append(box_of(fixture.position, fixture.size, fixture.yaw))
        return fixture

    def at_wall(
        self,
        object_class: ObjectClass,
        place: WallPlace,
        size: Vector,
        *,
        y: float = 0.0,
        gap: float = 0.0,
        front: float = 0.0,
        style: int | None = None,
        solid: bool = True,
    ) -> Fixture:
        """Adds a fixture with its back to a wall, ``gap`` metres away, and keeps its front free."""
        side, t = place.side, place.t
        body = side.box(t - size[0] / 2, t + size[0] / 2, gap, gap + size[2], y, y + size[1])
        if any(body.overlaps(other, 3e-3) for other in self._boxes):
            raise DoesNotFitError(f"{object_class.name} would stand in something else")
        if front > 0:
            d = gap + size[2]
            half = size[0] / 2
            self._clear.append(side.box(t - half, t + half, d, d + front, 0.0, BODY_METRES))
        x, z = side.point(t, gap + size[2] / 2)
        return self.add(object_class, (x, y, z), side.yaw, size, style=style, solid=solid)

    def attach(self, whole: Fixture, part: Part, *, style: int | None = None) -> Fixture:
        """Adds a part of a fixture, such as a basin or a knob."""
        x, z = turn(part.offset[0], part.offset[2], whole.yaw)
        px, py, pz = whole.position
        return self.add(
            part.object_class,
            (px + x, py + part.offset[1], pz + z),
            whole.yaw,
            part.size,
            style=style,
            part_of=whole,
            solid=False,
            blocks=False,
        )

    def built_in(
        self, whole: Fixture, object_class: ObjectClass, x: float, y: float, size: Vector
    ) -> Fixture:
        """Adds a drawer or cabinet to the front of a body, ``x`` from its middle."""
        z = whole.size[2] / 2 + PROUD_METRES - size[2] / 2
        # The body's own style without its variant bits, so that colours match.
        style = whole.style & 0xFFFFFFFF
        return self.attach(whole, Part(object_class, (x, y, z), size), style=style)

    def on_top(
        self,
        holder: Fixture,
        object_class: ObjectClass,
        x: float,
        z: float,
        size: Vector,
    ) -> Fixture:
        """Stands a fixture such as a lamp on another, at x, z of that one's frame."""
        dx, dz = turn(x, z, holder.yaw)
        px, py, pz = holder.position
        return self.add(
            object_class,
            (px + dx, py + holder.size[1], pz + dz),
            holder.yaw,
            size,
            solid=False,
        )

    def try_on_top(
        self, holder: Fixture, object_class: ObjectClass, x: float, z: float, size: Vector
    ) -> Fixture | None:
        """As ``on_top`` if the place is free, else ``None``."""
        dx, dz = turn(x, z, holder.yaw)
        px, py, pz = holder.position
        position = (px + dx, py + holder.size[1], pz + dz)
        box = box_of(position, size, holder.yaw)
        if any(box.overlaps(other) for other in self._boxes):
            return None
        return self.on_top(holder, object_class, x, z, size)

    def forbid(self, box: Box) -> None:
        """Reserves space that nothing else may take, as for a door."""
        self._boxes.append(box)

    def keep_clear(self, box: Box) -> None:
        """Forbids furniture on a piece of floor."""
        self._clear.append(box)

    # Looking for space

    def is_free(self, box: Box, keep: Box | None = None) -> bool:
        """Whether a box is in the room and overlaps neither fixtures nor reserved floor.

        Args:
            keep: floor that must be free of furniture too.
        """
        if any(box.overlaps(other) for other in self._boxes):
            return False
        if box.y0 < BODY_METRES and any(box.overlaps(other) for other in self._clear):
            return False
        return keep is None or not any(keep.overlaps(other) for other in self._boxes)

    def spans(
        self, side: Side, depth: float, y: float, height: float, front: float, gap: float = 0.0
    ) -> list[tuple[float, float]]:
        """Stretches (t0, t1) of a wall along which something with this profile fits."""
        low, high = y + 1e-3, y + height - 1e-3
        near, far = gap + depth - 1e-3, gap + depth + front - 1e-3
        taken: list[tuple[float, float]] = []
        for box in self._boxes:
            t0, t1, d0, d1 = side.local(box)
            if d1 <= gap + 1e-3 or t1 <= 0 or t0 >= side.length:
                continue
            body = d0 < near and box.y0 < high and box.y1 > low
            ahead = front > 0 and d0 < far and box.y0 < BODY_METRES and d1 > near
            if body or ahead:
                taken.append((t0, t1))
        if low < BODY_METRES:
            for box in self._clear:
                t0, t1, d0, d1 = side.local(box)
                if d1 > gap + 1e-3 and d0 < near:
                    taken.append((t0, t1))
        free, start = [], 0.0
        for t0, t1 in [*sorted(taken), (side.length, side.length)]:
            if t0 > start + 1e-3:
                free.append((start, min(t0, side.length)))
            start = max(start, t1)
        return free

    def find(
        self,
        size: Vector,
        *,
        y: float = 0.0,
        front: float = 0.0,
        gap: float = 0.0,
        margin: float = 0.0,
        sides: Sequence[Side] | None = None,
        where: str = "any",
        near: tuple[float, float] | None = None,
    ) -> WallPlace | None:
        """A free place at a wall, or ``None``.

        Args:
            margin: air left and right.
            sides: the walls to try, in order; all in random order by default.
            where: "any", "corner" (an end of a free stretch) or "middle" (of the longest one).
            near: take the place closest to this point of the floor instead.
        """
        best: tuple[float, WallPlace] | None = None
        for side in sides if sides is not None else self.shuffled_sides():
            need = size[0] + 2 * margin
            fitting = [
                (a, b)
                for a, b in self.spans(side, size[2], y, size[1], front, gap)
                if b - a >= need - 1e-6
            ]
            if not fitting:
                continue
            if near is not None:
                nx, nz = near[0] - side.start[0], near[1] - side.start[1]
                goal = nx * side.along[0] + nz * side.along[1]
                for a, b in fitting:
                    t = min(max(goal, a + need / 2), b - need / 2)
                    x, z = side.point(t, size[2] / 2)
                    distance = (x - near[0]) ** 2 + (z - near[1]) ** 2
                    if best is None or distance < best[0]:
                        best = distance, WallPlace(side, round(t, 3))
                continue
            if where == "middle":
                a, b = max(fitting, key=lambda span: span[1] - span[0])
                return WallPlace(side, round((a + b) / 2, 3))
            a, b = fitting[int(self.rng.integers(len(fitting)))]
            slack = b - a - need
            corner = where == "corner"
            share = float(self.rng.integers(2)) if corner else float(self.rng.random())
            return WallPlace(side, round(a + need / 2 + share * slack, 3))
        return best[1] if best is not None else None

    def need(self, size: Vector, **options: object) -> WallPlace:
        """As ``find``; raises ``DoesNotFitError`` if there is no place."""
        place = self.find(size, **options)  # type: ignore[arg-type]
        if place is None:
            raise DoesNotFitError(f"no place for {size}")
        return place

    def of(self, *classes: ObjectClass) -> list[Fixture]:
        """The fixtures of some classes so far."""
        return [fixture for fixture in self.fixtures if fixture.object_class in classes]
