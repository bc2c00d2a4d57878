"""Imports point one way, and importing the package is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

#: From the bottom up; a module may import its own layer and those before it.
LAYERS = (
    ("gym_clalfred.errors gym_clalfred.actions gym_clalfred.classes gym_clalfred.objects "
     "gym_clalfred.rooms gym_clalfred.compatibility gym_clalfred.names gym_clalfred.schema "
     "gym_clalfred.source_code gym_clalfred.tables"),
    "gym_clalfred.simulator",
    ("gym_clalfred.tasks gym_clalfred.data gym_clalfred.language gym_clalfred.interaction "
     "gym_clalfred.expert"),
    ("gym_clalfred.checks gym_clalfred.env gym_clalfred.observation_space "
     "gym_clalfred.setups gym_clalfred.selection gym_clalfred.progress gym_clalfred.options "
     "gym_clalfred.possible_actions gym_clalfred.viewer gym_clalfred.wrappers gym_clalfred"),
    "gym_clalfred.stream",
    "clalfred.agents",
    "clalfred.cl",
    "clalfred.scripts",
)  # fmt: skip
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names.split()}
OURS = ("gym_clalfred", "clalfred")
FOLDERS = {
    "gym_clalfred": "gym_clalfred",
    "agents": "clalfred.agents",
    "cl": "clalfred.cl",
    "scripts": "clalfred.scripts",
}


def modules() -> dict[str, Path]:
    found = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)])] = path
    return found


MODULES = modules()


def level(module: str) -> int:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in LEVEL and (length > 1 or name != "gym_clalfred" or module == name):
            return LEVEL[name]
    raise AssertionError(f"{module} belongs to no layer: name it in LAYERS")


def imports(path: Path) -> set[str]:
    """Modules of this project that a file imports anywhere, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            names = [
                f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base
                for alias in node.names
            ]
        else:
            continue
        found.update(name for name in names if name.split(".")[0] in OURS)
    # The package itself only has the version and the ids, which every layer may ask for.
    return found - {"gym_clalfred"}


def test_no_module_imports_a_higher_layer() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, path in MODULES.items()
        for imported in imports(path)
        if level(imported) > level(module)
    ]
    assert not wrong


def test_the_rule_can_fail() -> None:
    assert level("gym_clalfred.simulator.contract") < level("gym_clalfred.env")
    assert level("gym_clalfred.env") < level("gym_clalfred.stream") < level("clalfred.cl")
    with pytest.raises(AssertionError, match="belongs to no layer"):
        level("gym_clalfred.somewhere")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(' '.join(sys.modules))"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


@pytest.mark.parametrize("statement", ["import gym_clalfred", "import gym_clalfred.env"])
def test_importing_is_light(statement: str) -> None:
    loaded = loaded_after(statement)
    assert "gym_clalfred" in loaded
    heavy = {"torch", "numba", "matplotlib", "stable_baselines3", "ai2thor", "minari"}
    assert not heavy & loaded
