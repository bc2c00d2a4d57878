"""Films of episodes that the expert or an agent acts out.

An agent acts on its own small images; its actions are then repeated in an environment with large
ones. The size of the images never changes what happens, so the film shows the very same episode.
"""

from __future__ import annotations

import io
import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import env_for, torch_threads
from clalfred.agents.agent import Decision
from gym_clalfred.actions import Action
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, FilmError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.viewer import Notes

#: Steps of a film at most; a lost agent may wander for a thousand.
FILM_STEPS = 200

#: Steps shown per second, and how long the last picture stays.
FRAMES_PER_SECOND = 5
LAST_SECONDS = 2
FORMATS = (".mp4", ".gif")
GIF_COLOURS = 64

#: Side of the views that are filmed.
FILM_PIXELS = 328

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class TracedAction:
    """One action of an episode and what is written beside it.

    Args:
        action: what was done.
        object_class: on what.
        instruction: number of the instruction being followed, from 0, where it is known.
        progress: how far the agent thinks it is, 0..1, or the share of the expert's steps.
        looks_for: what the agent wants to act on next.
        heat: (5, h, w) where in the views it sees that, 0..1.
    """

    action: Action
    object_class: ObjectClass
    instruction: int | None = None
    progress: float | None = None
    looks_for: str = ""
    heat: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Performer:
    """Who is filmed.

    Args:
        title: written in the picture.
        policy: who acts; the expert if there is none.
    """

    title: str
    policy: Policy | None = None


def record(
    path: str | Path,
    source: EpisodeSource,
    key: EpisodeKey,
    performers: Sequence[Performer],
    *,
    backend: str = "embedded",
    max_steps: int = 200,
    fps: int = FRAMES_PER_SECOND,
) -> Path:
    """Writes a film of one performer in an episode, or of two side by side."""
    check_film(path, len(performers))
    films = []
    for performer in performers:
        trace = trace_of(performer, source, key, backend=backend, max_steps=max_steps)
        films.append(list(film(source, key, trace, backend=backend, title=performer.title)))
    return write_film(path, films[0] if len(films) == 1 else side_by_side(*films), fps)


def trace_of(
    performer: Performer,
    source: EpisodeSource,
    key: EpisodeKey,
    *,
    backend: str = "embedded",
    max_steps: int = 200,
) -> list[TracedAction]:
    """What a performer does in an episode, up to a number of steps."""
    policy = performer.policy
    if policy is None:
        return expert_trace(source, key)[:max_steps]
    env = env_for(policy.agent, source, backend=backend, max_steps=max_steps)
    with closing(env), torch_threads(1):
        return _acted_out(policy, env, key)


def expert_trace(source: EpisodeSource, key: EpisodeKey) -> list[TracedAction]:
    """The demonstration of an episode."""
    actions = source.episode(key).trajectory.actions
    trace = [
        TracedAction(
            step.action,
            class_of(step.object_id) if step.object_id else ObjectClass.NoObject,
            step.step,
            (number + 1) / (len(actions) + 1),
        )
        for number, step in enumerate(actions)
    ]
    last = actions[-1].step if actions else None
    return [*trace, TracedAction(Action.Stop, ObjectClass.NoObject, last, 1.0)]


def _acted_out(policy: Policy, env: ClAlfredEnv, key: EpisodeKey) -> list[TracedAction]:
    """What an agent does in an episode, until it ends."""
    trace: list[TracedAction] = []
    observation, _ = env.reset(options={"episode": key})
    state, ended = None, False
    while not ended:
        action, state = policy.predict(observation, state)
        assert state[0].decision is not None
        trace.append(_traced(action, state[0].decision))
        observation, _, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated
    return trace


def _traced(action: NDArray[np.int64], decision: Decision) -> TracedAction:
    said, heat = decision.progress, decision.shown.get("heat")
    return TracedAction(
        Action(int(action[0])),
        ObjectClass(int(action[1])),
        progress=None if said is None else float(said.mean()),
        looks_for=ObjectClass(int(decision.class_logits[0, 1:].argmax()) + 1).name,
        heat=None if heat is None else heat[0].cpu().numpy(),
    )


def film(
    source: EpisodeSource,
    key: EpisodeKey,
    trace: Sequence[TracedAction],
    *,
    backend: str = "embedded",
    title: str = "",
) -> Iterator[Frame]:
    """Pictures (540, 960, 3) of an episode: the start, and one after each action."""
    env = ClAlfredEnv(
        source=source,
        backend=backend,
        image_size=FILM_PIXELS,
        render_mode="rgb_array",
        max_steps=max(len(trace), 1),
    )
    try:
        env.reset(options={"episode": key})
        first = trace[0] if trace else None
        knows = first is not None and first.progress is not None
        yield _picture(env, title, first, 0.0 if knows else None)
        for number, done in enumerate(trace):
            *_, terminated, truncated, _ = env.step((int(done.action), int(done.object_class)))
            following = trace[min(number + 1, len(trace) - 1)]
            yield _picture(env, title, following, done.progress)
            if terminated or truncated:
                return
    finally:
        env.close()


def side_by_side(one: Sequence[Frame], other: Sequence[Frame]) -> list[Frame]:
    """Two films of the same height beside each other; the shorter one waits at its end."""
    length = max(len(one), len(other))
    return [
        np.concatenate([film[min(number, len(film) - 1)] for film in (one, other)], axis=1)
        for number in range(length)
    ]


def write_film(path: str | Path, frames: Sequence[Frame], fps: int = FRAMES_PER_SECOND) -> Path:
    """Writes an MP4 that browsers play, or a GIF; at once or not at all."""
    path = Path(path)
    check_film(path)
    if not frames:
        raise BadInputError(f"{path}: there is nothing to show")
    pictures = [*frames, *[frames[-1]] * (LAST_SECONDS * fps)]
    content = _gif(pictures, fps) if path.suffix.lower() == ".gif" else _mp4(pictures, fps)
    with atomic_file(path) as file:
        file.write(content)
    return path


def check_film(path: str | Path, performers: int = 1) -> None:
    """Raises ``BadInputError`` if a film cannot have that name, or this number of performers."""
    if performers not in (1, 2):
        raise BadInputError(f"expected one performer or two side by side, got {performers}")
    if Path(path).suffix.lower() not in FORMATS:
        raise BadInputError(f"{path}: expected a name that ends in {' or '.join(FORMATS)}")


def _picture(
    env: ClAlfredEnv, title: str, following: TracedAction | None, progress: float | None
) -> Frame:
    instruction = None if following is None else following.instruction
    if instruction is None and following is not None and following.progress is not None:
        # An agent does not say which instruction it follows; how far it thinks it is does.
        count = len(env.episode.annotation.steps)
        instruction = min(int(following.progress * count), count - 1)
    sees = following or TracedAction(Action.Stop, ObjectClass.NoObject)
    env.notes = Notes(title, instruction, progress, sees.looks_for, sees.heat)
    picture = env.render()
    assert picture is not None
    return picture


def _mp4(frames: Sequence[Frame], fps: int) -> bytes:
    import imageio.v2 as imageio

    logging.getLogger("imageio_ffmpeg").setLevel(logging.ERROR)  # what fails is said below
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        try:
            writer: Any = imageio.get_writer(
                path,
                fps=fps,
                codec="libx264",
                quality=7,
                macro_block_size=4,
                ffmpeg_log_level="error",
                # The index in front, so that a browser can start before it has the whole file.
                output_params=["-movflags", "+faststart"],
            )
            with writer:
                for frame in frames:
                    writer.append_data(frame)
            return path.read_bytes()
        except (OSError, RuntimeError) as error:
            raise FilmError(
                f"ffmpeg could not encode the film ({str(error).partition(chr(10))[0]}); "
                "clalfred-doctor says more, and .gif films need no ffmpeg"
            ) from error


def _gif(frames: Sequence[Frame], fps: int) -> bytes:
    buffer = io.BytesIO()
    height, width = frames[0].shape[:2]
    size = (width * 7 // 12, height * 7 // 12)
    small = [Image.fromarray(frame).resize(size, Image.Resampling.LANCZOS) for frame in frames]
    # One palette and no dithering: what stays the same from picture to picture costs nothing.
    some = np.concatenate([np.asarray(image) for image in small[:: len(small) // 8 + 1]])
    palette = Image.fromarray(some).quantize(GIF_COLOURS, Image.Quantize.FASTOCTREE)
    images = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in small]
    images[0].save(
        buffer,
        "gif",
        save_all=True,
        append_images=images[1:],
        duration=round(1000 / fps),
        loop=0,
        optimize=True,
    )
    return buffer.getvalue()
