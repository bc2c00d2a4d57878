"""The options of commands that train: one for each setting of a run."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import Field
from typing import Any

import click

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.settings import declared, type_of
from clalfred.scripts.common import Command
from gym_clalfred.schema import plain


def run_options(*without: str) -> Callable[[Command], Command]:
    """Adds an option for each setting of a run; the command gets the given ones as ``settings``."""
    options = {
        name: one
        for name, one in declared(RunConfig).items()
        if name.replace("_", "-") not in without
    }

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**arguments: Any) -> Any:
            settings = {name: arguments.pop(name) for name in options}
            given = {name: value for name, value in settings.items() if value is not None}
            changes, eyes = arguments.pop("changes"), arguments.pop("eyes")
            if eyes:
                name = given.get("agent", RunConfig.agent).partition(":")[0]
                given["agent"] = f"{name}:{eyes}"
            if changes:
                given["overrides"] = changes
            return command(settings=given, **arguments)

        click.option(
            "--set",
            "changes",
            metavar="NAME=VALUE",
            multiple=True,
            callback=lambda context, option, texts: dict(map(_setting, texts)),
            help="A setting of the method (alpha=0.5) or of the agent (agent.dropout=0.1) instead "
            "of the preset's; can be repeated. An unknown name lists all names.",
        )(wrapped)
        click.option(
            "--eyes",
            type=click.Choice(["masks", "rgb"]),
            help="How the agent sees: classes and depths are given (masks), or estimated from "
            "pictures by an encoder (rgb, as --agent semantic-map:rgb).  [default: masks]",
        )(wrapped)
        for name, one in reversed(options.items()):
            _option(name, one)(wrapped)
        return wrapped

    return decorate


def _option(name: str, one: Field[Any]) -> Callable[[Command], Command]:
    """The option of a setting, as its field declares it."""
    kind = plain(type_of(RunConfig, name)[0])
    choices, shown = one.metadata["choices"], one.metadata["shown"] or one.default
    flag = f"--{name.replace('_', '-')}"
    text = one.metadata["text"] + ("" if shown is None else f"  [default: {shown}]")
    if choices is not None and name != "tier":  # tiers are checked later, with a hint
        return click.option(flag, type=click.Choice(list(choices())), default=None, help=text)
    if kind is bool:
        return click.option(f"{flag}/--no-{flag[2:]}", default=None, help=text)
    return click.option(
        flag, type=click.Path() if one.metadata["path"] else kind, default=None, help=text
    )


def _setting(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.BadParameter(f"{text!r}: expected NAME=VALUE, such as alpha=0.5")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value.strip()
