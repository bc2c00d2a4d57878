"""Errors of typed files: the field is named even where the document itself is odd."""

from __future__ import annotations

import msgspec
import pytest

from gym_clalfred.errors import DataError
from gym_clalfred.schema import parse


class Weights(msgspec.Struct):
    apple: float


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"apple": 1e999}', "apple: expected a number, found inf"),
        ('{"apple": "heavy", "pear": NaN}', "apple: expected a number, found 'heavy'"),
        ("[[", "not a JSON document"),
        ('{"apple": 3', "not a JSON document"),
    ],
)
def test_what_is_wrong_is_named(text: str, words: str) -> None:
    with pytest.raises(DataError, match=f"^fruit: {words}"):
        parse(text, Weights, "fruit")
