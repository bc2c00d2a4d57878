"""The semantic-map agent: what it draws, what it looks for, and that it acts as it was trained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from clalfred.agents.acting.policy import BEFORE
from clalfred.agents.demonstrations import EpisodeReader
from clalfred.agents.registry import make_agent
from clalfred.agents.semantic_map import room_map
from clalfred.agents.semantic_map.agent import SemanticMap, _History, holder
from clalfred.agents.semantic_map.network import WALKING, window
from clalfred.agents.semantic_map.room_map import (
    AHEAD,
    BEHIND,
    BESIDE,
    COLUMNS,
    CROP,
    PIXELS,
    RoomMap,
    mirrored,
)
from gym_clalfred.actions import Action
from gym_clalfred.data.tiers import tier_source
from gym_clalfred.data.trajectory import Split
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator import jit
from gym_clalfred.stream import demonstration_of

MUG, TABLE = int(ObjectClass.Mug), int(ObjectClass.DiningTable)


def views(label: int, distance: float, view: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Five views that show a class in the middle of one of them, and a far wall elsewhere."""
    classes = np.zeros((5, PIXELS, PIXELS), np.uint8)
    depth = np.full((5, PIXELS, PIXELS), 9.0, np.float32)
    middle = slice(PIXELS // 2 - 3, PIXELS // 2 + 3)
    classes[view, middle, middle] = label
    depth[view, middle, middle] = distance
    return classes, depth


def level() -> RoomMap:
    """A map whose agent looks straight ahead."""
    room = RoomMap()
    for _ in range(2):
        room.did(int(Action.LookUp), 0, True)
    return room


def layer(bits: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    return bits[number * CROP : (number + 1) * CROP].reshape(AHEAD + BEHIND + 1, COLUMNS)


def test_what_is_seen_ahead_is_drawn_ahead() -> None:
    room = level()
    room.see(*views(MUG, 1.0))
    bits, numbers = room.features(MUG, 0)
    assert list(np.argwhere(layer(bits, 0))[0]) == [BEHIND + 4, BESIDE]  # 1 m is four cells
    assert numbers[50] == 1
    assert numbers[51] == pytest.approx(0.4)
    assert numbers[52] == 0


def test_what_is_seen_is_remembered_through_turns_and_moves() -> None:
    room = level()
    room.see(*views(MUG, 1.0))
    room.did(int(Action.MoveAhead), 0, True)
    room.did(int(Action.RotateLeft), 0, True)
    room.see(*views(0, 1.0))
    bits, _ = room.features(MUG, 0)
    assert list(np.argwhere(layer(bits, 0))[0]) == [BEHIND, BESIDE + 3]  # three cells to the right


def test_a_failed_move_stays_where_it_was_and_marks_an_obstacle() -> None:
    room = level()
    room.did(int(Action.MoveAhead), 0, False)
    assert room.failed
    bits, _ = room.features(0, 0)
    assert layer(bits, 3)[BEHIND + 1, BESIDE] == 1
    room.see(*views(MUG, 1.0))
    assert layer(room.features(MUG, 0)[0], 0)[BEHIND + 4, BESIDE] == 1


def test_what_was_taken_is_forgotten_and_what_was_put_is_told_apart() -> None:
    room = level()
    room.see(*views(MUG, 1.0))
    room.did(int(Action.PickupObject), MUG, True)
    room.see(*views(TABLE, 1.0))
    assert not layer(room.features(MUG, 0)[0], 0).any()
    room.did(int(Action.PutObject), TABLE, True)
    room.see(*views(MUG, 1.0))
    bits, numbers = room.features(MUG, 0)
    assert not layer(bits, 0).any()
    assert layer(bits, 1).any()
    assert numbers[66] == 1


def test_tried_actions_count_in_the_same_pose_since_the_last_interaction() -> None:
    room = level()
    room.did(int(Action.OpenObject), TABLE, False)
    assert room.tried()[int(Action.OpenObject)] == 1
    room.did(int(Action.RotateLeft), 0, True)
    assert not room.tried().any()
    room.did(int(Action.RotateRight), 0, True)
    assert room.tried()[int(Action.OpenObject)] == 1
    room.did(int(Action.PickupObject), MUG, True)
    assert not room.tried().any()


def test_a_mirror_is_undone_by_a_mirror_and_moves_right_to_left() -> None:
    bits, numbers, signs = mirrored()
    assert np.array_equal(bits[bits], np.arange(len(bits)))
    assert np.array_equal(numbers[numbers], np.arange(len(numbers)))
    assert np.array_equal(signs[numbers], signs)
    left, right = RoomMap(), RoomMap()
    for room, view, turn in ((left, 1, Action.RotateLeft), (right, 2, Action.RotateRight)):
        room.see(*views(MUG, 1.0, view))
        room.did(int(turn), 0, True)
        room.see(*views(0, 1.0))
    mine, theirs = left.features(MUG, 0), right.features(MUG, 0)
    assert np.array_equal(mine[0][bits], theirs[0])
    assert np.allclose(mine[1][numbers] * signs, theirs[1])


def test_the_holder_is_the_receptacle_around_the_target() -> None:
    front = np.full((PIXELS, PIXELS), int(ObjectClass.Window), np.uint8)
    front[40:] = TABLE
    front[36:42, 40:44] = MUG
    assert holder(front, MUG) == TABLE
    assert holder(front, int(ObjectClass.Apple)) == 0


def test_windows_hold_neighbours_and_zeros_outside() -> None:
    values = torch.arange(1.0, 4.0).view(1, 3, 1)
    assert window(values, 1)[0].tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 0]]


@pytest.fixture(scope="module")
def agent() -> SemanticMap:
    made = make_agent("semantic-map")
    assert isinstance(made, SemanticMap)
    return made


@pytest.fixture(scope="module")
def episodes(agent: SemanticMap) -> list[Any]:
    source = tier_source("tiny")
    reader = EpisodeReader(source, agent)
    keys = [entry.key for entry in source.entries(Split.TRAIN)][::9]
    return [reader(demonstration_of(source.episode(key), source)) for key in keys]


def test_segments_end_with_interactions(agent: SemanticMap, episodes: list[Any]) -> None:
    batch = agent.collate(episodes)
    past = _History(batch)
    for number, episode in enumerate(episodes):
        rows = batch.episode == number
        ends = (episode.actions >= WALKING).nonzero().flatten().tolist()
        for step in range(len(episode)):
            end = next(one for one in ends if one >= step)
            assert int(past.segment[rows][step]) == sum(one < step for one in ends)
            assert int(past.next_verb[rows][step]) == int(episode.actions[end])
            assert int(past.next_class[rows][step]) == int(episode.classes[end])


def test_stored_samples_are_small(episodes: list[Any]) -> None:
    assert all(one.views.bytes / len(one) < 500 for one in episodes)


def test_mirrored_training_speaks_of_the_world_as_it_is(
    agent: SemanticMap, episodes: list[Any]
) -> None:
    """Targets stay the demonstration's, also where the episode was shown in a mirror."""
    batch = agent.collate(episodes)
    outputs = agent(batch, torch.Generator().manual_seed(0))
    assert torch.equal(outputs.heads["action"].targets, batch.actions)
    assert outputs.heads["action"].logits.shape == (len(batch.actions), len(Action))


def test_along_an_experts_way_it_plans_as_it_was_trained(agent: SemanticMap) -> None:
    source = tier_source("tiny")
    key = next(entry.key for entry in source.entries(Split.TRAIN))
    demonstration = demonstration_of(source.episode(key), source)
    reader = EpisodeReader(source, agent)
    episode = reader(demonstration)
    with torch.no_grad():
        trained = agent(agent.collate([episode])).heads["class"].logits
        state = agent.start(episode.tokens.unsqueeze(0), torch.tensor([len(episode.tokens)]))
    memory, previous, said = agent.new_memory(), torch.tensor([BEFORE]), []
    for step, shown in zip(demonstration.actions, reader._observations(source.episode(key))):
        seen = agent.see([shown], [memory], previous)
        assert bool(seen["worked"]) == (len(said) > 0), "an expert's actions always work"
        with torch.no_grad():
            decision, changed = agent.act(seen, state, previous, [memory])
        state = {**state, **changed}
        said.append(decision.class_logits)
        previous = torch.tensor([[int(step.action), int(step.target)]])
    reader.close()
    interactions = (episode.classes > 0).nonzero().flatten()
    acted = torch.cat(said)[interactions]
    torch.testing.assert_close(acted, trained, rtol=1e-4, atol=1e-4)


def test_the_first_step_is_planned_from_the_words_alone(agent: SemanticMap) -> None:
    tokens = torch.randint(5, 60, (2, 128), generator=torch.Generator().manual_seed(0))
    state = agent.start(tokens, torch.tensor([128, 40]))
    memories = [agent.new_memory() for _ in range(2)]
    shown = [
        {"rgb": np.zeros((5, 84, 84, 3), np.uint8), "classes": one[0], "depth": one[1]}
        for one in (views(MUG, 1.0), views(TABLE, 2.0))
    ]
    previous = torch.tensor([BEFORE, BEFORE])
    seen = agent.see(shown, memories, previous)
    assert seen["worked"].tolist() == [False, False]
    decision, changed = agent.act(seen, state, previous, memories)
    assert torch.equal(changed["track"], state["track"])
    assert decision.shown["words"].shape == (2, 128)
    assert decision.shown["heat"].shape == (2, 5, 7, 7)
    assert float(decision.shown["words"][1, 40:].detach().abs().sum()) == 0


def test_kernels_are_compiled_again_when_their_named_tuples_change() -> None:
    """numba's own cache raises when a class in a signature was renamed."""
    compiled = [value for value in vars(room_map).values() if hasattr(value, "py_func")]
    assert len(compiled) > 5
    assert all(isinstance(one._cache, jit._Cache) for one in compiled)
