"""What is asked of AI2-THOR 5.0.0 and 2.1.0, and what is made of the answers; none is started."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai2thor")

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError, SimulatorError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import (
    SIGHT_PIXELS,
    AgentPose,
    ObjectPose,
    RenderOptions,
    Scene,
)
from gym_clalfred.simulator.thor.current import CurrentLink
from gym_clalfred.simulator.thor.legacy import LegacyLink
from gym_clalfred.simulator.thor.link import (
    CameraView,
    Event,
    Link,
    colour_table,
    object_poses,
)
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.simulator import ThorSimulator

LINKS = {"5.0.0": CurrentLink, "2.1.0": LegacyLink}
START = AgentPose(1.0, 0.9, -0.25, 90, 30)
MUG = "Mug|+01.00|+00.90|+00.00"
APPLE = "Apple|+02.00|+00.90|+00.00"
SLICE = f"{APPLE}|AppleSliced_0"
WALL = "Wall|+00.00|+00.00|+00.00"

#: All five views are the agent's own, so that no camera has to be put up.
AHEAD = RenderOptions(view_angles=((0, 0),) * 5)

Values = dict[str, Any]


class Agent:
    """Notes what it is asked and does it; as Unity's, it names colours with pictures only.

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
        #: What there is, and what there is besides in the table of colours.
        self.names, self.more_names = [MUG], [WALL]
        self.points: list[Values] = [{"x": 0.25, "y": 0.9, "z": 0.5}]
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
            "objects": [
                {
                    "name": f"{kind_of(n)}_1",
                    "objectId": n,
                    "objectType": kind_of(n),
                    "visible": True,
                }
                for n in self.names
            ],
            "inventoryObjects": [],
            "actionReturn": self.points if done else None,
            "reachablePositions": self.points if done else None,
            "lastActionSuccess": done,
            "errorMessage": "" if done else self._reason,
        }
        return Event(metadata, (self.picture(),) if images else ())

    def picture(self) -> CameraView:
        """All objects side by side."""
        shown = np.array([colour_of(name) for name in self.names], dtype=np.uint32)
        row = shown[np.arange(SIGHT_PIXELS) * len(shown) // SIGHT_PIXELS]
        colours = np.broadcast_to(row, (SIGHT_PIXELS, SIGHT_PIXELS))
        table = {name: colour_of(name) for name in (*self.names, *self.more_names)}
        return CameraView(np.zeros((*colours.shape, 3), np.uint8), colours, None, table)


def kind_of(name: str) -> str:
    return "AppleSliced" if name == SLICE else name.split("|")[0]


def colour_of(name: str) -> int:
    return zlib.crc32(name.encode()) & 0xFFFFFF


def link_to(agent: Agent, version: str, render: RenderOptions | None = None) -> Link:
    """A link of a version that has the agent at its other end."""
    link: Link = LINKS[version](render or RenderOptions(), ThorOptions())
    link.do = agent.do  # type: ignore[method-assign]
    return link


def simulator_with(agent: Agent, version: str) -> ThorSimulator:
    """A simulator in mid-episode, all of whose views are the agent's own."""
    simulator = ThorSimulator(AHEAD, options=ThorOptions())
    simulator._link = link_to(agent, version, AHEAD)
    simulator._take(agent.do("Pass", images=False))
    return simulator


def forced(request: Values) -> bool:
    return bool(request.get("forceAction"))


@pytest.mark.parametrize("version", LINKS)
def test_what_is_held_keeps_the_agent_from_neither_moves_nor_turns(version: str) -> None:
    agent = Agent(refuses=lambda request: not forced(request))
    simulator = simulator_with(agent, version)
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


@pytest.mark.parametrize("told_before", [False, True])
@pytest.mark.parametrize("version", LINKS)
def test_masks_are_read_with_the_colours_of_their_picture(version: str, told_before: bool) -> None:
    agent = Agent()
    agent.names = [MUG, APPLE]
    if told_before:
        agent.more_names += [MUG, APPLE, SLICE]
    simulator = simulator_with(agent, version)
    half = SIGHT_PIXELS // 2
    for names, wanted in (([MUG, APPLE], (1, 2)), ([MUG, SLICE], (1, 3)), ([SLICE, APPLE], (3, 2))):
        # As many objects as before, but not the same ones.
        agent.names = names
        assert simulator.step(Action.RotateLeft).success
        frame, sight = simulator.frame(), simulator.sight()
        assert frame.instances is not None
        assert frame.classes is not None
        for views in (frame.instances, sight.instances[None]):
            assert (views[..., :half] == wanted[0]).all()
            assert (views[..., half:] == wanted[1]).all()
        assert (frame.classes[..., half:] == ObjectClass[kind_of(names[1])]).all()
        assert frame.object_ids == (MUG, APPLE, SLICE)[: len(simulator._ids)]
        assert sight.visible == set(names)
        assert all(sight.mask(name).any() for name in names)


def test_a_picture_without_colours_is_a_broken_simulator() -> None:
    with pytest.raises(SimulatorError, match="without the colours"):
        colour_table({"Mug": (1, 2, 3)})


@pytest.mark.parametrize("version", LINKS)
def test_the_floor_that_can_be_walked_on(version: str) -> None:
    agent = Agent()
    simulator = simulator_with(agent, version)
    assert simulator.reachable().tolist() == [[0.25, 0.5]]
    agent.points = []
    assert simulator.reachable().shape == (0, 2)


@pytest.mark.parametrize("version", LINKS)
def test_a_refusal_to_tell_the_floor_is_a_broken_simulator(version: str) -> None:
    agent = Agent(refuses=lambda request: request["action"] == "GetReachablePositions")
    with pytest.raises(SimulatorError, match="refused GetReachablePositions: a Pot"):
        simulator_with(agent, version).reachable()


@pytest.mark.parametrize("version", LINKS)
def test_a_floor_that_is_none_is_a_broken_simulator(version: str) -> None:
    agent = Agent()
    agent.points = [{"x": None, "y": 0.9, "z": 0.5}]
    with pytest.raises(SimulatorError, match="TypeError"):
        simulator_with(agent, version).reachable()
