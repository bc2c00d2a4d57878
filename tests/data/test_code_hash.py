"""The fingerprint of the generating code: it changes with the code and not with remarks in it."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest

import gym_clalfred
from gym_clalfred.data.manifest import hash_of_code
from gym_clalfred.simulator import backends
from gym_clalfred.source_code import code_of

PACKAGE = Path(gym_clalfred.__file__).parent
CODE = '''"""What the module is for."""

LIMIT = 3  # metres
TEXT = """kept # as it is

"""


class Kept:
    """What it keeps."""

    r"""And \\d more."""
    name = "it's # one"
'''
_REMARKS = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("What the module is for.", 'Says "much"\nabout itself.'),
        ("  # metres", ""),
        ("\n\n\n", "\n"),
        ("class", "#: Why.\nclass"),
        ("And \\d more.", "And less."),
    ],
)
def test_remarks_do_not_count(old: str, new: str) -> None:
    assert old in CODE
    assert code_of(CODE.replace(old, new)) == code_of(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [("3", "4"), ("# as", "#as"), ("is\n\n", "is\n"), ("# one", "# two"), ("    name", "name")],
)
def test_code_counts(old: str, new: str) -> None:
    assert old in CODE
    assert code_of(CODE.replace(old, new)) != code_of(CODE)


def _words(source: str) -> list[str]:
    """What Python reads, without remarks."""
    words: list[str] = []
    line: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _REMARKS:
            line.append(token.string)
        if token.type == tokenize.NEWLINE:
            is_docstring = len(line) == 2 and line[0].endswith('"""')
            words += [] if is_docstring else line
            line = []
    return words


def test_nothing_but_remarks_is_left_out_of_the_package() -> None:
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text("utf-8")
        assert _words(code_of(source)) == _words(source), path


def test_the_hash_follows_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "module.py"
    monkeypatch.setattr(gym_clalfred, "__file__", str(tmp_path / "__init__.py"))

    def hashed(source: str) -> str:
        path.write_text(source, "utf-8")
        return hash_of_code([path])

    first = hashed(CODE)
    assert hashed(CODE.replace("metres", "feet").replace("keeps", "has")) == first
    assert hashed(CODE.replace("3", "4")) != first
    assert hashed(CODE.replace("\n", "\r\n")) == first


def test_stored_views_are_kept_when_a_docstring_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "embedded" / "module.py"
    path.parent.mkdir()
    monkeypatch.setattr(backends, "__file__", str(tmp_path / "backends.py"))

    def labelled(source: str) -> str:
        path.write_text(source, "utf-8")
        return backends.appearance_label.__wrapped__("embedded")

    first = labelled(CODE)
    assert labelled(CODE.replace("metres", "feet").replace("keeps", "has")) == first
    assert labelled(CODE.replace("3", "4")) != first
