"""``make demo``: trains, evaluates and makes a table, plots and films in a few minutes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results
from clalfred.cl.experiment.run import train
from clalfred.cl.report.text import percent
from clalfred.scripts.common import clear_errors_resumable, read_settings
from clalfred.scripts.progress import Console

INTRO = """\
An agent learns household tasks from a stream of demonstrations: one task
after the other, each episode once, with a small memory. After each task it
is tested on all tasks so far, in rooms that it has been in (seen) and in
rooms that it has never been in (unseen). SR is the share of episodes that
it solves, GC the share of goal conditions that it meets.
"""

NEXT = """\
Next:
  {bin}clalfred-train                  the benchmark: tier small, the whole stream
  {bin}clalfred-record film.mp4 --agent {folder} --expert --number 3
  {bin}clalfred-report runs            compare runs\
"""


@click.command()
@click.option("--out", default="runs/demo", show_default=True, type=click.Path(), help="Folder.")
@clear_errors_resumable()
def main(out: str) -> None:
    """Train and test the method of scripts/configs/demo.yaml and summarise the outcome."""
    config, folder = RunConfig.from_dict(read_settings("demo")), Path(out)
    click.echo(INTRO)
    results = train(config, folder, workers=os.cpu_count() or 1, callbacks=[Console(folder)])
    click.echo(f"\n{verdict(results)}\n\n{NEXT.format(folder=folder, bin=commands_folder())}")


def commands_folder() -> str:
    """The prefix with which the user's shell finds a command."""
    installed = Path(sys.executable).with_name("clalfred-train")
    found = shutil.which("clalfred-train")
    if not installed.exists() or (found is not None and installed.samefile(found)):
        return ""
    here, folder = Path.cwd(), installed.parent
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    return f"{shown}{os.sep}"


def verdict(results: Results) -> str:
    """What the table says, in two plain sentences."""
    seen, unseen = (results.metric(split, "SR_last") for split in ("seen", "unseen"))
    conditions = results.metric("unseen", "GC_last")
    length = results.stream.length
    told = (
        f"After {length} demonstrations the agent solves {percent(seen)} % of the episodes in\n"
        f"rooms it knows and {percent(unseen)} % in rooms it does not know, where it meets\n"
        f"{percent(conditions)} % of the goal conditions."
    )
    if not seen and not unseen:
        told += " That is too little to learn from:\nthis run only shows that everything works."
    return told


if __name__ == "__main__":
    main()
