"""``gymnasium.make(..., tasks=, rooms=)`` draws from some episodes only."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from gym_clalfred.data.trajectory import Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.rooms import RoomType
from gym_clalfred.selection import Selection
from gym_clalfred.setups import ENV_IDS, Setup
from gym_clalfred.stream import TaskStream, build_schedule, schedule_of
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.fakes import FakeSource

MakeEnv = Callable[..., ClAlfredEnv]


def drawn(env: ClAlfredEnv, number: int = 60) -> set[tuple[str, str, int]]:
    """Task, room type and scene of what ``reset`` gives."""
    env.reset(seed=0)
    seen = set()
    for _ in range(number):
        env.reset()
        trajectory = env.episode.trajectory
        scene = trajectory.scene.number
        seen.add((trajectory.task.type.paper_name, trajectory.room_type.value, scene))
    return seen


@pytest.mark.parametrize(
    ("spelling", "task"),
    [
        ("heat", TaskType.HEAT),
        ("Heat", TaskType.HEAT),
        ("Pick&Place", TaskType.PICK_AND_PLACE),
        ("pick and place", TaskType.PICK_AND_PLACE),
        ("pick-place", TaskType.PICK_AND_PLACE),
        ("pick_two_obj_and_place", TaskType.PICK_TWO_AND_PLACE),
        ("Pick2&Place", TaskType.PICK_TWO_AND_PLACE),
        ("EXAMINE", TaskType.EXAMINE),
        (TaskType.COOL, TaskType.COOL),
    ],
)
def test_tasks_go_by_any_spelling(spelling: str, task: TaskType) -> None:
    assert Selection.parse(tasks=[spelling]) == Selection(tasks=frozenset({task}))
    assert Selection.parse(tasks=spelling) == Selection(tasks=frozenset({task}))


@pytest.mark.parametrize("spelling", ["LivingRoom", "living room", "living_room", "LIVINGROOM"])
def test_rooms_go_by_any_spelling(spelling: str) -> None:
    assert Selection.parse(rooms=(spelling,)).rooms == {RoomType.LIVING_ROOM}


@pytest.mark.parametrize("setup", Setup)
def test_only_what_was_asked_for_is_drawn(make_fake_env: MakeEnv, setup: Setup) -> None:
    def make(**options: Any) -> ClAlfredEnv:
        return make_fake_env(setup=setup, image_size=8, **options)

    assert len(drawn(make())) == 9
    assert {task for task, _, _ in drawn(make(tasks=["examine"]))} == {"Examine"}
    assert {room for _, room, _ in drawn(make(rooms="bedroom"))} == {"Bedroom"}
    assert {scene for *_, scene in drawn(make(rooms=[2, 301]))} == {2, 301}
    assert {scene for *_, scene in drawn(make(rooms=np.array([1])))} == {1}
    assert drawn(make(tasks=["Examine", "pick2&place"], rooms=["Kitchen"])) == {
        (task, "Kitchen", scene) for task in ("Examine", "Pick2&Place") for scene in (1, 2)
    }


def test_without_a_selection_the_draws_are_the_same(make_fake_env: MakeEnv) -> None:
    plain, everything = make_fake_env(), make_fake_env(tasks=[t.value for t in ALFRED_TASKS])
    for env in (plain, everything):
        env.reset(seed=5)
    for _ in range(10):
        plain.reset()
        everything.reset()
        assert plain.episode.key == everything.episode.key


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"tasks": ["Heat", "boil"]},
            r"each of tasks to be one of Examine, Pick&Place, .*, got 'boil'",
        ),
        ({"tasks": ["heet"]}, "did you mean 'Heat'"),
        ({"tasks": []}, r"tasks to be a list of names, got \[\]"),
        ({"tasks": True}, "tasks to be a list of names, got True"),
        ({"tasks": [3]}, "got 3"),
        ({"rooms": ["Garage"]}, "Kitchen, LivingRoom, Bedroom, Bathroom, got 'Garage'"),
        ({"rooms": [31]}, "no room has number 31"),
        ({"rooms": [None]}, "got None"),
        ({"rooms": 2.5}, "got 2.5"),
    ],
)
def test_unknown_names_are_answered_with_the_list(
    make_fake_env: MakeEnv, options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(BadInputError, match=expected) as caught:
        make_fake_env(**options)
    assert "\n" not in str(caught.value)


def test_a_selection_without_episodes(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(tasks=["Heat"], rooms=["Bathroom", 7])
    message = "fake-source has no episodes of tasks Heat and rooms 7, Bathroom in split 'train'"
    with pytest.raises(DataError, match=message):
        env.reset(seed=0)


def test_an_episode_can_still_be_named(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(tasks=["Examine"])
    key = FakeSource().entries(Split.TRAIN)[0].key
    env.reset(options={"episode": key})
    assert env.episode.key == key


def test_the_selection_is_pickled(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(tasks=["Examine"], rooms=[301])
    assert pickle.loads(pickle.dumps(env)).selection == env.selection


def test_streams_keep_to_the_selection(make_fake_env: MakeEnv) -> None:
    source = FakeSource(rooms=(1, 2, 301))
    env = make_fake_env(source=source, tasks=["Examine", "Pick&Place"], rooms=["Kitchen"])
    schedule = schedule_of(env)
    # In the paper's first order Examine comes before Pick&Place.
    assert schedule.tasks == ("look_at_obj_in_light", "pick_and_place_simple")
    assert len(schedule) == 2 * 2 * 2
    assert all(entry.room_type is RoomType.KITCHEN for entry in source.entries(Split.TRAIN)
               if entry.key in schedule.keys)  # fmt: skip
    assert TaskStream(env).remaining == len(schedule)
    with pytest.raises(BadInputError, match="no episodes of"):
        build_schedule(source)  # the whole order, as before


def test_of_the_registered_ids() -> None:
    env = gymnasium.make(ENV_IDS[0], tier="tiny", image_size=8, tasks=["heat"], rooms=["kitchen"])
    base = env.unwrapped
    assert isinstance(base, ClAlfredEnv)
    assert {task for task, *_ in drawn(base, 5)} == {"Heat"}
    assert gymnasium.make(env.spec).spec.kwargs["tasks"] == ["heat"]
    env.close()
