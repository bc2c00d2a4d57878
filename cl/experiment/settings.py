"""Settings that are declared once: a field gives default, help, check and option."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, field, fields
from functools import cache
from typing import Any

from gym_clalfred.errors import BadInputError
from gym_clalfred.names import choose

#: The largest seed, and larger than any count.
LARGEST = 2**32 - 1

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def setting(
    default: Any,
    text: str,
    *,
    least: int = 1,
    most: int = LARGEST,
    choices: Callable[[], Iterable[str]] | None = None,
    path: bool = False,
    shown: str = "",
) -> Any:
    """A field of a dataclass of settings.

    Args:
        default: its value unless given.
        text: one sentence for ``--help`` and the documentation.
        least: the smallest number allowed.
        most: the largest.
        choices: gives what a text may be.
        path: whether a text is the path of a file or folder.
        shown: how ``--help`` puts a default of ``None``.
    """
    metadata = {
        "text": text,
        "least": least,
        "most": most,
        "choices": choices,
        "path": path,
        "shown": shown,
    }
    return field(default=default, metadata=metadata)


def declared(config_class: type) -> dict[str, Field[Any]]:
    """The fields that were declared with ``setting``, by name."""
    return {one.name: one for one in fields(config_class) if "text" in one.metadata}


@cache
def kind_of(config_class: type, name: str) -> tuple[type, bool]:
    """The type of a setting and whether it may be ``None``."""
    hint = typing.get_type_hints(config_class)[name]
    if isinstance(hint, types.UnionType):
        kinds = [one for one in typing.get_args(hint) if one is not type(None)]
        return kinds[0], True
    return hint, False


def check(config: Any) -> None:
    """Raises ``BadInputError`` for the first setting that is not what its field says."""
    config_class: type = type(config)
    for name, one in declared(config_class).items():
        value, (kind, optional) = getattr(config, name), kind_of(config_class, name)
        if value is None and optional:
            continue
        if isinstance(value, list | tuple):
            raise BadInputError(
                f"{name} {value!r}: expected one value, since this is one run; clalfred-sweep "
                "takes several"
            )
        if type(value) is not kind:
            raise BadInputError(f"{name} {value!r}: expected {_expected(kind, one)}")
        if kind is int and not one.metadata["least"] <= value <= one.metadata["most"]:
            raise BadInputError(f"{name} {value!r}: expected {_expected(kind, one)}")
        if one.metadata["choices"] is not None:
            choose(name, str(value), one.metadata["choices"]())


def given(values: Mapping[str, Any], config_class: type) -> Mapping[str, Any]:
    """The values themselves if there is a field for each."""
    known = [one.name for one in fields(config_class)]
    for name in values:
        choose("setting", name, known)
    return values


def _expected(kind: type, one: Field[Any]) -> str:
    if kind is not int:
        return _KINDS[kind]
    least, most = one.metadata["least"], one.metadata["most"]
    return f"a whole number from {least} to {most}"
