from __future__ import annotations

import copy

import torch

from clalfred.agents.episode import Batch
from clalfred.agents.losses import imitation_losses
from clalfred.cl.memory import MemoryItem
from clalfred.cl.mir import MIR
from tests.helpers.learning import demonstrations, learner


def make(**changes: object) -> MIR:
    agent = learner("mir", memory=40, **changes)
    assert isinstance(agent, MIR)
    for episode in demonstrations(9, first_seed=50):
        agent.memory.add(MemoryItem(episode))
    return agent


def test_interference_is_the_growth_of_the_loss_in_a_plain_gradient_step() -> None:
    agent = make()
    stream = tuple(demonstrations(3))
    candidates = demonstrations(5, first_seed=50)

    moved = copy.deepcopy(agent.agent)
    batch = Batch.of(stream)
    imitation_losses(moved(batch)).mean().backward()
    with torch.no_grad():
        for weight in moved.parameters():
            assert weight.grad is not None
            weight -= agent.learning_rate * weight.grad
        by_hand = []
        for candidate in candidates:
            one = Batch.of([candidate])
            after = imitation_losses(moved(one))
            by_hand.append(after - imitation_losses(agent.agent(one)))

    scores = agent.interference(stream, candidates)
    torch.testing.assert_close(scores, torch.cat(by_hand), rtol=1e-3, atol=1e-4)
    assert scores.abs().max() > 1e-3


def test_the_most_interfered_candidates_are_replayed_and_nothing_is_changed() -> None:
    agent = make(batch_size=6, stream_size=3)
    stream = tuple(demonstrations(3))
    before = [weight.detach().clone() for weight in agent.agent.parameters()]
    chosen = agent.select_replay(stream)
    for old, weight in zip(before, agent.agent.parameters()):
        assert torch.equal(old, weight)
        assert weight.grad is None
    everything = agent.interference(stream, [agent.memory[slot].episode for slot in range(9)])
    assert set(chosen) == set(everything.topk(3).indices.tolist())


def test_only_candidates_can_be_chosen() -> None:
    agent = make(batch_size=6, stream_size=3, candidates=4)
    state = agent.generator.get_state()
    candidates = agent.memory.sample(4)
    agent.generator.set_state(state)
    assert set(agent.select_replay(tuple(demonstrations(3)))) <= set(candidates)


def test_the_virtual_step_is_fed_what_updates_are_fed() -> None:
    forced: list[bool] = []
    for preset in ("paper", "released"):
        agent = make(preset=preset)
        agent.agent.register_forward_pre_hook(
            lambda network, arguments: forced.append(arguments[2])
        )
        agent.interference(tuple(demonstrations(3)), demonstrations(5, first_seed=50))
    # Candidates, the stream, candidates again.
    assert forced == [True] * 3 + [False] * 3
