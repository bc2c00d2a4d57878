"""Names for how the pictures of a simulator look, other than the embedded one's."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from contextlib import suppress
from pathlib import Path

from gym_clalfred.data.store import read_info
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.backends import appearance_label
from gym_clalfred.simulator.contract import Simulator
from gym_clalfred.simulator.thor import ThorOptions, ThorSimulator


def appearance_of(simulator: Simulator) -> str:
    """Identifies how a simulator's pictures look; what is computed from them is kept under it.

    That is its label; AI2-THOR's tells version and build only, so a hash of what else it is
    started with follows.
    """
    if not isinstance(simulator, ThorSimulator):
        return simulator.label
    digest = hashlib.sha256(json.dumps(_appearance(simulator.options)).encode()).hexdigest()
    return f"{simulator.label}-{digest[:12]}"


def _appearance(options: ThorOptions) -> list[str | int | None]:
    """What decides how AI2-THOR's pictures look, as far as it can be known before it runs."""
    known: list[str | int | None] = [options.command, options.quality, options.platform]
    words = shlex.split(options.command or "")
    if options.is_player:
        return [*known, appearance_label("embedded"), *_store_labels(words)]
    if words:
        with suppress(OSError):
            program = Path(shutil.which(words[0]) or words[0]).stat()
            known += [program.st_size, program.st_mtime_ns]
    return known


def _store_labels(words: list[str]) -> list[str]:
    """The label of the store that a player's command line names; none where there is no store."""
    found = []
    for word, following in zip(words, [*words[1:], ""]):
        option, _, value = word.partition("=")
        if option == "--data":
            with suppress(DataError):
                found.append(read_info(value or following).label)
    return found
