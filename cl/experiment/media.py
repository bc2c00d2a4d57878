"""Pictures and films of a finished run."""

from __future__ import annotations

from pathlib import Path

from agents.behavior_cloning import BehaviorCloning
from agents.recording import agent_deeds, film, write_film
from cl.experiment.results import Results
from cl.experiment.tools import Tools
from cl.report.plots import plot_all
from gym_clalfred.data.trajectory import EpisodeKey

#: Steps of a film at most; a lost agent may wander for a thousand.
FILM_STEPS = 200


def make_media(results: Results, agent: BehaviorCloning, tools: Tools, folder: Path) -> list[Path]:
    """Plots, and a film of one success and one failure at the end of the stream if there are."""
    made = plot_all(results, folder / "plots")
    for name, key in pick_episodes(results).items():
        config = results.config
        deeds = agent_deeds(
            agent, tools.source, key, backend=config.backend, max_steps=config.max_steps
        )
        frames = film(
            tools.source, key, deeds[:FILM_STEPS], backend=config.backend, title=config.method
        )
        made.append(write_film(folder / "videos" / f"{name}.mp4", list(frames)))
    return made


def pick_episodes(results: Results) -> dict[str, EpisodeKey]:
    """A success and a failure of the last evaluation: unseen rooms first, more conditions first."""
    last = len(results.tasks)
    episodes = [
        one
        for split in ("valid_unseen", "valid_seen")
        for one in results.document["splits"][split]["episodes"]
        if one["after"] == last and not one["error"]
    ]
    picked = {}
    for name, success in (("success", True), ("failure", False)):
        found = [one for one in episodes if one["success"] is success]
        if found:
            best = max(found, key=lambda one: one["conditions_met"] if not success else 0)
            picked[name] = EpisodeKey.parse(best["episode"])
    return picked
