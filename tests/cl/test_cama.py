"""CAMA against values computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from clalfred.agents.agent import LABELS, Head, Outputs
from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.agents.losses import EpisodeLogits
from clalfred.cl.base import Update
from clalfred.cl.cama import CAMA
from clalfred.cl.confidence import ConfidenceQueues
from clalfred.cl.memory import MemoryItem
from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass
from tests.helpers.learning import demonstration, learner, stream_for

ACTIONS, CLASSES = len(Action), len(ObjectClass)


def logits_with(probability: float, label: int, labels: int) -> Tensor:
    """Logits whose softmax gives a label the probability and all others the same rest."""
    rest = (1 - probability) / (labels - 1)
    logits = torch.full((labels,), math.log(rest))
    logits[label] = math.log(probability)
    return logits


def test_a_queue_holds_the_n_most_recent_confidences() -> None:
    queues = ConfidenceQueues(labels=3, length=2)
    rows = torch.stack([logits_with(p, 1, 3) for p in (0.9, 0.5, 0.7)])
    queues.add(rows, torch.tensor([1, 1, 1]))
    # alpha = 1, no chance level: the mean of 0.5 and 0.7.
    torch.testing.assert_close(queues.coefficients(1.0, 0.0), torch.tensor([0.0, 0.6, 0.0]))


def test_gamma_is_alpha_times_the_clipped_excess_over_chance() -> None:
    queues = ConfidenceQueues(labels=4, length=5)
    for label, probabilities in {0: (0.9, 0.7), 1: (0.3,), 2: (0.5,)}.items():
        rows = torch.stack([logits_with(p, label, 4) for p in probabilities])
        queues.add(rows, torch.full((len(probabilities),), label))
    assert queues.appeared == 3
    gamma = queues.coefficients(alpha=0.99, chance=1 / queues.appeared)
    # 0.8 - 1/3, 0.3 - 1/3 < 0, 0.5 - 1/3; the fourth label was never seen.
    expected = [0.99 * (0.8 - 1 / 3), 0.0, 0.99 * (0.5 - 1 / 3), 0.0]
    torch.testing.assert_close(gamma, torch.tensor(expected))


def filled(agent: CAMA, count: int = 3) -> None:
    """Puts episodes of two steps, a pickup and Stop, with zero logits into memory."""
    for seed in range(count):
        agent.memory.add(MemoryItem(two_steps(seed), zero_logits()))


def two_steps(seed: int = 0) -> EncodedEpisode:
    return replace(
        demonstration(seed, length=2),
        actions=torch.tensor([int(Action.PickupObject), int(Action.Stop)]),
        classes=torch.tensor([int(ObjectClass.Mug), 0]),
    )


def zero_logits() -> EpisodeLogits:
    return {"action": torch.zeros(2, ACTIONS), "class": torch.zeros(1, CLASSES)}


def update_with(agent: CAMA, slots: tuple[int, ...], action_logits: Tensor) -> Update:
    """An update on one streamed episode and the given slots; every step says ``action_logits``."""
    stream = (two_steps(99),)
    episodes = [*stream, *(agent.memory[slot].episode for slot in slots)]
    batch = Batch.of(episodes)
    classes = logits_with(0.5, int(ObjectClass.Mug), CLASSES).expand(len(episodes), -1)
    said = action_logits.expand(2 * len(episodes), -1)
    targets = batch.classes[batch.interactions]
    heads = {
        "action": Head(said, batch.actions, batch.lengths),
        "class": Head(classes, targets, batch.interaction_counts),
    }
    return Update(stream, slots, Outputs(heads, torch.zeros(len(episodes))))


def cama(**changes: object) -> CAMA:
    agent = learner("cama", memory=40, **changes)
    assert isinstance(agent, CAMA)
    return agent


def test_vector_form_moves_each_logit_by_its_own_labels_gamma() -> None:
    agent = cama()
    filled(agent)
    said = logits_with(0.8, int(Action.PickupObject), ACTIONS)
    agent.after_update(update_with(agent, (1,), said))
    stop = said[int(Action.Stop)].exp().item()
    # Two actions appeared (pickup and Stop, in the stream), so chance is 1/2; Stop's confidence
    # 0.2 / 12 is below it. One class appeared, so chance is 1 and no class moves.
    gamma = torch.zeros(ACTIONS)
    gamma[int(Action.PickupObject)] = 0.99 * (0.8 - 0.5)
    assert stop < 0.5
    torch.testing.assert_close(agent.stored_logits(1)["action"], (gamma * said).expand(2, -1))
    assert not agent.stored_logits(1)["class"].any()


def test_class_logits_follow_as_actions_do() -> None:
    agent = cama()
    filled(agent)
    mug, pan = int(ObjectClass.Mug), int(ObjectClass.Pan)
    agent.confidence["class"].add(logits_with(0.9, pan, CLASSES).unsqueeze(0), torch.tensor([pan]))
    agent.after_update(update_with(agent, (1,), logits_with(0.8, 5, ACTIONS)))
    # Two classes appeared. The mug's confidence, 0.5, is chance; the pan's exceeds it by 0.4.
    said = logits_with(0.5, mug, CLASSES)
    expected = torch.zeros(1, CLASSES)
    expected[0, pan] = 0.99 * 0.4 * said[pan]
    torch.testing.assert_close(agent.stored_logits(1)["class"], expected)


def test_only_the_sampled_episodes_logits_change() -> None:
    agent = cama()
    filled(agent)
    before = [agent.memory[slot].logits for slot in range(3)]
    agent.after_update(update_with(agent, (1,), logits_with(0.9, 5, ACTIONS)))
    assert agent.memory[0].logits is before[0]
    assert agent.memory[2].logits is before[2]
    assert agent.stored_logits(1)["action"].any()


def test_a_label_that_never_appeared_has_gamma_0() -> None:
    agent = cama()
    filled(agent)
    agent.after_update(update_with(agent, (0,), logits_with(0.9, 5, ACTIONS)))
    actions, classes = agent.coefficients("action"), agent.coefficients("class")
    assert actions.nonzero().flatten().tolist() == [int(Action.PickupObject)]
    assert not classes.any()


def test_released_form_moves_all_logits_of_a_step_by_its_true_labels_gamma() -> None:
    agent = cama(preset="released")
    filled(agent)
    said = logits_with(0.8, int(Action.PickupObject), ACTIONS)
    agent.after_group(update_with(agent, (1,), said))
    # No alpha, chance 1/13 and 1/119; Stop's confidence 0.2 / 12 = 0.0167 is below chance.
    pickup, mug = 0.8 - 1 / 13, 0.5 - 1 / 119
    stored = agent.stored_logits(1)
    torch.testing.assert_close(stored["action"][0], pickup * said)
    assert not stored["action"][1].any()
    torch.testing.assert_close(
        stored["class"][0], mug * logits_with(0.5, int(ObjectClass.Mug), CLASSES)
    )


def test_released_confidences_come_from_stream_then_memory_and_paper_only_from_stream() -> None:
    counts = {}
    for preset in ("paper", "released"):
        agent = cama(preset=preset)
        filled(agent)
        agent._note_confidence(update_with(agent, (0, 1, 2), logits_with(0.8, 5, ACTIONS)))
        counts[preset] = len(agent.confidence["action"].state_dict()["queues"][5])
    assert counts == {"paper": 1, "released": 4}


def test_released_preset_refreshes_once_per_group() -> None:
    agent = cama(preset="released")
    filled(agent)
    agent.after_update(update_with(agent, (1,), logits_with(0.9, 5, ACTIONS)))
    assert not agent.stored_logits(1)["action"].any()


def test_an_episode_that_took_a_slot_keeps_its_own_logits() -> None:
    agent = cama(preset="released")
    agent.memory.capacity = 1
    filled(agent, 1)
    said = logits_with(0.8, 5, ACTIONS)
    for _ in range(50):
        old = agent.memory[0]
        agent.after_group(update_with(agent, (0,), said))
        if agent.memory[0].episode is not old.episode:
            torch.testing.assert_close(agent.stored_logits(0)["action"], said.expand(2, -1))
            return
    pytest.fail("the reservoir never replaced its only episode")


def test_episodes_that_moved_in_a_memory_of_bytes_are_refreshed() -> None:
    agent = cama(preset="released", memory_bytes=10**6)
    filled(agent, 3)
    each = sum(agent.memory[0].bytes().values())
    agent.memory.capacity = 3 * each + each // 2
    moved = False
    for turn in range(30):
        replayed, said = agent.memory[2], logits_with(0.5 + turn / 100, 5, ACTIONS)
        agent.after_group(update_with(agent, (2,), said))
        now = [id(agent.memory[slot].episode) for slot in range(len(agent.memory))]
        if id(replayed.episode) in now and now.index(id(replayed.episode)) != 2:
            refreshed = agent.memory[now.index(id(replayed.episode))].logits
            assert not torch.equal(refreshed["action"], replayed.logits["action"])
            moved = True
    assert moved


def stored_values(agent: CAMA) -> list[Tensor]:
    logits = [agent.memory[slot].logits for slot in range(len(agent.memory))]
    return [part for one in logits for part in one.values()]


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_with_alpha_0_stored_logits_stay_as_der_plus_plus_stored_them(preset: str) -> None:
    agent = cama(preset=preset, alpha=0.0)
    settings = {
        name: getattr(agent.method, name)
        for name in ("replay_weight", "distillation_weight", "split_replay", "squared_norm")
    }
    plain = learner("der++", memory=40, preset=preset, **settings)
    for one in (agent, plain):
        one.learn(stream_for(one, 25))
    assert len(stored_values(agent)) == len(stored_values(plain)) > 20
    for a, b in zip(stored_values(agent), stored_values(plain)):
        assert torch.equal(a, b)
    for a, b in zip(agent.agent.parameters(), plain.agent.parameters()):
        assert torch.equal(a, b)


@pytest.mark.parametrize("preset", ["paper", "released"])
def test_with_gamma_fixed_it_is_cama_without_dynamic_coefficients(
    preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = cama(preset=preset, alpha=0.7)
    monkeypatch.setattr(
        fixed,
        "coefficients",
        lambda head: torch.full((LABELS[head],), 0.7),
    )
    without = learner("cama-without-dc", memory=40, preset=preset, alpha=0.7)
    moving = cama(preset=preset, alpha=0.7)
    for one in (fixed, without, moving):
        one.learn(stream_for(one, 25))
    values = [
        torch.cat([part.flatten() for part in stored_values(one)])
        for one in (fixed, without, moving)
    ]
    assert torch.equal(values[0], values[1])
    assert not torch.equal(values[0], values[2])
