"""Writes metadata as MessagePack or JSON from parts that may have been written before.

Most of what AI2-THOR says of a scene does not change from one step to the next, so objects are
kept as bytes and only joined anew.
"""

from __future__ import annotations

import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: MessagePack's header of a map with a 16-bit length, and a 64-bit float.
_MAP_16 = struct.Struct(">BH")
_DOUBLE = struct.Struct(">d")


@dataclass(frozen=True)
class Entries:
    """Some key-value pairs of a map, written."""

    count: int
    body: bytes


class Encoder(ABC):
    """Writes values and joins written parts."""

    @abstractmethod
    def value(self, value: Any) -> bytes:
        """Any plain value."""

    @abstractmethod
    def entries(self, pairs: dict[str, Any]) -> Entries:
        """The pairs of a part of a map."""

    @abstractmethod
    def written(self, key: str, value: bytes) -> Entries:
        """One pair whose value has been written already."""

    @abstractmethod
    def map(self, parts: Sequence[Entries]) -> bytes:
        """A map of all pairs of some parts."""

    @abstractmethod
    def array(self, items: Sequence[bytes]) -> bytes:
        """A list of written values."""

    @abstractmethod
    def table(self, rows: Sequence[tuple[Entries, Entries, float]], key: str) -> bytes:
        """A list of maps, each of two written parts and a number under ``key``."""


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
        pack = self._packer.pack
        body = b"".join(pack(part) for pair in pairs.items() for part in pair)
        return Entries(len(pairs), body)

    def written(self, key: str, value: bytes) -> Entries:
        """One pair whose value has been written already."""
        return Entries(1, self.value(key) + value)

    def map(self, parts: Sequence[Entries]) -> bytes:
        """A map of all pairs of some parts."""
        header: bytes = self._packer.pack_map_header(sum(part.count for part in parts))
        return header + b"".join(part.body for part in parts)

    def array(self, items: Sequence[bytes]) -> bytes:
        """A list of written values."""
        header: bytes = self._packer.pack_array_header(len(items))
        return header + b"".join(items)

    def table(self, rows: Sequence[tuple[Entries, Entries, float]], key: str) -> bytes:
        """A list of maps, each of two written parts and a number under ``key``."""
        parts: list[bytes] = [self._packer.pack_array_header(len(rows))]
        before = self.value(key) + b"\xcb"
        for first, second, number in rows:
            parts += (
                _MAP_16.pack(0xDE, first.count + second.count + 1),
                first.body,
                second.body,
                before,
                _DOUBLE.pack(number),
            )
        return b"".join(parts)


class Json(Encoder):
    """The HTTP protocol's metadata."""

    def value(self, value: Any) -> bytes:
        """Any plain value."""
        return json.dumps(value).encode()

    def entries(self, pairs: dict[str, Any]) -> Entries:
        """The pairs of a part of a map."""
        return Entries(len(pairs), json.dumps(pairs)[1:-1].encode())

    def written(self, key: str, value: bytes) -> Entries:
        """One pair whose value has been written already."""
        return Entries(1, json.dumps(key).encode() + b": " + value)

    def map(self, parts: Sequence[Entries]) -> bytes:
        """A map of all pairs of some parts."""
        return b"{" + b", ".join(part.body for part in parts if part.count) + b"}"

    def array(self, items: Sequence[bytes]) -> bytes:
        """A list of written values."""
        return b"[" + b", ".join(items) + b"]"

    def table(self, rows: Sequence[tuple[Entries, Entries, float]], key: str) -> bytes:
        """A list of maps, each of two written parts and a number under ``key``."""
        return self.array(
            [
                b'{%b, %b, "%b": %b}' % (a.body, b.body, key.encode(), repr(number).encode())
                for a, b, number in rows
            ]
        )
