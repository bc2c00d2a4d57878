"""Reading untrusted JSON: a value together with the place it stands at.

Every getter checks the type it promises and raises ``DataError`` naming the file and the field.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from gym_clalfred.errors import DataError

#: No room of AI2-THOR is wider; anything beyond is a damaged number.
LARGEST_METRES = 1000.0


class Field:
    """One value of a JSON document.

    Args:
        value: what ``json`` made of it.
        file: the document's name, for messages.
        parent: the field that contains it; ``None`` for the document itself.
        key: under which the parent has it.
    """

    __slots__ = ("file", "key", "parent", "value")

    def __init__(
        self, value: Any, file: str, parent: Field | None = None, key: str | int = ""
    ) -> None:
        self.value = value
        self.file = file
        self.parent = parent
        self.key = key

    @property
    def path(self) -> str:
        """The keys that lead to the value, such as ``scene.object_poses[3]``."""
        # Only wanted in messages, so it is put together when one is written.
        before = self.parent.path if self.parent else ""
        if isinstance(self.key, int):
            return f"{before}[{self.key}]"
        return f"{before}.{self.key}" if before else self.key

    @classmethod
    def parse(cls, text: str | bytes, file: str) -> Field:
        """The document as a whole."""
        try:
            return cls(json.loads(text), file)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{file}: not a JSON document: {error}") from None

    @classmethod
    def read(cls, path: Path) -> Field:
        """The document in a file."""
        try:
            return cls.parse(path.read_bytes(), str(path))
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from None

    def fail(self, expected: str) -> NoReturn:
        """Raises the error that this field is not as expected."""
        found = repr(self.value)
        found = found if len(found) <= 80 else found[:77] + "..."
        raise DataError(
            f"{self.file}: {self.path or 'document'}: expected {expected}, found {found}"
        )

    def __getitem__(self, key: str) -> Field:
        if not isinstance(self.value, dict):
            self.fail(f"an object with the key {key!r}")
        try:
            return Field(self.value[key], self.file, self, key)
        except KeyError:
            missing = Field(None, self.file, self, key)
            raise DataError(f"{self.file}: {missing.path}: missing") from None

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __iter__(self) -> Iterator[Field]:
        if not isinstance(self.value, list):
            self.fail("a list")
        for index, value in enumerate(self.value):
            yield Field(value, self.file, self, index)

    def text(self) -> str:
        """A string that UTF-8 can hold."""
        if not isinstance(self.value, str):
            self.fail("a string")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            self.fail("a string of valid characters")
        return self.value

    def words(self) -> str:
        """A string with something to read in it."""
        text = self.text()
        if not text.strip():
            self.fail("a sentence")
        return text

    def integer(self, low: int, high: int) -> int:
        """A whole number of a range, both ends included."""
        if type(self.value) is not int or not low <= self.value <= high:
            self.fail(f"a whole number from {low} to {high}")
        return int(self.value)

    def flag(self) -> bool:
        """``true`` or ``false``."""
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def metres(self) -> float:
        """A finite length or coordinate."""
        if type(self.value) not in (int, float):
            self.fail("a number")
        # Compared before any conversion, which would overflow for integers of hundreds of digits.
        if not -LARGEST_METRES <= self.value <= LARGEST_METRES:
            self.fail(f"a coordinate within {LARGEST_METRES:g} m")
        return float(self.value)

    def degrees(self) -> float:
        """A finite angle."""
        if type(self.value) not in (int, float):
            self.fail("a number")
        if not -3600 <= self.value <= 3600 or not math.isfinite(self.value):
            self.fail("an angle in degrees")
        return float(self.value)
