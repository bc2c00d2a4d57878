"""Pictures are the same on every processor, to the last bit."""

from __future__ import annotations

import hashlib
import sys

import pytest

from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator


@pytest.mark.skipif(sys.platform != "linux", reason="shadows use the C library's exp")
@pytest.mark.parametrize(
    ("room", "expected"),
    [(1, "b7d7d2102edc"), (201, "2ce471df754e"), (310, "a766c5231aa1"), (424, "700a2599e3d7")],
)
def test_pictures_have_known_digests(room: int, expected: str) -> None:
    """Feature maps, and agents that learn from them, depend on every bit.

    Where other pictures are meant, write the new digests and say so in CHANGELOG.md: published
    results are then of an older release. Where not, a kernel rounds as the processor likes it.
    """
    simulator = EmbeddedSimulator(RenderOptions(image_size=84, depth=True))
    points = sorted(make_room(room).walkable)
    digest = hashlib.sha256()
    for number, (x, z) in enumerate(points[:: len(points) // 8]):
        pose = AgentPose(x, AGENT_HEIGHT, z, 90 * (number % 4), 15 * (number % 3))
        simulator.reset(Scene(room, pose))
        frame = simulator.frame()
        for part in (frame.rgb, frame.depth, frame.instances):
            assert part is not None
            digest.update(part.tobytes())
    assert digest.hexdigest()[:12] == expected
