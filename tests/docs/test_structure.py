"""How the code is cut: few arguments, one name for one thing, private operators in one place."""

from __future__ import annotations

import ast
from pathlib import Path

from tests import ROOT

FOLDERS = ("gym_clalfred", "agents", "cl", "scripts", "benchmarks")
MOST_ARGUMENTS = 12


def trees() -> dict[Path, ast.Module]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return {path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in paths}


TREES = trees()


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    gathered = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [one.arg for one in (*named, *gathered) if one.arg not in ("self", "cls")]


def crowded(tree: ast.Module) -> list[str]:
    return [
        f"{node.name} (line {node.lineno}) takes {len(arguments(node))} arguments"
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and len(arguments(node)) > MOST_ARGUMENTS
    ]


def test_functions_take_few_arguments() -> None:
    wrong = [f"{path}: {one}" for path, tree in TREES.items() for one in crowded(tree)]
    assert not wrong


def test_the_rule_about_arguments_can_fail() -> None:
    names = [f"a{number}" for number in range(MOST_ARGUMENTS)]
    assert not crowded(ast.parse(f"def fine(self, {', '.join(names)}): ..."))
    assert crowded(ast.parse(f"def wrong(self, {', '.join(names)}, *, one_more): ..."))
    assert crowded(ast.parse(f"async def wrong({', '.join(names)}, **more): ..."))


def confusable(names: dict[str, list[str]]) -> list[str]:
    """Names that stand in two places, or that are another name and one letter more."""
    twice = [f"{name}: {', '.join(places)}" for name, places in names.items() if len(places) > 1]
    alike = [f"{one} and {one[:-1]}: {names[one][0]}" for one in names if one[:-1] in names]
    return twice + alike


def class_names(trees: dict[Path, ast.Module]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_").lower(), []).append(str(path))
    return found


def test_a_class_has_its_name_for_itself() -> None:
    assert not confusable(class_names(TREES))


def test_no_module_is_the_plural_of_another() -> None:
    """Commands and benchmarks may be called after what they are about."""
    for folders in (FOLDERS[:3], FOLDERS[3:4], FOLDERS[4:]):
        stems = {path.stem: [str(path)] for path in TREES if path.parts[0] in folders}
        assert not confusable(stems)


def test_the_rule_about_names_can_fail() -> None:
    trees = {Path(name): ast.parse(f"class {name}: ...") for name in ("Run", "Row", "Rows")}
    assert confusable(class_names(trees)) == ["rows and row: Rows"]
    trees[Path("other.py")] = ast.parse("class _Run: ...")
    assert confusable(class_names(trees)) == ["run: Run, other.py", "rows and row: Rows"]


def test_private_operators_of_torch_are_named_in_one_module() -> None:
    naming = [str(path) for path in TREES if "torch.ops" in (ROOT / path).read_text("utf-8")]
    assert naming == ["agents/numerics/onednn.py"]
