"""One picture of an episode: a row of frames for each performer, as in the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from clalfred.agents.acting.recording import Performer, TracedAction, trace_of
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass

#: Frames of a row at most; sides of a frame; heights of captions and titles.
COLUMNS = 7
_SIDE, _CAPTION, _TITLE = 200, 18, 20


@dataclass(frozen=True)
class Moment:
    """What is seen in front after an action, and a few words about it."""

    view: NDArray[np.uint8]
    words: str


def draw_strip(
    path: str | Path,
    source: EpisodeSource,
    key: EpisodeKey,
    performers: Sequence[Performer],
    *,
    backend: str = "embedded",
    max_steps: int = 200,
) -> Path:
    """Writes a PNG with a row for each performer: the start, what it did to objects, the end."""
    if not performers:
        raise BadInputError("expected at least one performer, got none")
    rows = []
    for performer in performers:
        trace = trace_of(performer, source, key, backend=backend, max_steps=max_steps)
        moments, solved = _moments(source, key, trace, backend)
        result = "solved" if solved else "not solved"
        rows.append((f"{performer.title}: {result}, {len(trace)} actions", moments))
    goal = source.episode(key).annotation.goal
    picture = _draw(goal, rows)
    with atomic_file(Path(path)) as file:
        picture.save(file, "png", optimize=True)
    return Path(path)


def _moments(
    source: EpisodeSource, key: EpisodeKey, trace: Sequence[TracedAction], backend: str
) -> tuple[list[Moment], bool]:
    env = ClAlfredEnv(
        source=source, backend=backend, image_size=_SIDE, max_steps=max(len(trace), 1)
    )
    try:
        observation, info = env.reset(options={"episode": key})
        moments = [Moment(observation["rgb"][0], "start")]
        for done in trace:
            observation, _, terminated, truncated, info = env.step(
                (int(done.action), int(done.object_class))
            )
            ended = terminated or truncated
            if ended or (done.action.is_interaction and info["action_success"]):
                moments.append(Moment(observation["rgb"][0], _words(done)))
            if ended:
                break
    finally:
        env.close()
    return _thinned(moments), bool(info.get("success"))


def _words(done: TracedAction) -> str:
    name = done.action.name.removesuffix("Object").replace("Object", " ")
    if done.object_class is ObjectClass.NoObject or not done.action.is_interaction:
        return name
    return f"{name} {done.object_class.name}"


def _thinned(moments: list[Moment]) -> list[Moment]:
    """At most ``COLUMNS`` of them, the first and the last among them."""
    if len(moments) <= COLUMNS:
        return moments
    return [moments[round(n * (len(moments) - 1) / (COLUMNS - 1))] for n in range(COLUMNS)]


def _draw(goal: str, rows: Sequence[tuple[str, Sequence[Moment]]]) -> Image.Image:
    width = _SIDE * max(len(moments) for _, moments in rows)
    height = _TITLE + len(rows) * (_TITLE + _SIDE + _CAPTION)
    picture = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(picture)
    font, bold = ImageFont.load_default(size=12), ImageFont.load_default(size=14)
    pen.text((4, 2), goal, fill="black", font=bold)
    top = _TITLE
    for title, moments in rows:
        pen.text((4, top + 2), title, fill="#3366cc", font=bold)
        top += _TITLE
        for column, moment in enumerate(moments):
            picture.paste(Image.fromarray(moment.view), (column * _SIDE, top))
            pen.text((column * _SIDE + 4, top + _SIDE + 2), moment.words, fill="black", font=font)
        top += _SIDE + _CAPTION
    return picture
