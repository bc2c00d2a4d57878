"""The gradient of one update of every method against that of its paper's loss, written out plainly.

The plain losses know nothing of the methods' code: they follow the formulas step by step and label
by label. What Adam makes of a gradient is tested elsewhere.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from clalfred.agents.agent import Outputs
from clalfred.agents.episode import EncodedEpisode
from clalfred.cl.base import ContinualLearner
from clalfred.cl.memory import MemoryItem
from clalfred.cl.registry import method_names
from tests.helpers.learning import demonstrations, learner, told

K, REPLAYED = 3, 3


def stored(agent: ContinualLearner, episode: EncodedEpisode, seed: int) -> MemoryItem:
    """An episode with invented logits, for methods that keep them."""
    if "distillation_weight" not in vars(agent.method) or agent.averaged is not None:
        return MemoryItem(episode)
    generator = torch.Generator().manual_seed(seed)
    outputs = agent.plain_forward(agent.make_batch([episode], augment=False))
    logits = {
        name: torch.randn(head.logits.shape, generator=generator)
        for name, head in outputs.heads.items()
    }
    return MemoryItem(episode, logits)


def ready(name: str) -> tuple[ContinualLearner, list[EncodedEpisode]]:
    """A learner with a memory of exactly what an update replays, and a group to learn from."""
    agent = learner(name, memory=30, batch_size=K + REPLAYED, stream_size=K)
    episodes = told(agent, demonstrations(K + REPLAYED))
    for seed, episode in enumerate(episodes[K:]):
        agent.memory.add(stored(agent, episode, seed))
    agent.num_forwards = agent.num_backwards = 0
    return agent, episodes


def cross_entropies(outputs: Outputs) -> list[Tensor]:
    """Of each episode: the sum over its steps and heads, and its own auxiliary loss."""
    total = list(outputs.auxiliary)
    for head in outputs.heads.values():
        row = 0
        for episode, count in enumerate(head.counts):
            for _ in range(count):
                scores = head.logits[row]
                total[episode] = (
                    total[episode] + scores.exp().sum().log() - scores[head.targets[row]]
                )
                row += 1
    return total


def mean(values: list[Tensor]) -> Tensor:
    return torch.stack(values).mean()


def er(agent: ContinualLearner, outputs: Outputs) -> Tensor:
    return mean(cross_entropies(outputs))


def streamed(agent: ContinualLearner, outputs: Outputs) -> Tensor:
    return mean(cross_entropies(outputs)[:K])


def rar(agent: ContinualLearner, outputs: Outputs) -> Tensor:
    losses = cross_entropies(outputs)
    return mean(losses[:K]) + mean(losses[K:])


def distances(agent: ContinualLearner, outputs: Outputs) -> list[Tensor]:
    """Of each replayed episode: squared differences, a mean over labels, a sum over steps."""
    found = []
    for place, slot in enumerate(agent.replayed):  # type: ignore[attr-defined]
        total = torch.zeros(())
        for name, head in outputs.heads.items():
            now = head.logits.split(head.counts)[K + place]
            for mine, old in zip(now, agent.before[slot][name]):  # type: ignore[attr-defined]
                total = total + ((mine - old) ** 2).sum() / len(old)
        found.append(total)
    return found


def distilling(weight: float) -> Callable[[ContinualLearner, Outputs], Tensor]:
    def loss(agent: ContinualLearner, outputs: Outputs) -> Tensor:
        losses = cross_entropies(outputs)
        apart = mean(distances(agent, outputs))
        return mean(losses[:K]) + weight * mean(losses[K:]) + 0.5 * apart

    return loss


def er_ace(agent: ContinualLearner, outputs: Outputs) -> Tensor:
    """Streamed steps of the class head know only the labels of the stream's batch."""
    losses = cross_entropies(outputs)
    head = outputs.heads["class"]
    rows = sum(head.counts[:K])
    present = sorted(set(head.targets[:rows].tolist()))
    row = 0
    for episode in range(K):
        for _ in range(head.counts[episode]):
            scores = head.logits[row]
            losses[episode] = losses[episode] - scores.exp().sum().log()
            losses[episode] = losses[episode] + scores[present].exp().sum().log()
            row += 1
    return mean(losses)


#: The first update of each method on a stream of one task; see the methods' own files for the rest.
LOSSES: dict[str, Callable[[ContinualLearner, Outputs], Tensor]] = {
    "finetuning": streamed,
    "er": er,
    "mir": er,  # the memory holds no more than is replayed, so there is no choice
    "ewc++": er,  # without an anchor there is no penalty
    "der++": distilling(0.5),
    "x-der": distilling(0.5),
    "cama": distilling(1.0),
    "cama-without-dc": distilling(1.0),
    "er-ace": er_ace,
    "rar": rar,
    "star": er,
    "mkd": er,  # the teacher is the agent itself, so they agree
    "pantry": er,
}
APART = {"clib", "joint"}  # train in other ways, see below

#: Settings without which the first update is ER's.
PLAIN: dict[str, dict[str, Any]] = {
    "star": {"stability_weight": 0.0},
    "x-der": {"constraint_weight": 0.0},
}


def assert_slope(
    agent: ContinualLearner,
    network: torch.nn.Module,
    stream: tuple[Any, ...],
    slots: tuple[int, ...],
) -> None:
    """Whether an update has the gradients that the plain copy has, before clipping."""
    found: dict[str, Tensor] = {}
    on_gradients = agent.on_gradients

    def noted() -> None:
        on_gradients()
        for name, one in agent.agent.named_parameters():
            found[name] = torch.zeros_like(one) if one.grad is None else one.grad.clone()

    agent.on_gradients = noted  # type: ignore[method-assign]
    agent.update(stream, slots)
    assert any(bool(one.any()) for one in found.values())
    for name, weight in network.named_parameters():
        wanted = torch.zeros_like(weight) if weight.grad is None else weight.grad
        torch.testing.assert_close(found[name], wanted, rtol=1e-3, atol=1e-4)


def test_every_method_has_a_reference() -> None:
    assert {*LOSSES, *APART} == set(method_names())


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_one_update_goes_down_the_papers_loss(name: str) -> None:
    agent, episodes = ready(name)
    if name in PLAIN:
        agent.method = type(agent.method)(**{**vars(agent.method), **PLAIN[name]})
    if name == "x-der":
        agent.on_boundary()
    slots = () if name == "finetuning" else tuple(range(REPLAYED))
    agent.replayed = slots  # type: ignore[attr-defined]
    agent.before = {  # type: ignore[attr-defined]
        slot: {key: one.clone() for key, one in agent.memory[slot].logits.items()} for slot in slots
    }
    network = copy.deepcopy(agent.agent)
    used = [*episodes[:K], *(agent.memory[slot].episode for slot in slots)]
    outputs = network(agent.make_batch(used, augment=False))
    LOSSES[name](agent, outputs).backward()
    assert_slope(agent, network, tuple(episodes[:K]), slots)


def test_clib_goes_down_the_loss_of_its_memory_alone() -> None:
    agent, episodes = ready("clib")
    network = copy.deepcopy(agent.agent)
    outputs = network(agent.make_batch(episodes[K:], augment=False))
    mean(cross_entropies(outputs)).backward()
    assert_slope(agent, network, (), tuple(range(REPLAYED)))


def test_joint_goes_down_the_loss_of_a_batch_of_all() -> None:
    agent = learner("joint", batch_size=4)
    episodes = demonstrations(4)
    network = copy.deepcopy(agent.agent)
    outputs = network(agent.make_batch(episodes, augment=False))
    mean(cross_entropies(outputs)).backward()
    for episode in episodes:
        agent.observe(episode)
    assert_slope(agent, network, agent._next_batch(), ())  # type: ignore[attr-defined]


def test_ewcs_second_step_is_down_the_loss_and_the_penalty() -> None:
    agent, episodes = ready("ewc++")
    agent.update(tuple(episodes[:K]), (0, 1, 2))
    agent.set_anchor()  # type: ignore[attr-defined]
    with torch.no_grad():
        for weight in agent.agent.parameters():
            weight.add_(0.01)
    fisher, anchor = agent.anchor_fisher, agent.anchor  # type: ignore[attr-defined]
    network = copy.deepcopy(agent.agent)
    outputs = network(agent.make_batch(episodes, augment=False))
    loss = mean(cross_entropies(outputs))
    for name, weight in network.named_parameters():
        loss = loss + 100.0 * (fisher[name] * (weight - anchor[name]) ** 2).sum()
    loss.backward()
    assert_slope(agent, network, tuple(episodes[:K]), (0, 1, 2))


def test_stars_term_is_the_divergence_at_the_worst_small_step() -> None:
    """By hand: a random step of the radius, up its gradient to the radius, the gradient there."""
    agent, episodes = ready("star")
    replayed = episodes[K:]
    batch = agent.make_batch(replayed, augment=False)
    radius, share = 0.05, 0.1
    state = agent.generator.get_state()
    noise = [torch.randn(one.shape, generator=agent.generator) for one in agent.agent.parameters()]
    agent.generator.set_state(state)

    def divergence(moved: torch.nn.Module) -> Tensor:
        here, there = agent.agent(batch), moved(batch)
        total = torch.zeros(())
        for name, head in here.heads.items():
            for sure, other, truth in zip(head.logits, there.heads[name].logits, head.targets):
                if sure.argmax() == truth:
                    p, q = sure.detach().softmax(0), other.softmax(0)
                    total = total + (p * (p / q).log()).sum()
        return total / len(replayed)

    def shifted(ways: list[Tensor]) -> torch.nn.Module:
        moved = copy.deepcopy(agent.agent)
        with torch.no_grad():
            for weight, way in zip(moved.parameters(), ways):
                length = way.norm().clamp_min(1e-12)
                weight.add_(radius * weight.norm() * way / length)
        return moved

    def gradients(moved: torch.nn.Module) -> list[Tensor]:
        value, weights = divergence(moved), list(moved.parameters())
        found = torch.autograd.grad(value, weights, allow_unused=True)
        return [torch.zeros_like(w) if g is None else g for g, w in zip(found, weights)]

    expected = gradients(shifted(gradients(shifted(noise))))
    for weight in agent.agent.parameters():
        weight.grad = torch.zeros_like(weight)
    agent._replayed = replayed  # type: ignore[attr-defined]
    agent.on_gradients()
    assert any(bool(one.any()) for one in expected)
    for weight, one in zip(agent.agent.parameters(), expected):
        assert weight.grad is not None
        torch.testing.assert_close(weight.grad, share * one, rtol=2e-2, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "forwards", "backwards"),
    [
        ("er", K + REPLAYED, K + REPLAYED),
        ("mkd", 2 * (K + REPLAYED), K + REPLAYED),  # the teacher only looks
        ("star", K + 4 * REPLAYED, K + 3 * REPLAYED),  # a plain look, and two steps that climb
    ],
)
def test_passes_are_counted(name: str, forwards: int, backwards: int) -> None:
    agent, episodes = ready(name)
    agent.update(tuple(episodes[:K]), tuple(range(REPLAYED)))
    assert (agent.num_forwards, agent.num_backwards) == (forwards, backwards)
