"""What is seen does not depend on what was looked for, or on what was played before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.objects import PICKUPABLE
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.random_agent import random_step
from tests.helpers.random_agent import random_scene


@settings(max_examples=25, deadline=None)
@given(
    room=st.sampled_from([1, 12, 207, 318, 425]), seed=st.integers(0, 10_000), hold=st.booleans()
)
def test_sight_about_a_class_shows_all_of_that_class(room, seed, hold):
    simulator = EmbeddedSimulator(RenderOptions(image_size=16))
    rng = np.random.default_rng(seed)
    points = sorted(make_room(room).walkable)
    x, z = points[rng.integers(len(points))]
    pose = AgentPose(x, 0.9, z, int(rng.integers(4)) * 90, int(rng.integers(-2, 5)) * 15)
    simulator.reset(Scene(number=room, start=pose))
    whole = simulator.sight()
    objects = simulator.objects
    small = [
        name
        for name in sorted(whole.visible)
        if objects[name].object_class in PICKUPABLE and not objects[name].is_open
    ]
    if hold and small:
        assert simulator.step(Action.PickupObject, small[0]).success
        whole = simulator.sight()
    for wanted in sorted({state.object_class for state in simulator.objects.values()}):
        assert simulator.teleport(pose).success  # forgets what was seen
        part = simulator.sight(wanted)
        for name, state in simulator.objects.items():
            if state.object_class is wanted:
                assert (part.mask(name) == whole.mask(name)).all()
                assert part.extent(name) == whole.extent(name)
                assert (name in part.visible) == (name in whole.visible)
            else:
                assert name not in part.visible


@pytest.mark.parametrize("room", [4, 212])
def test_what_is_seen_does_not_depend_on_what_was_played_before(room: int) -> None:
    simulator = EmbeddedSimulator(RenderOptions(image_size=64, depth=True))

    def play(seed: int) -> list[bytes]:
        rng = np.random.default_rng(seed)
        simulator.reset(random_scene(make_room(room), rng))
        seen = []
        for _ in range(60):
            random_step(simulator, rng)
            frame, sight = simulator.frame(), simulator.sight()
            parts = (frame.rgb, frame.classes, frame.instances, frame.depth, sight.instances)
            seen.append(b"".join(part.tobytes() for part in parts))
        return seen

    first = [play(seed) for seed in range(3)]
    assert [play(seed) for seed in (2, 1, 0)] == first[::-1]
