"""Convolutions for frozen encoders: blocks to train, and the same with weights packed once."""

from __future__ import annotations

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from clalfred.agents.numerics.onednn import Operator, packed_convolution
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


def packed(block: nn.Module, size: int, then: str = "relu") -> Operator:
    """The convolution of a block, for maps of a size, followed by a function of each number."""
    conv = block[0] if isinstance(block, nn.Sequential) else block
    assert isinstance(conv, nn.Conv2d)
    return packed_convolution(conv, (CHUNK, conv.in_channels, size, size), then)
