"""Brings any text to the characters that the environment's text spaces allow."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable

#: Letters, digits, punctuation, space and newline.
CHARACTERS = string.ascii_letters + string.digits + string.punctuation + " \n"

_ALLOWED = frozenset(CHARACTERS)
_PLAIN = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2026": "...",
        "\u00bd": "1/2",
        "\u00b0": " degrees",
        "\t": " ",
        "\r": "\n",
    }
)


def plain_text(text: str, longest: int) -> str:
    """The text in ``CHARACTERS`` only, at most ``longest`` of them.

    Accents are dropped, typographic quotes and dashes become plain ones, whatever else is not
    allowed becomes a space.
    """
    if not _ALLOWED.issuperset(text):
        decomposed = unicodedata.normalize("NFKD", text.translate(_PLAIN))
        kept = (char for char in decomposed if not unicodedata.combining(char))
        text = "".join(char if char in _ALLOWED else " " for char in kept)
    return text[:longest]


def plain_lines(sentences: Iterable[str], longest: int) -> str:
    """Each sentence on one line, in ``CHARACTERS`` only; people wrote some over several."""
    return plain_text("\n".join(" ".join(sentence.split()) for sentence in sentences), longest)
