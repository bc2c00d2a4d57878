"""Misbehaviour on purpose, to show that clients survive what Unity does on bad days."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gym_clalfred.errors import BadInputError

#: ``kind``, or ``kind:n`` to do it from the n-th message on, or ``kind:n:path`` to do it once:
#: when it happens the file ``path`` is made, and as long as it exists nothing happens.
FAULT_VARIABLE = "CLALFRED_PLAYER_FAULT"


class Kind(str, Enum):
    """What can go wrong."""

    DEAF = "dies-before-handshake"
    DEATH = "dies"
    HANG = "hangs"
    TRUNCATED = "truncated"
    WRONG_SIZE = "wrong-size"
    LATE = "late"


@dataclass(frozen=True)
class Fault:
    """One misbehaviour.

    Args:
        kind: what happens.
        at: number of the message from which on it happens; the first frame is 0.
        once: a file that remembers that it happened.
    """

    kind: Kind
    at: int = 0
    once: Path | None = None

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Reads the value of ``FAULT_VARIABLE``."""
        kind, _, rest = text.partition(":")
        number, _, path = rest.partition(":")
        kinds = [each.value for each in Kind]
        if kind not in kinds or not (number or "0").isdecimal():
            raise BadInputError(f"expected a fault 'kind:number:file' of {kinds}, got {text!r}")
        return cls(Kind(kind), int(number or 0), Path(path) if path else None)

    def happens(self, message: int, has_images: bool = True) -> bool:
        """Whether to do it now; afterwards, with ``once``, it counts as done."""
        if message < self.at or (self.once is not None and self.once.exists()):
            return False
        if self.kind is Kind.WRONG_SIZE and not has_images:
            return False
        if self.once is not None:
            self.once.touch()
        return True


def fault_from_environment() -> Fault | None:
    """The fault that the environment asks for, if any."""
    text = os.environ.get(FAULT_VARIABLE)
    return Fault.parse(text) if text else None


def misbehave(kind: Kind) -> None:
    """Dies, hangs or dawdles; the others concern the message itself."""
    if kind in (Kind.DEAF, Kind.DEATH):
        os._exit(1)
    if kind is Kind.HANG:
        while True:
            time.sleep(3600)
    if kind is Kind.LATE:
        time.sleep(float(os.environ.get("CLALFRED_PLAYER_DELAY", "30")))
