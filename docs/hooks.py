"""What ``make docs`` makes besides the pages that are written by hand.

Command reference from the commands' own options, settings of a run from ``RunConfig``, tutorials
from their notebooks, and formulas as MathML, so that the site needs no network and no script.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from html import escape
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = "tutorials"
#: Commands in the order in which people meet them.
COMMANDS = (
    *("train", "evaluate", "record", "play", "sweep", "report", "submit", "verify"),
    *("generate", "data", "player", "doctor"),
)


def on_files(files: Any, config: Any) -> Any:
    """Adds the generated pages."""
    from mkdocs.structure.files import File

    pages = {
        "reference/commands.md": commands_page(),
        "reference/settings.md": settings_page(),
        "CONTRIBUTING.md": contributing_page(),
    }
    for path in sorted((ROOT / "docs" / TUTORIALS).glob("*.ipynb")):
        pages[f"{TUTORIALS}/{path.stem}.md"] = notebook_page(path)
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Points links to files of the repository to the pages made of them; writes formulas out."""
    markdown = re.sub(r"(\]\([\w/]*\w+)\.ipynb\)", r"\1.md)", markdown)
    # In the repository it is one folder up.
    markdown = re.sub(r"\]\(\.\./((?:\.\./)?CONTRIBUTING\.md)", r"](\1", markdown)
    return with_formulas(markdown)


def commands_page() -> str:
    """The reference of all commands."""
    parts = [
        "# Commands",
        "Generated from the commands' own options; `--help` says the same. "
        "[How they work](../COMMANDS.md).",
    ]
    for name in COMMANDS:
        command = importlib.import_module(f"clalfred.scripts.{name}").main
        parts.append(_command(f"clalfred-{name}", command, "##"))
    return "\n\n".join(parts) + "\n"


def settings_page() -> str:
    """The reference of a run's settings."""
    from clalfred.cl.experiment.config import RunConfig
    from clalfred.cl.experiment.settings import settings_table

    intro = (
        "# Settings of a run\n\nFields of `clalfred.cl.experiment.RunConfig`, options of "
        "`clalfred-train` (with `-` for `_`) and keys of a YAML file for `--config`. `overrides` "
        "holds settings of the method, and of the agent as `agent.NAME`; on the command line they "
        "are given by `--set NAME=VALUE`."
    )
    return f"{intro}\n\n{settings_table(RunConfig)}\n"


def contributing_page() -> str:
    """CONTRIBUTING.md as a page of the site."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text.replace("](docs/", "](")
    # Files of the repository are no pages.
    return re.sub(r"\[([^\]]+)\]\((?:agents|cl|gym_clalfred|scripts)/[^)]*\)", r"`\1`", text)


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: its text, its code, and what the code printed."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += filter(None, map(_output, cell["outputs"]))
    parts.append(f"This page is the notebook `docs/{TUTORIALS}/{path.name}`; a test executes it.")
    return "\n\n".join(parts) + "\n"


def with_formulas(markdown: str) -> str:
    """TeX between dollars as MathML, outside code."""
    from latex2mathml.converter import convert

    def outside(text: str) -> str:
        text = re.sub(
            r"\$\$(.+?)\$\$", lambda m: convert(m[1].strip(), display="block"), text, flags=re.S
        )
        return re.sub(r"(?<![\w$])\$((?:(?!\n\n)[^$`])+)\$(?![\w$])", lambda m: convert(m[1]), text)

    parts = re.split(r"(^```.*?^```|`[^`\n]+`)", markdown, flags=re.M | re.S)
    return "".join(part if number % 2 else outside(part) for number, part in enumerate(parts))


def _output(output: dict[str, Any]) -> str:
    if output.get("name") == "stderr":
        return ""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output.get("data", {})
    if "image/png" in data:
        return f"![output](data:image/png;base64,{''.join(data['image/png']).strip()})"
    return f"```text\n{''.join(data['text/plain'])}\n```" if "text/plain" in data else ""


def _cell(text: str) -> str:
    """A text that means nothing in a table of Markdown."""
    marks = {"|": "&#124;", "[": "&#91;", "]": "&#93;", "*": "&#42;", "_": "&#95;"}
    return " ".join(escape(text).translate(str.maketrans(marks)).split())


def _command(title: str, command: click.Command, level: str) -> str:
    context = click.Context(command, info_name=title)
    usage = command.get_usage(context).removeprefix("Usage: ")
    parts = [f"{level} {title}", inspect.cleandoc(command.help or ""), f"```text\n{usage}\n```"]
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            name, text = map(_cell, record)
            rows.append(f"| <code>{name}</code> | {text} |")
    if rows:
        parts.append("| option | what it does |\n|---|---|\n" + "\n".join(rows))
    if command.epilog:
        examples = inspect.cleandoc(command.epilog.replace("\b\n", "")).removeprefix("Examples:")
        parts.append(f"```text\n{inspect.cleandoc(examples.strip(chr(10)))}\n```")
    if isinstance(command, click.Group):
        parts += [
            _command(f"{title} {name}", one, f"{level}#")
            for name, one in sorted(command.commands.items())
        ]
    return "\n\n".join(parts)
