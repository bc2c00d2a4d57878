from __future__ import annotations

import torch
from learning import demonstrations, tiny_config
from torch import Tensor

from clalfred.agents.episode import Batch
from clalfred.agents.losses import imitation_losses
from clalfred.agents.plain import PlainNetwork
from clalfred.agents.two_branch.network import TwoBranchNetwork


def networks(dropout: float = 0.0) -> tuple[TwoBranchNetwork, PlainNetwork]:
    torch.manual_seed(0)
    ours = TwoBranchNetwork(tiny_config(dropout=dropout)).double()
    return ours, PlainNetwork(ours)


def test_the_plain_network_predicts_what_the_fast_one_does() -> None:
    ours, plain = networks()
    batch = Batch.of(demonstrations(5))
    expected, found = ours(batch), plain(batch)
    torch.testing.assert_close(found.action_logits, expected.action_logits)
    torch.testing.assert_close(found.class_logits, expected.class_logits)
    torch.testing.assert_close(found.progress, expected.progress)


def test_the_plain_network_has_the_gradients_of_the_fast_one() -> None:
    ours, plain = networks()
    batch = Batch.of(demonstrations(5))
    for network in (ours, plain):
        imitation_losses(network(batch), batch).total.sum().backward()
    pairs = [
        (ours.reader.words.weight.grad, plain.words.weight.grad),
        (ours.action_embedding.weight.grad, plain.action_embedding.weight.grad),
    ]
    for number, branch in enumerate(plain.branches):
        cell = torch.cat([branch.cell.weight_ih.grad, branch.cell.weight_hh.grad], 1)
        pairs.append((gradient(ours.decoder.gates)[number], cell.t()))
        filters = torch.cat([make.weight.grad for make in branch.filters])
        pairs.append((gradient(ours.decoder.filters)[number], filters.t()))
    for expected, found in pairs:
        torch.testing.assert_close(found, expected)


def test_the_plain_network_drops_only_in_training() -> None:
    _, plain = networks(dropout=0.3)
    batch = Batch.of(demonstrations(2))
    first, second = (plain(batch).action_logits for _ in range(2))
    assert not torch.equal(first, second)
    first, second = (plain.eval()(batch).action_logits for _ in range(2))
    assert torch.equal(first, second)


def gradient(weight: Tensor) -> Tensor:
    assert weight.grad is not None
    return weight.grad
