"""From AI2-THOR's coloured frames to instance numbers, and to other sizes."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.jit import kernel

D = TypeVar("D", bound=np.generic)


@kernel()
def decode_colours(
    colours: NDArray[np.uint32], keys: NDArray[np.uint32], values: NDArray[np.int16]
) -> NDArray[np.int16]:
    """(H, W) instance numbers of (H, W) colours; colours that are not in ``keys`` give 0.

    Args:
        colours: any strides.
        keys: known colours, sorted.
        values: their instance numbers.
    """
    height, width = colours.shape
    result = np.empty((height, width), dtype=np.int16)
    # Neighbours mostly show the same thing, so few pixels are looked up.
    last, value = np.uint32(0xFFFFFFFF), np.int16(0)
    for row in range(height):
        for column in range(width):
            colour = colours[row, column]
            if colour != last:
                last = colour
                place = np.searchsorted(keys, colour)
                known = place < len(keys) and keys[place] == colour
                value = values[place] if known else np.int16(0)
            result[row, column] = value
    return result


def resample_nearest(images: NDArray[D], size: int) -> NDArray[D]:
    """(N, size, size) from (N, side, side), each pixel the nearest one."""
    side = images.shape[1]
    if side == size:
        return images
    source = ((np.arange(size) + 0.5) * side / size).astype(np.intp)
    return images[:, source[:, None], source[None, :]]


def resample(images: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """(N, size, size, 3) from (N, side, side, 3), each pixel the mean of what it covers."""
    from PIL import Image

    kind = Image.Resampling.BOX
    small = [np.asarray(Image.fromarray(image).resize((size, size), kind)) for image in images]
    return np.stack(small)
