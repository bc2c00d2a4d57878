"""Source files without what only readers see, for hashes that change with the code alone."""

from __future__ import annotations

import re

#: What a source file says to its readers alone: docstrings, comments, lines without code. Other
#: strings are matched as well, so that nothing is looked for inside them.
_REMARK_OR_STRING = re.compile(
    r"""
      ^[ \t]*[rR]?\"{3}(?:\\.|[^\\"]|"(?!""))*\"{3}[ \t]*(?:\#[^\n]*)?(?:\n|\Z)  # a docstring
    | (?P<string>\"{3}(?:\\.|[^\\"]|"(?!""))*\"{3}|'{3}(?:\\.|[^\\']|'(?!''))*'{3}
        |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | ^[ \t]*(?:\#[^\n]*)?\n
    | [ \t]*\#[^\n]*
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


def code_of(source: str) -> str:
    """A source file without docstrings, comments and blank lines.

    Parsing would take half a second at the start of every command, this takes a twentieth of it.
    """
    return _REMARK_OR_STRING.sub(lambda match: match["string"] or "", source)
