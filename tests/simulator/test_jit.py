"""Compiled kernels on disk are left alone exactly as long as nothing they are made of changes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gym_clalfred
from gym_clalfred.simulator import jit

PARTS = """
from typing import NamedTuple
from gym_clalfred.simulator.jit import kernel

FACTOR = 3.0

class Pair(NamedTuple):
    first: float
    second: float

@kernel()
def combine(a, b):
    return a - b
"""

WHOLE = """
from __future__ import annotations
from {parts} import FACTOR, Pair, combine
from gym_clalfred.simulator.jit import kernel

@kernel()
def whole(pair: Pair) -> float:
    return combine(pair.first, pair.second) * FACTOR
"""

Loader = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loader:
    """Writes the two modules, with a change in the first, and gives them anew as by a new run."""
    monkeypatch.syspath_prepend(str(tmp_path))
    parts, whole = f"parts_{tmp_path.name}", f"whole_{tmp_path.name}"
    (tmp_path / f"{whole}.py").write_text(WHOLE.format(parts=parts))

    def loaded(old: str = "", new: str = "") -> tuple[Any, Any]:
        assert old in PARTS
        (tmp_path / f"{parts}.py").write_text(PARTS.replace(old, new) if old else PARTS)
        importlib.invalidate_caches()
        for name in (parts, whole):
            sys.modules.pop(name, None)
            # Python's own compiled files are told apart by time and size, which may stay equal.
            for compiled in (tmp_path / "__pycache__").glob(f"{name}.*.pyc"):
                compiled.unlink()
        jit._digest.cache_clear()
        return importlib.import_module(parts), importlib.import_module(whole).whole

    return loaded


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return a - b", "return a + b", 3.0 * 7.0),
        ("FACTOR = 3.0", "FACTOR = 2.0", 2.0 * 3.0),
        (
            "    first: float\n    second: float\n",
            "    second: float\n    first: float\n",
            3.0 * -3.0,
        ),
    ],
    ids=["kernel of another file", "constant of another file", "fields of a named tuple"],
)
def test_changes_in_other_files_are_seen(load: Loader, old: str, new: str, expected: float) -> None:
    parts, whole = load()
    assert whole(parts.Pair(5.0, 2.0)) == 9.0
    parts, whole = load(old, new)
    assert whole(parts.Pair(5.0, 2.0)) == expected


def test_a_named_tuple_that_is_gone_is_forgotten(load: Loader) -> None:
    fields = "(NamedTuple):\n    first: float\n    second: float\n"
    parts, whole = load(f"class Pair{fields}", f"class Couple{fields}\nPair = Couple\n")
    assert whole(parts.Pair(5.0, 2.0)) == 9.0
    for hits in (0, 1):
        parts, whole = load()
        assert whole(parts.Pair(5.0, 2.0)) == 9.0
        assert sum(whole.stats.cache_hits.values()) == hits


def test_what_did_not_change_is_not_compiled_again(load: Loader) -> None:
    parts, whole = load()
    whole(parts.Pair(5.0, 2.0))
    assert sum(whole.stats.cache_hits.values()) == 0
    parts, whole = load()
    assert whole(parts.Pair(5.0, 2.0)) == 9.0
    assert sum(whole.stats.cache_hits.values()) == 1


def test_all_kernels_of_the_package_are_cached_by_one_rule() -> None:
    folder = Path(gym_clalfred.__file__).parent
    users = [path.name for path in folder.rglob("*.py") if "numba import njit" in path.read_text()]
    assert users == ["jit.py"]
