"""The default encoder: a small convolutional network that ships with the package.

Pre-trained by ``python -m clalfred.agents.vision.pretrain`` on frames of the training rooms to say
which classes each cell of a 7 x 7 grid shows and how far away it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from clalfred.agents.numerics.onednn import has_convolution
from clalfred.agents.vision.encoder import CHUNK, VisualEncoder, conv_block, fuse, packed
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
        self.enter = nn.Sequential(
            conv_block(3, first, stride=2), conv_block(first, second, stride=2)
        )
        #: At 21 x 21 a mug is still a few cells wide.
        self.detail = conv_block(second, second)
        self.down = conv_block(second, third, stride=3, padding=0)
        self.context = nn.ModuleList([conv_block(third, third), conv_block(third, third)])
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
        fuse(self.network)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._any_count: dict[int, bool] = {}
        self.name = f"conv-{hashlib.sha256(content).hexdigest()[:12]}"

    @property
    def takes_any_count(self) -> bool:
        """Tried out, because it depends on the machine's routines."""
        threads = torch.get_num_threads()
        if threads not in self._any_count:
            shape = (CHUNK, 3, IMAGE_SIZE, IMAGE_SIZE)
            images = torch.randint(0, 256, shape, generator=torch.Generator().manual_seed(0))
            images = images.to(torch.uint8).contiguous(memory_format=torch.channels_last)
            together = self._forward(images.float())
            self._any_count[threads] = all(
                torch.equal(self._forward(images[:count].float()), together[:count])
                for count in range(1, CHUNK)
            )
        return self._any_count[threads]

    def __getstate__(self) -> dict[str, Any]:
        # Packed weights cannot be sent to another process, and are quickly made.
        return {name: value for name, value in vars(self).items() if name != "_forward"}

    @cached_property
    def _forward(self) -> Callable[[Tensor], Tensor]:
        with torch.no_grad():
            return packed_forward(self.network) if has_convolution() else self.network

    def _encode(self, images: Tensor) -> Tensor:
        maps = self._forward(images.float().mul_(1 / 255))
        return maps.mul_(2).sub_(1).mul_(127).round_().to(torch.int8)


def default_weights() -> bytes:
    """The content of the weights file that comes with the package."""
    return (
        resources.files("clalfred.agents.vision")
        .joinpath("weights", "conv.safetensors")
        .read_bytes()
    )


def packed_forward(network: ConvolutionalNetwork) -> Callable[[Tensor], Tensor]:
    """The same network with weights packed once and each ReLU done by its convolution.

    The results are the same; it takes two thirds of the time.
    """
    first, second = (packed(block, size) for block, size in zip(network.enter, (84, 42)))
    detail, down = packed(network.detail, 21), packed(network.down, 21)
    context = [packed(block, CELLS) for block in network.context]
    out = packed(network.out, CELLS, "sigmoid")

    def forward(images: Tensor) -> Tensor:
        maps = second(first(images))
        maps = down(detail(maps).add_(maps))
        for block in context:
            maps = block(maps).add_(maps)
        return out(maps)

    return forward
