"""``clalfred-sweep``: methods x setups x orders x seeds, on one machine or many."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from clalfred.cl.registry import method_names
from clalfred.scripts.common import (
    COUNT,
    clear_errors_resumable,
    read_settings,
    version_option,
)
from clalfred.scripts.options import run_options
from gym_clalfred.setups import Setup

EPILOG = """
\b
Examples:
  clalfred-sweep --methods cama,er --orders 1,2 --tier tiny --out runs/first
  clalfred-sweep --config paper --out runs/paper     the paper's grid on small
  clalfred-sweep --config grid.yaml --out runs/grid --engine ray

\b
A YAML file has the settings of clalfred-train; setup, method, order, seed,
schedule, preset, memory and overrides (what --set gives) may be lists:
  method: cama
  order: [1, 2, 3, 4, 5]
  overrides: [{alpha: 0.5}, {alpha: 0.9, queue_length: 1}]
Parts of a sweep, each with settings of its own besides the common ones:
  runs: [{method: er, memory: 80}, {method: cama, overrides: {alpha: 0.5}}]

\b
Finished runs are skipped, so the same command again does what is left. Then:
  clalfred-report runs/first
"""


@click.command(epilog=EPILOG)
@version_option
@click.option(
    "--methods", help=f"Comma-separated, of {', '.join(method_names())}.  [default: cama]"
)
@click.option(
    "--setups",
    help=f"Comma-separated, of {', '.join(one.value for one in Setup)}.  [default: behavior-il]",
)
@click.option("--orders", help="Comma-separated, from 1 to 5.  [default: 1]")
@click.option("--seeds", help="Comma-separated.  [default: 0]")
@run_options("method", "setup", "order", "seed")
@click.option(
    "--config",
    help="YAML file with settings, or the name of one that comes with the package "
    "(main, others, questions, schedules, paper); options given here win.",
)
@click.option("--out", type=click.Path(), required=True, help="The sweep's folder.")
@click.option(
    "--published",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Skip runs that are in this folder of published results, such as docs/results.",
)
@click.option("--engine", default="local", show_default=True, help="local or ray.")
@click.option("--address", help="Ray cluster to use, as HOST:PORT.  [default: start one here]")
@click.option("--jobs", type=COUNT, help="Runs at the same time.  [default: one per core]")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Further attempts per run that crashes.",
)
@click.option(
    "--media/--no-media", default=False, show_default=True, help="Plots and videos of each run."
)
@clear_errors_resumable()
def main(
    settings: dict[str, Any],
    config: str | None,
    out: str,
    published: Path | None,
    engine: str,
    address: str | None,
    jobs: int | None,
    retries: int,
    media: bool,
    **lists: str | None,
) -> None:
    """Train and evaluate every combination of methods, setups, orders and seeds."""
    from clalfred.cl.experiment.sweep import ENGINES, RunOutcome, expand, sweep
    from clalfred.cl.report.publish import is_published
    from gym_clalfred.data.sources import open_source
    from gym_clalfred.names import choose

    named = {plural.removesuffix("s"): text for plural, text in lists.items()}
    axes = {name: _values(name, text) for name, text in named.items() if text is not None}
    choose("engine", engine, ENGINES)
    runs = expand(read_settings(config), {**settings, **axes})
    # Generated once here; otherwise every run would wait for it.
    source = open_source(runs[0].tier, runs[0].data)
    if published is not None:
        known = [run for run in runs if is_published(run, source.label, published)]
        click.echo(f"{len(known)} of {len(runs)} runs are in {published}")
        runs = [run for run in runs if run not in known]
    click.echo(f"{len(runs)} runs in {out}")

    began, ended = time.monotonic(), Counter[str]()

    def show(outcome: RunOutcome) -> None:
        ended[outcome.status] += 1
        again = f", {outcome.attempts} attempts" if outcome.attempts > 1 else ""
        left = time_left(time.monotonic() - began, ended, len(runs))
        parts = (f"{outcome.name}{again}", outcome.message, left)
        click.echo(f"{outcome.status:8}{'  '.join(part for part in parts if part)}")

    outcomes = sweep(
        runs,
        out,
        engine=engine,
        jobs=jobs,
        retries=retries,
        media=media,
        address=address,
        listen=show,
    )
    failed = [one for one in outcomes if one.status == "failed"]
    if failed:
        click.echo(
            f"{len(failed)} of {len(runs)} runs failed; see above and their log.txt", err=True
        )
        sys.exit(1)


def time_left(seconds: float, ended: Mapping[str, int], total: int) -> str:
    """The number of runs left and their time, estimated from the finished ones.

    Args:
        seconds: since the sweep began.
        ended: numbers of runs by their status; skipped ones took no time.
        total: number of runs.
    """
    run, left = ended.get("done", 0) + ended.get("failed", 0), total - sum(ended.values())
    if not run or not left:
        return ""
    minutes = seconds / run * left / 60
    about = f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
    return f"({left} left, about {about if minutes >= 1 else 'a minute'})"


def _values(name: str, text: str) -> list[Any]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if name in ("method", "setup"):
        return parts
    try:
        return [int(part) for part in parts]
    except ValueError:
        raise click.BadParameter(f"--{name}s {text!r}: expected whole numbers") from None


if __name__ == "__main__":
    main()
