"""Pictures and films of a finished run."""

from __future__ import annotations

from pathlib import Path

from agents.behavior_cloning import BehaviorCloning
from agents.recording import Performer, agent_deeds, film, record, write_film
from cl.experiment.results import Results
from cl.experiment.tools import Tools
from cl.report.plots import plot_all
from gym_clalfred.data.trajectory import EpisodeKey

#: Steps of a film at most; a lost agent may wander for a thousand.
FILM_STEPS = 200


def make_media(results: Results, agent: BehaviorCloning, tools: Tools, folder: Path) -> list[Path]:
    """Plots, and films of one success and one failure at the end of the stream.

    Without a success there is a film of how the expert solves the failed episode.
    """
    config, picked = results.config, pick_episodes(results)
    made = plot_all(results, folder / "plots")
    if "success" not in picked and picked:
        expert = [Performer("expert")]
        path = folder / "videos" / "expert.mp4"
        made.append(record(path, tools.source, picked["failure"], expert, backend=config.backend))
    for name, key in picked.items():
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
