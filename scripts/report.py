"""``clalfred-report``: the paper's tables from a folder of runs."""

from __future__ import annotations

from pathlib import Path

import click

from clalfred.scripts.common import clear_errors, version_option

EPILOG = """
\b
Examples:
  clalfred-report runs/first                     a table on the terminal
  clalfred-report runs --baseline er --out page  all formats, and an HTML page
  clalfred-report runs/first --baseline er         differences to a baseline
  clalfred-report runs --format latex --metric SR_last --metric forgetting
"""


@click.command(epilog=EPILOG)
@version_option
@click.argument("folder", type=click.Path())
@click.option("--baseline", help="Show paired differences against this method.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="A column, can be repeated: SR, GC, PLW_SR or PLW_GC with _last or _avg, forgetting, "
    "backward_transfer, forward_transfer, A_AUC.  "
    "[default: SR_last GC_last SR_avg GC_avg forgetting]",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["text", "markdown", "latex", "csv"]),
    default="text",
    show_default=True,
    help="Format of the printed table.",
)
@click.option(
    "--person",
    "people",
    type=click.Path(),
    multiple=True,
    help="A score of clalfred-play, to show beside agents on the same episodes; can be repeated.",
)
@click.option("--out", type=click.Path(), help="Write all formats and the page here.")
@clear_errors
def main(
    folder: str,
    baseline: str | None,
    metrics: tuple[str, ...],
    kind: str,
    people: tuple[str, ...],
    out: str | None,
) -> None:
    """Compare the finished runs below a FOLDER, or published copies of runs."""
    from clalfred.cl.experiment.results import METRICS
    from clalfred.cl.report.formats import FORMATS
    from clalfred.cl.report.people import beside_agents, people_text
    from clalfred.cl.report.summary import MAIN_METRICS, load_runs, summarise
    from clalfred.cl.report.write import write_report
    from gym_clalfred.names import choose

    for metric in metrics:
        choose("metric", metric, METRICS)
    columns = metrics or MAIN_METRICS
    runs = load_runs(folder, lambda notice: click.echo(notice, err=True))
    tables = summarise(runs, baseline)
    beside = [beside_agents(path, runs) for path in people]
    click.echo(FORMATS[kind](tables, columns), nl=False)
    if beside:
        click.echo(f"\n{people_text(beside)}")
    if out:
        for path in write_report(Path(out), runs, tables, columns, beside):
            click.echo(path)


if __name__ == "__main__":
    main()
