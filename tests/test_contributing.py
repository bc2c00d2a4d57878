"""The examples of CONTRIBUTING.md do what the page says."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from clalfred.cl import registry
from gym_clalfred.simulator.backends import BACKENDS

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {
    title: re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    for title, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.M)
}


@pytest.mark.parametrize("title", ["Add a method", "Add a task", "Add a backend"])
def test_examples_run(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
    module = ModuleType("contributing_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    before = set(BACKENDS)
    (block,) = BLOCKS[title]
    try:
        exec(compile(block, f"CONTRIBUTING.md, {title}", "exec"), vars(module))
    finally:
        for name in set(BACKENDS) - before:
            del BACKENDS[name]
