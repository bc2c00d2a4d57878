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
    raise BadInputError(
        f"expected {argument} to be one of {', '.join(listed)}, got {given!r}. "
        f"{did_you_mean(given, listed)}".rstrip(". ")
    )


def choose(
    what: str, name: str, known: Iterable[str], error: type[BadInputError] = BadInputError
) -> str:
    """The name if it is known; otherwise an error with all names and the closest match."""
    names = list(known)
    if name in names:
        return name
    there = f"known are {', '.join(names)}" if names else "there are none"
    raise error(f"unknown {what} {name!r}: {did_you_mean(name, names)}{there}")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A question with the closest known name, case and punctuation aside; empty without one."""
    meant = {plain(one): one for one in known}
    close = difflib.get_close_matches(plain(str(name)), meant, n=1, cutoff=0.5)
    return f"did you mean {meant[close[0]]!r}? " if close else ""
