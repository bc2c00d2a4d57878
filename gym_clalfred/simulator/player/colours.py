"""The colours by which AI2-THOR's segmentation frames name objects and classes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.jit import kernel


class Palette:
    """One colour per object and per class; equal names have equal colours in all scenes.

    Args:
        things: the objects by index.
    """

    def __init__(self, things: Sequence[Thing]) -> None:
        taken = {0}
        self.colours: list[dict[str, Any]] = []
        #: (N + 1,) colours as 0xBBGGRR; 0 is the room.
        self.instances = np.zeros(len(things) + 1, dtype=np.uint32)
        self.classes = np.zeros(len(things) + 1, dtype=np.uint32)
        by_class: dict[str, int] = {}
        for thing in things:
            name = thing.object_class.name
            if name not in by_class:
                by_class[name] = self._choose(name, taken)
            self.classes[thing.index + 1] = by_class[name]
        for thing in things:
            self.instances[thing.index + 1] = self._choose(thing.id, taken)

    def _choose(self, name: str, taken: set[int]) -> int:
        colour = zlib.crc32(name.encode()) & 0xFFFFFF
        while colour in taken:
            colour = (colour + 1) & 0xFFFFFF
        taken.add(colour)
        self.colours.append({"name": name, "color": _channels(colour)})
        return colour


@kernel()
def paint_flipped(
    instances: NDArray[np.int16], palette: NDArray[np.uint32], channels: int
) -> NDArray[np.uint8]:
    """(H, W, channels) colours of ``palette[instances][::-1]``; a fourth channel is opaque."""
    height, width = instances.shape
    result = np.full((height, width, channels), 255, dtype=np.uint8)
    for row in range(height):
        source, target = instances[height - 1 - row], result[row]
        for column in range(width):
            colour = palette[source[column]]
            target[column, 0] = colour & 0xFF
            target[column, 1] = (colour >> 8) & 0xFF
            target[column, 2] = (colour >> 16) & 0xFF
    return result


def colour_bounds(
    instances: NDArray[np.int16], palette: NDArray[np.uint32]
) -> list[dict[str, Any]]:
    """``colorBounds``, which versions before 4 read: the box of every colour of an (H, W) frame.

    Boxes are [left, bottom, right, top] with row 0 at the bottom, as Unity counts.
    """
    boxes = find_boxes(instances, len(palette))
    last = instances.shape[0] - 1
    return [
        {
            "color": _channels(int(palette[k])),
            "bounds": [int(left), int(last - bottom), int(right), int(last - top)],
        }
        for k, (left, top, right, bottom) in enumerate(boxes)
        if right >= 0
    ]


@kernel()
def find_boxes(instances: NDArray[np.int16], count: int) -> NDArray[np.int32]:
    """(count, 4) left, top, right and bottom of each instance; right is -1 if it is not there."""
    height, width = instances.shape
    boxes = np.empty((count, 4), dtype=np.int32)
    boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3] = width, height, -1, -1
    for row in range(height):
        for column in range(width):
            box = boxes[instances[row, column]]
            box[0], box[1] = min(box[0], column), min(box[1], row)
            box[2], box[3] = max(box[2], column), max(box[3], row)
    return boxes


def _channels(colour: int) -> list[int]:
    return [colour & 0xFF, (colour >> 8) & 0xFF, (colour >> 16) & 0xFF]
