"""The frozen visual encoder: what a learner knows of a view is its feature map."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gym_clalfred.errors import BadInputError

#: Views that go through an encoder together, always exactly so many: the result for a view must
#: not depend on how many others are encoded with it.
CHUNK = 8


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
        padded = np.zeros((-(-count // CHUNK) * CHUNK, *expected), dtype=np.uint8)
        padded[:count] = views
        images = torch.from_numpy(padded).permute(0, 3, 1, 2)
        maps = [self._encode(chunk) for chunk in images.split(CHUNK)]
        return torch.cat(maps)[:count].flatten(2)

    @abstractmethod
    def _encode(self, images: Tensor) -> Tensor:
        """(CHUNK, 3, H, W) uint8 -> (CHUNK, C, h, w), as stored: int8 or half floats."""


class RememberingEncoder(VisualEncoder):
    """Encodes only views that it has not lately seen: after a turn, two of five are known.

    Args:
        encoder: does the work.
        views: how many to remember.
    """

    def __init__(self, encoder: VisualEncoder, views: int = 4096) -> None:
        self.image_size, self.name = encoder.image_size, encoder.name
        self.channels, self.cells = encoder.channels, encoder.cells
        self._encoder = encoder
        self._limit = views
        self._known: OrderedDict[bytes, Tensor] = OrderedDict()

    def encode(self, views: NDArray[np.uint8]) -> Tensor:
        """As the encoder itself, bit for bit."""
        digests = [hashlib.blake2b(view.tobytes(), digest_size=16).digest() for view in views]
        new = {digest: row for row, digest in enumerate(digests) if digest not in self._known}
        if new:
            maps = self._encoder.encode(views[list(new.values())])
            self._known.update(zip(new, maps))
        for digest in digests:
            self._known.move_to_end(digest)
        found = torch.stack([self._known[digest] for digest in digests])
        while len(self._known) > self._limit:
            self._known.popitem(last=False)
        return found

    def _encode(self, images: Tensor) -> Tensor:
        return self._encoder._encode(images)
