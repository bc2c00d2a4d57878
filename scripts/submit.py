"""``clalfred-submit``: makes submissions to the board from finished runs."""

from __future__ import annotations

from pathlib import Path

import click

from clalfred.scripts.common import clear_errors, version_option

EPILOG = """
\b
Examples:
  clalfred-submit runs/cama --name "CAMA, my lab"
  clalfred-submit runs/sweep --out board    every finished run of a sweep
  clalfred-verify board/*.jsonl.gz          replays them
"""


@click.command(epilog=EPILOG)
@version_option
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out",
    type=click.Path(),
    default="board",
    show_default=True,
    help="Folder for the submissions, one for each split.",
)
@click.option("--name", help="What the board calls the run.  [default: method and order]")
@clear_errors
def main(folders: tuple[str, ...], out: str, name: str | None) -> None:
    """Make submissions from finished runs: FOLDERS of runs or of sweeps.

    They hold all episodes of a run's last evaluation. Nothing is evaluated again.
    """
    from clalfred.cl.board.submission import check_name, run_submissions, write_submission
    from clalfred.cl.experiment.folder import finished_runs
    from gym_clalfred.errors import BadInputError, UsageError

    if name is not None:
        check_name(name)
    runs = []
    for folder in folders:
        found = finished_runs(folder)
        if not found:
            raise UsageError(f"{folder}: expected a finished run in it or below it, found none")
        runs += found
    names = [run.absolute().name for run in runs]
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise BadInputError(f"{twice[0]}: expected folders with different names, found two")
    for run in runs:
        for made in run_submissions(run, name):
            path = Path(out) / f"{run.absolute().name}-{made.split.value}.jsonl.gz"
            click.echo(write_submission(path, made))


if __name__ == "__main__":
    main()
