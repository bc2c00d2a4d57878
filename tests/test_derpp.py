from __future__ import annotations

from dataclasses import replace

import torch
from learning import demonstration, learner, stream_for

from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.agents.losses import EpisodeLogits, LossConfig, imitation_losses, logit_distances
from clalfred.agents.two_branch.network import Predictions
from clalfred.agents.training import TrainingConfig
from clalfred.cl.derpp import DERpp
from clalfred.cl.memory import Stored
from gym_clalfred.actions import Action

ACTIONS, CLASSES = 13, 119


def moves(length: int) -> EncodedEpisode:
    """An episode of moves and Stop, without interactions."""
    actions = torch.zeros(length, dtype=torch.long)
    actions[-1] = int(Action.Stop)
    return replace(
        demonstration(0, length=length), actions=actions, classes=torch.zeros_like(actions)
    )


def flat_predictions(steps: int, interactions: int = 0) -> Predictions:
    return Predictions(
        torch.zeros(steps, ACTIONS),
        torch.zeros(interactions, CLASSES),
        torch.zeros(2, steps),
    )


def test_the_imitation_loss_sums_over_the_episode() -> None:
    episode = replace(moves(2), actions=torch.tensor([5, 12]), classes=torch.tensor([54, 0]))
    batch = Batch.of([episode])
    losses = imitation_losses(flat_predictions(2, 1), batch)
    # Uniform guesses: log 13 per step, log 119 per interaction; progress targets 1/2 and 1, twice.
    torch.testing.assert_close(losses.action, torch.tensor([2 * 2.5649493574615367]))
    torch.testing.assert_close(losses.object_class, torch.tensor([4.77912349311153]))
    torch.testing.assert_close(losses.progress, torch.tensor([2 * (0.25 + 1.0)]))
    torch.testing.assert_close(losses.total, losses.action + losses.object_class + losses.progress)


def test_released_weights_divide_by_the_longest_episode() -> None:
    batch = Batch.of([moves(4), moves(2)])
    summed = imitation_losses(flat_predictions(6), batch)
    released = imitation_losses(flat_predictions(6), batch, LossConfig.released(False))
    torch.testing.assert_close(released.action, summed.action / 4)
    torch.testing.assert_close(released.total, (summed.action + 0.2 * summed.progress) / 4)
    assert LossConfig.released(True).progress == 1.0


def test_logit_distance_is_summed_over_steps_and_averaged_over_labels() -> None:
    new = EpisodeLogits(torch.full((2, ACTIONS), 3.0), torch.full((1, CLASSES), 1.0))
    old = EpisodeLogits(torch.ones(2, ACTIONS), torch.zeros(1, CLASSES))
    # Two steps with a squared difference of 4 and one interaction with 1.
    assert logit_distances([new], [old]).tolist() == [9.0]
    assert logit_distances([new], [old], squared_norm=True).tolist() == [
        8.0 * ACTIONS + 1.0 * CLASSES
    ]


def test_the_loss_is_stream_plus_half_replay_plus_half_distance() -> None:
    agent = learner("der++")
    agent.memory.offer(
        Stored(moves(2), EpisodeLogits(torch.full((2, ACTIONS), 2.0), torch.zeros(0, CLASSES)))
    )
    batch = Batch.of([moves(3), moves(2)])
    imitation = imitation_losses(flat_predictions(5), batch).total
    loss = agent._loss(flat_predictions(5), batch, (0,))
    # The stored logits are 2 everywhere, the new ones 0: mean squared difference 4, two steps.
    torch.testing.assert_close(loss, imitation[0] + 0.5 * imitation[1] + 0.5 * 8)


def test_released_preset_splits_the_replayed_half() -> None:
    agent = learner("der++", preset="released")
    for value in (2.0, 7.0):
        logits = EpisodeLogits(torch.full((2, ACTIONS), value), torch.zeros(0, CLASSES))
        agent.memory.offer(Stored(moves(2), logits))
    batch = Batch.of([moves(4), moves(2), moves(2)])
    imitation = imitation_losses(flat_predictions(8), batch, LossConfig.released(True)).total
    loss = agent._loss(flat_predictions(8), batch, (0, 1))
    torch.testing.assert_close(loss, imitation[0] + 0.5 * imitation[2] + 0.5 * 8 / 4)


def test_memory_keeps_the_logits_of_the_last_update() -> None:
    agent = learner("der++", batch_size=4, stream_size=2)
    seen: list[Predictions] = []
    original = agent.forward
    agent.forward = lambda batch: seen.append(original(batch)) or seen[-1]  # type: ignore
    stream = stream_for(agent, 2)
    agent.learn(stream)
    last = seen[-1].action_logits.detach()
    assert len(seen) == 2
    assert torch.equal(agent.stored_logits(0).actions, last[: len(stream[0])])  # type: ignore
    assert torch.equal(agent.stored_logits(1).actions, last[len(stream[0]) :])  # type: ignore


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
    agent.device = torch.device("meta")
    logits = agent.stored_logits(0)
    assert (logits.actions.device.type, logits.classes.device.type) == ("meta", "meta")
