"""``python -m clalfred.scripts.results``: the published results, from runs to docs/RESULTS.md."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from clalfred.scripts.common import COUNT, clear_errors
from gym_clalfred.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent / "docs"
PUBLISHED = ROOT / "results"


@click.group()
def main() -> None:
    """Publish results: collect finished runs, then write docs/RESULTS.md from what is collected.

    To compare repeated runs with the published ones use verify; to compare conclusions use agree.
    """


def _docs() -> Path:
    """The checkout's docs; an installed package has none."""
    if not (ROOT / "RESULTS.md").is_file():
        raise UsageError(
            f"{ROOT}: expected the docs of a checkout, and this package is installed without one; "
            "name a folder, or run the command in a checkout"
        )
    return ROOT


@main.command()
@click.argument("folder", type=click.Path(exists=True))
@click.option("--to", type=click.Path(path_type=Path), help="Where to.  [default: docs/results]")
@clear_errors
def collect(folder: str, to: Path | None) -> None:
    """Copy the finished runs below a FOLDER, compacted, to docs/results.

    Results of the command controls are copied too. Runs on real ALFRED go to docs/results/alfred.
    """
    from clalfred.cl.report.controls import collect_controls
    from clalfred.cl.report.publish import collect as collect_runs
    from clalfred.cl.report.summary import load_runs

    target = to or _docs() / "results"
    runs = load_runs(folder, lambda notice: click.echo(notice, err=True))
    for path in (*collect_runs(runs, target), *collect_controls(Path(folder), target)):
        click.echo(path if to else path.relative_to(ROOT.parent))


@main.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--limit", type=COUNT, help="Episodes per split for blind and deaf agents.  [default: all]"
)
@clear_errors
def controls(folder: Path, limit: int | None) -> None:
    """Evaluate the Joint agents of a FOLDER of runs blind, deaf, and without rules.

    The same command continues what is left. Run collect afterwards.
    """
    from clalfred.cl.report.controls import make_controls
    from clalfred.cl.report.summary import load_runs

    make_controls(load_runs(folder), folder, click.echo, limit)


@main.command()
@click.argument("folder", type=click.Path(exists=True))
@clear_errors
def verify(folder: str) -> None:
    """Compare the finished runs below a FOLDER with their published copies, in docs/results."""
    from clalfred.cl.report.summary import load_runs
    from clalfred.cl.report.verify import compare_with_published, summary

    if not PUBLISHED.is_dir():
        _docs()
    compared = []
    for run in load_runs(folder):
        comparison = compare_with_published(run, PUBLISHED)
        if comparison is None:
            click.echo(f"{run.config.name}: not published")
        else:
            compared.append(comparison)
            click.echo(comparison)
    click.echo(summary(compared))
    if not compared or any(one.different for one in compared):
        raise SystemExit(1)


@main.command()
@click.argument("before", type=click.Path(exists=True))
@click.argument("after", type=click.Path(exists=True), default=PUBLISHED)
@clear_errors
def agree(before: str, after: str) -> None:
    """Say whether folders BEFORE and AFTER show the same differences between methods.

    Both hold runs or their copies; AFTER is docs/results unless given.
    """
    from tqdm import tqdm

    from clalfred.cl.report.summary import load_runs
    from clalfred.cl.report.verify import agreement

    show = partial(tqdm, desc="pairs of methods", disable=None, leave=False)
    click.echo(agreement(load_runs(before), load_runs(after), show))


@main.command()
@clear_errors
def write() -> None:
    """Make docs/RESULTS.md, its figures and the tables of other pages from docs/results alone."""
    from clalfred.cl.report.publish import fill_in, read_published, write_page
    from clalfred.cl.report.published_tables import behaviours, headline, tables
    from clalfred.cl.report.published_tables import controls as control_table
    from gym_clalfred.data.sources import open_source

    _docs()
    for path in write_page(PUBLISHED, ROOT / "RESULTS.md", open_source("small")):
        click.echo(path.relative_to(ROOT.parent))
    readme = ROOT.parent / "README.md"
    fill_in(readme, "results", headline(read_published(PUBLISHED)))
    click.echo(readme.relative_to(ROOT.parent))
    real = ROOT / "REAL_RESULTS.md"
    runs = read_published(PUBLISHED / "alfred")
    fill_in(real, "results", tables(runs))
    fill_in(real, "controls", control_table(PUBLISHED / "alfred", runs))
    fill_in(real, "behaviours", behaviours(runs))
    click.echo(real.relative_to(ROOT.parent))


@main.command()
@clear_errors
def schema() -> None:
    """Fill in the tables of docs/RESULTS_SCHEMA.md from the models of results."""
    from clalfred.cl.report.publish import fill_in, schema_tables

    page = _docs() / "RESULTS_SCHEMA.md"
    for name, table in schema_tables().items():
        fill_in(page, name, table)
    click.echo(page.relative_to(ROOT.parent))


if __name__ == "__main__":
    main()
