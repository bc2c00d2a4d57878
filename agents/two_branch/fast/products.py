"""Products with the same matrices at every step of a recurrence, and of all steps together.

At a step there are few rows. Matrices that fit in the processor's cache are multiplied by a kernel
of ours; with large ones, reading takes longer than computing. oneDNN stores a matrix in blocks that
are read in order, which saves a quarter of the time at the paper's size; making the blocks pays
only for a whole pass over a batch. A single row needs no blocks: every number of the matrix is used
once, in any order.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from clalfred.agents.numerics.onednn import has_linear, packed_linear
from clalfred.agents.two_branch.fast.kernels import add_products


class Product(Protocol):
    """``x -> x @ matrices + bias + more`` for x (D, n, in)."""

    def __call__(self, x: Tensor, more: Tensor | None = None) -> Tensor:
        """(D, n, out)."""


#: Smaller matrices stay in the processor's cache and are left to our kernel, larger ones packed.
SMALL_BYTES = 4_000_000

#: For how many rows the blocks are laid out; others work too.
_TYPICAL_ROWS = 12


def product(matrices: Tensor, bias: Tensor | None = None, many: bool = False) -> Product:
    """A function that multiplies by the same matrices again and again.

    Args:
        matrices: (D, in, out), without gradients.
        bias: (D, 1, out).
        many: whether it will be used often enough for a faster form to pay.
    """
    if is_small(matrices):
        return _small_product(matrices, bias)
    plain = _plain_product(matrices, bias)
    return _packed_product(matrices, bias, plain) if many and _can_pack(matrices) else plain


def is_small(weights: Tensor) -> bool:
    """Whether our own kernels are the quickest for products with weights (D, in, out)."""
    return _fits(weights, weights[0].numel())


def multiply(x: Tensor, values: Tensor) -> Tensor:
    """``x @ values`` for (D, n, k) and (D, k, m): gradients of weights (D, n, m) from all steps."""
    if not _fits(values, x.shape[1] * values.shape[2]):
        return x @ values
    return _small_product(values, None)(x)


def _fits(like: Tensor, numbers: int) -> bool:
    on_cpu = like.device.type == "cpu" and like.dtype == torch.float32
    return on_cpu and numbers * like.element_size() < SMALL_BYTES


def _small_product(matrices: Tensor, bias: Tensor | None) -> Product:
    kept = matrices.contiguous().numpy()
    count, _, width = kept.shape

    def run(x: Tensor, more: Tensor | None = None) -> Tensor:
        made = x.new_zeros(count, x.shape[1], width)
        for part in (bias, more):
            if part is not None:
                made += part
        add_products(x.contiguous().numpy(), kept, made.numpy())
        return made

    return run


def _plain_product(matrices: Tensor, bias: Tensor | None) -> Product:
    def run(x: Tensor, more: Tensor | None = None) -> Tensor:
        if bias is None:
            return x @ matrices if more is None else torch.baddbmm(more, x, matrices)
        made = torch.baddbmm(bias, x, matrices)
        return made if more is None else made.add_(more)

    return run


def _can_pack(matrices: Tensor) -> bool:
    return (
        matrices.device.type == "cpu"
        and matrices.dtype == torch.float32
        and matrices.numel() > 0  # a network without a glance has an empty matrix for it
        and has_linear()
    )


def _packed_product(matrices: Tensor, bias: Tensor | None, of_one_row: Product) -> Product:
    biases = [None] * len(matrices) if bias is None else [one[0] for one in bias]
    packed = [packed_linear(*pair, _TYPICAL_ROWS) for pair in zip(matrices, biases)]

    def run(x: Tensor, more: Tensor | None = None) -> Tensor:
        if x.shape[1] == 1:
            return of_one_row(x, more)
        made = torch.stack([multiply(rows) for rows, multiply in zip(x, packed)])
        return made if more is None else made.add_(more)

    return run
