"""The documentation: examples and notebooks run, and what pages name is there."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

import gym_clalfred
from clalfred.agents.registry import AGENTS
from clalfred.cl.experiment import RunConfig
from clalfred.cl.experiment.bundled import bundled_agents
from clalfred.cl.experiment.settings import declared
from clalfred.scripts.commands import COMMANDS
from gym_clalfred.data.archive import write_archive
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.store import StoreInfo, write_info, write_rooms
from gym_clalfred.data.trajectory import Split
from tests import ROOT
from tests.helpers.report_runs import invented_results

DOCS = ROOT / "docs"
PAGES = sorted(
    [*DOCS.glob("*.md"), *DOCS.glob("reference/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
)
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))
MOST_WORDS = 1500
WIDTH = 120

#: What is small enough to be tried in a test, in the place of what is printed.
SHORTER = {
    'tier="small"': 'tier="tiny"',
    'data="/data/alfred"': 'tier="tiny"',
    '"CLAlfred-BehaviorIL-v0", order=1,': '"CLAlfred-BehaviorIL-v0", order=1, tier="tiny",',
    'RunConfig(method="er",': 'RunConfig(method="er", max_steps=5,',
    "max_steps=100)": "max_steps=5)",
    'tasks=["Heat"]': 'max_steps=5, tasks=["Heat"]',
    'data="~/alfred-store"': 'data="alfred-store"',
}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(path: Path) -> str:
    """A page, or the words of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "markdown")


def examples(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def make_store(folder: Path) -> None:
    """A store such as an import writes, with generated rooms and episodes."""
    source, split = open_source("tiny"), Split.VALID_SEEN
    episodes = [source.episode(one.key) for one in source.entries(split)]
    trajectories = list({one.trajectory.key: one.trajectory for one in episodes}.values())
    numbers = sorted({one.scene.number for one in trajectories})
    write_archive(folder, split, trajectories)
    write_rooms(folder, map(source.room, numbers))
    counts = {split.value: len(trajectories)}
    told = {split.value: len(episodes)}
    write_info(folder, StoreInfo("imported", counts, told, tuple(numbers), 0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/AI2THOR.md",
        "docs/DATA.md",
        "docs/DATA_FORMAT.md",
        "docs/ENVIRONMENT.md",
        "docs/PLAYER.md",
        "docs/REAL_ALFRED.md",
        "docs/RESULTS_SCHEMA.md",
        "docs/STREAMS.md",
    ],
)
def test_examples_run(page: str, tmp_path: Path) -> None:
    blocks = examples(page)
    assert blocks
    if page in ("docs/AI2THOR.md", "docs/PLAYER.md"):
        pytest.importorskip("ai2thor", reason="needs the extra thor; the player replaces Unity")
    if page == "docs/REAL_ALFRED.md":
        make_store(tmp_path / "alfred-store")  # generated episodes: ALFRED's need a download
    if page == "docs/RESULTS_SCHEMA.md":
        invented_results(RunConfig(), 0.5).save(tmp_path / "runs" / "demo" / "results.json")
    # Later examples of these pages go on from earlier ones.
    together = page in ("README.md", "docs/ENVIRONMENT.md")
    programs = ["\n".join(blocks)] if together else blocks
    for program in programs:
        for printed, shorter in SHORTER.items():
            program = program.replace(printed, shorter)
        path = tmp_path / "example.py"
        path.write_text(program, encoding="utf-8")
        commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        environment |= {"PATH": commands}
        done = subprocess.run(
            [sys.executable, str(path)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]


#: Pages whose examples change nothing in the process that runs them.
HERE = ("docs/BOARD.md", "docs/QUICKSTART.md", "docs/RL.md")


@pytest.mark.slow
@pytest.mark.parametrize("path", [*NOTEBOOKS, *(ROOT / page for page in HERE)], ids=named)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(AGENTS, "_entries", dict(AGENTS._entries))
    if path.suffix == ".md":
        blocks = examples(named(path))
    else:
        cells = json.loads(path.read_text())["cells"]
        blocks = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    assert blocks
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{path.name}, block {number}", "exec"), names)


def test_every_example_of_a_page_is_executed() -> None:
    """By this file or by test_contributing.py."""
    without = {named(page) for page in PAGES if not examples(named(page))}
    (marks,) = (one for one in test_examples_run.pytestmark if one.name == "parametrize")  # type: ignore[attr-defined]
    executed = {*marks.args[1], *HERE, "CONTRIBUTING.md"}
    assert {named(page) for page in PAGES} == without | executed


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=named)
def test_pages_are_short_and_of_one_width(path: Path) -> None:
    text = text_of(path)
    written = path.name == "RESULTS.md"  # by a command, with all its tables
    lines = [line for line in text.splitlines() if not (written and line.startswith("|"))]
    words = [word for line in lines for word in line.split() if any(map(str.isalnum, word))]
    assert len(words) <= MOST_WORDS
    if written:
        return
    by_hand = re.sub("<!-- results -->.*<!-- /results -->", "", without_blocks(text), flags=re.S)
    lines = [line for line in by_hand.splitlines() if not line.startswith(("|", "    "))]
    assert [line for line in lines if len(line) > WIDTH] == []


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=named)
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text_of(path))):
        if re.match(r"(https?|mailto|data):", target):
            continue
        file, _, anchor = target.partition("#")
        found = (path.parent / file).resolve() if file else path
        if not found.exists() or (anchor and anchor not in anchors(found)):
            broken.append(target)
    assert broken == []


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower()) for heading in headings)
    return {re.sub(r"\s+", "-", heading.strip()) for heading in plain}


def code_in(text: str) -> Iterator[str]:
    """What stands in code type: blocks that are no Python, and words in backticks."""
    yield from re.findall(r"^```(?:bash|text|)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    words = re.findall(r"`([^`]+)`", without_blocks(text))
    yield from (one.replace("\n", " ") for one in words)


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=named)
def test_dotted_names_exist(path: Path) -> None:
    pattern = r"\b((?:gym_clalfred|clalfred|benchmarks)(?:\.\w+)+)"
    names = {name for code in code_in(text_of(path)) for name in re.findall(pattern, code)}
    names |= set(re.findall(r"^::: (\S+)$", text_of(path), flags=re.MULTILINE))
    # Groups of entry points are no modules' names, though they look so.
    names -= {"clalfred.agents", "clalfred.encoders", "clalfred.methods"}
    assert [name for name in sorted(names) if not exists(name)] == []


@cache
def exists(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=named)
def test_commands_and_their_options_exist(path: Path) -> None:
    wrong = []
    for code in code_in(text_of(path)):
        for line in code.replace("\\\n", " ").splitlines():
            wrong += [f"{line}: {one}" for one in unknown_in(line.partition("  #")[0])]
    assert wrong == []


def unknown_in(line: str) -> list[str]:
    """Options and commands of this project in a line of a shell that it does not have."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    for number, word in enumerate(words):
        if word.startswith("clalfred-") and re.fullmatch(r"clalfred-\w+", word):
            module = word.removeprefix("clalfred-")
        elif word == "-m" and words[number + 1 : number + 2] and ".scripts." in words[number + 1]:
            module = words[number + 1].rpartition(".")[2]
        else:
            continue
        name = f"clalfred.scripts.{module}"
        if not exists(f"{name}.main"):
            return [word]
        command: click.Command = importlib.import_module(name).main
        return unknown_options(command, words[number + 1 :])
    return []


def unknown_options(command: click.Command, words: list[str]) -> list[str]:
    if isinstance(command, click.Group):
        names = [word for word in words if word in command.commands]
        if not names:
            return [] if all(word.startswith("-") for word in words) else words[:1]
        command = command.commands[names[0]]
    known = {"--help"}
    for parameter in command.params:
        known |= {*parameter.opts, *parameter.secondary_opts}
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [option for option in options if option not in known]


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_files_that_are_named_exist(path: Path) -> None:
    pattern = r"(?:agents|benchmarks|cl|docs|examples|gym_clalfred|scripts|tests)/[\w./*-]+"
    words = {word for code in code_in(text_of(path)) for word in re.findall(rf"^{pattern}$", code)}
    # Folders that commands make.
    words -= {"docs/results", "docs/results/reading.md"}
    assert [word for word in sorted(words) if not list(ROOT.glob(word.rstrip("/.")))] == []


def test_a_newcomers_questions_are_one_click_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for question, page, needed in (
        ("run the paper's benchmark", "docs/PAPER.md", "clalfred-sweep --config paper"),
        ("add my method", "CONTRIBUTING.md", "class ShortestReplay(ContinualLearner)"),
        ("use the environment for RL", "docs/RL.md", 'PPO("MultiInputPolicy"'),
        ("use the real AI2-THOR", "docs/AI2THOR.md", "clalfred-evaluate agent.zip --backend thor"),
        ("How do I play", "docs/PLAY.md", "clalfred-play"),
        ("What do SR, GC, PLW", "docs/GLOSSARY.md", "| PLW |"),
    ):
        (row,) = (line for line in text.splitlines() if question in line)
        assert f"]({page})" in row
        assert needed in (ROOT / page).read_text(encoding="utf-8")


def test_every_page_has_a_place_on_the_site() -> None:
    places = re.findall(r": ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in PAGES if DOCS in path.parents}
    pages |= {f"tutorials/{path.stem}.md" for path in NOTEBOOKS}
    generated = {"reference/commands.md", "reference/settings.md", "CONTRIBUTING.md"}
    assert set(places) == pages | generated


def site_hooks() -> Any:
    """``docs/hooks.py``, which makes pages of the site."""
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_reference_has_every_command_and_option() -> None:
    page = site_hooks().commands_page()
    assert len(COMMANDS) > 10
    for name in COMMANDS:
        assert f"\n## clalfred-{name}\n" in page
        for parameter in importlib.import_module(f"clalfred.scripts.{name}").main.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert parameter.opts[-1] in page


def test_the_settings_reference_has_every_setting() -> None:
    page = site_hooks().settings_page()
    assert [name for name in declared(RunConfig) if f"| `{name}` |" not in page] == []


def test_notebooks_become_pages_with_their_output() -> None:
    page = site_hooks().notebook_page(NOTEBOOKS[0])
    assert page.startswith("# First steps in the environment\n")
    assert "```text\nUse the refrigerator to cool a tomato slice" in page
    assert "](data:image/png;base64," in page


def test_formulas_are_written_out_and_code_is_left_alone() -> None:
    pytest.importorskip("latex2mathml")
    text = site_hooks().with_formulas("$T$ tasks cost `$5`\n\n```bash\necho $HOME $HOME\n```\n")
    assert text.startswith("<math")
    assert text.endswith("tasks cost `$5`\n\n```bash\necho $HOME $HOME\n```\n")


def test_the_citation_names_this_release_and_the_paper() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == gym_clalfred.__version__
    paper = citation["preferred-citation"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{{{paper['title']}}}" in readme
    assert paper["url"] in readme


def test_the_workflow_does_what_ci_does() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert commands == ["bash .ci/run"]


def test_the_model_card_counts_the_bundled_agents() -> None:
    card = (DOCS / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert f"| Agents | {len(bundled_agents())}: " in card


def test_the_source_distribution_has_all_of_docs() -> None:
    found = re.search(r"^recursive-include docs (.+)$", (ROOT / "MANIFEST.in").read_text(), re.M)
    assert found is not None
    paths = (path for path in (ROOT / "docs").rglob("*.*") if path.is_file())
    left_out = {path.suffix for path in paths if not any(map(path.match, found[1].split()))}
    assert left_out <= {".pyc"}
