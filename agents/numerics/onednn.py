"""oneDNN's products with weights that are packed once, in blocks that are read in order.

The operators are private to torch, so no other module names them. ``has_convolution`` and
``has_linear`` say whether this build of torch has them; everything works without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

Operator = Callable[[Tensor], Tensor]


def has_convolution() -> bool:
    """Whether convolutions can be packed."""
    return _has("_convolution_pointwise", "_reorder_convolution_weight")


def has_linear() -> bool:
    """Whether matrices can be packed."""
    return _has("_linear_pointwise", "_reorder_linear_weight")


def packed_convolution(conv: nn.Conv2d, shape: Sequence[int], then: str) -> Operator:
    """A convolution for maps of a shape, followed by a function of each number, such as relu."""
    how = conv.padding, conv.stride, conv.dilation, conv.groups
    weights = torch.ops.mkldnn._reorder_convolution_weight(conv.weight, *how, list(shape))
    convolve, bias = torch.ops.mkldnn._convolution_pointwise, conv.bias
    return lambda maps: convolve(maps, weights, bias, *how, then, [], "")


def packed_linear(matrix: Tensor, bias: Tensor | None, rows: int) -> Operator:
    """``x @ matrix + bias`` for a matrix (in, out), laid out for about this many rows of x."""
    weights = torch.ops.mkldnn._reorder_linear_weight(matrix.t().contiguous(), rows)
    multiply = torch.ops.mkldnn._linear_pointwise
    return lambda x: multiply(x, weights, bias, "none", [], "")


def _has(*names: str) -> bool:
    operators = torch.ops.mkldnn
    return torch.backends.mkldnn.is_available() and all(hasattr(operators, one) for one in names)
