"""Linear layers that round alike on all processors and are quick on one core.

Every sum is made in the order of its terms, by kernels that the compiler makes vectors of across
outputs only. MKL's own products are either the processor's, or several times as slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor, nn

from clalfred.agents.two_branch.fast.kernels import add_products

_F32 = NDArray[np.float32]


class Linear(nn.Module):
    """``x @ weight + bias`` for x (..., inputs), drawn as torch's own layer draws its weights."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        for one in (self.weight, self.bias):
            nn.init.uniform_(one, -(inputs**-0.5), inputs**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        """(..., outputs)."""
        if x.device.type != "cpu" or x.dtype != torch.float32:
            return x @ self.weight + self.bias
        multiply = _PortableProduct.apply if torch.is_grad_enabled() else _multiply
        flat = multiply(x.flatten(0, -2), self.weight)
        return flat.unflatten(0, x.shape[:-1]) + self.bias


class BitLinear(nn.Module):
    """``bits @ weight`` for bits (n, inputs) uint8, most of them 0; no gradient for the bits."""

    def __init__(self, inputs: int, outputs: int, like: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs).uniform_(-(like**-0.5), like**-0.5))

    def forward(self, bits: Tensor) -> Tensor:
        """(n, outputs)."""
        if bits.device.type != "cpu" or self.weight.dtype != torch.float32:
            return bits.to(self.weight.dtype) @ self.weight
        result: Tensor = _BitProduct.apply(bits.contiguous(), self.weight)
        return result


class _PortableProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _multiply(x, weight)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        of_x = _multiply(slope, weight.t()) if ctx.needs_input_grad[0] else None
        return of_x, _multiply(x.t(), slope)


class _BitProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, bits: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(bits)
        ctx.shape = weight.shape
        out = weight.new_zeros(len(bits), weight.shape[1])
        _add_bits(bits.numpy(), weight.detach().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[None, Tensor]:
        (bits,) = ctx.saved_tensors
        of_weight = slope.new_zeros(ctx.shape)
        _spread_bits(bits.numpy(), slope.contiguous().numpy(), of_weight.numpy())
        return None, of_weight


def _multiply(x: Tensor, y: Tensor) -> Tensor:
    """``x @ y`` for (n, k) and (k, m)."""
    out = x.new_zeros(1, len(x), y.shape[1])
    left, right = x.detach().contiguous(), y.detach().contiguous()
    add_products(left.unsqueeze(0).numpy(), right.unsqueeze(0).numpy(), out.numpy())
    return out[0]


@njit(cache=True, nogil=True)
def _add_bits(bits: NDArray[np.uint8], weight: _F32, out: _F32) -> None:
    for row in range(bits.shape[0]):
        for place in range(bits.shape[1]):
            if bits[row, place]:
                for column in range(weight.shape[1]):
                    out[row, column] += weight[place, column]


@njit(cache=True, nogil=True)
def _spread_bits(bits: NDArray[np.uint8], slope: _F32, out: _F32) -> None:
    for row in range(bits.shape[0]):
        for place in range(bits.shape[1]):
            if bits[row, place]:
                for column in range(slope.shape[1]):
                    out[place, column] += slope[row, column]
