"""Looks up names in any spelling."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from gym_clalfred.errors import BadInputError

T = TypeVar("T")


def plain(name: str) -> str:
    """A name without case, blanks and punctuation: ``Pick&Place`` is ``pickplace``."""
    return "".join(character for character in name.lower() if character.isalnum())


def match_name(
    argument: str,
    given: Any,
    names: Mapping[str, T],
    expected: Sequence[str] = (),
) -> T:
    """The value of a name; case, blanks and punctuation are ignored.

    Args:
        argument: name of the argument, for the error.
        given: the name.
        names: every known name and its value; names that differ only in spelling must have
            the same value.
        expected: the names that the error lists; all if empty.
    """
    known = {plain(name): meant for name, meant in names.items()}
    if isinstance(given, str) and plain(given) in known:
        return known[plain(given)]
    listed = list(expected) or list(names)
    text = f"expected {argument} to be one of {', '.join(listed)}, got {given!r}"
    if isinstance(given, str):
        close = difflib.get_close_matches(plain(given), [plain(name) for name in listed], n=1)
        meant_by = {plain(name): name for name in listed}
        text += "".join(f"; did you mean {meant_by[name]!r}?" for name in close)
    raise BadInputError(text)


def choose(what: str, name: str, known: Iterable[str]) -> str:
    """The name if it is known; otherwise an error with all names and the closest match."""
    names = list(known)
    if name in names:
        return name
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise BadInputError(f"unknown {what} {name!r}: {hint}known are {', '.join(names)}")
