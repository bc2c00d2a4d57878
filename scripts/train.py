"""``clalfred-train``: trains an agent, evaluates it and makes a table and a video."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.settings import declared
from clalfred.scripts.common import (
    COUNT,
    WORKERS,
    clear_errors_resumable,
    read_settings,
    version_option,
)
from clalfred.scripts.options import run_options
from gym_clalfred.errors import BadInputError

EPILOG = """
\b
Examples:
  clalfred-train                       CAMA, Behavior-IL, order 1, tier small
  clalfred-train --config demo         the settings of make demo
  clalfred-train --method er --order 3 --seed 1
  clalfred-train --setup environment-il --schedule gaussian --tier tiny
  clalfred-data import --alfred ~/alfred --out ~/alfred-store
  clalfred-train --data ~/alfred-store        real ALFRED data, once imported

\b
The run's folder (--out) then holds results.json, agent.zip, plots/, videos/
and tensorboard/. Stopped at any moment, even by kill -9, the same command
continues where it was, with the same results as if it had never stopped.
"""


@click.command(epilog=EPILOG)
@version_option
@run_options()
@click.option("--config", help="YAML file with settings, or 'demo'; options given here win.")
@click.option("--out", type=click.Path(), help="The run's folder.  [default: runs/<settings>]")
@click.option("--device", default="auto", show_default=True, help="cpu, cuda or auto.")
@click.option("--workers", type=COUNT, default=1, show_default=True, help=WORKERS)
@click.option(
    "--media/--no-media", default=True, show_default=True, help="Make plots and videos at the end."
)
@click.option(
    "--callback",
    "callbacks",
    metavar="MODULE:CLASS",
    multiple=True,
    help="A callback of Stable-Baselines3 that is called after each episode; can be repeated.",
)
@clear_errors_resumable()
def main(
    settings: dict[str, Any],
    config: str | None,
    out: str | None,
    device: str,
    workers: int,
    media: bool,
    callbacks: tuple[str, ...],
) -> None:
    """Train a method on a stream of tasks and evaluate it after each task."""
    given = read_settings(config)
    if "runs" in given:
        raise BadInputError(
            f"config {config!r}: expected the settings of one run, found several runs; "
            f"use: clalfred-sweep --config {config}"
        )
    run = RunConfig.from_dict({**given, **settings})
    from clalfred.cl.experiment.run import train
    from clalfred.scripts.progress import Console

    folder = Path(out) if out else default_folder(run)
    own = [_callback(name) for name in callbacks]
    every = [Console(folder), *own]
    train(run, folder, device=device, workers=workers, media=media, callbacks=every)


def _callback(name: str) -> Any:
    """An instance of the class that ``module:class`` names."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise BadInputError(
            f"callback {name!r}: expected MODULE:CLASS of a class without arguments ({error})"
        ) from error


def default_folder(config: RunConfig) -> Path:
    """``runs/<data>/<what it is>``; other agents, simulators and limits are kept apart."""
    data = Path(config.data).resolve().name if config.data else config.tier
    others = [
        str(getattr(config, name)).replace(":", "-")
        for name in ("agent", "encoder", "backend")
        if getattr(config, name) != getattr(RunConfig, name)
    ]
    limits = [
        f"{one.metadata['letter']}{value}"
        for name, one in declared(RunConfig).items()
        if one.metadata["letter"] and (value := getattr(config, name)) is not None
    ]
    return Path("runs") / "-".join([data, *others, *limits]) / config.name


if __name__ == "__main__":
    main()
