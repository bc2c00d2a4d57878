"""``clalfred-record``: a film of the expert or of agents in an episode."""

from __future__ import annotations

import click

from clalfred.agents.acting.recording import FILM_STEPS
from clalfred.scripts.common import (
    COUNT,
    EpisodeOptions,
    clear_errors,
    episode_options,
    version_option,
)

EPILOG = """
\b
Examples:
  clalfred-record expert.mp4                the expert, first unseen episode
  clalfred-record heat.gif --task Heat --number 3
  clalfred-record cama.mp4 --agent runs/small/behavior-il-cama-order1-seed0
  clalfred-record both.mp4 --agent A/agent.zip --agent B/agent.zip
  clalfred-record strip.png --agent A --agent B --agent C      a row each
  clalfred-record one.mp4 --episode "valid_seen/<folder>/<trial>#0"
"""


@click.command(epilog=EPILOG)
@version_option
@click.argument("out", type=click.Path())
@click.option(
    "--agent",
    "agents",
    type=click.Path(),
    multiple=True,
    help="agent.zip, a run's folder or a bundled agent's name; two stand side by side, in a .png "
    "any number.  "
    "[default: the expert]",
)
@click.option("--expert", is_flag=True, help="The expert; with one --agent, beside it.")
@click.option("--episode", help="Which episode: <split>/<folder>/<trial>#<annotation>.")
@episode_options(
    split="valid_unseen",
    tier="the agent's, or small",
    backend="the agent's, or embedded",
    max_steps=f"as the agent was evaluated, but at most {FILM_STEPS}",
)
@click.option(
    "--number",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Which trajectory of those, from 0.",
)
@click.option("--fps", type=COUNT, default=5, show_default=True, help="Steps per second.")
@clear_errors
def main(
    out: str,
    agents: tuple[str, ...],
    expert: bool,
    episode: str | None,
    episodes: EpisodeOptions,
    number: int,
    fps: int,
) -> None:
    """Write a film OUT (.mp4 or .gif) of an episode, or a strip of frames (.png)."""
    from clalfred.agents.acting.recording import Performer, check_film, record
    from clalfred.agents.acting.strip import draw_strip
    from clalfred.cl.experiment.agent_file import load_agent
    from clalfred.cl.experiment.config import RunConfig
    from clalfred.cl.experiment.evaluate_agent import select, with_changes
    from gym_clalfred.data.sources import open_source
    from gym_clalfred.data.storage import check_target
    from gym_clalfred.data.trajectory import EpisodeKey
    from gym_clalfred.errors import BadInputError

    episodes.check()
    performers = [Performer("expert")] if expert or not agents else []
    strip = out.lower().endswith(".png")
    if not strip:
        check_film(out, len(performers) + len(agents))
    check_target(out)
    runs = []
    for path in agents:
        policy, config = load_agent(path, device="cpu")
        performers.append(Performer(f"{config.method}, seed {config.seed}", policy))
        runs.append(config)
    # Options not given here come from the first agent's run.
    run = with_changes(runs[0] if runs else RunConfig(), **episodes.changes)
    steps = episodes.max_steps or min(run.step_limit, FILM_STEPS)
    chosen = None if episode is None else EpisodeKey.parse(episode)
    source = open_source(run.tier, run.data)
    if chosen is None:
        keys = select(source, episodes.split, task=episodes.task, room=episodes.room, annotations=1)
        if not 0 <= number < len(keys):
            raise BadInputError(f"number {number}: there are {len(keys)} such episodes")
        chosen = keys[number]
    if strip:
        made = draw_strip(out, source, chosen, performers, backend=run.backend, max_steps=steps)
        click.echo(f"{chosen}\n{made}")
        return
    film = record(out, source, chosen, performers, backend=run.backend, max_steps=steps, fps=fps)
    click.echo(f"{chosen}\n{film}")


if __name__ == "__main__":
    main()
