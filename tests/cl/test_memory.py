from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clalfred.cl.clib import ImportanceMemory
from clalfred.cl.memory import LabelBalancedMemory, Memory, MemoryItem, memory_size
from gym_clalfred.errors import BadInputError
from tests.helpers.learning import demonstration

EPISODE = demonstration(0, length=2)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_reservoir_keeps_every_episode_with_equal_chance() -> None:
    capacity, seen, trials = 4, 12, 3000
    kept: Counter[int] = Counter()
    generator = seeded(0)
    for _ in range(trials):
        memory = Memory(capacity, generator)
        for number in range(seen):
            memory.add(MemoryItem(EPISODE, task=number))
        kept.update(memory[slot].task for slot in range(capacity))
    expected = trials * capacity / seen
    # Chi-squared with 11 degrees of freedom is below 31.3 with probability 99.9 %.
    chi_squared = sum((kept[number] - expected) ** 2 / expected for number in range(seen))
    assert chi_squared / (1 - capacity / seen) < 31.3


@given(capacity=st.integers(0, 6), offers=st.integers(0, 20), seed=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_no_policy_exceeds_its_capacity_or_invents_episodes(
    capacity: int, offers: int, seed: int
) -> None:
    for policy in (Memory, LabelBalancedMemory, ImportanceMemory):
        memory = policy(capacity, seeded(seed))
        for number in range(offers):
            slot = memory.add(MemoryItem(EPISODE, task=number))
            assert slot is None or memory[slot].task == number
        assert len(memory) == min(capacity, offers)
        tasks = [memory[slot].task for slot in range(len(memory))]
        assert len(set(tasks)) == len(tasks)


def test_label_balanced_memory_evens_out_labels() -> None:
    memory = LabelBalancedMemory(6, seeded(0))
    for seed in range(30):
        label = "rare" if seed % 10 == 9 else "common"
        memory.add(MemoryItem(demonstration(seed, length=2, label=label)))
    labels = Counter(memory[slot].episode.label for slot in range(6))
    assert labels == {"rare": 3, "common": 3}


def test_samples_are_different_slots_and_all_are_reached() -> None:
    memory = Memory(5, seeded(1))
    for number in range(5):
        memory.add(MemoryItem(EPISODE, task=number))
    drawn = [memory.sample(3) for _ in range(50)]
    assert all(len(set(slots)) == 3 for slots in drawn)
    assert {slot for slots in drawn for slot in slots} == set(range(5))
    assert sorted(memory.sample(99)) == list(range(5))
    assert set(memory.sample(9, among=[1, 3])) == {1, 3}


def test_rewriting_changes_one_slot() -> None:
    memory = Memory(2, seeded(0))
    old = {"action": torch.zeros(2, 13), "class": torch.zeros(0, 119)}
    for _ in range(2):
        memory.add(MemoryItem(EPISODE, old))
    memory.rewrite(1, {"action": torch.ones(2, 13), "class": torch.zeros(0, 119)})
    assert memory[0].logits is old
    assert memory[1].logits["action"].eq(1).all()


def test_saved_memories_go_on_in_the_same_way() -> None:
    generator = seeded(3)
    memory = Memory(3, generator)
    for number in range(7):
        memory.add(MemoryItem(EPISODE, {"action": torch.rand(2, 13)}, number))
    state, random_state = memory.state_dict(), generator.get_state()
    other_generator = seeded(9)
    other = Memory(1, other_generator)
    other.load_state_dict(state)
    other_generator.set_state(random_state)
    for one in (memory, other):
        for number in range(7, 15):
            one.add(MemoryItem(EPISODE, task=number))
    assert [memory[s].task for s in range(3)] == [other[s].task for s in range(3)]
    assert memory.sample(2) == other.sample(2)
    assert memory.seen == other.seen == 15


@pytest.mark.parametrize(
    ("stream", "expected"), [(21_023, 500), (12_564, 302), (2_100, 50), (700, 32), (10, 32)]
)
def test_the_size_is_the_papers_share_but_at_least_a_batch(stream: int, expected: int) -> None:
    assert memory_size(stream) == expected


def test_negative_capacity_is_refused() -> None:
    with pytest.raises(BadInputError, match="at least 0"):
        Memory(-1, seeded(0))
