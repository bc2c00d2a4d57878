"""Writes metadata as MessagePack or JSON from parts that may have been written before.

Most of what AI2-THOR says of a scene does not change from one step to the next: objects are kept
as bytes in a table, of which a step changes only what depends on where the agent stands.
"""

from __future__ import annotations

import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: MessagePack's header of a map with a 16-bit length.
_MAP_16 = struct.Struct(">BH")

#: MessagePack's codes of a 64-bit float, of ``false`` and of ``true``.
_DOUBLE, _FALSE, _TRUE = 0xCB, 0xC2, 0xC3

#: Bytes of a value in pieces that are joined only once.
Chunks = tuple["bytes | memoryview", ...]

#: What of an object depends on the agent: two flags that say the same, and a number.
FLAGS, NUMBER = ("visible", "isInteractable"), "distance"


@dataclass(frozen=True)
class Entries:
    """Some key-value pairs of a map, written."""

    count: int
    body: Chunks


class EncodedTable(ABC):
    """A written list of objects without ``FLAGS`` and ``NUMBER``."""

    @abstractmethod
    def fill(self, flags: NDArray[np.bool_], numbers: NDArray[np.float64]) -> Chunks:
        """The list with these values, (N,) each; good until the next call."""


class Encoder(ABC):
    """Writes values and joins written parts."""

    @abstractmethod
    def value(self, value: Any) -> bytes:
        """Any plain value."""

    @abstractmethod
    def entries(self, pairs: dict[str, Any]) -> Entries:
        """The pairs of a part of a map."""

    @abstractmethod
    def written(self, key: str, value: Chunks) -> Entries:
        """One pair whose value has been written already."""

    @abstractmethod
    def map(self, parts: Sequence[Entries]) -> Chunks:
        """A map of all pairs of some parts."""

    @abstractmethod
    def array_of_one(self, item: Chunks) -> Chunks:
        """A list of one written value."""

    @abstractmethod
    def table(self, rows: Sequence[bytes]) -> EncodedTable:
        """A table of rows written by ``row``."""

    @abstractmethod
    def row(self, pairs: dict[str, Any]) -> bytes:
        """An object of a table."""


class MessagePack(Encoder):
    """The FIFO protocol's metadata."""

    def __init__(self) -> None:
        import msgpack

        self._packer = msgpack.Packer()

    def value(self, value: Any) -> bytes:
        """Any plain value."""
        packed: bytes = self._packer.pack(value)
        return packed

    def entries(self, pairs: dict[str, Any]) -> Entries:
        """The pairs of a part of a map."""
        header = 1 if len(pairs) < 16 else _MAP_16.size
        return Entries(len(pairs), (self.value(pairs)[header:],))

    def written(self, key: str, value: Chunks) -> Entries:
        """One pair whose value has been written already."""
        return Entries(1, (self.value(key), *value))

    def map(self, parts: Sequence[Entries]) -> Chunks:
        """A map of all pairs of some parts."""
        header: bytes = self._packer.pack_map_header(sum(part.count for part in parts))
        return (header, *(chunk for part in parts for chunk in part.body))

    def array_of_one(self, item: Chunks) -> Chunks:
        """A list of one written value."""
        return (self._packer.pack_array_header(1), *item)

    def table(self, rows: Sequence[bytes]) -> EncodedTable:
        """A table of rows written by ``row``."""
        return _PackedTable(self._packer.pack_array_header(len(rows)), rows, self._places())

    def row(self, pairs: dict[str, Any]) -> bytes:
        """An object of a table; where its flags and its number are is known from its end."""
        body = self.entries(pairs).body[0]
        header = _MAP_16.pack(0xDE, len(pairs) + len(FLAGS) + 1)
        tail = b"".join(self.value(name) + bytes([_FALSE]) for name in FLAGS)
        return b"".join((header, body, tail, self.value(NUMBER), bytes([_DOUBLE]), bytes(8)))

    def _places(self) -> list[int]:
        """How far before the end of a row its flags are."""
        behind = len(self.value(NUMBER)) + 9
        places = []
        for name in reversed(FLAGS):
            places.append(behind + 1)
            behind += 1 + len(self.value(name))
        return places


class _PackedTable(EncodedTable):
    def __init__(self, header: bytes, rows: Sequence[bytes], flags: Sequence[int]) -> None:
        self._bytes = np.frombuffer(bytearray(header + b"".join(rows)), dtype=np.uint8)
        ends = len(header) + np.cumsum([len(row) for row in rows], dtype=np.intp)[:, None]
        self._flags = ends - np.array(flags)
        self._numbers = ends - np.arange(8, 0, -1)

    def fill(self, flags: NDArray[np.bool_], numbers: NDArray[np.float64]) -> Chunks:
        """The list with these values."""
        self._bytes[self._flags] = np.where(flags, np.uint8(_TRUE), np.uint8(_FALSE))[:, None]
        self._bytes[self._numbers] = numbers.astype(">f8").view(np.uint8).reshape(-1, 8)
        return (self._bytes.data,)


class Json(Encoder):
    """The HTTP protocol's metadata."""

    def value(self, value: Any) -> bytes:
        """Any plain value."""
        return json.dumps(value).encode()

    def entries(self, pairs: dict[str, Any]) -> Entries:
        """The pairs of a part of a map."""
        return Entries(len(pairs), (json.dumps(pairs)[1:-1].encode(),))

    def written(self, key: str, value: Chunks) -> Entries:
        """One pair whose value has been written already."""
        return Entries(1, (json.dumps(key).encode(), b": ", *value))

    def map(self, parts: Sequence[Entries]) -> Chunks:
        """A map of all pairs of some parts."""
        chunks: list[bytes | memoryview] = []
        for part in parts:
            if part.count:
                chunks += (b", " if chunks else b"{", *part.body)
        return (*chunks, b"}") if chunks else (b"{}",)

    def array_of_one(self, item: Chunks) -> Chunks:
        """A list of one written value."""
        return (b"[", *item, b"]")

    def table(self, rows: Sequence[bytes]) -> EncodedTable:
        """A table of rows written by ``row``."""
        return _TextTable(rows)

    def row(self, pairs: dict[str, Any]) -> bytes:
        """An object of a table."""
        return json.dumps(pairs)[:-1].encode()


class _TextTable(EncodedTable):
    def __init__(self, rows: Sequence[bytes]) -> None:
        self._rows = rows
        self._ends = {
            flag: "".join(f', "{name}": {json.dumps(flag)}' for name in FLAGS).encode()
            + f', "{NUMBER}": '.encode()
            for flag in (False, True)
        }

    def fill(self, flags: NDArray[np.bool_], numbers: NDArray[np.float64]) -> Chunks:
        """The list with these values."""
        ends, last = self._ends, len(self._rows) - 1
        chunks: list[bytes | memoryview] = [b"["]
        for k, (row, flag, number) in enumerate(zip(self._rows, flags.tolist(), numbers.tolist())):
            chunks += (row, ends[flag], repr(number).encode(), b"}, " if k < last else b"}")
        return (*chunks, b"]")
