"""Talks to a session of ``clalfred-play`` as its page does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clalfred.scripts.play.documents import unpack
from clalfred.scripts.play.session import EpisodeChoice, Session
from gym_clalfred.actions import Action

PLACE = EpisodeChoice(task="Pick&Place")


def told(session: Session, do: str, **more: Any) -> dict[str, Any]:
    return unpack(session.handle({"do": do, **more}))[0]


def pictures(session: Session) -> list[bytes]:
    return unpack(session.handle({"do": "show"}))[1]


def expert(session: Session) -> Iterator[tuple[Action, str | None]]:
    for one in session.worlds[0].episode.trajectory.actions:
        yield one.action, one.object_id


def solve(session: Session) -> dict[str, Any]:
    for action, target in list(expert(session)):
        told(session, "act", action=action.name, object=target)
    return told(session, "act", action="Stop")
