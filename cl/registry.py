"""The methods by name: those of this package and those that other packages add.

Another package adds a method with an entry point in the group ``clalfred.methods``, or at run time
with ``register``. From then on it is listed, trained, swept and reported like any other.
"""

from __future__ import annotations

from clalfred.agents.registry import Registry
from clalfred.cl.base import ContinualLearner
from gym_clalfred.errors import BadInputError, UnknownMethodError

#: In the order of the tables: the paper's methods, later ones, joint training.
METHODS: Registry[type[ContinualLearner]] = Registry(
    "method",
    "clalfred.methods",
    {
        "finetuning": "clalfred.cl.finetuning:Finetuning",
        "ewc++": "clalfred.cl.ewcpp:EWCpp",
        "er": "clalfred.cl.er:ER",
        "mir": "clalfred.cl.mir:MIR",
        "clib": "clalfred.cl.clib:CLIB",
        "der++": "clalfred.cl.derpp:DERpp",
        "x-der": "clalfred.cl.xder:XDER",
        "cama-without-dc": "clalfred.cl.cama:CAMAWithoutDC",
        "cama": "clalfred.cl.cama:CAMA",
        "er-ace": "clalfred.cl.erace:ERACE",
        "rar": "clalfred.cl.rar:RAR",
        "star": "clalfred.cl.star:STAR",
        "mkd": "clalfred.cl.mkd:MKD",
        "pantry": "clalfred.cl.pantry:Pantry",
        "joint": "clalfred.cl.joint:Joint",
    },
    UnknownMethodError,
)


def register(name: str, method: type[ContinualLearner]) -> None:
    """Adds a method; its name must be new."""
    if not (isinstance(method, type) and issubclass(method, ContinualLearner)):
        raise BadInputError(f"method {name!r}: expected a subclass of ContinualLearner: {method!r}")
    METHODS.register(name, method)


def method_names() -> tuple[str, ...]:
    """All methods, those of this package first, in the order of the paper's tables."""
    return METHODS.names()


def get_method(name: str) -> type[ContinualLearner]:
    """The class of a method; the error for an unknown name gives the closest known one."""
    return METHODS.get(name)


def is_offline(name: str) -> bool:
    """Whether a method trains after the stream, as Joint does; false for an unknown one."""
    return name in METHODS.names() and get_method(name).offline


def canonical_name(name: str) -> str:
    """The name under which a method is registered: ``der++`` for ``DERpp``."""
    return METHODS.canonical(name)
