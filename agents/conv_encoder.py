"""The default encoder: a small convolutional network that ships with the package.

Pre-trained by ``python -m agents.pretrain`` on frames of the training rooms to say which classes
each cell of a 7 x 7 grid shows and how far away it is.
"""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from agents.encoder import VisualEncoder
from gym_clalfred.errors import DataError

IMAGE_SIZE = 84
CELLS = 7
CHANNELS = 64
_WIDTHS = (16, 40, 80)


class ConvolutionalNetwork(nn.Module):
    """(n, 3, 84, 84) in 0..1 -> (n, 64, 7, 7) in 0..1: 84 -> 42 -> 21 -> 7."""

    def __init__(self) -> None:
        super().__init__()
        first, second, third = _WIDTHS
        self.enter = nn.Sequential(_block(3, first, stride=2), _block(first, second, stride=2))
        #: At 21 x 21 a mug is still a few cells wide.
        self.detail = _block(second, second)
        self.down = _block(second, third, stride=3, padding=0)
        self.context = nn.ModuleList([_block(third, third), _block(third, third)])
        self.out = nn.Conv2d(third, CHANNELS, 1)

    def forward(self, images: Tensor) -> Tensor:
        """Feature maps of a batch of images."""
        maps = self.enter(images.contiguous(memory_format=torch.channels_last))
        maps = self.down(maps + self.detail(maps))
        for block in self.context:
            maps = maps + block(maps)
        return torch.sigmoid(self.out(maps))


class ConvEncoder(VisualEncoder):
    """Feature maps from -1 to 1 as signed bytes, value / 127.

    Args:
        weights: a safetensors file; by default the one that comes with the package.
    """

    image_size = IMAGE_SIZE
    channels = CHANNELS
    cells = CELLS * CELLS

    def __init__(self, weights: str | Path | None = None) -> None:
        content = default_weights() if weights is None else Path(weights).read_bytes()
        self.network = ConvolutionalNetwork()
        try:
            self.network.load_state_dict(safetensors.torch.load(content))
        except (RuntimeError, ValueError, safetensors.SafetensorError) as error:
            raise DataError(f"{weights}: not weights of the small encoder ({error})") from error
        self.network.eval()
        _fuse(self.network)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.name = f"conv-{hashlib.sha256(content).hexdigest()[:12]}"

    def _encode(self, images: Tensor) -> Tensor:
        maps = self.network(images.float() / 255)
        return ((2 * maps - 1) * 127).round().to(torch.int8)


def default_weights() -> bytes:
    """The content of the weights file that comes with the package."""
    return resources.files("agents").joinpath("weights", "conv.safetensors").read_bytes()


def _block(inputs: int, outputs: int, stride: int = 1, padding: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, padding, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def _fuse(module: nn.Module) -> None:
    """Merges each normalisation into its convolution."""
    for child in module.modules():
        if isinstance(child, nn.Sequential) and isinstance(child[0], nn.Conv2d):
            norm = child[1]
            assert isinstance(norm, nn.BatchNorm2d)
            child[0], child[1] = fuse_conv_bn_eval(child[0], norm), nn.Identity()
