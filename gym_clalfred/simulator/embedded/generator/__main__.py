"""Searches for the layouts of all rooms anew and rewrites ``drafts.py``.

To be run after a change to the rooms or to the catalogue's sizes of furniture, together with a new
``ROOMS_VERSION``.
"""

from __future__ import annotations

import os
from pathlib import Path

from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.embedded.generator import drafts
from gym_clalfred.simulator.embedded.generator.rooms import find_draft


def main() -> None:
    """Rewrites the table beside this file."""
    path = Path(drafts.__file__)
    head, _ = path.read_text().split("DRAFTS:")
    rows = "".join(f"    {number}: {find_draft(number)},\n" for number in ROOM_NUMBERS)
    temporary = path.with_suffix(".new")
    temporary.write_text(f"{head}DRAFTS: dict[int, tuple[int, float]] = {{\n{rows}}}\n")
    os.replace(temporary, path)


if __name__ == "__main__":
    main()
