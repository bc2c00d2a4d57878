"""The plain agent against the fast one: same weights, same numbers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from clalfred.agents.losses import imitation_losses
from clalfred.agents.plain import PlainBranch, PlainTwoBranch
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


@torch.no_grad()
def copy_weights(plain: PlainTwoBranch, agent: TwoBranch) -> None:
    """Gives the plain agent the weights of a ``TwoBranch`` of the same sizes."""
    network = agent.network
    for name in ("action_embedding", "action_head", "class_head", "progress_heads"):
        getattr(plain, name).load_state_dict(getattr(network, name).state_dict())
    plain.words.load_state_dict(network.reader.words.state_dict())
    for number, branch in enumerate(plain._branches()):
        _copy_branch(branch, agent, number)


def _copy_branch(plain: PlainBranch, agent: TwoBranch, branch: int) -> None:
    reader, decoder, c = agent.network.reader, agent.network.decoder, plain.config
    for direction, suffix in enumerate(("", "_reverse")):
        place = branch, direction
        getattr(plain.reader, f"weight_ih_l0{suffix}").copy_(reader.from_words[place].t())
        getattr(plain.reader, f"weight_hh_l0{suffix}").copy_(reader.from_state[place].t())
        getattr(plain.reader, f"bias_ih_l0{suffix}").copy_(reader.bias[place][0])
        getattr(plain.reader, f"bias_hh_l0{suffix}").zero_()
    plain.summary.weight.copy_(reader.summary[branch, 0].t())
    plain.key.weight.copy_(reader.key[branch, 0].t())
    plain.key.bias.copy_(reader.key_bias[branch, 0, 0])
    plain.query.weight.copy_(decoder.query[branch].t())
    plain.query.bias.copy_(decoder.query_bias[branch, 0])
    weights = decoder.filters[branch].t().split(c.channels)
    biases = decoder.filters_bias[branch, 0].split(c.channels)
    for make, weight, bias in zip(plain.filters, weights, biases):
        make.load_state_dict({"weight": weight, "bias": bias})
    from_input, from_state = decoder.gates[branch].t().split((c.input_dim, c.decoder_dim), 1)
    plain.cell.weight_ih.copy_(from_input)
    plain.cell.weight_hh.copy_(from_state)
    plain.cell.bias_ih.copy_(decoder.gates_bias[branch, 0])
    plain.cell.bias_hh.zero_()


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
