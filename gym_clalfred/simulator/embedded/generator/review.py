"""What is wrong with a furnished room: the demands that every room has to meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gym_clalfred.objects import PICKUPABLE, TOGGLEABLE, ObjectClass
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.generator.sight import Sightlines
from gym_clalfred.simulator.embedded.generator.traits import Traits
from gym_clalfred.simulator.embedded.room_model import Fixture, Surface

#: Holders that may be out of reach: corners of counters, and what no task puts anything on.
_MAY_BE_FAR = frozenset({ObjectClass.CounterTop})

#: Where on a surface one looks for a usable spot, as shares of its width and depth.
_PROBES = ((0.5, 0.7), (0.25, 0.6), (0.75, 0.6), (0.5, 0.4), (0.1, 0.8), (0.9, 0.8), (0.5, 0.15))


def missing_classes(fixtures: Iterable[Fixture], traits: Traits) -> list[ObjectClass]:
    """Classes of fixtures that the room is to have and lacks."""
    present = {fixture.object_class for fixture in fixtures}
    return sorted((traits.classes - PICKUPABLE) - present)


def unusable(fixtures: Sequence[Fixture], walkable: Sequence[tuple[float, float]]) -> list[Fixture]:
    """Fixtures that hold things or can be switched, and that an agent cannot use."""
    sight = Sightlines(fixtures, walkable)
    found = []
    for fixture in fixtures:
        surfaces = model_of(fixture.object_class).surfaces(fixture.size, fixture.style)
        if surfaces:
            if not any(is_usable(sight, fixture, surface) for surface in surfaces):
                found.append(fixture)
        elif fixture.object_class in TOGGLEABLE and not sight.sees_front(fixture):
            found.append(fixture)
    far = [fixture for fixture in found if fixture.object_class in _MAY_BE_FAR]
    # One corner out of reach is normal, a kitchen full of them is not.
    return found if len(far) > 1 else [fixture for fixture in found if fixture not in far]


def is_usable(sight: Sightlines, fixture: Fixture, surface: Surface) -> bool:
    """Whether some spot of a surface can be seen and reached."""
    area = surface.area
    for across, along in _PROBES:
        x = area.x0 + across * (area.x1 - area.x0)
        z = area.z0 + along * (area.z1 - area.z0)
        if sight.sees(fixture, surface, x, z):
            return True
    return False
