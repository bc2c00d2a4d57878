"""``clalfred-data``: counts, imports and checks episodes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import click
from tqdm import tqdm

from clalfred.scripts.common import (
    COUNT,
    check_names,
    clear_errors,
    clear_errors_resumable,
    version_option,
)
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.progress_lines import INTERVAL, say
from gym_clalfred.data.trajectory import Split
from gym_clalfred.tasks import ALFRED_TASKS

EPILOG = """
\b
Examples:
  clalfred-data info --tier small
  clalfred-data import --alfred ~/alfred --out ~/alfred-store
  clalfred-data fidelity ~/alfred-store --split valid_seen --out report
"""


@click.group(epilog=EPILOG)
@version_option
def main() -> None:
    """Count, import and check episodes."""


@main.command()
@click.option("--tier", default="small", show_default=True, help="Generated episodes.")
@click.option("--data", type=click.Path(), help="Folder with episodes, instead of a tier.")
@clear_errors
def info(tier: str, data: str | None) -> None:
    """Count the episodes of a tier or a folder."""
    from gym_clalfred.data.sources import open_source

    check_names(tier=tier)
    click.echo(source_table(open_source(tier, data)))


@main.command("import", short_help="Make a store of real ALFRED episodes.")
@click.option(
    "--alfred",
    required=True,
    type=click.Path(),
    help="Folder with json_2.1.0 and gen/layouts, or with tar archives of them.",
)
@click.option("--out", type=click.Path(), help="Folder of the store.  [default: in the cache]")
@click.option("--skip-damaged", is_flag=True, help="Leave out files that cannot be read.")
@click.option("--workers", type=COUNT, default=2, show_default=True, help="Number of processes.")
@clear_errors_resumable()
def import_command(alfred: str, out: str | None, skip_damaged: bool, workers: int) -> None:
    """Import ALFRED's own episodes into a store, with rooms rebuilt from its files.

    Example: clalfred-data import --alfred ~/alfred --out ~/alfred-store
    """
    from gym_clalfred.data.alfred_import.importer import import_alfred
    from gym_clalfred.data.cache import cache_dir

    store = Path(out) if out else cache_dir() / "alfred-store"
    with _ProgressBar() as bar:
        made = import_alfred(
            alfred, store, skip_damaged=skip_damaged, workers=workers, progress=bar.show
        )
    for message in made.damaged:
        click.echo(f"left out: {message}", err=True)
    counts = ", ".join(f"{n} {split}" for split, n in made.info.episodes.items())
    click.echo(f"{made.store}: {made.info.label}: episodes {counts}; {len(made.info.rooms)} rooms")
    click.echo(f"{made.bytes / 1e6:.1f} MB, {len(made.damaged)} files left out")


@main.command(short_help="Replay recorded experts and compare masks.")
@click.argument("store", type=click.Path())
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice([split.value for split in Split]),
    help="Only this split, can be repeated.  [default: all]",
)
@click.option(
    "--every", type=COUNT, default=1, show_default=True, help="Replay only every Nth expert."
)
@click.option(
    "--by",
    "namings",
    multiple=True,
    type=click.Choice(["class", "mask"]),
    help="Also replay by class or recorded mask, can be repeated.  [default: both]",
)
@click.option(
    "--held-out",
    type=click.Choice(["trial", "task"]),
    help="Rebuild rooms without every second trial or task, and replay those.",
)
@click.option("--workers", type=COUNT, default=2, show_default=True, help="Number of processes.")
@click.option("--out", type=click.Path(), help="Folder for the report with pictures and maps.")
@clear_errors
def fidelity(
    store: str,
    splits: tuple[str, ...],
    every: int,
    namings: tuple[str, ...],
    held_out: str | None,
    workers: int,
    out: str | None,
) -> None:
    """Replay recorded experts in the rebuilt rooms and compare recorded masks with ours.

    Examples:
      clalfred-data fidelity ~/alfred-store --split valid_seen --out report
      clalfred-data fidelity ~/alfred-store --held-out task
    """
    from gym_clalfred.data.fidelity_check import check
    from gym_clalfred.data.fidelity_report import report_text, write_report
    from gym_clalfred.data.store import AlfredStore

    opened = AlfredStore(store)
    chosen = [Split(name) for name in splits or opened.info.trajectories]
    with _ProgressBar() as bar:
        found = check(
            opened,
            chosen,
            every=every,
            namings=namings or ("class", "mask"),
            held_out=held_out,
            workers=workers,
            progress=bar.show,
        )
    click.echo(report_text(found.by_id, found.others, found.surveys))
    if out:
        write_report(opened, found.by_id, Path(out), others=found.others, surveys=found.surveys)


class _ProgressBar:
    """One progress bar per step on a terminal; elsewhere occasional lines."""

    def __init__(self) -> None:
        self._step = ""
        self._spoken = 0.0
        self._bar: tqdm[NoReturn] | None = None

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, step: str, done: int, total: int) -> None:
        """Shows the progress of a step."""
        if step != self._step:
            self.__exit__()
            self._step, self._bar = step, tqdm(desc=step, total=total, disable=None)
            self._spoken = -INTERVAL
        assert self._bar is not None
        self._bar.update(done - self._bar.n)
        if self._bar.disable and time.monotonic() - self._spoken >= INTERVAL:
            say(f"{step}: {done:,} of {total:,}")
            self._spoken = time.monotonic()


def source_table(source: EpisodeSource) -> str:
    """Episodes by task type and split, and their mean length."""
    from gym_clalfred.tables import aligned

    entries = {split: source.entries(split) for split in Split}
    rows = [["episodes", *(split.value for split in Split), "mean actions"]]
    present = {one.task_type for part in entries.values() for one in part}
    for task in (*ALFRED_TASKS, *sorted(present.difference(ALFRED_TASKS))):
        found = {
            split: [one for one in part if one.task_type is task] for split, part in entries.items()
        }
        rows.append([task.paper_name, *_counts(found)])
    rows.append(["all", *_counts(entries)])
    return f"{source.label}\n{aligned(rows)}"


def _counts(found: Mapping[Split, Sequence[EpisodeEntry]]) -> list[str]:
    lengths = [one.length for part in found.values() for one in part]
    mean = f"{sum(lengths) / len(lengths):.1f}" if lengths else "\u2013"
    return [*(str(len(part)) for part in found.values()), mean]


if __name__ == "__main__":
    main()
