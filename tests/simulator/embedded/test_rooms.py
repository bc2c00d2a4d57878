"""The 120 generated rooms."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import CLOSED_AT_START, PICKUPABLE, RECEPTACLES, TOGGLEABLE, ObjectClass
from gym_clalfred.rooms import (
    CLASS_FREQUENCY,
    PRETRAINING_NUMBERS,
    ROOM_NUMBERS,
    ROOMS_PER_TYPE,
    TEST_UNSEEN_NUMBERS,
    TRAIN_NUMBERS,
    VALID_UNSEEN_NUMBERS,
    RoomType,
    is_room,
)
from gym_clalfred.simulator.contract import (
    GRID_METRES,
    AgentPose,
    ObjectState,
    RenderOptions,
    Scene,
)
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.generator.drafts import DRAFTS
from gym_clalfred.simulator.embedded.generator.rooms import find_draft, missing_classes, unusable
from gym_clalfred.simulator.embedded.generator.traits import EVERYWHERE, traits_of
from gym_clalfred.simulator.embedded.render.mesh import Texture
from gym_clalfred.simulator.embedded.room_model import AGENT_RADIUS, Room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.geometry import Box
from tests.helpers.generated_rooms import every_room, fixture_box

C = ObjectClass

#: Mean, least and most points to stand on that AI2-THOR's rooms have.
THOR_WALKABLE = {
    RoomType.KITCHEN: (110, 27, 268),
    RoomType.LIVING_ROOM: (215, 79, 498),
    RoomType.BEDROOM: (107, 45, 362),
    RoomType.BATHROOM: (55, 25, 106),
}


def is_inside_floor(room: Room, box: Box) -> bool:
    """Whether all corners and edges of a box are over the floor."""
    xs, zs = np.linspace(box.x0, box.x1, 5), np.linspace(box.z0, box.z1, 5)
    return all(
        any(r.x0 - 2e-3 <= x <= r.x1 + 2e-3 and r.z0 - 2e-3 <= z <= r.z1 + 2e-3 for r in room.floor)
        for x, z in itertools.product(xs, zs)
    )


DIGEST = """
import hashlib
import sys
import numpy as np
from gym_clalfred.simulator.embedded.generator import arrange, make_room
for number in (1, 30, 205, 230, 312, 330, 404, 430):
    room = make_room(number)
    for seed in range(int(sys.argv[1])):
        arrange(room, np.random.default_rng(seed))
    text = repr((room.floor, room.walls, room.height, room.fixtures, sorted(room.walkable)))
    text += repr((room.items, room.decor, arrange(room, np.random.default_rng(5))))
    print(number, hashlib.sha256(text.encode()).hexdigest())
"""


def test_rooms_are_equal_in_processes_with_another_hash_seed_and_history() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", DIGEST, arrangements_before],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, arrangements_before in (("1", "0"), ("77", "4"))
    }
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 8


@pytest.mark.parametrize("number", [0, 31, 200, 231, 431, -1])
def test_numbers_that_thor_lacks_are_refused(number: int) -> None:
    with pytest.raises(BadInputError, match=str(number)):
        make_room(number)


@every_room
def test_fixtures_are_inside_the_walls_and_apart(number: int) -> None:
    room = make_room(number)
    boxes = [fixture_box(fixture) for fixture in room.fixtures]
    for fixture, box in zip(room.fixtures, boxes):
        assert is_inside_floor(room, box), fixture
        assert box.y0 >= 0
        assert box.y1 <= room.height
    whole = [(f, b) for f, b in zip(room.fixtures, boxes) if f.part_of is None]
    for (a, box_a), (b, box_b) in itertools.combinations(whole, 2):
        assert not box_a.overlaps(box_b, 4e-3), (a, b)
    parts = [(f, b) for f, b in zip(room.fixtures, boxes) if f.part_of is not None]
    for (a, box_a), (b, box_b) in itertools.combinations(parts, 2):
        if a.part_of == b.part_of and {a.object_class, b.object_class} <= {C.Cabinet, C.Drawer}:
            assert not box_a.overlaps(box_b, 4e-3), (a, b)


@every_room
def test_names_are_unique_and_parts_follow_their_whole(number: int) -> None:
    names: list[str] = []
    for fixture in make_room(number).fixtures:
        assert fixture.part_of is None or fixture.part_of in names
        assert fixture.name.startswith(f"{fixture.object_class.name}_")
        names.append(fixture.name)
    assert len(set(names)) == len(names)


@every_room
def test_the_agent_can_stand_and_walk_where_it_says(number: int) -> None:
    room = make_room(number)
    points = {(round(x / GRID_METRES), round(z / GRID_METRES)) for x, z in room.walkable}
    assert all((x / GRID_METRES).is_integer() for point in room.walkable for x in point)
    solid = [fixture_box(f) for f in room.fixtures if f.solid]
    for x, z in room.walkable:
        for wall in room.walls:
            low_x, high_x = sorted((wall.x0, wall.x1))
            low_z, high_z = sorted((wall.z0, wall.z1))
            gap = np.hypot(max(low_x - x, 0, x - high_x), max(low_z - z, 0, z - high_z))
            assert gap >= AGENT_RADIUS - 1e-5
        for box in solid:
            if box.y0 < 1.8:
                gap = np.hypot(max(box.x0 - x, 0, x - box.x1), max(box.z0 - z, 0, z - box.z1))
                assert gap >= AGENT_RADIUS - 1e-5
    reached, edge = set(), [min(points)]
    while edge:
        i, j = edge.pop()
        if (i, j) in points and (i, j) not in reached:
            reached.add((i, j))
            edge += [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    assert reached == points


@pytest.mark.parametrize("room_type", RoomType)
def test_sizes_are_like_those_of_thor(room_type: RoomType) -> None:
    counts = [len(make_room(number).walkable) for number in room_type.numbers]
    mean, least, most = THOR_WALKABLE[room_type]
    assert np.mean(counts) == pytest.approx(mean, rel=0.08)
    assert min(counts) >= 0.85 * least
    assert max(counts) <= 1.1 * most
    assert min(counts) <= 1.3 * least
    assert max(counts) >= 0.8 * most


@pytest.mark.parametrize("block", ["AI2-THOR's", "pre-training"])
@pytest.mark.parametrize("room_type", RoomType)
def test_class_frequencies_are_those_of_thor(room_type: RoomType, block: str) -> None:
    numbers = room_type.numbers if block == "AI2-THOR's" else room_type.more_numbers[30:60]
    rooms = [make_room(number) for number in numbers]
    present = [
        {f.object_class for f in room.fixtures} | {pose.object_class for pose in room.items}
        for room in rooms
    ]
    frequency = CLASS_FREQUENCY[room_type]
    for object_class, share in frequency.items():
        count = sum(object_class in classes for classes in present)
        if share == 1.0 or object_class in EVERYWHERE[room_type]:
            assert count == ROOMS_PER_TYPE, object_class
        else:
            assert abs(count - share * ROOMS_PER_TYPE) <= 2, object_class
    for classes in present:
        assert classes <= frequency.keys() | EVERYWHERE[room_type]


@every_room
def test_rooms_are_complete_and_everything_is_usable(number: int) -> None:
    room = make_room(number)
    assert missing_classes(room.fixtures, traits_of(number)) == []
    assert unusable(room.fixtures, sorted(room.walkable)) == []


def standpoints(room: Room, state: ObjectState) -> list[AgentPose]:
    """Poses that look at an object from near by, the most promising first."""
    found = []
    x, y, z = state.position
    for px, pz in room.walkable:
        dx, dz = x - px, z - pz
        away, ahead = np.hypot(dx, dz), max(abs(dx), abs(dz))
        if away < 1.5 + max(state.size) / 2:
            drop = np.degrees(np.arctan2(1.575 - y - state.size[1] / 2, ahead))
            pitch = int(np.clip(round(drop / 15) * 15, -30, 60))
            yaw = round(np.degrees(np.arctan2(dx, dz)) / 90) * 90 % 360
            effort = abs(away - 0.8) + 0.5 * min(abs(dx), abs(dz))
            found.append((effort, AgentPose(px, 0.9, pz, int(yaw), pitch)))
    return [pose for _, pose in sorted(found, key=lambda entry: entry[0])][:12]


@pytest.mark.parametrize("number", [5, 18, 204, 223, 303, 321, 413, 422])
def test_the_simulator_shows_what_the_geometry_promises(number: int) -> None:
    room = make_room(number)
    simulator = EmbeddedSimulator(RenderOptions(image_size=32, instances=False))
    x, z = min(room.walkable)
    simulator.reset(Scene(number, AgentPose(x, 0.9, z, 0, 30)))
    states = dict(simulator.objects)
    wanted = PICKUPABLE | RECEPTACLES | TOGGLEABLE
    unseen = []
    for object_id, state in states.items():
        if state.object_class not in wanted:
            continue
        closed = [p for p in state.parents if states[p].object_class in CLOSED_AT_START]
        for pose in standpoints(room, state):
            assert simulator.teleport(pose).success
            if closed and not simulator.step(Action.OpenObject, closed[0]).success:
                continue
            seen = object_id in simulator.sight().visible
            if closed:
                assert simulator.step(Action.CloseObject, closed[0]).success
            if seen:
                break
        else:
            unseen.append(object_id)
    # A pencil may lie behind a box; furniture and switches must all be usable.
    assert len(unseen) <= 1, unseen
    assert all(states[object_id].object_class in PICKUPABLE for object_id in unseen), unseen


def test_no_room_serves_two_purposes() -> None:
    seen, valid = set(TRAIN_NUMBERS), set(VALID_UNSEEN_NUMBERS)
    test, pretraining = set(TEST_UNSEEN_NUMBERS), set(PRETRAINING_NUMBERS)
    for one, other in itertools.combinations((seen, valid, test, pretraining), 2):
        assert not one & other
    assert seen | valid | test >= set(ROOM_NUMBERS)
    assert len(test) >= 24
    for room_type in RoomType:
        assert sum(RoomType.of(number) is room_type for number in test) == 8
        assert sum(RoomType.of(number) is room_type for number in pretraining) == 60


def test_every_number_has_one_type() -> None:
    numbers = [n for kind in RoomType for n in (*kind.numbers, *kind.more_numbers)]
    assert len(set(numbers)) == len(numbers) > 3000
    for kind in RoomType:
        assert {RoomType.of(n) for n in (*kind.numbers, *kind.more_numbers)} == {kind}
    assert {n for n in range(-5, 10_000) if is_room(n)} == set(numbers)
    for number in (0, 31, 231, 1000, 1991, 5001):
        with pytest.raises(BadInputError, match="no room has number"):
            RoomType.of(number)


def test_rooms_that_thor_lacks_stay_what_they_are() -> None:
    found = {number: find_draft(number) for number in (1001, 2500, 3090, 4990)}
    assert found == {1001: (5, 10.75), 2500: (0, 21.38), 3090: (0, 14.38), 4990: (2, 9.09)}


def test_the_table_of_layouts_is_what_the_search_finds() -> None:
    assert set(DRAFTS) == set(ROOM_NUMBERS)
    for number in ROOM_NUMBERS[::17]:
        assert find_draft(number) == DRAFTS[number]


@pytest.mark.parametrize("room_type", RoomType)
def test_no_two_rooms_are_alike(room_type: RoomType) -> None:
    test = [number for number in TEST_UNSEEN_NUMBERS if number in room_type.more_numbers]
    rooms = [make_room(number) for number in (*room_type.numbers, *test)]

    def layout(room: Room) -> frozenset[tuple[object, ...]]:
        x0, z0 = min(r.x0 for r in room.floor), min(r.z0 for r in room.floor)
        return frozenset(
            (f.object_class, round(f.position[0] - x0, 1), round(f.position[2] - z0, 1))
            for f in room.fixtures
        )

    for a, b in itertools.combinations(rooms, 2):
        shared = layout(a) & layout(b)
        assert len(shared) < 0.5 * min(len(layout(a)), len(layout(b))), (a.number, b.number)
        assert a.decor != b.decor
    assert any(len(room.floor) == 2 for room in rooms) or room_type == RoomType.BATHROOM


@every_room
def test_decor_and_openings_can_be_drawn(number: int) -> None:
    room = make_room(number)
    for name in (room.decor.wall_texture, room.decor.floor_texture):
        assert name.upper() in Texture.__members__
    openings = [opening for wall in room.walls for opening in wall.openings]
    assert sum(opening.kind == "door" for opening in openings) == 1
    windows = sum(f.object_class == C.Window for f in room.fixtures)
    assert sum(opening.kind == "window" for opening in openings) == windows
    for wall in room.walls:
        length = np.hypot(wall.x1 - wall.x0, wall.z1 - wall.z0)
        for opening in wall.openings:
            assert 0 <= opening.start < opening.end <= length + 1e-6
            assert 0 <= opening.bottom < opening.top <= room.height
    for wall, following in zip(room.walls, room.walls[1:] + room.walls[:1]):
        assert (wall.x1, wall.z1) == (following.x0, following.z0)
        # The room is on the right-hand side: a step to the right of the wall is over the floor.
        dx, dz = wall.x1 - wall.x0, wall.z1 - wall.z0
        length = abs(dx) + abs(dz)
        x = (wall.x0 + wall.x1) / 2 + 0.05 * dz / length
        z = (wall.z0 + wall.z1) / 2 - 0.05 * dx / length
        assert any(r.x0 < x < r.x1 and r.z0 < z < r.z1 for r in room.floor)
