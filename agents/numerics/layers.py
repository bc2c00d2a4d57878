"""Linear layers that round alike on all processors and are quick on one core.

Every sum is made in the order of its terms, by kernels that the compiler makes vectors of across
outputs only. MKL's own products are either the processor's, or several times as slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clalfred.agents.two_branch.fast.kernels import add_rows
from gym_clalfred.simulator.jit import kernel

_F32 = NDArray[np.float32]

#: Terms that are added to a sum at a time.
FOUR = np.uint64(4)


class Linear(nn.Module):
    """``x @ weight + bias`` for x (..., inputs), drawn as torch's own layer draws its weights."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        for one in (self.weight, self.bias):
            nn.init.uniform_(one, -(inputs**-0.5), inputs**-0.5)

    def forward(self, x: Tensor, rows: Tensor | None = None) -> Tensor:
        """(..., outputs).

        Args:
            x: (..., inputs).
            rows: (n,) which rows of the flattened x count, rising; to spare paddings. The others
                get the bias alone, and no later gradient may come from them.
        """
        if x.device.type != "cpu" or x.dtype != torch.float32:
            return x @ self.weight + self.bias
        flat = x.reshape(-1, x.shape[-1])
        if rows is None and not torch.is_grad_enabled():
            made = flat.new_empty(len(flat), len(self.bias))
            arrays = (one.detach().numpy() for one in (flat, self.weight, self.bias, made))
            _multiply_and_add(*arrays)
            return made.view(*x.shape[:-1], -1)
        product: Tensor = _PortableProduct.apply(flat, self.weight, rows)
        return product.view(*x.shape[:-1], -1) + self.bias


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
    def forward(ctx: Any, x: Tensor, weight: Tensor, rows: Tensor | None) -> Tensor:
        used = x if rows is None else x[rows]
        ctx.save_for_backward(used, weight, rows)
        return _spread(_multiply(used, weight), rows, len(x))

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, Tensor, None]:
        x, weight, rows = ctx.saved_tensors
        used = slope if rows is None else slope[rows]
        of_x = None
        if ctx.needs_input_grad[0]:
            of_x = _spread(_multiply(used, weight.t()), rows, len(slope))
        return of_x, _multiply(x.t(), used), None


def _spread(values: Tensor, rows: Tensor | None, count: int) -> Tensor:
    """The values in their rows of ``count``, and zeros in the others."""
    if rows is None:
        return values
    return values.new_zeros(count, values.shape[1]).index_copy_(0, rows, values)


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
        _add_bits(bits.numpy().T, slope.contiguous().numpy(), of_weight.numpy())
        return None, of_weight


def _multiply(x: Tensor, y: Tensor) -> Tensor:
    """``x @ y`` for (n, k) and (k, m)."""
    out = x.new_empty(len(x), y.shape[1])
    left, right = x.detach().contiguous().numpy(), y.detach().contiguous().numpy()
    _write_product(left, right, out.numpy())
    return out


_compiled = kernel(error_model="numpy")


@_compiled
def _write_product(x: _F32, matrix: _F32, out: _F32) -> None:
    add_rows(x, 0, len(x), matrix, out, 0, True)


@_compiled
def _multiply_and_add(x: _F32, matrix: _F32, bias: _F32, out: _F32) -> None:
    """Writes ``x @ matrix + bias`` to out."""
    add_rows(x, 0, len(x), matrix, out, 0, True)
    for row in range(np.uint64(len(out))):
        for column in range(np.uint64(len(bias))):
            out[row, column] = out[row, column] + bias[column]


@_compiled
def _add_bits(bits: NDArray[np.uint8], weight: _F32, out: _F32) -> None:
    """Adds ``bits @ weight`` to out: the sums of the rows whose bits are set, first to last."""
    columns = np.uint64(weight.shape[1])
    places = np.empty(bits.shape[1], np.uint64)
    for row in range(np.uint64(bits.shape[0])):
        count = np.uint64(0)
        for place in range(np.uint64(bits.shape[1])):
            places[count] = place
            count += np.uint64(bits[row, place] != 0)
        whole = count - count % FOUR
        for k in range(np.uint64(0), whole, FOUR):
            a, b = places[k], places[k + np.uint64(1)]
            c, d = places[k + np.uint64(2)], places[k + np.uint64(3)]
            for j in range(columns):
                out[row, j] = (
                    out[row, j] + weight[a, j] + weight[b, j] + weight[c, j] + weight[d, j]
                )
        for k in range(whole, count):
            for j in range(columns):
                out[row, j] = out[row, j] + weight[places[k], j]
