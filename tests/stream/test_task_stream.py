"""The stream: one episode at a time, each once, nothing about tasks unless declared."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import DataError, StreamError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.stream import (
    Demonstration,
    Needs,
    Schedule,
    Setup,
    TaskStream,
    build_schedule,
    demonstration_of,
    frames_index,
    schedule_of,
)
from gym_clalfred.stream.builders import KINDS
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.fakes import FakeSource
from tests.helpers.trajectories import ListSource

MakeEnv = Callable[..., ClAlfredEnv]

#: The tasks that the fake source has.
FAKE_TASKS = [TaskType.EXAMINE, TaskType.PICK_AND_PLACE, TaskType.PICK_TWO_AND_PLACE]


def schedule_for(kind: str = "disjoint", order: list[TaskType] | None = None) -> Schedule:
    return build_schedule(FakeSource(), kind=kind, order=order or FAKE_TASKS, seed=1)


class Stub(gymnasium.Env[Any, Any]):
    """An environment that only has episodes; nothing is simulated."""

    source = FakeSource()


def demonstrations_only(schedule: Schedule, needs: Needs | None = None) -> TaskStream:
    """A stream without a simulator behind it."""
    return TaskStream(Stub(), schedule, needs)


@pytest.mark.parametrize("kind", KINDS)
def test_reset_hands_out_the_schedule_once(make_fake_env: MakeEnv, kind: str) -> None:
    env = make_fake_env()
    schedule = schedule_for(kind)
    stream = TaskStream(env, schedule, at_end="raise")
    seen = []
    while not stream.exhausted:
        assert stream.remaining == len(schedule) - len(seen)
        assert stream.position == len(seen)
        stream.reset()
        seen.append(env.episode.key)
        assert stream.demonstration() == demonstration_of(env.episode, env.source)
        stream.step((Action.RotateLeft, 0))
    assert tuple(seen) == schedule.keys
    with pytest.raises(StreamError, match=f"all {len(schedule)} episodes"):
        stream.reset()
    with pytest.raises(StreamError, match="ended"):
        stream.next_demonstration()
    assert stream.position == len(schedule)


def test_going_elsewhere_is_refused(make_fake_env: MakeEnv) -> None:
    schedule = schedule_for()
    stream = TaskStream(make_fake_env(), schedule)
    for key in (schedule.keys[0], str(schedule.keys[3])):
        with pytest.raises(StreamError, match="one episode to the next"):
            stream.reset(options={"episode": key})
    assert stream.position == 0
    stream.reset()
    assert stream.position == 1


def test_only_the_current_demonstration(make_fake_env: MakeEnv) -> None:
    stream = TaskStream(make_fake_env(), schedule_for())
    with pytest.raises(StreamError, match=r"call reset\(\) first"):
        stream.demonstration()
    stream.reset()
    first = stream.demonstration()
    assert stream.demonstration() == first
    second = stream.next_demonstration()
    assert second.id != first.id
    assert stream.demonstration() == second


def test_acting_needs_the_current_episode(make_fake_env: MakeEnv) -> None:
    stream = TaskStream(make_fake_env(), schedule_for())
    with pytest.raises(StreamError, match="not being simulated"):
        stream.step((Action.RotateLeft, 0))
    stream.reset()
    stream.step((Action.RotateLeft, 0))
    stream.next_demonstration()
    with pytest.raises(StreamError, match="not being simulated"):
        stream.step((Action.RotateLeft, 0))
    stream.reset()
    stream.step((Action.RotateLeft, 0))


def test_both_ways_share_one_position(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    schedule = schedule_for()
    stream = TaskStream(env, schedule)
    stream.next_demonstration()
    stream.reset()
    assert env.episode.key == schedule.keys[1]
    rest = list(stream.demonstrations())
    assert len(rest) == len(schedule) - 2
    assert stream.exhausted


def test_the_demonstration_has_words_and_deeds() -> None:
    shown = demonstrations_only(schedule_for()).next_demonstration()
    assert shown.goal in ("Put an apple in the fridge.", "Store the café’s apple.")
    assert len(shown.instructions) == 2
    targets = [(step.action, step.target) for step in shown.actions if step.action >= 5]
    assert targets == [
        (Action.PickupObject, ObjectClass.Apple),
        (Action.PutObject, ObjectClass.Fridge),
        (Action.Stop, ObjectClass.NoObject),
    ]
    assert len(shown) == len(shown.actions) == 13


def test_nothing_in_a_demonstration_names_the_task() -> None:
    words = {task.value for task in ALFRED_TASKS} | {room.value for room in RoomType}
    for shown in demonstrations_only(schedule_for()).demonstrations():
        text = repr(shown)
        assert shown.hint is None
        assert not any(word in text for word in words)
        assert "trial" not in text
        assert "|" not in text


@settings(max_examples=25, deadline=None)
@given(st.permutations(FAKE_TASKS), st.sampled_from(KINDS), st.integers(0, 99))
def test_no_field_depends_on_the_place_in_the_schedule(
    order: list[TaskType], kind: str, seed: int
) -> None:
    reference = {shown.id: shown for shown in demonstrations_only(schedule_for()).demonstrations()}
    schedule = build_schedule(Stub.source, kind=kind, order=order, seed=seed)
    shown = {shown.id: shown for shown in demonstrations_only(schedule).demonstrations()}
    assert shown == reference
    assert len(reference) == 18


def test_no_observation_depends_on_the_place_in_the_schedule(make_fake_env: MakeEnv) -> None:
    def everything(order: list[TaskType]) -> dict[EpisodeKey, Any]:
        env = make_fake_env()
        stream = TaskStream(env, schedule_for(order=order))
        seen = {}
        while not stream.exhausted:
            observation, info = stream.reset(seed=0)
            after, *rest = stream.step((Action.RotateLeft, 0))
            seen[env.episode.key] = (observation, info, after, rest)
        return seen

    forwards, backwards = everything(FAKE_TASKS), everything(FAKE_TASKS[::-1])
    assert forwards.keys() == backwards.keys()
    for key, one in forwards.items():
        np.testing.assert_equal(one, backwards[key])


def test_info_does_not_tell_behaviours_apart(make_fake_env: MakeEnv) -> None:
    stream = TaskStream(make_fake_env(), schedule_for())
    infos = []
    while not stream.exhausted:
        infos.append(stream.reset()[1])
        infos.append(stream.step((Action.RotateLeft, 0))[4])
    assert all("goal_conditions" not in info for info in infos)
    assert len({str(info) for info in infos[::2]}) == 1


# What learners declare


def test_boundaries_for_a_learner_that_needs_them() -> None:
    schedule = schedule_for()
    stream = demonstrations_only(schedule, Needs(needs_boundaries=True))
    starts = []
    for position, shown in enumerate(stream.demonstrations()):
        assert shown.hint is not None
        assert shown.hint.label is None
        if shown.hint.starts_block:
            starts.append(position)
    assert tuple(starts) == schedule.block_starts


def test_labels_for_a_learner_that_needs_them() -> None:
    schedule = schedule_for("gaussian")
    stream = demonstrations_only(schedule, Needs(needs_labels=True))
    for position, shown in enumerate(stream.demonstrations()):
        assert shown.hint is not None
        assert shown.hint.starts_block is None
        assert shown.hint.label == schedule.task_of(position)


def test_a_learner_that_declares_nothing_gets_nothing() -> None:
    class Silent:
        """A third-party learner without any declaration."""

    stream = demonstrations_only(schedule_for(), Needs(True, True))
    stream.for_learner(Silent())  # type: ignore[arg-type]
    assert stream.next_demonstration().hint is None


def test_no_boundaries_where_there_are_none() -> None:
    with pytest.raises(StreamError, match="disjoint or blurry"):
        demonstrations_only(schedule_for("gaussian"), Needs(needs_boundaries=True))


def test_an_environment_that_tells_is_refused(make_fake_env: MakeEnv) -> None:
    with pytest.raises(StreamError, match="reveal_task"):
        TaskStream(make_fake_env(reveal_task=True), schedule_for())


# Saving and loading


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 18), st.integers(0, 3))
def test_the_rest_of_a_loaded_stream_is_the_same(kind: str, position: int, extra: int) -> None:
    schedule = schedule_for(kind)
    stream = demonstrations_only(schedule)
    for _ in range(position):
        stream.next_demonstration()
    state = json.loads(json.dumps(stream.state_dict()))
    copy = demonstrations_only(schedule)
    for _ in range(extra):
        copy.next_demonstration()
    copy.load_state_dict(state)
    assert copy.position == position
    if position:
        assert copy.demonstration() == stream.demonstration()
    assert list(copy.demonstrations()) == list(stream.demonstrations())


def test_loading_does_not_resume_a_simulation(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    schedule = schedule_for()
    stream = TaskStream(env, schedule)
    stream.reset()
    stream.reset()
    stream.load_state_dict(stream.state_dict())
    with pytest.raises(StreamError, match="not being simulated"):
        stream.step((Action.RotateLeft, 0))
    stream.reset()
    assert env.episode.key == schedule.keys[2]


def test_a_position_of_another_schedule() -> None:
    state = demonstrations_only(schedule_for()).state_dict()
    with pytest.raises(StreamError, match="another schedule"):
        demonstrations_only(schedule_for(order=FAKE_TASKS[::-1])).load_state_dict(state)


@pytest.mark.parametrize("position", [-1, 19, 1.0, None, True, "3"])
def test_a_bad_position(position: Any) -> None:
    stream = demonstrations_only(schedule_for())
    with pytest.raises(StreamError, match="expected a whole number from 0 to 18"):
        stream.load_state_dict({**stream.state_dict(), "position": position})
    assert stream.position == 0


def test_an_episode_that_cannot_be_read_is_not_skipped_silently() -> None:
    missing = EpisodeKey(Split.TRAIN, "nothing/here", 0)
    stream = demonstrations_only(Schedule("x", ("t",), (missing,), (0,)))
    for _ in range(2):
        with pytest.raises(DataError, match="no episode"):
            stream.next_demonstration()
    assert stream.position == 0


def test_streams_can_be_pickled(make_fake_env: MakeEnv) -> None:
    stream = TaskStream(make_fake_env(), schedule_for())
    stream.next_demonstration()
    copy = pickle.loads(pickle.dumps(stream))
    assert list(copy.demonstrations()) == list(stream.demonstrations())


# Names for caches


def test_annotations_of_a_trajectory_share_their_frames() -> None:
    source = Stub.source
    index = frames_index(source, Split.TRAIN)
    shown = list(demonstrations_only(schedule_for()).demonstrations())
    assert {one.frames_id for one in shown} == set(index)
    assert len(index) == len(shown) // 2
    for one in shown:
        found = demonstration_of(source.episode(index[one.frames_id]), source)
        assert found.actions == one.actions
    assert len({one.id for one in shown}) == len(shown)


def test_a_demonstration_has_no_other_fields() -> None:
    names = [field.name for field in fields(Demonstration)]
    assert names == ["id", "frames_id", "goal", "instructions", "actions", "hint"]


# The environment's own setup


@pytest.mark.parametrize(
    ("name", "setup"),
    [("BehaviorIL", Setup.BEHAVIOR_IL), ("environment-il", Setup.ENVIRONMENT_IL)],
)
def test_the_schedule_follows_the_environment(
    make_fake_env: MakeEnv, name: str, setup: Setup
) -> None:
    env = make_fake_env(setup=name, order=3, source=ListSource())
    expected = build_schedule(ListSource(), setup, order=3)
    assert schedule_of(env) == expected
    assert TaskStream(env).remaining == len(expected)


def test_the_imbalanced_setup_keeps_all(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(setup="ImbalancedEnvironmentIL", order=1, source=ListSource())
    assert len(schedule_of(env)) == len(ListSource().entries(Split.TRAIN))
