from __future__ import annotations

import pytest
import torch

from clalfred.cl.ewcpp import EWCpp
from gym_clalfred.errors import UsageError
from tests.helpers.learning import demonstrations, learner, stream_for


def make(**changes: object) -> EWCpp:
    agent = learner("ewc++", **changes)
    assert isinstance(agent, EWCpp)
    return agent


def set_gradients(agent: EWCpp, value: float) -> None:
    for weight in agent.agent.parameters():
        weight.grad = torch.full_like(weight, value)


def test_fisher_is_the_running_mean_of_squared_gradients() -> None:
    agent = make()
    for gradient in (2.0, 4.0):
        set_gradients(agent, gradient)
        agent.on_gradients()
    # 0.5 * (0.5 * 0 + 0.5 * 4) + 0.5 * 16.
    for fisher in agent.fisher.values():
        assert fisher.eq(9.0).all()


def test_fisher_is_not_zero_after_real_updates_though_zero_grad_drops_gradients() -> None:
    agent = make(batch_size=4)
    agent.learn(stream_for(agent, 8))
    agent.optimizer.zero_grad()
    assert all(weight.grad is None for weight in agent.agent.parameters())
    moved = sum(bool(fisher.any()) for fisher in agent.fisher.values())
    assert moved == len(agent.fisher)


def test_the_penalty_pulls_back_to_the_anchor_by_twice_lambda_fisher() -> None:
    agent = make(penalty=100.0)
    set_gradients(agent, 1.0)
    agent.on_gradients()
    agent.set_anchor()
    with torch.no_grad():
        for weight in agent.agent.parameters():
            weight += 0.25
    set_gradients(agent, 0.0)
    agent.on_gradients()
    # The anchor's Fisher information is 0.5: 2 * 100 * 0.5 * 0.25.
    for weight in agent.agent.parameters():
        assert weight.grad is not None
        torch.testing.assert_close(weight.grad, torch.full_like(weight, 25.0), rtol=1e-4, atol=0.0)


def test_the_penalty_keeps_important_weights_near_the_anchor() -> None:
    distances = []
    for penalty in (0.0, 100.0):
        agent = make(penalty=penalty, anchor_every=1000, batch_size=4)
        agent.learn(stream_for(agent, 4))
        agent.set_anchor()
        agent.learn(stream_for(agent, 12, first_seed=20))
        distances.append(
            sum(
                (agent.anchor_fisher[name] * (weight - agent.anchor[name]) ** 2).sum().item()
                for name, weight in agent.agent.named_parameters()
            )
        )
    assert distances[1] < 0.9 * distances[0]


def test_released_preset_anchors_at_boundaries_and_replays() -> None:
    agent = make(preset="released")
    assert agent.needs_boundaries
    assert agent.replay_size > 0
    stream = stream_for(agent, 6)
    for episode in stream[:5]:
        agent.observe(episode)
    assert not agent.anchor
    agent.observe(stream[5])
    assert agent.anchor
    with pytest.raises(UsageError, match="needs task boundaries"):
        agent.observe(demonstrations(1)[0])


def test_the_task_free_preset_anchors_every_few_updates() -> None:
    agent = make(preset="task-free", anchor_every=3, batch_size=4)
    assert not agent.needs_boundaries
    agent.learn(stream_for(agent, 6))
    assert agent.anchor
    assert len(agent.memory) > 0


def test_the_preset_without_replay_keeps_no_episodes() -> None:
    agent = make(preset="without-replay", batch_size=3)
    assert agent.needs_boundaries
    agent.learn(stream_for(agent, 6))
    assert len(agent.memory) == 0
