"""What is seen of a surface: the points on it, spread out, beginning in the middle."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.putting import SEEN_POINTS, points_on
from tests.helpers.household_room import kitchen, scene

HOUSEHOLD = Household(kitchen(), scene())
HOLDERS = [thing for thing in HOUSEHOLD.things if thing.surfaces]


@given(
    holder=st.sampled_from(HOLDERS),
    places=st.lists(st.tuples(*[st.floats(-1.2, 1.2)] * 2, st.sampled_from([0.0, 0.01, 0.1]))),
)
def test_seen_points_on_a_surface_are_spread_from_its_middle(holder, places):
    surface = holder.surfaces[0]
    height = holder.position[1] + surface.y
    seen = [(*turn(x, z, holder.yaw), height + above) for x, z, above in places]
    seen = np.array(
        [(x + holder.position[0], y, z + holder.position[2]) for x, z, y in seen]
    ).reshape(-1, 3)
    area = surface.area
    on = [
        holder.local(x, z)
        for (x, y, z) in seen.tolist()
        if abs(y - height) < 0.05
        and area.x0 <= holder.local(x, z)[0] <= area.x1
        and area.z0 <= holder.local(x, z)[1] <= area.z1
    ]
    found = points_on(holder, surface, seen)
    assert len(found) == min(SEEN_POINTS, len(on))
    before: list[tuple[float, float]] = []
    for point in found:
        assert point in on
        apart = [min((np.hypot(*np.subtract(p, q)) for q in before), default=0.0) for p in on]
        central = [np.hypot(*np.subtract(p, np.mean(on, axis=0))) for p in on]
        best = max(apart) if before else min(central)
        assert np.isclose((apart if before else central)[on.index(point)], best)
        before.append(point)


def test_nothing_seen_means_no_points():
    holder = HOLDERS[0]
    assert points_on(holder, holder.surfaces[0], np.zeros((0, 3))) == []
