"""Typed models of files and settings: msgspec checks them, and every error names the field.

A model is a ``msgspec.Struct``. Its annotations say what a file holds; from them come the check,
the words of its errors (``a.b[3]: expected a whole number from 0, found -1``) and the tables in the
documentation.
"""

from __future__ import annotations

import contextlib
import gzip
import inspect
import json
import re
import types
import typing
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from msgspec import inspect as kinds

from gym_clalfred.errors import BadInputError, DataError

T = TypeVar("T")

_LARGEST = 2**63 - 1

#: A compressed file may not unpack to more.
MOST_BYTES = 2**28

_LONGEST_FOUND = 80


def said(words: str, **limits: Any) -> Meta:
    """Limits of a type, and what errors say is expected."""
    return Meta(extra={"words": words}, **limits)


#: A whole number that counts something.
Natural = Annotated[int, said("a whole number from 0", ge=0, le=_LARGEST)]

#: Any finite number; a whole one stays whole.
Number = Annotated[Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)] | float, said("a number")]


def read(path: Path, kind: type[T]) -> T:
    """The model in a JSON file, which may be compressed (``.gz``).

    Raises:
        DataError: if it cannot be read or is not such a model; names the file and the field.
    """
    try:
        content = _unpacked(path) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged ({error})") from None
    except OSError as error:
        advice = "; change its permissions" if isinstance(error, PermissionError) else ""
        raise DataError(f"{path}: cannot be read ({error.strerror}){advice}") from None
    return parse(content, kind, str(path))


def _unpacked(path: Path) -> bytes:
    with gzip.open(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(f"{path}: expected at most {MOST_BYTES} bytes when unpacked, found more")
    return content


def parse(text: str | bytes, kind: type[T], file: str) -> T:
    """The model in a JSON text, which ``file`` names in errors."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        reason = f"not a JSON document: {error}"
        if isinstance(error, msgspec.ValidationError):
            # Read again without a type, only to say what was found; it may break off further on.
            with contextlib.suppress(ValueError, RecursionError):
                reason = _explained(error, json.loads(text), kind)
        raise DataError(f"{file}: {reason}") from None


def convert(value: Any, kind: Any) -> Any:
    """The model of plain values, as a checkpoint has them.

    Raises:
        BadInputError: if it is no such model; names the field.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadInputError(_explained(error, value, kind)) from None


def shown(value: Any) -> str:
    """What was found, for an error: cut if it is long."""
    found = repr(value)
    return found if len(found) <= _LONGEST_FOUND else f"{found[: _LONGEST_FOUND - 3]}..."


def words(kind: Any) -> str:
    """What a type expects, such as ``a whole number from 1 to 5``."""
    return _words(kinds.type_info(kind))


def alternatives(kind: Any) -> tuple[Any, ...]:
    """What a union is of, or the type alone."""
    union = typing.get_origin(plain(kind)) in (typing.Union, types.UnionType)
    return typing.get_args(plain(kind)) if union else (kind,)


def markdown(model: type, *without: str) -> str:
    """A table of a model's fields: name in a file, what is expected, description.

    Descriptions are those of ``Args`` in the docstrings of the model and its bases.
    """
    told: dict[str, str] = {}
    for base in reversed(model.__mro__):
        part = inspect.cleandoc(base.__doc__ or "").partition("Args:\n")[2]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", part, flags=re.MULTILINE):
            told[name] = " ".join(text.split())
    rows = ["| field | holds | what it says |", "|---|---|---|"]
    for one in msgspec.structs.fields(model):
        if one.name not in without:
            rows.append(f"| `{one.encode_name}` | {words(one.type)} | {told.get(one.name, '')} |")
    return "\n".join(rows)


def _explained(error: msgspec.ValidationError, value: Any, kind: Any) -> str:
    """An error of msgspec in our words: the place, what was expected there, what was found."""
    message, _, place = str(error).partition(" - at `")
    path = ""
    for name, index, some in re.findall(r"\.([^.\[`]+)|\[(\d+)\]|(\[\.\.\.\])", place):
        if some:  # msgspec does not say which key it was
            name, value, kind = _wrong_item(value, _inner(kind, ""))
        elif index:
            value, kind = value[int(index)], _inner(kind, int(index))
        else:
            value, kind = value.get(name), _inner(kind, name)
        path += f"[{index}]" if index else f".{name}" if path else name
    missing = re.match(r"Object missing required field `(.+)`", message)
    if missing:
        name = missing[1]
        path = f"{path}.{name}" if path else name
        return f"{path}: expected {words(_inner(kind, name))}, found nothing"
    if not message.startswith(("Expected", "Invalid", "Number out of range")):
        return f"{path}.{message}" if path else message  # of a model's own check of a field
    return f"{path or 'document'}: expected {words(kind)}, found {shown(value)}"


def _wrong_item(values: Mapping[str, Any], kind: Any) -> tuple[str, Any, Any]:
    for key, value in values.items():
        try:
            msgspec.convert(value, kind)
        except (msgspec.ValidationError, OverflowError):
            return key, value, kind
    return "key", next(iter(values)), str


def _inner(kind: Any, key: str | int) -> Any:
    """The type of a field, of an element or of a value of a mapping."""
    for one in map(plain, alternatives(kind)):
        arguments = typing.get_args(one)
        if isinstance(key, int) and arguments:
            whole = len(arguments) > key and arguments[-1] is not ...
            return arguments[key] if whole and typing.get_origin(one) is tuple else arguments[0]
        if isinstance(one, type) and issubclass(one, msgspec.Struct):
            for known in msgspec.structs.fields(one):
                if known.encode_name == key:
                    return known.type
        elif not key and len(arguments) == 2:
            return arguments[1]
    return Any


def plain(kind: Any) -> Any:
    """A type without its limits."""
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind


def _words(kind: kinds.Type) -> str:
    if isinstance(kind, kinds.Metadata):
        return str((kind.extra or {}).get("words") or _words(kind.type))
    if isinstance(kind, kinds.UnionType):
        return " or ".join(_words(one) for one in kind.types)
    if isinstance(kind, kinds.IntType | kinds.FloatType):
        least = "" if kind.ge is None else f" from {kind.ge}"
        most = "" if kind.le is None else f" to {kind.le}"
        return f"{_NAMES[type(kind)]}{least}{most}"
    if isinstance(kind, kinds.LiteralType | kinds.EnumType):
        members = kind.values if isinstance(kind, kinds.LiteralType) else kind.cls
        return " or ".join(str(getattr(one, "value", one)) for one in members)
    return _NAMES.get(type(kind), "an object")


_NAMES: dict[type[kinds.Type], str] = {
    kinds.IntType: "a whole number",
    kinds.FloatType: "a number",
    kinds.StrType: "a text",
    kinds.BoolType: "true or false",
    kinds.NoneType: "null",
    kinds.ListType: "a list",
    kinds.TupleType: "a list",
    kinds.VarTupleType: "a list",
}
