"""What is asked of AI2-THOR 5.0.0 and 2.1.0, and what is made of the answers; none is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai2thor")

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError, SimulatorError
from gym_clalfred.simulator.contract import AgentPose, ObjectPose, RenderOptions, Scene
from gym_clalfred.simulator.thor.current import CurrentLink
from gym_clalfred.simulator.thor.legacy import LegacyLink
from gym_clalfred.simulator.thor.link import CameraView, Event, Link, object_poses
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.simulator import ThorSimulator

LINKS = {"5.0.0": CurrentLink, "2.1.0": LegacyLink}
START = AgentPose(1.0, 0.9, -0.25, 90, 30)
MUG = "Mug|+01.00|+00.90|+00.00"
VIEW = CameraView(np.zeros((1, 1, 3), np.uint8), np.zeros((1, 1), np.uint32), None)

Values = dict[str, Any]


class Agent:
    """Notes what it is asked and does it.

    Args:
        refuses: whether it does not do a request.
        lands: where a teleport to a pose ends.
        reason: what it says when it refuses.
    """

    def __init__(
        self,
        refuses: Callable[[Values], bool] = lambda request: False,
        lands: Callable[[AgentPose], AgentPose] = lambda pose: pose,
        reason: str = "a Pot is in the way",
    ) -> None:
        self.requests: list[Values] = []
        self.pose = START
        self._refuses = refuses
        self._lands = lands
        self._reason = reason

    def do(self, action: str, images: bool, **arguments: Any) -> Event:
        request = {"action": action, **arguments}
        self.requests.append(request)
        done = not self._refuses(request)
        if done and action == "TeleportFull":
            at = (request["x"], request["y"], request["z"])
            turned = (round(request["rotation"]), round(request["horizon"]))
            self.pose = self._lands(AgentPose(*at, *turned))
        metadata = {
            "agent": {
                "position": {"x": self.pose.x, "y": self.pose.y, "z": self.pose.z},
                "rotation": {"x": 0.0, "y": self.pose.yaw % 360.0, "z": 0.0},
                "cameraHorizon": self.pose.pitch % 360.0,
            },
            "objects": [{"name": "Mug_1", "objectId": MUG, "objectType": "Mug"}],
            "inventoryObjects": [],
            "lastActionSuccess": done,
            "errorMessage": "" if done else self._reason,
        }
        return Event(metadata, (VIEW,) if images else (), {})


def link_to(agent: Agent, version: str) -> Link:
    """A link of a version that has the agent at its other end."""
    link: Link = LINKS[version](RenderOptions(), ThorOptions())
    link.do = agent.do  # type: ignore[method-assign]
    return link


def forced(request: Values) -> bool:
    return bool(request.get("forceAction"))


@pytest.mark.parametrize("version", LINKS)
def test_what_is_held_keeps_the_agent_from_neither_moves_nor_turns(version: str) -> None:
    agent = Agent(refuses=lambda request: not forced(request))
    simulator = ThorSimulator(options=ThorOptions())
    simulator._link = link_to(agent, version)
    simulator._event = agent.do("Pass", images=False)
    for action in (Action.MoveAhead, Action.RotateLeft, Action.RotateRight):
        assert simulator.step(action).success
        assert agent.requests[-1]["action"] == action.name


@pytest.mark.parametrize("held", [None, MUG])
def test_looking_around_in_2_1_0_is_forced_and_ends_where_it_began(held: str | None) -> None:
    agent = Agent(
        refuses=lambda request: request["action"] == "TeleportFull" and not forced(request)
    )
    views = link_to(agent, "2.1.0").shoot(START, held)
    assert len(views) == 5
    assert agent.pose == START
    turned = [request for request in agent.requests if request["action"] == "TeleportFull"]
    assert all(map(forced, turned))
    assert len({(request["rotation"], request["horizon"]) for request in turned}) == 5


@pytest.mark.parametrize("action", ["HideObject", "TeleportFull", "UnhideObject"])
def test_a_refusal_while_looking_around_in_2_1_0_is_a_broken_simulator(action: str) -> None:
    agent = Agent(refuses=lambda request: request["action"] == action)
    with pytest.raises(SimulatorError, match=f"refused {action}: a Pot is in the way"):
        link_to(agent, "2.1.0").shoot(START, MUG)


@pytest.mark.parametrize(
    "lost",
    [
        AgentPose(1.25, 0.9, -0.25, 90, 30),
        AgentPose(1.0, 0.9, -0.25, 0, 30),
        AgentPose(1.0, 0.9, -0.25, 90, 15),
    ],
)
def test_an_agent_that_does_not_come_back_in_2_1_0_is_a_broken_simulator(lost: AgentPose) -> None:
    agent = Agent(lands=lambda pose: lost)
    with pytest.raises(SimulatorError, match="did not come back"):
        link_to(agent, "2.1.0").shoot(START, None)


def test_the_agent_may_sink_into_the_carpet() -> None:
    agent = Agent(lands=lambda pose: replace(pose, y=pose.y - 1e-3))
    assert len(link_to(agent, "2.1.0").shoot(START, None)) == 5


@pytest.mark.parametrize(
    ("reason", "words"), [("", "no objects called Dragon_1"), ("too hot", "too hot")]
)
@pytest.mark.parametrize("version", LINKS)
def test_a_refused_scene_is_told_with_a_reason(version: str, reason: str, words: str) -> None:
    agent = Agent(refuses=lambda request: True, reason=reason)
    poses = tuple(ObjectPose(name, (0, 1, 0), (0, 0, 0)) for name in ("Mug_1", "Dragon_1"))
    scene = Scene(3, START, poses)
    with pytest.raises(BadInputError, match=rf"refused SetObjectPoses .* FloorPlan3: {words}\. "):
        link_to(agent, version)._restore(scene, "SetObjectPoses", objectPoses=object_poses(scene))
