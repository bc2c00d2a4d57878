"""``python -m clalfred.scripts.agents``: makes the agents that come with the package."""

from __future__ import annotations

from pathlib import Path

import click

from clalfred.scripts.common import clear_errors_resumable


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--recipes",
    type=click.Path(),
    help="YAML file with the run settings of each agent by name.  [default: the package's]",
)
@click.option(
    "--out",
    type=click.Path(),
    default="runs/agents",
    show_default=True,
    help="Folder for the runs; finished ones are not trained again.",
)
@click.option(
    "--from",
    "taken_from",
    type=click.Path(exists=True),
    help="Train nothing: take the agents of finished runs below this folder.",
)
@click.option("--folder", type=click.Path(), help="Put the agents here.  [default: the package]")
@click.option("--list", "listed", is_flag=True, help="Only list the agents and their sizes.")
@clear_errors_resumable()
def main(
    names: tuple[str, ...],
    recipes: str | None,
    out: str,
    taken_from: str | None,
    folder: str | None,
    listed: bool,
) -> None:
    """Train the agents with these NAMES (default: all) and store them in the package.

    Equal settings give equal files, bit for bit. The command says whether each file has changed.
    """
    from clalfred.cl.experiment.bundled import (
        MOST_BYTES,
        bundled_agents,
        find_run,
        make_bundled,
        read_recipes,
        take_bundled,
    )
    from gym_clalfred.errors import UsageError
    from gym_clalfred.names import choose

    target = None if folder is None else Path(folder)
    known = read_recipes(recipes)
    for name in names:
        choose("agent", name, known)
    missing = []
    for name in () if listed else names or known:
        if taken_from is None:
            made = make_bundled(name, known[name], Path(out), target)
        elif (run := find_run(known[name], taken_from)) is not None:
            made = take_bundled(name, run, target)
        else:
            missing.append(name)
            continue
        click.echo(f"{name}: {'the same as before' if made.unchanged else 'new'}, {made.path}")
    there = bundled_agents(target)
    for name, path in there.items():
        click.echo(f"{name:28}  {path.stat().st_size / 1e6:5.1f} MB")
    total = sum(path.stat().st_size for path in there.values())
    click.echo(f"{'all':28}  {total / 1e6:5.1f} MB of {MOST_BYTES / 1e6:.0f}")
    if missing:
        raise UsageError(
            f"{taken_from}: expected finished runs with the settings of {', '.join(missing)}, "
            "found none; train them with the same command without --from"
        )
    if total > MOST_BYTES:
        raise UsageError(f"expected at most {MOST_BYTES} bytes in all, found {total}; remove some")


if __name__ == "__main__":
    main()
