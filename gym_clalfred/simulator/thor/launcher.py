"""Runs ``clalfred-player`` of the copy of this project that the file belongs to.

Started as a plain script, by its path: ``python -m scripts.player`` would run whatever is called
``scripts`` in the folder where the user happens to be.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

#: This file's folder, and the one that has the project's packages.
FOLDER = Path(__file__).absolute().parent
ROOT = FOLDER.parents[2]

PACKAGES = frozenset(["gym_clalfred", "agents", "cl", "scripts"])


class OwnPackages(MetaPathFinder):
    """Finds the project's packages beside each other, whatever else has their names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package, if it is one of ours; all else is found as usual."""
        return PathFinder.find_spec(fullname, [str(ROOT)]) if fullname in PACKAGES else None


def main() -> None:
    """Runs the player with the arguments of this process."""
    # Where Python puts a script's folder, our modules would be found under their bare names.
    if sys.path[0] == str(FOLDER):
        del sys.path[0]
    sys.meta_path.insert(0, OwnPackages())
    import_module("scripts.player").main(prog_name="clalfred-player")


if __name__ == "__main__":
    main()
