"""Keeps the renderer's stage in step with the household."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gym_clalfred.simulator.contract import AgentPose, Vector
from gym_clalfred.simulator.embedded.catalog import Appearance, build_blocks, build_mesh
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.render.mesh import Mesh
from gym_clalfred.simulator.embedded.render.shell import shell_of
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import direction_of, eye_of

#: How far from the eye a held object begins, and how far below the view's centre its top is.
HAND_METRES = 0.42
HAND_DEGREES = 17.0
_HAND_FALL = math.tan(math.radians(HAND_DEGREES))

#: Long things are held across the view rather than along it: degrees, sine and cosine.
HAND_TURN = 65.0
_ACROSS = (HAND_TURN, math.sin(math.radians(HAND_TURN)), math.cos(math.radians(HAND_TURN)))
_ALONG = (0.0, 0.0, 1.0)

_Drawn = tuple[int, Vector, int, Appearance, Vector, float]


class Scenery:
    """The stage of one room. Only what changed is drawn anew, also from one episode to the next.

    Args:
        room: walls, floor and light.
    """

    def __init__(self, room: Room) -> None:
        self.room = room
        self.stage = Stage(shell_of(room), room.decor, room)
        self._drawn: dict[int, _Drawn] = {}
        self._hand: list[_HeldItem] = []

    def show_all(self, things: Iterable[Thing]) -> None:
        """Makes the stage show these things and no others."""
        self.clear_hand()
        things = list(things)
        for index in [index for index in self._drawn if index >= len(things)]:
            self._remove(index)
        self.update(things)

    def update(self, things: Iterable[Thing]) -> None:
        """Brings things up to date that may have changed; none of them may be held."""
        for thing in things:
            if not thing.alive or thing.hidden:
                self._remove(thing.index)
                continue
            drawn = (
                int(thing.object_class),
                thing.size,
                thing.style,
                thing.look,
                thing.position,
                thing.yaw,
            )
            if self._drawn.get(thing.index) == drawn:
                continue
            self._drawn[thing.index] = drawn
            self.stage.put(thing.index + 1, _mesh_of(thing), thing.position, thing.yaw)

    def take_in_hand(self, held: Thing) -> None:
        """Takes what is held, with its contents, away from where it was."""
        for thing in held.tree():
            self._remove(thing.index)

    def show_hand(self, held: Thing, agent: AgentPose) -> None:
        """Shows what is held, with its contents, before the camera."""
        if not self._hand:
            self._hand = [_part_of(held, thing) for thing in held.tree()]
        position, yaw = hand_pose(held, agent)
        for part in self._hand:
            x, z = turn(part.x, part.z, yaw)
            at = (position[0] + x, position[1] + part.y - held.position[1], position[2] + z)
            self.stage.put(part.instance, part.mesh, at, yaw + part.yaw - held.yaw, carried=True)

    def clear_hand(self) -> None:
        """Leaves what is held out of the picture."""
        for part in self._hand:
            self.stage.remove(part.instance)
        self._hand.clear()

    def _remove(self, index: int) -> None:
        if self._drawn.pop(index, None) is not None:
            self.stage.remove(index + 1)


def _mesh_of(thing: Thing) -> Mesh:
    if thing.blocks:
        return build_blocks(thing.object_class, thing.blocks, thing.style, thing.size, thing.look)
    return build_mesh(thing.object_class, thing.size, thing.style, thing.look)


@dataclass(frozen=True)
class _HeldItem:
    """A thing that is held, or in what is held.

    ``x`` and ``z`` are in the frame of what is held, ``y`` and ``yaw`` in the room's, where it was.
    """

    instance: int
    mesh: Mesh
    x: float
    z: float
    y: float
    yaw: float


def _part_of(held: Thing, thing: Thing) -> _HeldItem:
    x, z = held.local(thing.position[0], thing.position[2])
    return _HeldItem(thing.index + 1, _mesh_of(thing), x, z, thing.position[1], thing.yaw)


def hand_pose(held: Thing, agent: AgentPose) -> tuple[Vector, float]:
    """Base centre and yaw of what an agent holds: low in the middle of its front view."""
    width, height, depth = held.box
    angle, sine, cosine = _ACROSS if depth > 1.5 * width else _ALONG
    distance = HAND_METRES + (width * sine + depth * cosine) / 2
    ahead = direction_of(agent, up=-_HAND_FALL)
    x, y, z = (e + a * distance for e, a in zip(eye_of(agent), ahead))
    return (x, y - height, z), agent.yaw + 180.0 + angle
