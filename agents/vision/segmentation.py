"""Eyes that learned to see: a small network that says what each cell of a view shows, and how far.

Pre-trained by ``python -m clalfred.agents.vision.pretrain segmentation`` on frames of rooms that no
stream and no test uses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from clalfred.agents.numerics.onednn import has_convolution
from clalfred.agents.vision.encoder import VisualEncoder, conv_block, fuse, packed
from gym_clalfred.errors import DataError
from gym_clalfred.objects import ObjectClass

IMAGE_SIZE = 168
SIDE = 42

#: Distances are kept as bytes, finer where they are short: 2.5 cm at 1.5 m, 11 cm at 10 m.
FARTHEST = 12.0

_WIDTHS = (16, 32, 64, 96)
_TOP = 40


class SegmentationNetwork(nn.Module):
    """(n, 3, 168, 168) in 0..1 -> (n, K + 1, 42, 42): logits of the classes, then distance.

    Down to 11 x 11 for context, and up again to where a mug is two cells wide.
    """

    def __init__(self) -> None:
        super().__init__()
        first, fine, middle, deep = _WIDTHS
        self.enter = nn.Sequential(
            conv_block(3, first, stride=2), conv_block(first, fine, stride=2)
        )
        self.detail = conv_block(fine, fine)
        self.down = conv_block(fine, middle, stride=2)
        self.middle = conv_block(middle, middle)
        self.deeper = conv_block(middle, deep, stride=2)
        self.context = nn.ModuleList([conv_block(deep, deep), conv_block(deep, deep)])
        self.rise = conv_block(deep, middle, kernel=1)
        self.joined = conv_block(middle, middle)
        self.top = conv_block(middle, _TOP, kernel=1)
        self.side = conv_block(fine, _TOP, kernel=1)
        self.last = conv_block(_TOP, _TOP)
        self.out = nn.Conv2d(_TOP, len(ObjectClass) + 1, 1)

    def forward(self, images: Tensor) -> Tensor:
        """What each cell shows."""
        images = images.contiguous(memory_format=torch.channels_last)
        return segment(images, lambda name: self.get_submodule(name))


def segment(images: Tensor, layer: Callable[[str], Callable[[Tensor], Tensor]]) -> Tensor:
    """The network's forward pass, its layers looked up by name."""
    fine = layer("enter.1")(layer("enter.0")(images))
    fine = fine + layer("detail")(fine)
    middle = layer("down")(fine)
    middle = middle + layer("middle")(middle)
    deep = layer("deeper")(middle)
    for number in range(2):
        deep = deep + layer(f"context.{number}")(deep)
    middle = middle + _twice(layer("rise")(deep))[:, :, : middle.shape[2], : middle.shape[3]]
    middle = middle + layer("joined")(middle)
    top = layer("side")(fine) + _twice(layer("top")(middle))
    return layer("out")(top + layer("last")(top))


def _twice(maps: Tensor) -> Tensor:
    """Every cell as two by two."""
    return maps.repeat_interleave(2, 2).repeat_interleave(2, 3)


class Seen(NamedTuple):
    """What views show: ``classes`` and ``depth`` in metres, (n, size, size)."""

    classes: NDArray[np.uint8]
    depth: NDArray[np.float32]


class SegmentationEncoder(VisualEncoder):
    """Of each cell the class it shows and a code of its distance, two bytes.

    Args:
        weights: a safetensors file; by default the one that comes with the package.
    """

    image_size = IMAGE_SIZE
    channels = 2
    cells = SIDE * SIDE

    def __init__(self, weights: str | Path | None = None) -> None:
        content = default_weights() if weights is None else Path(weights).read_bytes()
        self.network = SegmentationNetwork()
        try:
            self.network.load_state_dict(safetensors.torch.load(content))
        except (RuntimeError, ValueError, safetensors.SafetensorError) as error:
            raise DataError(f"{weights}: not weights of this encoder ({error})") from error
        self.network.eval()
        fuse(self.network)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.name = f"segmentation-{hashlib.sha256(content).hexdigest()[:12]}"

    def __getstate__(self) -> dict[str, Any]:
        # Packed weights cannot be sent to another process, and are quickly made.
        return {name: value for name, value in vars(self).items() if name != "_forward"}

    @cached_property
    def _forward(self) -> Callable[[Tensor], Tensor]:
        if not has_convolution():
            return self.network
        sizes = {
            "enter.0": 168, "enter.1": 84, "detail": 42, "down": 42, "middle": 21, "deeper": 21,
            "context.0": 11, "context.1": 11, "rise": 11, "joined": 21, "top": 21, "side": 42,
            "last": 42,
        }  # fmt: skip
        with torch.no_grad():
            layers = {
                name: packed(self.network.get_submodule(name), size) for name, size in sizes.items()
            }
            layers["out"] = packed(self.network.out, SIDE, "none")
        return lambda images: segment(images, layers.__getitem__)

    def _encode(self, images: Tensor) -> Tensor:
        images = images.float().mul_(1 / 255).contiguous(memory_format=torch.channels_last)
        scores = self._forward(images)
        classes = scores[:, :-1].argmax(1).to(torch.uint8)
        distance = scores[:, -1].clamp(0, 1).mul(255).round().to(torch.uint8)
        return torch.stack([classes, distance], 1)

    def see(self, views: NDArray[np.uint8], size: int) -> Seen:
        """What views (n, 168, 168, 3) show, each cell drawn as a square; size a multiple of 42."""
        return drawn(self.encode(views), size)


def drawn(maps: Tensor, size: int) -> Seen:
    """Maps (n, 2, cells) as ``encode`` makes them, each cell as a square of a picture."""
    grids = maps.numpy().reshape(len(maps), 2, SIDE, SIDE)
    grids = grids.repeat(size // SIDE, 2).repeat(size // SIDE, 3)
    return Seen(np.ascontiguousarray(grids[:, 0]), metres(grids[:, 1]))


def distance_code(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Distances in metres as numbers from 0 to 1, short ones spread wide."""
    code: NDArray[np.float32] = np.log1p(np.clip(depth, 0, FARTHEST)) / np.log1p(FARTHEST)
    return code.astype(np.float32)


def metres(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Distances of codes from 0 to 255."""
    return _METRES[codes]


# A table, so that every processor has the same numbers.
_METRES = np.array([round(float(np.expm1(n / 255 * np.log1p(FARTHEST))), 3) for n in range(256)])
_METRES = _METRES.astype(np.float32)


def default_weights() -> bytes:
    """The content of the weights file that comes with the package."""
    weights = resources.files("clalfred.agents.vision").joinpath("weights")
    return weights.joinpath("segmentation.safetensors").read_bytes()
