"""``python -m clalfred.scripts.agents``: trains the agents that come with the package."""

from __future__ import annotations

from pathlib import Path

import click

from clalfred.scripts.common import clear_errors_resumable


@click.command()
@click.argument("names", nargs=-1)
@click.option("--recipes", type=click.Path(), help="YAML file of names and settings of runs.")
@click.option(
    "--out",
    type=click.Path(),
    default="runs/agents",
    show_default=True,
    help="Folder for the runs; finished ones are not trained again.",
)
@click.option("--folder", type=click.Path(), help="Put the agents here.  [default: the package]")
@click.option("--list", "listed", is_flag=True, help="Only say which there are, and their sizes.")
@clear_errors_resumable()
def main(
    names: tuple[str, ...], recipes: str | None, out: str, folder: str | None, listed: bool
) -> None:
    """Train the agents of the given NAMES, or all, and store them in the package.

    Equal settings give equal files, bit for bit; the command says whether a file is the one that
    was there before.
    """
    from clalfred.cl.experiment.bundled import (
        MOST_BYTES,
        bundled_agents,
        make_bundled,
        read_recipes,
    )
    from clalfred.cl.experiment.settings import choose

    target = None if folder is None else Path(folder)
    known = read_recipes(recipes)
    for name in names:
        choose("agent", name, known)
    if not listed:
        for name in names or known:
            made = make_bundled(name, known[name], Path(out), target)
            click.echo(f"{name}: {'the same as before' if made.unchanged else 'new'}, {made.path}")
    there = bundled_agents(target)
    for name, path in there.items():
        click.echo(f"{name:28}  {path.stat().st_size / 1e6:5.1f} MB")
    total = sum(path.stat().st_size for path in there.values())
    click.echo(f"{'all':28}  {total / 1e6:5.1f} MB of {MOST_BYTES / 1e6:.0f}")


if __name__ == "__main__":
    main()
