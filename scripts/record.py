"""``clalfred-record``: a film of the expert or of agents in an episode."""

from __future__ import annotations

import click

from scripts.common import COUNT, check_names, clear_errors

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
@click.argument("out", type=click.Path())
@click.option(
    "--agent",
    "agents",
    type=click.Path(),
    multiple=True,
    help="agent.zip or a run's folder; two stand side by side, in a .png any number.  "
    "[default: the expert]",
)
@click.option("--expert", is_flag=True, help="The expert; with one --agent, beside it.")
@click.option("--episode", help="Which episode: <split>/<folder>/<trial>#<annotation>.")
@click.option(
    "--split",
    default="valid_unseen",
    show_default=True,
    help="Choose from train, valid_seen or valid_unseen.",
)
@click.option("--task", help="Choose among this task type, such as Heat.")
@click.option("--room", help="Choose among this room type, such as Kitchen.")
@click.option(
    "--number",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Which trajectory of those, from 0.",
)
@click.option("--tier", help="Generated episodes.  [default: the agent's, or tiny]")
@click.option("--data", type=click.Path(), help="Folder with other episodes.")
@click.option("--backend", default="embedded", show_default=True, help="Simulator.")
@click.option("--max-steps", type=COUNT, default=200, show_default=True, help="Steps at most.")
@click.option("--fps", type=COUNT, default=5, show_default=True, help="Steps per second.")
@clear_errors
def main(
    out: str,
    agents: tuple[str, ...],
    expert: bool,
    episode: str | None,
    split: str,
    task: str | None,
    room: str | None,
    number: int,
    tier: str | None,
    data: str | None,
    backend: str,
    max_steps: int,
    fps: int,
) -> None:
    """Write a film OUT (.mp4 or .gif) of an episode, or a strip of frames (.png)."""
    from agents.recording import Performer, record
    from agents.strip import draw_strip
    from cl.experiment.agent_file import load_agent
    from cl.experiment.assess import select
    from gym_clalfred.data.sources import open_source
    from gym_clalfred.data.trajectory import EpisodeKey
    from gym_clalfred.errors import BadInputError

    check_names(split=split, task=task, room=room, tier=tier)
    performers = [Performer("expert")] if expert or not agents else []
    for path in agents:
        agent, config = load_agent(path, device="cpu")
        performers.append(Performer(f"{config.method}, seed {config.seed}", agent))
        if tier is None and data is None:
            tier, data = config.tier, config.data
    source = open_source(tier or "tiny", data)
    if episode is None:
        keys = select(source, split, task=task, room=room, annotations=1)
        if not 0 <= number < len(keys):
            raise BadInputError(f"number {number}: there are {len(keys)} such episodes")
        key = keys[number]
    else:
        key = EpisodeKey.parse(episode)
    if out.lower().endswith(".png"):
        made = draw_strip(out, source, key, performers, backend=backend, max_steps=max_steps)
        click.echo(f"{key}\n{made}")
        return
    film = record(out, source, key, performers, backend=backend, max_steps=max_steps, fps=fps)
    click.echo(f"{key}\n{film}")


if __name__ == "__main__":
    main()
