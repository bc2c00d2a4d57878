from __future__ import annotations

import pytest
import torch

from clalfred.cl.adaptive_rate import AdaptiveRate, _critical_value, exceeds
from clalfred.cl.clib import CLIB, ImportanceMemory
from clalfred.cl.memory import MemoryItem
from gym_clalfred.errors import BadInputError
from tests.helpers.learning import demonstration, learner, stream_for


def make(**changes: object) -> CLIB:
    agent = learner("clib", **changes)
    assert isinstance(agent, CLIB)
    return agent


def filled(labels: str, importance: list[float]) -> ImportanceMemory:
    memory = ImportanceMemory(len(labels), torch.Generator().manual_seed(0))
    for seed, label in enumerate(labels):
        memory.add(MemoryItem(demonstration(seed, length=2, label=label)))
    memory.importance = list(importance)
    return memory


def test_the_least_important_episode_of_the_most_frequent_label_makes_room() -> None:
    memory = filled("abba" + "a", [0.5, 0.0, 0.1, 0.2, 0.3])
    slot = memory.add(MemoryItem(demonstration(9, length=2, label="c")))
    # Label a is the most frequent; slot 1 of label b is less important but safe.
    assert slot == 3
    assert memory[3].episode.label == "c"
    assert memory.importance[3] == pytest.approx((0.5 + 0.0 + 0.1 + 0.2 + 0.3) / 5)


def test_the_arriving_episode_counts_for_its_label() -> None:
    memory = filled("aabb", [0.4, 0.3, 0.2, 0.1])
    assert memory.add(MemoryItem(demonstration(9, length=2, label="b"))) == 3


def test_importance_is_the_running_mean_of_how_much_others_losses_fall() -> None:
    agent = make()
    agent.memory.importance = [1.0, 2.0, 3.0]
    agent._credit([0, 2], fall=0.5)
    assert agent.memory.importance == pytest.approx([0.95, 2.0, 2.75])


def test_all_training_is_from_memory() -> None:
    agent = make(memory=30, batch_size=4)
    used: list[tuple[int, int]] = []
    original = agent.update
    agent.update = lambda stream, slots: (  # type: ignore[method-assign]
        used.append((len(stream), len(slots))) or original(stream, slots)
    )
    agent.learn(stream_for(agent, 6))
    assert used == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 4), (0, 4)]


def test_a_memory_in_bytes_is_refused() -> None:
    with pytest.raises(BadInputError, match="CLIB counts episodes"):
        learner("clib", memory_bytes=9_000)


def test_two_rates_take_turns_and_the_better_one_wins() -> None:
    smaller_wins, larger_wins = AdaptiveRate(0.5, 3), AdaptiveRate(0.5, 3)
    assert smaller_wins.factor == 1.0
    for _ in range(3):
        for fall in (0.1, 0.3):
            smaller_wins.note(fall)
            larger_wins.note(-fall)
    assert smaller_wins.factor == 0.5
    assert larger_wins.factor == 1.0  # it cannot grow beyond the scheduled rate
    smaller_wins.note(0.0)
    assert smaller_wins.factor == 0.25


def test_rates_that_do_as_well_stay() -> None:
    rate = AdaptiveRate(0.5, 3)
    for fall in (0.1, 0.2, 0.3, 0.1, 0.2, 0.3):
        rate.note(fall)
    assert rate.factor == 1.0


@pytest.mark.parametrize(
    ("freedom", "table"), [(5, 2.015), (10, 1.812), (18, 1.734), (30, 1.697), (120, 1.658)]
)
def test_critical_values_agree_with_the_table_of_students_t(freedom: int, table: float) -> None:
    assert _critical_value(freedom) == pytest.approx(table, abs=2e-3)


def test_the_t_test_asks_for_a_clear_difference() -> None:
    assert exceeds([3.0, 3.1, 2.9, 3.0], [1.0, 1.2, 0.8, 1.0])
    assert not exceeds([1.0, 3.0, 2.0, 2.5], [1.0, 2.9, 2.2, 2.0])
    assert exceeds([1.0, 1.0], [0.0, 0.0])
    assert not exceeds([0.0, 0.0], [0.0, 0.0])


def test_a_memory_of_one_batch_is_trained_on_by_half_and_probed_by_half() -> None:
    agent = make(memory=6, batch_size=6)
    used: list[int] = []
    original = agent.update
    agent.update = lambda stream, slots: (  # type: ignore[method-assign]
        used.append(len(slots)) or original(stream, slots)
    )
    agent.learn(stream_for(agent, 12))
    assert used[-1] == 2
    assert len(agent.memory) == 5
    assert any(agent.memory.importance)


def test_probes_are_fed_what_updates_are_fed() -> None:
    forced: list[bool] = []
    for preset in ("paper", "released"):
        agent = make(preset=preset, memory=30, batch_size=2)
        agent.learn(stream_for(agent, 4))
        agent.agent.register_forward_pre_hook(
            lambda network, arguments: forced.append(arguments[2])
        )
        agent._probe([0, 1])
    assert forced == [True, False]


def test_the_trained_are_credited_with_the_fall_of_others_and_the_rate_takes_its_turn() -> None:
    agent = make(memory=40, batch_size=3, probes=30)
    for seed in range(9):
        agent.memory.add(MemoryItem(demonstration(seed, label="a")))
    probed: list[set[int]] = []
    trained: list[set[int]] = []
    losses = iter([torch.tensor([5.0, 5.0]), torch.tensor([4.0, 2.0])])
    update = agent.update
    agent._probe = lambda slots: (  # type: ignore[method-assign]
        probed.append(set(slots)) or next(losses)
    )
    agent.update = lambda stream, slots: (  # type: ignore[method-assign]
        trained.append(set(slots)) or update(stream, slots)
    )
    agent.train_on((demonstration(9, label="a"),))
    assert probed == [set(range(10)) - trained[0]] * 2
    # The loss of the others fell by 1 and by 3.
    credited = [agent.memory.importance[slot] for slot in sorted(trained[0])]
    assert credited == pytest.approx([0.1 * 2.0] * 3)
    assert agent.learning_rate == pytest.approx(agent.training.rate(1) * 0.95)
