"""Random runs of a simulator, for tests of what must always hold."""

from __future__ import annotations

import hashlib

import numpy as np

from gym_clalfred.simulator.contract import AgentPose, Scene
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.random_agent import random_step


def random_scene(room: Room, rng: np.random.Generator) -> Scene:
    """A start anywhere in a room with its own objects."""
    points = sorted(room.walkable)
    x, z = points[int(rng.integers(len(points)))]
    return Scene(room.number, AgentPose(x, AGENT_HEIGHT, z, 90 * int(rng.integers(4)), 30))


def random_walk(simulator: EmbeddedSimulator, seed: int, steps: int) -> tuple[list[str], str]:
    """What random actions led to, and a digest of everything seen and true on the way."""
    rng = np.random.default_rng(seed)
    digest = hashlib.sha256()
    outcomes = []
    for _ in range(steps):
        outcomes.append(str(random_step(simulator, rng).failure))
        digest.update(simulator.sight().instances.tobytes())
        digest.update(repr(sorted(simulator.sight().visible)).encode())
    digest.update(repr(list(simulator.objects.items())).encode())
    return outcomes, digest.hexdigest()
