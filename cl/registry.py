"""The methods by name: those of this package and those that other packages add.

Another package adds a method with an entry point in the group ``clalfred.methods``, or at run time
with ``register``. From then on it is listed, trained, swept and reported like any other.
"""

from __future__ import annotations

import difflib
from importlib import metadata

from clalfred.cl.base import ContinualLearner
from clalfred.cl.cama import CAMA, CAMAWithoutDC
from clalfred.cl.clib import CLIB
from clalfred.cl.derpp import DERpp
from clalfred.cl.er import ER
from clalfred.cl.ewcpp import EWCpp
from clalfred.cl.finetuning import Finetuning
from clalfred.cl.joint import Joint
from clalfred.cl.mir import MIR
from clalfred.cl.xder import XDER
from gym_clalfred.errors import BadInputError, UnknownMethodError

ENTRY_POINTS = "clalfred.methods"

#: In the order of the paper's tables.
_METHODS: dict[str, type[ContinualLearner]] = {
    "finetuning": Finetuning,
    "ewc++": EWCpp,
    "er": ER,
    "mir": MIR,
    "clib": CLIB,
    "der++": DERpp,
    "x-der": XDER,
    "cama-without-dc": CAMAWithoutDC,
    "cama": CAMA,
    "joint": Joint,
}


def register(name: str, method: type[ContinualLearner]) -> None:
    """Adds a method; its name must be new."""
    if not (isinstance(method, type) and issubclass(method, ContinualLearner)):
        raise BadInputError(f"method {name!r}: expected a subclass of ContinualLearner: {method!r}")
    found = _find(name)
    if found is not None and found[1] is not method:
        raise BadInputError(f"method {name!r} is registered already, by {found[1].__module__}")
    _METHODS.setdefault(name.lower(), method)


def method_names() -> tuple[str, ...]:
    """All methods, those of this package first, in the order of the paper's tables."""
    return tuple(_known())


def get_method(name: str) -> type[ContinualLearner]:
    """The class of a method; the error for an unknown name gives the closest known one."""
    return _get(name)[1]


def canonical_name(name: str) -> str:
    """The name under which a method is registered: ``der++`` for ``DERpp``."""
    return _get(name)[0]


def _get(name: str) -> tuple[str, type[ContinualLearner]]:
    found = _find(name)
    if found is not None:
        return found
    names = method_names()
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise UnknownMethodError(f"unknown method {name!r}: {hint}known are {', '.join(names)}")


def _find(name: str) -> tuple[str, type[ContinualLearner]] | None:
    """The registered name and the class."""
    wanted = _letters(name)
    # Other packages are asked last: looking for them takes a while.
    for source in (lambda: _METHODS, _known):
        for known, method in source().items():
            if _letters(known) == wanted:
                return known, method
    return None


def _known() -> dict[str, type[ContinualLearner]]:
    found = dict(_METHODS)
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        found.setdefault(entry.name.lower(), entry.load())
    return found


def _letters(name: str) -> str:
    """``DER++``, ``derpp`` and ``der_pp`` are one name."""
    return "".join(filter(str.isalnum, name.lower().replace("+", "p")))
