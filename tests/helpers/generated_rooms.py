"""Generated rooms for tests: which ones, and what stands where in them."""

from __future__ import annotations

import pytest

from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import PRETRAINING_NUMBERS, ROOM_NUMBERS, TEST_UNSEEN_NUMBERS, RoomType
from gym_clalfred.simulator.contract import ObjectPose
from gym_clalfred.simulator.embedded.catalog import is_tipped, model_of, posed_size, style_of
from gym_clalfred.simulator.embedded.generator.floor_plan import box_of
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.embedded.room_model import Fixture, Room
from gym_clalfred.simulator.geometry import Box

C = ObjectClass
#: Of the rooms that AI2-THOR lacks: all that tests use, a few for pre-training, and the last ones.
MORE_ROOMS = sorted(
    {*TEST_UNSEEN_NUMBERS[8:], *PRETRAINING_NUMBERS[::23]}
    | {room_type.more_numbers[-1] for room_type in RoomType}
)
every_room = pytest.mark.parametrize("number", [*ROOM_NUMBERS, *MORE_ROOMS])


def fixture_box(fixture: Fixture) -> Box:
    return box_of(fixture.position, fixture.size, fixture.yaw)


def item_box(pose: ObjectPose, holder: ObjectClass | None) -> Box:
    size = model_of(pose.object_class).size(style_of(pose.name))
    return box_of(
        pose.position, posed_size(size, is_tipped(pose.object_class, holder)), pose.rotation[1]
    )


def holder_of(room: Room, pose: ObjectPose) -> Fixture | None:
    """The fixture on whose surface a pose lies exactly; the smallest if there are several."""
    found: list[tuple[float, Fixture]] = []
    for fixture in room.fixtures:
        dx, dz = pose.position[0] - fixture.position[0], pose.position[2] - fixture.position[2]
        x, z = turn(dx, dz, -fixture.yaw)
        for surface in model_of(fixture.object_class).surfaces(fixture.size, fixture.style):
            area = surface.area
            if (
                abs(fixture.position[1] + surface.y - pose.position[1]) < 1e-3
                and area.x0 - 1e-3 <= x <= area.x1 + 1e-3
                and area.z0 - 1e-3 <= z <= area.z1 + 1e-3
            ):
                found.append(((area.x1 - area.x0) * (area.z1 - area.z0), fixture))
    return min(found, key=lambda entry: entry[0])[1] if found else None


def is_hidden_pair(a: Fixture, b: Fixture) -> bool:
    """Parts share the space of what they are built into."""
    return a.part_of == b.name or b.part_of == a.name
