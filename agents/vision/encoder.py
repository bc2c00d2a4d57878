"""The frozen visual encoder, which turns a view into a feature map, and its convolutions."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from clalfred.agents.numerics.onednn import Operator, packed_convolution
from gym_clalfred.errors import BadInputError

#: Views that go through an encoder together, at most.
CHUNK = 8

#: How much a ``CachedEncoder`` keeps.
REMEMBERED_BYTES = 64_000_000


class VisualEncoder(ABC):
    """Turns RGB views into feature maps; never trained with the agent.

    Args:
        image_size: side of the views it takes.
        channels: C of the maps it makes.
        cells: S of the maps, 7 x 7.
        name: says in caches and results which encoder with which weights this is.
    """

    image_size: int
    channels: int
    cells: int
    name: str

    @property
    def takes_any_count(self) -> bool:
        """Whether a view's map is the same, to the last bit, however many go through with it.

        If not, exactly ``CHUNK`` go through together, the last ones filled up.
        """
        return False

    @torch.no_grad()
    def encode(self, views: NDArray[np.uint8]) -> Tensor:
        """(n, H, W, 3) -> (n, C, S), bit-equal for a view whatever the others are."""
        expected = (self.image_size, self.image_size, 3)
        if views.shape[1:] != expected or views.dtype != np.uint8:
            raise BadInputError(
                f"{self.name} takes uint8 views {expected}, found {views.dtype} {views.shape[1:]}: "
                f"make the environment with image_size={self.image_size}"
            )
        count = len(views)
        if count % CHUNK and not self.takes_any_count:
            views = np.concatenate([views, np.zeros((-count % CHUNK, *expected), dtype=np.uint8)])
        images = torch.from_numpy(np.ascontiguousarray(views)).permute(0, 3, 1, 2)
        maps = [self._encode(chunk) for chunk in images.split(CHUNK)]
        return torch.cat(maps)[:count].flatten(2)

    @abstractmethod
    def _encode(self, images: Tensor) -> Tensor:
        """(n, 3, H, W) uint8 -> (n, C, h, w), as stored: int8 or half floats; n <= CHUNK."""


class CachedEncoder(VisualEncoder):
    """Encodes only views that it has not lately seen: after a turn, two of five are known.

    Args:
        encoder: does the work.
        views: how many to remember; by default what ``REMEMBERED_BYTES`` hold.
    """

    def __init__(self, encoder: VisualEncoder, views: int | None = None) -> None:
        self.image_size, self.name = encoder.image_size, encoder.name
        self.channels, self.cells = encoder.channels, encoder.cells
        self._encoder = encoder
        self._limit = views
        self._maps: Tensor | None = None
        #: Where in ``_maps`` the map of each view is, the longest unseen view first.
        self._rows: OrderedDict[bytes, int] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process begins without memories, they are quicker made than sent.
        return CachedEncoder, (self._encoder, self._limit)

    def encode(self, views: NDArray[np.uint8]) -> Tensor:
        """As the encoder itself, bit for bit."""
        digests = [view_digest(view) for view in views]
        for digest in digests:
            if digest in self._rows:
                self._rows.move_to_end(digest)
        new = {digest: row for row, digest in enumerate(digests) if digest not in self._rows}
        if new:
            maps = self._encoder.encode(views[list(new.values())])
            if self._maps is None:
                limit = self._limit or REMEMBERED_BYTES // (maps[0].numel() * maps.element_size())
                self._maps = torch.empty(limit, *maps.shape[1:], dtype=maps.dtype)
            if len(set(digests)) > len(self._maps):
                return self._encoder.encode(views)
            for digest, one in zip(new, maps):
                full = len(self._rows) == len(self._maps)
                row = self._rows.popitem(last=False)[1] if full else len(self._rows)
                self._rows[digest], self._maps[row] = row, one
        assert self._maps is not None
        return self._maps[[self._rows[digest] for digest in digests]]

    def _encode(self, images: Tensor) -> Tensor:
        return self._encoder._encode(images)


def view_digest(view: NDArray[np.uint8]) -> bytes:
    """Names what a view shows."""
    return hashlib.sha1(view.tobytes(), usedforsecurity=False).digest()


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
