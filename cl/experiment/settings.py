"""Settings that are declared once.

A field gives the type with its limits, the default, the help and what a report's title says. The
option, the check, its error, the documentation and the title follow from it.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, field, fields
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gym_clalfred.errors import BadInputError
from gym_clalfred.names import choose
from gym_clalfred.schema import alternatives, words

#: The largest seed, and larger than any count.
LARGEST = 2**32 - 1

#: A positive number of things.
Count = Annotated[int, Meta(ge=1, le=LARGEST)]


def setting(
    default: Any,
    text: str,
    *,
    title: str | None = None,
    letter: str = "",
    choices: Callable[[], Iterable[str]] | None = None,
    path: bool = False,
    shown: str = "",
) -> Any:
    """A field of a dataclass of settings; its annotation says what the value may be.

    Args:
        default: the default value.
        text: one sentence for ``--help`` and the documentation.
        title: what a report's title writes before a value that is not the default; the name if
            ``None``. Empty if the title can omit it.
        letter: what the name of a run's folder writes before such a value.
        choices: gives the allowed texts.
        path: whether a text is the path of a file or folder.
        shown: how ``--help`` shows a default of ``None``.
    """
    metadata = {
        "text": text,
        "title": title,
        "letter": letter,
        "choices": choices,
        "path": path,
        "shown": shown,
    }
    return field(default=default, metadata=metadata)


def declared(config_class: type) -> dict[str, Field[Any]]:
    """The fields that were declared with ``setting``, by name."""
    return {one.name: one for one in fields(config_class) if "text" in one.metadata}


@cache
def type_of(config_class: type, name: str) -> tuple[Any, bool]:
    """The type of a setting, with its limits, and whether it may be ``None``."""
    hint = typing.get_type_hints(config_class, include_extras=True)[name]
    kinds = [one for one in alternatives(hint) if one is not NoneType]
    return kinds[0], len(kinds) < len(alternatives(hint))


def check(config: Any) -> None:
    """Raises ``BadInputError`` for the first setting that violates its field's declaration."""
    config_class: type = type(config)
    for name, one in declared(config_class).items():
        value, (kind, optional) = getattr(config, name), type_of(config_class, name)
        if value is None and optional:
            continue
        if isinstance(value, list | tuple):
            raise BadInputError(
                f"{name} {value!r}: expected one value, since this is one run; clalfred-sweep "
                "takes several"
            )
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            raise BadInputError(f"{name} {value!r}: expected {words(kind)}") from None
        if one.metadata["choices"] is not None:
            choose(name, value, one.metadata["choices"]())


def given(values: Mapping[str, Any], config_class: type) -> Mapping[str, Any]:
    """The values themselves if there is a field for each."""
    known = [one.name for one in fields(config_class)]
    for name in values:
        choose("setting", name, known)
    return values


def titles(config: Any) -> list[str]:
    """How a report's title describes the settings that are not the default."""
    found = []
    for name, one in declared(type(config)).items():
        value, title = getattr(config, name), one.metadata["title"]
        title = name.replace("_", " ") if title is None else title
        if title and value != one.default:
            shown = Path(value).name if one.metadata["path"] else value
            found.append(title if value is True else f"{title} {shown}")
    return found


def settings_table(config_class: type) -> str:
    """Markdown: every setting, what is expected, its default and what it is."""
    rows = ["| setting | holds | default | what it is |", "|---|---|---|---|"]
    for name, one in declared(config_class).items():
        choices, default = one.metadata["choices"], one.metadata["shown"] or one.default
        known = f" One of {', '.join(f'`{one}`' for one in choices())}." if choices else ""
        kind = words(type_of(config_class, name)[0])
        rows.append(f"| `{name}` | {kind} | {default} | {one.metadata['text']}{known} |")
    return "\n".join(rows)
