"""The simulators that ``backend=...`` names; each is imported only when it is used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from gym_clalfred.errors import BadInputError, MissingDependencyError
from gym_clalfred.simulator.contract import RenderOptions, Simulator
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.source_code import code_of

RoomSource = Callable[[int], Room]


@dataclass(frozen=True)
class Backend:
    """How to get a simulator.

    Args:
        entry_point: ``module:Class``; the class is called with (``RenderOptions``, rooms), where
            rooms gives the ``Room`` of a scene number. AI2-THOR has its own rooms and ignores it.
        package: a package that has to be installed for it.
        extra: the extra of this project that installs the package.
    """

    entry_point: str
    package: str | None = None
    extra: str | None = None


#: All backends by name; a further one is added by an entry here.
BACKENDS = {
    "embedded": Backend("gym_clalfred.simulator.embedded.simulator:EmbeddedSimulator"),
    "thor": Backend("gym_clalfred.simulator.thor:ThorSimulator", "ai2thor", "thor"),
}


def check_backend(name: str) -> str:
    """The name itself if there is such a backend and what it needs is installed."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise BadInputError(f"unknown backend {name!r}: expected one of {sorted(BACKENDS)}")
    backend = BACKENDS[name]
    if backend.package is not None and find_spec(backend.package) is None:
        raise MissingDependencyError(
            f"backend={name!r} needs the package {backend.package}; install it with: "
            f'pip install "cl-alfred-gym[{backend.extra}]"'
        )
    return name


def make_simulator(name: str, render: RenderOptions, rooms: RoomSource) -> Simulator:
    """Makes a simulator.

    Args:
        name: a key of ``BACKENDS``.
        render: what its frames contain.
        rooms: gives the room of a scene number.
    """
    module, _, attribute = BACKENDS[check_backend(name)].entry_point.partition(":")
    simulator: Simulator = getattr(import_module(module), attribute)(render, rooms)
    return simulator


@cache
def appearance_label(name: str) -> str:
    """Identifies how a backend's pictures look, as a key for what is computed from them.

    For the embedded household that is a hash of its code, since any change of it may change a
    pixel.
    """
    if name != "embedded":
        return name
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.joinpath("embedded").rglob("*.py")):
        digest.update(code_of(path.read_text("utf-8")).encode())
    return f"{name}-{digest.hexdigest()[:12]}"
