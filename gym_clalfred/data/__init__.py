"""Episodes: ALFRED's trajectory format, where episodes come from, tiers and splits."""

from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import (
    Annotation,
    Episode,
    EpisodeKey,
    ExpertAction,
    HighStep,
    RunLengthMask,
    Split,
    Trajectory,
)

__all__ = [
    "Annotation",
    "Episode",
    "EpisodeEntry",
    "EpisodeKey",
    "EpisodeSource",
    "ExpertAction",
    "HighStep",
    "RunLengthMask",
    "Split",
    "Trajectory",
    "open_source",
]
