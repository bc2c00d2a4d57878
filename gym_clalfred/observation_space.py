"""The observation space, with a text space that processes can share.

Gymnasium keeps the observations of ``AsyncVectorEnv`` in shared memory and reads texts from it only
once, before the first reset. The functions registered here read them whenever they are asked for.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

from gym_clalfred.language.text import CHARACTERS
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import RenderOptions, View

MAX_DEPTH_METRES = 1000.0
GOAL_CHARACTERS = 512
INSTRUCTIONS_CHARACTERS = 4096


def observation_space(render: RenderOptions) -> spaces.Dict:
    """Five views with the requested channels, and the text."""
    shape = (len(View), render.image_size, render.image_size)
    parts: dict[str, spaces.Space[Any]] = {"rgb": spaces.Box(0, 255, (*shape, 3), np.uint8)}
    if render.instances:
        parts["classes"] = spaces.Box(0, len(ObjectClass) - 1, shape, np.uint8)
        parts["instances"] = spaces.Box(0, np.iinfo(np.int16).max, shape, np.int16)
    if render.depth:
        parts["depth"] = spaces.Box(0.0, MAX_DEPTH_METRES, shape, np.float32)
    parts["goal"] = PlainText(GOAL_CHARACTERS)
    parts["instructions"] = PlainText(INSTRUCTIONS_CHARACTERS)
    return spaces.Dict(parts)


class PlainText(spaces.Text):
    """Texts of at most ``longest`` of the characters that ``plain_text`` leaves.

    Unlike Gymnasium's it has a shape and the type of an array of such texts, which is all that
    Stable-Baselines3's vector environments need to keep them.
    """

    def __init__(self, longest: int) -> None:
        super().__init__(longest, min_length=0, charset=CHARACTERS)
        self._shape = ()
        self.dtype = np.dtype(f"<U{longest}")


class SharedTexts(Sequence[str]):
    """The texts of all environments of a vector, as they are in shared memory now.

    Vector environments hand out copies. A copy is a tuple of strings and does not change.
    """

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index]

    def __iter__(self) -> Iterator[str]:
        for row in self._rows:
            yield row.tobytes().rstrip(b"\0").decode("ascii")

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


@create_shared_memory.register
def _create(space: PlainText, n: int = 1, ctx: ModuleType = multiprocessing) -> Any:
    return ctx.Array("B", n * space.max_length)


@read_from_shared_memory.register
def _read(space: PlainText, shared_memory: Any, n: int = 1) -> Any:
    return SharedTexts(_rows(shared_memory, n, space))


@write_to_shared_memory.register
def _write(space: PlainText, index: int, values: str, shared_memory: Any) -> None:
    size = space.max_length
    memory = np.frombuffer(shared_memory.get_obj(), dtype=np.uint8)
    text = values.encode("ascii").ljust(size, b"\0")
    memory[index * size : (index + 1) * size] = np.frombuffer(text, dtype=np.uint8)


def _rows(shared_memory: Any, n: int, space: PlainText) -> NDArray[np.uint8]:
    return np.frombuffer(shared_memory.get_obj(), dtype=np.uint8).reshape(n, space.max_length)
