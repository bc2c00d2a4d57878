"""Numbers that select an object's variant: from a name, and from a style to one of several choices.

All choices depend on the style and a label only, so that adding one leaves the others as they were.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

Choice = TypeVar("Choice")

#: Style bit of a ``CounterTop`` that is a cooking range: part of its top belongs to burners.
#: Bits from 32 up never occur in ``style_of``, so a variant is only ever chosen on purpose.
STOVE = 1 << 32

#: Style bit of a ``CounterTop`` open at its front, so that cabinets and drawers can be built in.
HOLLOW = 1 << 33

#: Style bit of a ``Sink`` on a pedestal, as in bathrooms, instead of one in a piece of counter.
PEDESTAL = 1 << 34

#: Style bit of a ``CounterTop`` that is only the board, as AI2-THOR's are.
BOARD = 1 << 35

#: Style bit of anything that is built the other way round, such as a door hinged at its other side.
MIRRORED = 1 << 36

#: Style bit of a ``Cabinet`` with one door, however wide it is.
ONE_DOOR = 1 << 37

#: Style bit of a ``Fridge`` or ``Cabinet`` whose shelves are not drawn, as nobody knows where.
NO_SHELVES = 1 << 38


def style_of(name: str) -> int:
    """The style of an object called ``name``: the CRC-32 of the name."""
    return zlib.crc32(name.encode())


@lru_cache(maxsize=65536)
def fraction(style: int, label: str) -> float:
    """A number in [0, 1) for one decision, spread evenly over styles.

    CRC-32 is linear, so that decisions made from it alone would depend on each other; the
    multiplications (the finaliser of MurmurHash3) break that.
    """
    mixed = ((style & 0xFFFFFFFF) + 0x9E3779B9 * zlib.crc32(label.encode())) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) / 2**32


def choose(style: int, label: str, options: Sequence[Choice]) -> Choice:
    """One of ``options`` for one decision."""
    return options[int(fraction(style, label) * len(options))]
