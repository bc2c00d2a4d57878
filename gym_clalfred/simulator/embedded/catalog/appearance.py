"""The part of an object's state that shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Appearance:
    """The part of an object's state that changes how it looks; ``tipped`` is ``fit.is_tipped``."""

    is_open: bool = False
    is_on: bool = False
    is_dirty: bool = False
    heated: bool = False
    cooled: bool = False
    tipped: bool = False
