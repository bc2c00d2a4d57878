"""Linear layers of our own do what torch's do."""

from __future__ import annotations

import pytest
import torch

from clalfred.agents.numerics.layers import BitLinear, Linear


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_values_and_gradients_are_those_of_a_product(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    layer, x = Linear(11, 6), torch.randn(*shape, 11, requires_grad=True)
    slope = torch.randn(*shape, 6)
    (layer(x) * slope).sum().backward()
    found = [x.grad, layer.weight.grad, layer.bias.grad]
    plain = x.detach().double().requires_grad_()
    weight, bias = (one.detach().double().requires_grad_() for one in layer.parameters())
    (((plain @ weight) + bias) * slope).sum().backward()
    for one, other in zip(found, (plain.grad, weight.grad, bias.grad)):
        assert one is not None
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


def test_rows_that_do_not_count_change_no_bit_of_the_others() -> None:
    torch.manual_seed(0)
    layer, x, slope = Linear(11, 6), torch.randn(3, 5, 11), torch.randn(3, 5, 6)
    counts = torch.rand(3, 5) < 0.6
    slope *= counts.unsqueeze(2)
    found = []
    for rows in (None, counts.flatten().nonzero().flatten()):
        layer.zero_grad()
        given = x.clone().requires_grad_()
        made = layer(given, rows)
        (made * slope).sum().backward()
        assert given.grad is not None
        with torch.no_grad():
            assert torch.equal(layer(given, rows)[counts], made[counts])
        found.append([made[counts], given.grad, *(one.grad for one in layer.parameters())])
    assert all(map(torch.equal, *found))
    assert torch.equal(made[~counts], layer.bias.expand(int((~counts).sum()), -1))


def test_bits_are_multiplied_as_numbers_would_be() -> None:
    torch.manual_seed(0)
    layer = BitLinear(40, 6, like=40)
    bits = (torch.rand(9, 40) < 0.2).to(torch.uint8)
    slope = torch.randn(9, 6)
    (layer(bits) * slope).sum().backward()
    torch.testing.assert_close(layer(bits), bits.float() @ layer.weight)
    torch.testing.assert_close(layer.weight.grad, bits.float().t() @ slope)


def test_weights_are_drawn_within_torchs_bounds() -> None:
    torch.manual_seed(0)
    layer = Linear(100, 50)
    assert float(layer.weight.detach().abs().max()) <= 0.1
    assert float(layer.weight.detach().abs().max()) > 0.095
