"""``clalfred-verify``: replays submissions and lists the ones whose claims hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from clalfred.scripts.common import clear_errors, on_terminal, version_option

if TYPE_CHECKING:
    from clalfred.agents.acting.result_file import EpisodeResult
    from clalfred.cl.board.verification import Verified
    from gym_clalfred.data.episode_source import EpisodeSource

EPILOG = """
\b
Examples:
  clalfred-submit RUN --out board                     makes submissions
  clalfred-verify board/*.jsonl.gz                    replays them
  clalfred-verify board/*.jsonl.gz --page board.html  and writes the board
"""


@click.command(epilog=EPILOG)
@version_option
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--data", type=click.Path(), help="Folder with the episodes, unless they are a tier's."
)
@click.option("--page", type=click.Path(), help="Write a page that lists the verified submissions.")
@clear_errors
def main(files: tuple[str, ...], data: str | None, page: str | None) -> None:
    """Replay submission FILES in the embedded simulator and recompute every number.

    Says why a file is refused, and exits with 1 if any is.
    """
    from clalfred.cl.board.page import write_board
    from clalfred.cl.report.text import scores_table
    from gym_clalfred.data.sources import open_source
    from gym_clalfred.errors import DataError

    source = None if data is None else open_source(data=data)
    verified, kept_files = [], []
    for file in files:
        try:
            found = _replayed(file, source)
        except DataError as error:
            text = str(error)
            click.echo(f"refused: {text if text.startswith(file) else f'{file}: {text}'}", err=True)
            continue
        verified.append(found)
        kept_files.append(file)
        submission, kept = found.submission, found.available - found.missing
        click.echo(
            f"verified: {file}: {submission.name}, {submission.split.value} of {submission.data}, "
            f"{kept} of {found.available} episodes, in %"
        )
        click.echo(scores_table({"": found.scores}))
    if page is not None:
        click.echo(write_board(page, verified, kept_files))
    if len(verified) < len(files):
        sys.exit(1)


def _replayed(file: str, source: EpisodeSource | None) -> Verified:
    from tqdm import tqdm

    from clalfred.cl.board.submission import read_submission
    from clalfred.cl.board.verification import verify

    submission = read_submission(file)
    count = len(submission.results)
    with tqdm(total=count, unit="ep", disable=not on_terminal(), leave=False) as bar:

        def advance(result: EpisodeResult) -> None:
            bar.update()

        return verify(submission, source, advance)


if __name__ == "__main__":
    main()
