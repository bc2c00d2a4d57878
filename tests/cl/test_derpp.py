from __future__ import annotations

from dataclasses import replace

import torch

from clalfred.agents.agent import Head, Outputs
from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.agents.losses import LossConfig, cross_entropy, imitation_losses, logit_distances
from clalfred.agents.training import TrainingConfig
from clalfred.cl.derpp import DERpp
from clalfred.cl.memory import MemoryItem
from gym_clalfred.actions import Action
from tests.helpers.learning import demonstration, learner, stream_for, tiny_agent

ACTIONS, CLASSES = 13, 119


def moves(length: int) -> EncodedEpisode:
    """An episode of moves and Stop, without interactions."""
    actions = torch.zeros(length, dtype=torch.long)
    actions[-1] = int(Action.Stop)
    return replace(
        demonstration(0, length=length), actions=actions, classes=torch.zeros_like(actions)
    )


def flat_outputs(*episodes: EncodedEpisode, auxiliary: float = 0.0) -> Outputs:
    """Logits of 0 everywhere; every episode has the same auxiliary loss."""
    batch = Batch.of(episodes)
    classes = batch.classes[batch.interactions]
    return Outputs(
        {
            "action": Head(torch.zeros(len(batch.actions), ACTIONS), batch.actions, batch.lengths),
            "class": Head(torch.zeros(len(classes), CLASSES), classes, batch.interaction_counts),
        },
        torch.full((len(batch),), auxiliary),
    )


def logits_of(value: float) -> dict[str, torch.Tensor]:
    """The same logit at both steps of an episode without interactions."""
    return {"action": torch.full((2, ACTIONS), value), "class": torch.zeros(0, CLASSES)}


def test_the_imitation_loss_sums_over_the_episode() -> None:
    episode = replace(moves(2), actions=torch.tensor([5, 12]), classes=torch.tensor([54, 0]))
    outputs = flat_outputs(episode, auxiliary=2.5)
    # Uniform guesses: log 13 per step, log 119 per interaction.
    action, object_class = 2 * 2.5649493574615367, 4.77912349311153
    torch.testing.assert_close(cross_entropy(outputs.heads["action"]), torch.tensor([action]))
    torch.testing.assert_close(cross_entropy(outputs.heads["class"]), torch.tensor([object_class]))
    expected = torch.tensor([action + object_class + 2.5])
    torch.testing.assert_close(imitation_losses(outputs), expected)
    weighted = imitation_losses(outputs, LossConfig({"class": 0.5}, auxiliary=2.0))
    torch.testing.assert_close(weighted, torch.tensor([action + 0.5 * object_class + 5.0]))


def test_the_progress_monitors_error_is_averaged_over_steps() -> None:
    agent, episode = tiny_agent(), moves(2)
    for head in agent.network.progress_heads:
        torch.nn.init.zeros_(head.weight)
        torch.nn.init.zeros_(head.bias)
    # Both branches say 1/2; the targets are 1/2 and 1.
    auxiliary = agent(agent.collate([episode])).auxiliary
    torch.testing.assert_close(auxiliary, torch.tensor([2 * 0.25 / 2]))


def test_a_heads_rows_can_be_weighted() -> None:
    head = Head(torch.zeros(3, 4), torch.tensor([0, 1, 2]), (2, 1), torch.tensor([1.0, 0.5, 0.0]))
    chance = 1.3862943611198906
    torch.testing.assert_close(cross_entropy(head), torch.tensor([1.5 * chance, 0.0]))
    assert torch.equal(cross_entropy(head.first(1)), cross_entropy(head)[:1])


def test_released_losses_are_means() -> None:
    first = replace(moves(4), actions=torch.tensor([5, 5, 0, 12]))
    first = replace(first, classes=torch.tensor([54, 20, 0, 0]))
    second = replace(moves(2), actions=torch.tensor([5, 12]), classes=torch.tensor([3, 0]))
    outputs = flat_outputs(first, second, auxiliary=3.0)
    released = imitation_losses(outputs, LossConfig.released(False))
    action = cross_entropy(outputs.heads["action"]) / 4
    # Over episodes, the mean is that over all three interactions.
    chance = 4.77912349311153
    object_class = torch.tensor([2 * chance, chance]) * 2 / 3
    torch.testing.assert_close(released, action + object_class + 0.2 * 3.0)
    torch.testing.assert_close(object_class.mean(), torch.tensor(chance))
    assert LossConfig.released(True).auxiliary == 1.0


def test_logit_distance_is_summed_over_steps_and_averaged_over_labels() -> None:
    new = {"action": torch.full((2, ACTIONS), 3.0), "class": torch.full((1, CLASSES), 1.0)}
    old = {"action": torch.ones(2, ACTIONS), "class": torch.zeros(1, CLASSES)}
    # Two steps with a squared difference of 4 and one interaction with 1.
    heads = {
        name: Head(one, torch.zeros(len(one), dtype=torch.long), (len(one),))
        for name, one in new.items()
    }
    outputs = Outputs(heads, torch.zeros(1))
    assert logit_distances(outputs, [old], LossConfig(), False).tolist() == [9.0]
    summed = logit_distances(outputs, [old], LossConfig(), True)
    assert summed.tolist() == [8.0 * ACTIONS + 1.0 * CLASSES]
    released = logit_distances(outputs, [old], LossConfig.released(True), False)
    assert released.tolist() == [8.0 / 2 + 1.0]


def test_the_loss_is_stream_plus_half_replay_plus_half_distance() -> None:
    agent = learner("der++")
    agent.memory.add(MemoryItem(moves(2), logits_of(2.0)))
    outputs = flat_outputs(moves(3), moves(2))
    imitation = imitation_losses(outputs)
    loss = agent.loss(outputs, (0,))
    # The stored logits are 2 everywhere, the new ones 0: mean squared difference 4, two steps.
    torch.testing.assert_close(loss, imitation[0] + 0.5 * imitation[1] + 0.5 * 8)


def test_released_preset_splits_the_replayed_half() -> None:
    agent = learner("der++", preset="released")
    for value in (2.0, 7.0):
        agent.memory.add(MemoryItem(moves(2), logits_of(value)))
    outputs = flat_outputs(moves(4), moves(2), moves(2))
    imitation = imitation_losses(outputs, LossConfig.released(True))
    loss = agent.loss(outputs, (0, 1))
    torch.testing.assert_close(loss, imitation[0] + 0.5 * imitation[2] + 0.5 * 8 / 2)


def test_memory_keeps_the_logits_of_the_last_update() -> None:
    agent = learner("der++", batch_size=4, stream_size=2)
    seen: list[Outputs] = []
    original = agent.forward
    agent.forward = lambda batch: seen.append(original(batch)) or seen[-1]  # type: ignore
    stream = stream_for(agent, 2)
    agent.learn(stream)
    last = seen[-1].heads["action"].logits.detach()
    assert len(seen) == 2
    assert torch.equal(agent.stored_logits(0)["action"], last[: len(stream[0])])  # type: ignore
    assert torch.equal(agent.stored_logits(1)["action"], last[len(stream[0]) :])  # type: ignore


def test_the_rate_decays_and_resets() -> None:
    training = TrainingConfig()
    assert training.rate(0) == training.rate(10) == 1e-3
    assert training.rate(3) == 1e-3 * 0.95**3
    assert training.rate(9) == training.rate(19) == 1e-3 * 0.95**9
    assert TrainingConfig.released(False).rate(7) == 1e-3


def test_stored_logits_come_on_the_agents_device() -> None:
    agent = learner("der++")
    assert isinstance(agent, DERpp)
    agent.learn(stream_for(agent, 6))
    # As on a GPU after a resume: a checkpoint's logits are on the CPU.
    agent.agent.to("meta")
    assert {one.device.type for one in agent.stored_logits(0).values()} == {"meta"}
