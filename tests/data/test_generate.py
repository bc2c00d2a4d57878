"""Generated trajectories: replayable through the environment, deterministic, like ALFRED's."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.data.alfred_reader import parse_trajectory
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.archive import TrajectoryArchive
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.generate import (
    MAX_ATTEMPTS,
    MAX_LONG,
    NEAR_METRES,
    TrajectoryGenerator,
    sample_scene,
    sample_task,
)
from gym_clalfred.data.quotas import TIERS, Quota, Scope
from gym_clalfred.data.requests import TRIES_PER_ROOM, Request, split_requests
from gym_clalfred.data.tiers import make_tier, tier_source
from gym_clalfred.data.trajectory import Split, Trajectory
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError
from gym_clalfred.expert.planner import TooLongError, UnsolvableError, solve
from gym_clalfred.expert.recorder import MIN_TARGET_PIXELS
from gym_clalfred.language.tokenizer import Tokenizer, split_words
from gym_clalfred.objects import CLEANABLE, CLOSED_AT_START, COOLABLE, HEATABLE, LAMPS, SLICED_FORM
from gym_clalfred.objects import ObjectClass as C
from gym_clalfred.rooms import (
    TEST_UNSEEN_NUMBERS,
    TRAIN_NUMBERS,
    VALID_UNSEEN_NUMBERS,
    RoomType,
)
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.simulator.embedded.generator import ArrangementError, make_room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskSpec, TaskType
from tests.helpers.trajectories import rooms_of

TINY = TIERS["tiny"]


@pytest.fixture(scope="module")
def source() -> EpisodeSource:
    return tier_source("tiny")


def first_annotations(source: EpisodeSource) -> list[EpisodeEntry]:
    return [e for split in Split for e in source.entries(split) if e.key.annotation == 0]


def trajectories(source: EpisodeSource) -> list[Trajectory]:
    return [source.episode(entry.key).trajectory for entry in first_annotations(source)]


@pytest.fixture(scope="module")
def part_of_small(tmp_path_factory: pytest.TempPathFactory) -> EpisodeSource:
    """A sixtieth of the tier ``small``, but some of every kind."""
    small = TIERS["small"]
    quotas = {
        split: tuple(
            Quota(one.task_type, one.room_type, count, count)
            for one in small.quotas[split]
            for count in [max(1, one.trajectories // 60)]
        )
        for split in Split
    }
    folder = tmp_path_factory.mktemp("tiers") / "part"
    manifest = make_tier(replace(small, name="part", quotas=quotas), folder, workers=1)
    return TrajectoryArchive(folder, manifest.label)


@pytest.mark.parametrize("room_type", RoomType)
@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("tier", ["tiny", pytest.param("part", marks=pytest.mark.slow)])
def test_every_demonstration_solves_its_episode_by_action_and_class_alone(
    tier: str, split: Split, room_type: RoomType, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue("part_of_small") if tier == "part" else tier_source(tier)
    env = ClAlfredEnv(source=source, split=split.value, image_size=8, masks=False)
    entries = [
        entry
        for entry in source.entries(split)
        if entry.key.annotation == 0 and entry.room_type is room_type
    ]
    assert entries
    # Room after room, so that each is built once.
    for entry in sorted(entries, key=lambda entry: entry.key.trajectory.split("/")[0][-4:]):
        env.reset(options={"episode": entry.key})
        trajectory = env.episode.trajectory
        assert entry.length == len(trajectory.actions)
        for action in trajectory.actions:
            label = 0
            if action.object_id is not None:
                label = int(env.simulator.objects[action.object_id].object_class)
                assert action.mask is not None
                shown = env.simulator.sight().mask(action.object_id)
                assert np.array_equal(shown, action.mask.decode()), entry.key
                assert shown.sum() >= MIN_TARGET_PIXELS
            *_, info = env.step((int(action.action), label))
            assert info["action_success"], (entry.key, action, info["reason"])
        *_, info = env.step((int(Action.Stop), 0))
        assert info["success"], entry.key
        assert info["failures"] == 0
    env.close()


ROOMS_OF = {
    Split.TRAIN: TRAIN_NUMBERS,
    Split.VALID_SEEN: TRAIN_NUMBERS,
    Split.TEST_SEEN: TRAIN_NUMBERS,
    Split.VALID_UNSEEN: VALID_UNSEEN_NUMBERS,
    Split.TEST_UNSEEN: TEST_UNSEEN_NUMBERS,
}


def test_starts_and_rooms_are_the_splits(source: EpisodeSource) -> None:
    for entry in first_annotations(source):
        trajectory = source.episode(entry.key).trajectory
        assert trajectory.scene.start.pitch == 30
        assert trajectory.scene.number in ROOMS_OF[entry.key.split]


def test_no_trajectory_is_in_two_splits_or_twice_in_one(source: EpisodeSource) -> None:
    found = trajectories(source)
    scenes = [(t.scene.number, t.scene.start, t.scene.object_poses) for t in found]
    assert len(set(scenes)) == len(scenes)
    assert len({t.trial for t in found}) == len(found)


def test_every_text_is_known_to_the_vocabulary_and_has_one_line_per_step(
    source: EpisodeSource,
) -> None:
    vocabulary = Tokenizer.default()
    for trajectory in trajectories(source):
        goals = [annotation.goal for annotation in trajectory.annotations]
        assert len(set(goals)) == len(goals)
        for annotation in trajectory.annotations:
            assert len(annotation.steps) == len(trajectory.plan)
            for word in split_words(" ".join((annotation.goal, *annotation.steps))):
                assert word in vocabulary


def test_documents_are_read_back_as_they_were(source: EpisodeSource) -> None:
    for trajectory in trajectories(source)[:10]:
        content = encode_trajectory(trajectory)
        assert encode_trajectory(parse_trajectory(content, "test")) == content


def test_a_trajectory_depends_on_its_request_alone() -> None:
    requests = split_requests(TINY, Split.VALID_SEEN)[:3]
    forwards, backwards = TrajectoryGenerator(), TrajectoryGenerator()
    first = [forwards.make(request) for request in requests]
    again = [backwards.make(request) for request in reversed(requests)]
    assert first == again[::-1]


def test_requests_are_mixed_unique_and_fulfil_the_quotas() -> None:
    for split in Split:
        requests = split_requests(TIERS["small"], split)
        assert [request.index for request in requests] == list(range(len(requests)))
        for quota in TIERS["small"].quotas[split]:
            cell = [
                r
                for r in requests
                if (r.task_type, r.room_type) == (quota.task_type, quota.room_type)
            ]
            assert len(cell) == quota.trajectories
            assert sum(request.annotations for request in cell) == quota.episodes
        assert len({request.task_type for request in requests[:60]}) == len(ALFRED_TASKS)


def test_random_streams_differ_between_splits_and_attempts() -> None:
    def draws(split: Split, index: int, attempt: int) -> tuple[int, ...]:
        request = Request(0, split, index, TaskType.HEAT, RoomType.KITCHEN, 1)
        return tuple(request.rng(attempt).integers(0, 2**32, 4))

    streams = {draws(s, i, a) for s in Split for i in range(3) for a in range(3)}
    assert len(streams) == len(Split) * 9


def test_trajectories_keep_to_their_tiers_scope() -> None:
    tier, generator = TIERS["small"], TrajectoryGenerator()
    scope = tier.scope
    assert scope.longest is not None
    lengths = []
    for request in split_requests(tier, Split.TRAIN)[:8]:
        made = generator.make(request)
        lengths.append(len(made.actions))
        assert made.scene.number in scope.rooms
        assert not made.task.sliced
        opened = {class_of(a.object_id) for a in made.actions if a.action is Action.OpenObject}
        assert opened <= {C.Fridge, C.Microwave, made.task.receptacle}
        places = [p.position for p in made.scene.object_poses if p.object_class is made.task.target]
        start = made.scene.start
        assert min(math.dist((start.x, start.z), (x, z)) for x, _, z in places) <= NEAR_METRES
    generator.close()
    # A long one is kept only where no short one is found.
    assert sum(length <= scope.longest for length in lengths) >= 6


def test_an_expert_that_takes_what_is_nearest_walks_less() -> None:
    room, task = make_room(3), TaskSpec(TaskType.PICK_AND_PLACE, C.Mug, C.CounterTop)
    simulator = EmbeddedSimulator(RenderOptions(image_size=32))
    steps = {True: 0, False: 0}
    for seed in range(6):
        scene = sample_scene(room, task, np.random.default_rng(seed), near=True)
        for nearest in steps:
            made = solve(simulator, scene, task, np.random.default_rng(seed), nearest=nearest)
            steps[nearest] += len(made.actions)
    simulator.close()
    assert steps[True] < steps[False]


TREATED = {TaskType.CLEAN: CLEANABLE, TaskType.HEAT: HEATABLE, TaskType.COOL: COOLABLE}


@pytest.mark.parametrize("task_type", ALFRED_TASKS)
def test_sampled_tasks_make_sense(task_type: TaskType) -> None:
    for room_type in rooms_of(task_type):
        room = make_room(room_type.numbers[0])
        fixtures = {fixture.object_class for fixture in room.fixtures}
        for seed in range(60):
            task = sample_task(room, task_type, np.random.default_rng(seed))
            assert task is not None
            form = task.goal_class
            if task_type is TaskType.EXAMINE:
                assert task.lamp in LAMPS & fixtures
                continue
            assert task.receptacle in fixtures
            assert task.receptacle is not None
            if task_type is TaskType.MOVABLE:
                assert task.movable is not None
                assert form in ACCEPTS[task.movable]
                assert task.movable in ACCEPTS[task.receptacle]
            else:
                assert form in ACCEPTS[task.receptacle]
            assert task.target in TREATED.get(task_type, set(C))
            assert not task.sliced or task.target in SLICED_FORM


def test_targets_do_not_start_where_they_belong() -> None:
    room = make_room(1)
    for task_type in (TaskType.PICK_TWO_AND_PLACE, TaskType.HEAT, TaskType.MOVABLE):
        for seed in range(20):
            task = sample_task(room, task_type, np.random.default_rng(seed))
            assert task is not None
            demands = {demand.object_class: demand for demand in task.type.demands(task)}
            assert task.receptacle in demands[task.target].not_in
            if task_type is TaskType.PICK_TWO_AND_PLACE and not task.sliced:
                assert demands[task.target].count == 2
            if task.sliced:
                assert C.Knife in demands


def test_a_task_that_is_long_each_time_is_better_than_none(monkeypatch: pytest.MonkeyPatch) -> None:
    request = split_requests(TINY, Split.VALID_SEEN)[0]
    usual = TrajectoryGenerator().make(request)
    request = replace(request, scope=Scope(longest=1))
    generator = TrajectoryGenerator()
    attempts = []

    def seldom(request: Request, attempt: int, longest: int | None) -> Trajectory:
        attempts.append(attempt)
        if attempt != 5:
            raise UnsolvableError("not this time")
        if longest is not None:
            raise TooLongError("too long")
        return usual

    monkeypatch.setattr(generator, "_attempt", seldom)
    assert generator.make(request) == usual
    assert attempts == [*range(MAX_ATTEMPTS), 5]


def test_of_long_solutions_the_shortest_is_taken() -> None:
    request = split_requests(TINY, Split.VALID_SEEN)[0]
    generator = TrajectoryGenerator()
    made = generator.make(replace(request, scope=Scope(longest=1)))
    lengths = []
    for attempt in range(MAX_LONG):
        try:
            lengths.append(len(generator._attempt(request, attempt, None).actions))
        except (UnsolvableError, ArrangementError):
            continue
    assert len(lengths) > 3
    assert len(made.actions) <= min(lengths)


def test_a_solution_is_given_up_when_it_gets_too_long() -> None:
    request = split_requests(TINY, Split.VALID_SEEN)[0]
    generator = TrajectoryGenerator()
    length = len(generator.make(request).actions)
    same = generator.make(replace(request, scope=Scope(longest=length)))
    assert len(same.actions) == length
    with pytest.raises(TooLongError, match=f"more than {length - 1} actions"):
        generator._attempt(request, 0, length - 1)


@pytest.mark.parametrize("split", Split)
def test_rooms_take_turns(split: Split) -> None:
    for name in ("small", "full"):
        requests = split_requests(TIERS[name], split)
        for room_type in RoomType:
            of_type = [request for request in requests if request.room_type is room_type]
            rooms = [request.room(0) for request in of_type]
            for task_type in (None, *ALFRED_TASKS):
                asked = [task_type in (None, request.task_type) for request in of_type]
                counts = Counter(itertools.compress(rooms, asked))
                if counts:
                    least = min(counts[number] for number in of_type[0].rooms)
                    assert max(counts.values()) - least <= 1


def test_the_next_room_has_its_turn_where_nothing_is_found() -> None:
    request = split_requests(TINY, Split.TEST_UNSEEN)[0]
    rooms = [request.room(attempt) for attempt in range(MAX_ATTEMPTS)]
    assert len(set(rooms)) == MAX_ATTEMPTS // TRIES_PER_ROOM
    assert rooms[0] == rooms[TRIES_PER_ROOM - 1] != rooms[TRIES_PER_ROOM]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_scope_sets_the_share_of_cut_targets(share: float) -> None:
    room = make_room(1)
    for task_type in set(ALFRED_TASKS) - {TaskType.EXAMINE}:
        tasks = [
            sample_task(room, task_type, np.random.default_rng(seed), sliced=share)
            for seed in range(100)
        ]
        cut = sum(task is not None and task.sliced for task in tasks)
        assert cut == pytest.approx(100 * share, abs=15)


@pytest.mark.parametrize("hidden", [True, False])
def test_targets_start_hidden_or_in_the_open(hidden: bool) -> None:
    room, task = make_room(1), TaskSpec(TaskType.PICK_AND_PLACE, C.Mug, C.CounterTop)
    simulator = EmbeddedSimulator(RenderOptions(image_size=8))
    for seed in range(5):
        simulator.reset(sample_scene(room, task, np.random.default_rng(seed), hidden=hidden))
        mugs = [state for state in simulator.objects.values() if state.object_class is C.Mug]
        for mug in mugs:
            assert bool(CLOSED_AT_START & {class_of(name) for name in mug.parents}) is hidden
    simulator.close()


def test_what_fits_in_no_container_starts_in_the_open() -> None:
    room, task = make_room(201), TaskSpec(TaskType.PICK_AND_PLACE, C.Pillow, C.ArmChair)
    scene = sample_scene(room, task, np.random.default_rng(0), hidden=True)
    assert any(pose.object_class is C.Pillow for pose in scene.object_poses)


@pytest.mark.parametrize("name", ["sliced", "hidden"])
def test_shares_are_checked(name: str) -> None:
    with pytest.raises(BadInputError, match=f"{name} 1.5: expected a share from 0 to 1"):
        Scope(**{name: 1.5})


def test_half_of_the_targets_can_be_hidden() -> None:
    request = replace(split_requests(TINY, Split.TRAIN)[0], task_type=TaskType.PICK_AND_PLACE)
    request = replace(request, room_type=RoomType.KITCHEN)
    opened = {}
    for share in (0.0, 1.0):
        generator, opened[share] = TrajectoryGenerator(), 0
        for index in range(6):
            scope = Scope(hidden=share, sliced=0.0)
            made = generator.make(replace(request, index=index, turn=index, scope=scope))
            first = next(a for a in made.actions if a.object_id is not None)
            opened[share] += first.action is Action.OpenObject
        generator.close()
    assert opened[0.0] == 0
    assert opened[1.0] >= 4
