"""Convolutions for frozen encoders: blocks to train, and the same with weights packed once.

oneDNN's operators for packed weights are private to torch; ``can_pack`` says whether this build has
them, and everything works without.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from clalfred.agents.vision.encoder import CHUNK


def conv_block(
    inputs: int, outputs: int, stride: int = 1, padding: int | None = None, kernel: int = 3
) -> nn.Sequential:
    """A convolution, normalised and rectified; padded by default so that maps keep their size."""
    around = kernel // 2 if padding is None else padding
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, around, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def fuse(module: nn.Module) -> None:
    """Merges the normalisation of each block into its convolution."""
    for child in module.modules():
        if isinstance(child, nn.Sequential) and isinstance(child[0], nn.Conv2d):
            norm = child[1]
            assert isinstance(norm, nn.BatchNorm2d)
            child[0], child[1] = fuse_conv_bn_eval(child[0], norm), nn.Identity()


def can_pack() -> bool:
    """Whether this build of torch has oneDNN's convolutions with packed weights."""
    ops = torch.ops.mkldnn
    names = "_convolution_pointwise", "_reorder_convolution_weight"
    return torch.backends.mkldnn.is_available() and all(hasattr(ops, name) for name in names)


def packed(block: nn.Module, size: int, then: str = "relu") -> Callable[[Tensor], Tensor]:
    """The convolution of a block, for maps of a size, followed by a function of each number."""
    conv = block[0] if isinstance(block, nn.Sequential) else block
    assert isinstance(conv, nn.Conv2d)
    how = conv.padding, conv.stride, conv.dilation, conv.groups
    shape = [CHUNK, conv.in_channels, size, size]
    weights = torch.ops.mkldnn._reorder_convolution_weight(conv.weight, *how, shape)
    convolve, bias = torch.ops.mkldnn._convolution_pointwise, conv.bias
    return lambda maps: convolve(maps, weights, bias, *how, then, [], "")
