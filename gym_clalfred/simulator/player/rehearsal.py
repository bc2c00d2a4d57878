"""Compiles what a player runs, before its client waits for an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gym_clalfred.simulator.player.encoding import Json
from gym_clalfred.simulator.player.player import Player
from gym_clalfred.simulator.player.transport import Message, Transport

#: A generated room that the sun shines into, with something in reach where the agent starts.
REHEARSAL_SCENE = 302


def rehearse() -> None:
    """Does once what needs compiled code: pictures of all kinds, taking and putting.

    A new installation compiles for up to a minute. Clients wait long for their simulator to start
    and not so long for the answer to an action.
    """
    Player(_Understudy(), numbers=(REHEARSAL_SCENE,)).serve()


class _Understudy(Transport):
    """A client that takes something and puts it back."""

    def __init__(self) -> None:
        self.encoder = Json()
        self._objects: list[dict[str, Any]] = []
        self._requests = self._script()

    def _script(self) -> Iterator[dict[str, Any]]:
        yield {
            "action": "Initialize",
            "renderInstanceSegmentation": True,
            "renderSemanticSegmentation": True,
            "renderDepthImage": True,
        }
        seen = {entry["objectId"] for entry in self._objects if entry["visible"]}
        name, holder = next(
            (entry["objectId"], holder)
            for entry in self._objects
            for holder in entry["parentReceptacles"] or ()
            if entry["pickupable"] and {entry["objectId"], holder} <= seen
        )
        yield {"action": "PickupObject", "objectId": name}
        yield {"action": "PutObject", "objectId": holder}

    def connect(self) -> bool:
        """It is there."""
        return True

    @property
    def is_lost(self) -> bool:
        """It never is."""
        return False

    def exchange(self, message: Message) -> dict[str, Any] | None:
        """Reads what there is, and asks for the next thing."""
        agent = json.loads(message.metadata)["agents"][0]
        assert agent["lastActionSuccess"], agent["errorMessage"]
        self._objects = agent["objects"]
        return next(self._requests, None)

    def send_damaged(self, message: Message) -> None:
        """Nothing is damaged in a rehearsal."""

    def close(self) -> None:
        """There is nothing to free."""
