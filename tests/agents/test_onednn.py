"""Products with packed weights, and the same without them."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from clalfred.agents.numerics import onednn
from clalfred.agents.vision import conv_encoder

DRAWS = torch.Generator().manual_seed(0)


@pytest.mark.skipif(not onednn.has_linear(), reason="this torch cannot pack matrices")
@pytest.mark.parametrize("rows", [1, 12, 40])
def test_packed_matrices(rows: int) -> None:
    matrix, bias = torch.randn(30, 20, generator=DRAWS), torch.randn(20, generator=DRAWS)
    x = torch.randn(rows, 30, generator=DRAWS)
    packed = onednn.packed_linear(matrix, bias, 12)
    torch.testing.assert_close(packed(x), x @ matrix + bias)
    torch.testing.assert_close(onednn.packed_linear(matrix, None, 12)(x), x @ matrix)


@pytest.mark.skipif(not onednn.has_convolution(), reason="this torch cannot pack convolutions")
def test_packed_convolutions() -> None:
    conv = nn.Conv2d(3, 8, 3, 2, 1).requires_grad_(False)
    maps = torch.randn(2, 3, 16, 16, generator=DRAWS)
    packed = onednn.packed_convolution(conv, maps.shape, "relu")
    torch.testing.assert_close(packed(maps), torch.relu(conv(maps)))


def test_encoding_works_without_packed_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    images = torch.randint(0, 256, (1, 3, 84, 84), generator=DRAWS).to(torch.uint8)
    usual = conv_encoder.ConvEncoder()._encode(images)
    monkeypatch.setattr(onednn, "_has", lambda *names: False)
    assert not onednn.has_linear()
    plain = conv_encoder.ConvEncoder()._encode(images)
    assert (usual.int() - plain.int()).abs().max() <= 1
