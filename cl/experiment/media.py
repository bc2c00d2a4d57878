"""Pictures and films of a finished run."""

from __future__ import annotations

from pathlib import Path

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.recording import FILM_STEPS, Performer, record
from clalfred.cl.experiment.results import EvaluatedEpisode, Results
from clalfred.cl.report.plots import plot_all
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey


def make_media(results: Results, policy: Policy, source: EpisodeSource, folder: Path) -> list[Path]:
    """Plots, and films of the agent beside the expert in the episodes of ``pick_episodes``."""
    config = results.config
    made = plot_all(results, folder / "plots")
    performers = [Performer("expert"), Performer(config.method, policy)]
    for name, key in pick_episodes(results).items():
        path = folder / "videos" / f"{name}.mp4"
        steps = min(config.step_limit, FILM_STEPS)
        made.append(record(path, source, key, performers, backend=config.backend, max_steps=steps))
    return made


def pick_episodes(results: Results) -> dict[str, EpisodeKey]:
    """Episodes of the last evaluation worth seeing; unseen rooms first, more conditions first.

    ``success`` is solved; if there is none, ``best`` is where the agent met the largest share of
    the goal conditions. ``failure`` is another one that it did not solve.
    """
    episodes = [
        one for split in ("unseen", "seen") for one in results.last_episodes(split) if not one.error
    ]
    successes = [one for one in episodes if one.success]
    failures = sorted((one for one in episodes if not one.success), key=_share, reverse=True)
    picked = {}
    if successes:
        picked["success"] = max(successes, key=_shows_much)
    elif failures and failures[0].conditions_met:
        picked["best"] = failures.pop(0)
    if failures:
        picked["failure"] = failures[0]
    return {name: EpisodeKey.parse(one.episode) for name, one in picked.items()}


def _share(episode: EvaluatedEpisode) -> float:
    return episode.conditions_met / episode.conditions


def _shows_much(episode: EvaluatedEpisode) -> tuple[bool, int]:
    """A task of many conditions, solved before the film ends."""
    return episode.steps <= FILM_STEPS, episode.conditions
