"""A client of the player without pipes or processes: all requests are known beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgpack

from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.simulator.player.encoding import Encoder, Json, MessagePack
from gym_clalfred.simulator.player.player import Player
from gym_clalfred.simulator.player.queries import SCENE_NUMBERS
from gym_clalfred.simulator.player.transport import Message, Transport

SCENE = "FloorPlan3_physics"


class Script(Transport):
    """A client that knows all its requests beforehand."""

    def __init__(self, requests: list[dict[str, Any]], encoder: Encoder) -> None:
        self.encoder = encoder
        self.can_patch = isinstance(encoder, MessagePack)
        self.messages: list[Message] = []
        self._requests = iter(enumerate(requests))

    def connect(self) -> bool:
        return True

    @property
    def is_lost(self) -> bool:
        return False

    def exchange(self, message: Message) -> dict[str, Any] | None:
        self.messages.append(message)
        number, request = next(self._requests, (0, None))
        return None if request is None else {"sequenceId": number, **request}

    def send_damaged(self, message: Message) -> None:
        raise AssertionError("no fault was asked for")

    def close(self) -> None:
        pass


class Answers:
    """What the player said."""

    def __init__(self, script: Script) -> None:
        read = msgpack.loads if isinstance(script.encoder, MessagePack) else json.loads
        self.messages = script.messages
        self.metadata = [read(message.metadata) for message in script.messages]

    def agent(self, number: int = -1) -> dict[str, Any]:
        entries: dict[str, Any] = self.metadata[number]["agents"][0]
        return entries

    def error(self, number: int = -1) -> tuple[str, str]:
        agent = self.agent(number)
        assert not agent["lastActionSuccess"]
        return agent["errorCode"], agent["errorMessage"]

    def object(self, object_id: str, number: int = -1) -> dict[str, Any]:
        found = [e for e in self.agent(number)["objects"] if e["objectId"] == object_id]
        assert len(found) == 1
        return dict(found[0])


def ask(
    *requests: dict[str, Any],
    legacy: bool = False,
    scene: str = SCENE,
    client: str | None = None,
    **initialize: Any,
) -> Answers:
    start = [{"action": "Reset", "sceneName": scene}, {"action": "Initialize", **initialize}]
    script = Script([*start, *requests], Json() if legacy else MessagePack())
    Player(script, legacy, client=client).serve()
    return Answers(script)


def near(object_class: str, **more: Any) -> dict[str, Any]:
    """Where to stand, and the id, to act on an object of a class."""
    first = ask()
    for entry in first.agent()["objects"]:
        if entry["objectType"] != object_class:
            continue
        name = entry["objectId"]
        poses = ask({"action": "GetInteractablePoses", "objectId": name, **more}).agent()
        if poses["actionReturn"]:
            return {"id": name, **poses["actionReturn"][0]}
    raise AssertionError(f"no {object_class} can be seen")


def go(pose: dict[str, Any]) -> dict[str, Any]:
    return {"action": "TeleportFull", **{k: v for k, v in pose.items() if k != "id"}}


def poses_of(objects: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [
        {"objectName": e["name"], "position": e["position"], "rotation": e["rotation"]}
        for e in objects
        if any(e[kind] for kind in kinds)
    ]


class Talk:
    """A player in this process that is asked one thing after the other."""

    def __init__(
        self,
        scene: str = SCENE,
        legacy: bool = False,
        rooms: Callable[[int], Room] = make_room,
        numbers: Sequence[int] = SCENE_NUMBERS,
        **initialize: Any,
    ) -> None:
        encoder = Json() if legacy else MessagePack()
        self._read = json.loads if legacy else msgpack.loads
        self._player = Player(Script([], encoder), legacy, rooms, numbers=numbers)
        self.world = self._player._world
        self.images: dict[str, Any] = {}
        self.must("Reset", sceneName=scene)
        self.must("Initialize", **initialize)

    def do(self, action: str, **arguments: Any) -> dict[str, Any]:
        """Does an action; gives the agent's part of the metadata."""
        request = {"action": action, **arguments}
        message = self._player._answer(self._player._do(request), request)
        self.images = dict(message.images)
        self.agent: dict[str, Any] = self._read(message.metadata)["agents"][0]
        return self.agent

    def must(self, action: str, **arguments: Any) -> Any:
        """Does an action that is not refused; gives what it returns."""
        agent = self.do(action, **arguments)
        assert agent["lastActionSuccess"], (action, agent["errorMessage"])
        return agent["actionReturn"]

    def refused(self, action: str, **arguments: Any) -> str:
        """Why an action is refused."""
        agent = self.do(action, **arguments)
        assert not agent["lastActionSuccess"], action
        assert "Traceback" not in agent["errorMessage"], agent["errorMessage"]
        return str(agent["errorMessage"])

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Entries of all objects."""
        entries: list[dict[str, Any]] = self.agent["objects"]
        return entries

    def first(self, **wanted: Any) -> dict[str, Any]:
        """The first object with these entries."""
        for entry in self.objects:
            if all(entry[key] == value for key, value in wanted.items()):
                return entry
        raise AssertionError(f"no object with {wanted}")

    def named(self, name: str) -> dict[str, Any]:
        """The object with a name."""
        return self.first(name=name)
