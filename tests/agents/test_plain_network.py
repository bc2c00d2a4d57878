"""The plain agent against the fast one: same weights, same numbers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from clalfred.agents.losses import imitation_losses
from clalfred.agents.plain import PlainTwoBranch, copy_weights
from clalfred.agents.two_branch.agent import TwoBranch
from gym_clalfred.errors import BadInputError
from tests.helpers.learning import (
    CELLS,
    CHANNELS,
    TinyEncoder,
    demonstrations,
    tiny_agent,
    tiny_config,
)


def agents(dropout: float = 0.0) -> tuple[TwoBranch, PlainTwoBranch]:
    ours = tiny_agent(tiny_config(dropout=dropout)).double()
    plain = PlainTwoBranch(ours.config, TinyEncoder()).double()
    copy_weights(plain, ours)
    return ours, plain


def test_the_plain_agent_predicts_what_the_fast_one_does() -> None:
    ours, plain = agents()
    batch = ours.collate(demonstrations(5))
    expected, found = ours(batch), plain(batch)
    for name, head in expected.heads.items():
        torch.testing.assert_close(found.heads[name].logits, head.logits)
        assert torch.equal(found.heads[name].targets, head.targets)
        assert found.heads[name].counts == head.counts
    torch.testing.assert_close(found.auxiliary, expected.auxiliary)


def test_the_plain_agent_has_the_gradients_of_the_fast_one() -> None:
    ours, plain = agents()
    batch = ours.collate(demonstrations(5))
    for agent in (ours, plain):
        imitation_losses(agent(batch)).sum().backward()
    network = ours.network
    pairs = [
        (network.reader.words.weight.grad, plain.words.weight.grad),
        (network.action_embedding.weight.grad, plain.action_embedding.weight.grad),
    ]
    for number, branch in enumerate(plain.branches):
        cell = torch.cat([branch.cell.weight_ih.grad, branch.cell.weight_hh.grad], 1)
        pairs.append((gradient(network.decoder.gates)[number], cell.t()))
        filters = torch.cat([make.weight.grad for make in branch.filters])
        pairs.append((gradient(network.decoder.filters)[number], filters.t()))
    for expected, found in pairs:
        torch.testing.assert_close(found, expected)


def test_the_plain_agent_drops_only_with_a_generator_and_draws_from_it_alone() -> None:
    _, plain = agents(dropout=0.3)
    batch = plain.collate(demonstrations(2))

    def logits(seed: int | None) -> Tensor:
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        found: Tensor = plain(batch, generator).heads["action"].logits
        return found

    before = torch.get_rng_state()
    assert torch.equal(logits(None), logits(None))
    assert torch.equal(logits(1), logits(1))
    assert not torch.equal(logits(1), logits(2))
    assert not torch.equal(logits(1), logits(None))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    "change", [{"steps": 3}, {"previous_class_dim": 4}, {"visual_bottleneck_dim": 4},
               {"class_reads_input": True}, {"filter_gain": 4.0}],
)  # fmt: skip
def test_settings_of_the_small_agent_alone_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(BadInputError, match=f"plain.*{next(iter(change))}"):
        PlainTwoBranch(tiny_config(**change), TinyEncoder())


def test_sizes_that_the_encoder_decides_are_its_own() -> None:
    plain = PlainTwoBranch(tiny_config(channels=0, cells=0), TinyEncoder())
    assert (plain.sizes.channels, plain.sizes.cells) == (CHANNELS, CELLS)


def gradient(weight: Tensor) -> Tensor:
    assert weight.grad is not None
    return weight.grad
