"""What the tests of AI2-THOR share: options, processes, a policy that depends on every pixel."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.data import open_source
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.generate import TrajectoryGenerator
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.requests import split_requests
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType

#: Generous: machines that run tests are busy, and a player compiles nothing but loads much.
OPTIONS = ThorOptions(executable="player", start_timeout=120, step_timeout=60, back_off=0.01)


def set_options(monkeypatch: pytest.MonkeyPatch, **options: object) -> None:
    """Sets options of AI2-THOR in the environment."""
    values: dict[str, object] = {"executable": "player", "back_off": 0.01, **options}
    for name, value in values.items():
        monkeypatch.setenv(f"CLALFRED_THOR_{name.upper()}", str(value))


def tiny() -> EpisodeSource:
    """Generated episodes of all task types."""
    return open_source(tier="tiny")


def trajectories(source: EpisodeSource) -> dict[TaskType, list[Trajectory]]:
    """All trajectories of a source by task type."""
    found: dict[TaskType, dict[str, Trajectory]] = {kind: {} for kind in ALFRED_TASKS}
    for split in Split:
        for entry in source.entries(split):
            known = found[entry.task_type]
            if entry.key.trajectory not in known:
                known[entry.key.trajectory] = source.episode(entry.key).trajectory
    return {kind: list(known.values()) for kind, known in found.items()}


def distinct_trajectories(each: int) -> dict[TaskType, list[Trajectory]]:
    """At least ``each`` trajectories of every task type: tier tiny's, then some of tier small's."""
    found = trajectories(tiny())
    generator = TrajectoryGenerator()
    for request in split_requests(TIERS["small"], Split.TRAIN):
        known = found[request.task_type]
        if len(known) < each:
            known.append(generator.make(request))
    generator.close()
    whole = [(t.scene, t.task, t.actions) for known in found.values() for t in known]
    assert all(one not in whole[:k] for k, one in enumerate(whole))
    return found


def session_members(leader: int) -> list[int]:
    """Processes that live in a session, zombies not counted."""
    members = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            state, _, _, session = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:4]
        except (OSError, ValueError):
            continue
        if int(session) == leader and state != "Z":
            members.append(int(folder.name))
    return members


def alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


def environment_with(**variables: str) -> dict[str, str]:
    """The environment of this process with more in it."""
    return {**os.environ, **variables}


@dataclass(frozen=True)
class Steps:
    """How far an episode has come."""

    count: int = 0


class PixelPolicy:
    """Acts by the checksum of all it sees, so that one different pixel leads elsewhere."""

    agent = SimpleNamespace(image_size=64, observes=frozenset({"rgb", "classes"}))
    classes = (ObjectClass.CounterTop, ObjectClass.Cabinet, ObjectClass.Drawer, ObjectClass.Mug)

    def start(self, observation: dict[str, Any]) -> Steps:
        return Steps()

    def act(
        self, observations: Sequence[dict[str, Any]], states: Sequence[Steps]
    ) -> tuple[list[np.ndarray], list[Steps]]:
        actions = []
        for seen, state in zip(observations, states):
            parts = (seen["rgb"], seen["instances"], seen["classes"])
            number = zlib.crc32(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
            action = Action(number % (len(Action) - 1)) if state.count < 25 else Action.Stop
            kind = self.classes[(number >> 8) % len(self.classes)]
            actions.append(np.array([action, kind]))
        return actions, [Steps(state.count + 1) for state in states]
