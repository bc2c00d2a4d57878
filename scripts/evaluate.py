"""``clalfred-evaluate``: evaluates a saved agent on any episodes."""

from __future__ import annotations

import sys
from collections import Counter

import click

from clalfred.scripts.common import (
    COUNT,
    WORKERS,
    EpisodeOptions,
    clear_errors_resumable,
    episode_options,
    on_terminal,
    version_option,
)

EPILOG = """
\b
Examples:
  clalfred-evaluate runs/small/behavior-il-cama-order1-seed0
  clalfred-evaluate agent.zip --split valid_seen --task Heat --workers 2
  clalfred-evaluate agent.zip --lines heat.jsonl       continues that file
  clalfred-evaluate agent.zip --submission mine.jsonl  for clalfred-verify
"""


@click.command(epilog=EPILOG)
@version_option
@click.argument("agent", type=click.Path())
@episode_options(
    split="valid_unseen",
    tier="those of the agent's run",
    backend="that of the agent's run",
    max_steps="the run's; on other episodes their tier's, 100 for tiny and small, else 1000",
)
@click.option(
    "--annotations",
    type=COUNT,
    help="At most this many per trajectory.  [default: all on full, 1 on smaller tiers]",
)
@click.option("--limit", type=COUNT, help="At most this many, evenly spread.  [default: all]")
@click.option(
    "--rules/--no-rules",
    default=True,
    show_default=True,
    help="The released agent's rules: turn if the target is out of view, repeat no vain action.",
)
@click.option(
    "--blind",
    is_flag=True,
    help="Show the agent nothing and turn off the rules, to see what words alone achieve.",
)
@click.option(
    "--deaf", is_flag=True, help="Let it read nothing, to see what vision alone achieves."
)
@click.option("--workers", type=COUNT, default=1, show_default=True, help=WORKERS)
@click.option(
    "--lines",
    type=click.Path(),
    help="JSON lines file for the episodes' results; continued if it exists.",
)
@click.option(
    "--submission",
    type=click.Path(),
    help="Write a file with all actions and scores, which clalfred-verify checks.",
)
@click.option("--name", help="What the board calls the submission.  [default: method and agent]")
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda or auto.")
@clear_errors_resumable(lambda options: options["lines"] is not None)
def main(
    agent: str,
    episodes: EpisodeOptions,
    annotations: int | None,
    limit: int | None,
    rules: bool,
    blind: bool,
    deaf: bool,
    workers: int,
    lines: str | None,
    submission: str | None,
    name: str | None,
    device: str,
) -> None:
    """Evaluate a trained AGENT: an agent.zip, a run's folder or a bundled agent's name."""
    from tqdm import tqdm

    from clalfred.agents.acting.result_file import EpisodeResult
    from clalfred.cl.board.submission import check_name, make_submission, write_submission
    from clalfred.cl.experiment.agent_file import load_agent
    from clalfred.cl.experiment.evaluate_agent import evaluate_agent, select, with_changes
    from clalfred.cl.failures import failure_table, format_failures
    from clalfred.cl.report.text import scores_table
    from gym_clalfred.data.sources import open_source
    from gym_clalfred.data.storage import check_target

    episodes.check()
    if name is not None:
        check_name(name)
    if submission is not None:
        check_target(submission)
    trained, run = load_agent(agent, rules=rules, blind=blind, deaf=deaf, device=device)
    config = with_changes(run, annotations=annotations, **episodes.changes)
    source = open_source(config.tier, config.data)
    keys = select(
        source,
        episodes.split,
        task=episodes.task,
        room=episodes.room,
        annotations=config.evaluated_annotations,
        limit=limit,
    )
    with tqdm(total=len(keys), unit="ep", disable=not on_terminal()) as bar:

        def advance(result: EpisodeResult) -> None:
            bar.update()

        summary = evaluate_agent(
            trained,
            config,
            source,
            keys,
            lines=lines,
            workers=workers,
            on_result=advance,
        )
    notes = [("blind", blind), ("deaf", deaf), ("without rules", not rules and not blind)]
    how = "".join(f", {note}" for note, holds in notes if holds)
    where = f"{episodes.split} of {source.label}, backend {config.backend}"
    click.echo(f"{config.method}{how} on {where}, in %")
    click.echo(scores_table({**summary.by_task, "all": summary.overall}))
    click.echo(f"\n{format_failures(failure_table(source, summary.results))}")
    errors = Counter(result.error for result in summary.results if result.error)
    if errors:
        click.echo(
            "\nEpisodes that could not be finished count as failed; they are tried again "
            "by the same command with --lines:",
            err=True,
        )
        for reason, count in errors.most_common():
            click.echo(f"{count:5d}  {reason}", err=True)
        sys.exit(1)
    if lines:
        click.echo(f"\nepisodes  {lines}")
    if submission:
        made = make_submission(name, trained, run, config, source, summary)
        click.echo(f"\nsubmission  {write_submission(submission, made)}")


if __name__ == "__main__":
    main()
