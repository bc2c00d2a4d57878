"""``clalfred-play``: walk around, watch agents and take over, in a page in the browser."""

from __future__ import annotations

import contextlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clalfred.scripts.common import (
    COUNT,
    EpisodeOptions,
    clear_errors,
    episode_options,
    version_option,
)
from gym_clalfred.errors import BadInputError, MissingDependencyError

if TYPE_CHECKING:
    from clalfred.scripts.play.scoring import PlayScore
    from clalfred.scripts.play.session import Library
    from clalfred.scripts.play.world import WatchedAgent

#: On 127.0.0.1, unless another program has it.
DEFAULT_PORT = 8642

EPILOG = """
\b
Examples:
  clalfred-play                                 walk and act
  clalfred-play --task Heat --room Kitchen
  clalfred-play --agent joint-masks             watch an agent, and take over
  clalfred-play --agent runs/A --agent runs/B   watch two side by side
  clalfred-play --score 10 --split test_seen --name ann

\b
On another machine: ssh -L 8642:127.0.0.1:8642 HOST, then open the
printed address here.
"""


@click.command(epilog=EPILOG)
@version_option
@click.option(
    "--agent",
    "agents",
    type=click.Path(),
    multiple=True,
    help="agent.zip, a run's folder or a bundled agent's name; two stand side by side.",
)
@episode_options(split="train", tier="the agent's if they are there, or tiny")
@click.option("--roam", is_flag=True, help="Walk freely, without a goal.")
@click.option(
    "--save",
    type=click.Path(),
    default="demonstrations",
    show_default=True,
    help="Folder for saved demonstrations.",
)
@click.option("--score", type=COUNT, help="Play this many episodes of the split for a score.")
@click.option("--name", help="Who plays for the score.")
@click.option(
    "--lines",
    type=click.Path(),
    help="JSON lines file for the score; continued if it exists.  [default: NAME-SPLIT.jsonl]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port on 127.0.0.1.  [default: {DEFAULT_PORT}, or a free one]",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
@clear_errors
def main(
    agents: tuple[str, ...],
    episodes: EpisodeOptions,
    roam: bool,
    save: str,
    score: int | None,
    name: str | None,
    lines: str | None,
    port: int | None,
    browser: bool,
) -> None:
    """Play in the browser: walk and act, watch agents, take over, save demonstrations."""
    missing = [each for each in ("starlette", "uvicorn", "websockets") if find_spec(each) is None]
    if missing:
        raise MissingDependencyError(
            f"clalfred-play needs {', '.join(missing)}: pip install 'cl-alfred-gym[play]'"
        )
    from clalfred.scripts.play.server import serve
    from clalfred.scripts.play.session import OWN_DATA, EpisodeChoice, Library

    episodes.check()
    if len(agents) > 2:
        raise BadInputError(f"expected one --agent or two, found {len(agents)}")
    if score is not None and (not name or not name.replace("-", "").replace("_", "").isalnum()):
        raise BadInputError(f"--score needs --name in letters, digits, - and _; found {name!r}")
    if score is None and (name or lines):
        raise BadInputError("--name and --lines belong to --score: expected --score N too")
    if score is not None and (agents or roam):
        raise BadInputError("--score is a person's own: leave out --agent and --roam")
    performers, run_tier, run_data = _performers(agents)
    data = episodes.data or (run_data if episodes.tier is None else None)
    named = OWN_DATA if data else episodes.tier or _tier_at_hand(run_tier)
    choice = EpisodeChoice(named, episodes.split, episodes.task or "", episodes.room or "", roam)
    library = Library(choice, data, performers, Path(save))
    with contextlib.ExitStack() as stack:
        if score is not None:
            assert name is not None
            path = Path(lines or f"{name}-{episodes.split}.jsonl")
            library.score = stack.enter_context(_score(library, score, name, path))
        library.keys(choice)  # says at once if there is no such episode
        serve(library, port, browser)
        if library.score is not None:
            done = library.score.done
            click.echo(f"{library.score.succeeded} of {done} solved; results in {path}")


def _performers(agents: tuple[str, ...]) -> tuple[list[WatchedAgent], str | None, str | None]:
    """The agents, and the data that the first one's run used."""
    from clalfred.scripts.play.session import load_performer

    performers, runs = [], []
    for path in agents:
        performer, config = load_performer(_short_name(path), path)
        performers.append(performer)
        runs.append(config)
    return performers, *((runs[0].tier, runs[0].data) if runs else (None, None))


def _tier_at_hand(wanted: str | None) -> str:
    """The tier of an agent's run if it has been generated, else ``tiny``, which takes seconds."""
    from gym_clalfred.data.quotas import TIERS
    from gym_clalfred.data.tiers import tier_folder

    if wanted is None or tier_folder(TIERS[wanted]).is_dir():
        return wanted or "tiny"
    click.echo(f"Tier {wanted} is not generated yet, so this plays tiny; --tier {wanted} makes it.")
    return "tiny"


def _short_name(path: str) -> str:
    """A bundled agent's name, or the run's folder."""
    given = Path(path)
    return given.absolute().parent.name if given.name == "agent.zip" else given.stem


def _score(library: Library, count: int, name: str, path: Path) -> PlayScore:
    """A person's score on the episodes that an evaluation with this limit would take."""
    from clalfred.cl.experiment.config import RunConfig
    from clalfred.cl.experiment.evaluate_agent import select
    from clalfred.scripts.play.scoring import PlayScore

    choice = library.choice
    source = library.source(choice.tier)
    keys = select(
        source,
        choice.split,
        task=choice.task or None,
        room=choice.room or None,
        annotations=1,
        limit=count,
    )
    if not keys:
        raise BadInputError("no episode was chosen: widen the task or room filter")
    run = RunConfig(data=library.data) if library.data else RunConfig(tier=choice.tier)
    return PlayScore(path, name, source, keys, run.step_limit)
