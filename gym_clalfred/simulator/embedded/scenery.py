"""Keeps the renderer's stage in step with the household."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gym_clalfred.simulator.contract import AgentPose, Vector
from gym_clalfred.simulator.embedded.catalog import Look, build_blocks, build_mesh
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.render.mesh import Mesh
from gym_clalfred.simulator.embedded.render.shell import shell_of
from gym_clalfred.simulator.embedded.render.stage import Stage
from gym_clalfred.simulator.embedded.room import Room
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.embedded.visibility import direction_of, eye_of

#: How far from the eye a held object begins, and how far below the view's centre its top is.
HAND_METRES = 0.42
HAND_DEGREES = 17.0

#: Long things are held across the view rather than along it.
HAND_TURN = 65.0

_Drawn = tuple[int, Vector, int, Look, Vector, float]


class Scenery:
    """The stage of one room. Only what changed is drawn anew, also from one episode to the next.

    Args:
        room: walls, floor and light.
    """

    def __init__(self, room: Room) -> None:
        self.room = room
        self.stage = Stage(shell_of(room), room.decor, room)
        self._drawn: dict[int, _Drawn] = {}
        self._in_hand: list[int] = []

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
        things = list(held.tree())
        if [thing.index for thing in things] != self._in_hand:
            self.clear_hand()
        position, yaw = hand_pose(held, agent)
        for thing in things:
            x, z = held.local(thing.position[0], thing.position[2])
            x, z = turn(x, z, yaw)
            at = (
                position[0] + x,
                position[1] + thing.position[1] - held.position[1],
                position[2] + z,
            )
            mesh = _mesh_of(thing)
            self.stage.put(thing.index + 1, mesh, at, yaw + thing.yaw - held.yaw, carried=True)
        self._in_hand = [thing.index for thing in things]

    def clear_hand(self) -> None:
        """Leaves what is held out of the picture."""
        for index in self._in_hand:
            self.stage.remove(index + 1)
        self._in_hand.clear()

    def _remove(self, index: int) -> None:
        if self._drawn.pop(index, None) is not None:
            self.stage.remove(index + 1)


def _mesh_of(thing: Thing) -> Mesh:
    if thing.blocks:
        return build_blocks(thing.object_class, thing.blocks, thing.style, thing.size, thing.look)
    return build_mesh(thing.object_class, thing.size, thing.style, thing.look)


def hand_pose(held: Thing, agent: AgentPose) -> tuple[Vector, float]:
    """Base centre and yaw of what an agent holds: low in the middle of its front view."""
    width, height, depth = held.box
    angle = HAND_TURN if depth > 1.5 * width else 0.0
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    distance = HAND_METRES + (width * sine + depth * cosine) / 2
    ahead = direction_of(agent, up=-math.tan(math.radians(HAND_DEGREES)))
    eye = eye_of(agent)
    x, y, z = (e + a * distance for e, a in zip(eye, ahead))
    return (x, y - height, z), agent.yaw + 180.0 + angle
