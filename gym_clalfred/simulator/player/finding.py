"""Actions that say from where an object can be acted on, and how to get there."""

# ruff: noqa: N803 - parameters have AI2-THOR's names

from __future__ import annotations

import math
from typing import Any

from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.queries import HORIZONS, Queries, on_floor
from gym_clalfred.simulator.player.refusals import RefusedError, missing_arguments

Values = dict[str, Any]

#: Degrees by which one look tilts the camera.
LOOK = 30.0


class PoseActions(Queries):
    """Poses and ways."""

    turn_degrees: float

    @action("PositionsFromWhichItemIsInteractable")
    def positions_for(
        self,
        objectId: str,
        positions: list | None = None,
        horizon: float | None = None,
        rotations: list | None = None,
        standing: bool | None = None,
    ) -> dict[str, list[Any]]:
        """``GetInteractablePoses`` in the older form: one list for each part of the poses."""
        poses = self.interactable_poses(
            objectId,
            positions,
            rotations,
            None if horizon is None else [horizon],
            [True, False] if standing is None else [standing],
        )
        parts = ("x", "y", "z", "rotation", "standing", "horizon")
        return {part: [pose[part] for pose in poses] for part in parts}

    @action("ObjectNavExpertAction")
    def next_action(
        self,
        objectId: str | None = None,
        objectType: str | None = None,
        position: dict | None = None,
    ) -> str | None:
        """The next action on the shortest way to a point or to where an object is visible.

        ``None`` says that the agent is there.
        """
        if position is not None:
            place = on_floor("ObjectNavExpertAction", position)
            return self._step_towards([self._nearest(*place)])
        if objectId is None and objectType is None:
            raise missing_arguments("ObjectNavExpertAction", ["objectId"])
        things = self._things(objectId, objectType)
        if any(thing.id in self.world.sight().visible for thing in things):
            return None
        poses = [pose for thing in things for pose in self._poses_for(thing.id)]
        if not poses:
            raise RefusedError("Path to target could not be found")
        following = self._step_towards([(pose["x"], pose["z"]) for pose in poses])
        return following or self._look_towards(poses)

    def _poses_for(self, object_id: str) -> list[Values]:
        """``GetInteractablePoses``, remembered until something changes."""
        world = self.world
        key = (id(world.household), world.version, world.reach, object_id)
        if self._remembered[0] != key:
            self._remembered = (key, self.interactable_poses(object_id))
        return self._remembered[1]

    def _step_towards(self, goals: list[tuple[float, float]]) -> str | None:
        corners = self._path(None, goals)["corners"]
        if len(corners) < 2:
            return None
        agent = self.world.agent
        dx, dz = corners[1]["x"] - agent.x, corners[1]["z"] - agent.z
        return self._turn_to(math.degrees(math.atan2(dx, dz))) or "MoveAhead"

    def _turn_to(self, heading: float) -> str | None:
        rest = (heading - self.world.agent.yaw + 180.0) % 360.0 - 180.0
        if abs(rest) <= self.turn_degrees / 2 + 1e-3:
            return None
        return "RotateRight" if rest > 0 else "RotateLeft"

    def _look_towards(self, poses: list[Values]) -> str | None:
        """Turns or tilts towards the pose that takes least at the present point."""
        agent = self.world.agent
        here = self._nearest(agent.x, agent.z)

        def effort(pose: Values) -> float:
            turned = abs((pose["rotation"] - agent.yaw + 180.0) % 360.0 - 180.0)
            return turned / self.turn_degrees + abs(pose["horizon"] - agent.pitch) / LOOK

        best = min((pose for pose in poses if (pose["x"], pose["z"]) == here), key=effort)
        turned = self._turn_to(best["rotation"])
        if turned is not None:
            return turned
        rest = best["horizon"] - agent.pitch
        low, high = HORIZONS[0], HORIZONS[-1]
        if rest > LOOK / 2 and agent.pitch + LOOK <= high:
            return "LookDown"
        if rest < -LOOK / 2 and agent.pitch - LOOK >= low:
            return "LookUp"
        return None
