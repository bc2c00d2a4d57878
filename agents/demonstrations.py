"""From demonstrations to what an agent learns from; what it sees is made once and kept on disk.

The store is a folder with one safetensors file per arithmetic, trajectory and augmentation. Files
are written at once or not at all, and mapped into memory when read, so that a store larger than
memory can be trained from.
"""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from clalfred.agents.agent import Agent, Observation
from clalfred.agents.episode import EncodedEpisode, EncodedViews
from clalfred.agents.numerics.arithmetic import fingerprint
from clalfred.agents.vision.appearance import appearance_of
from clalfred.agents.vision.augment import Augmentation, augment
from gym_clalfred.data.cache import cache_dir
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.pool import WorkerPool
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split, room_of
from gym_clalfred.errors import DataError
from gym_clalfred.language.tokenizer import STEP, Tokenizer
from gym_clalfred.simulator.backends import appearance_label, make_simulator
from gym_clalfred.simulator.contract import RenderOptions, Simulator
from gym_clalfred.stream import Demonstration, demonstration_of, frames_id, frames_index

#: Trajectories that a process looks at before it reports.
CHUNK = 16

#: With the largest tier beside it, the cache stays below 1.5 GB.
STORE_BYTES = 1_400_000_000


class ViewStore:
    """What agents keep of the views of trajectories, by name.

    A folder that cannot be written to is read only; what is missing is made at each use.

    Args:
        folder: where to keep them; the user's cache folder by default.
        limit_bytes: write no more once the folder holds so much; the rest is made at each use.
    """

    def __init__(self, folder: str | Path | None = None, limit_bytes: int = STORE_BYTES) -> None:
        self.folder = Path(folder) if folder is not None else cache_dir() / "features"
        self.limit_bytes = limit_bytes
        self._bytes: int | None = None

    def load(self, name: str) -> EncodedViews:
        """Maps a stored file into memory; raises ``DataError`` if it is missing or damaged."""
        path = self._path(name)
        try:
            return EncodedViews(safetensors.torch.load_file(path), name)
        except (OSError, safetensors.SafetensorError) as error:
            raise DataError(
                f"{path}: no readable views ({error}); delete the file, it will be made again "
                "from its demonstration"
            ) from error

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return self._path(name).exists()

    def get(self, name: str, make: Callable[[], Mapping[str, Tensor]]) -> EncodedViews:
        """The stored views, made and stored first if they are not there or damaged."""
        try:
            return self.load(name)
        except DataError:
            made = EncodedViews(make())
        if self._size() >= self.limit_bytes:
            return made
        try:
            self._write(name, made)
        except (OSError, safetensors.SafetensorError) as error:
            warnings.warn(
                f"{self.folder}: cannot be written to ({error}); going on without it", stacklevel=2
            )
            self.limit_bytes = 0
            return made
        return replace(made, name=name)

    def _write(self, name: str, views: EncodedViews) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        tensors = {name: one.contiguous() for name, one in views.tensors.items()}
        try:
            safetensors.torch.save_file(tensors, temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        self._bytes = self._size() + path.stat().st_size

    def _size(self) -> int:
        if self._bytes is None:
            files = self.folder.rglob("*.safetensors")
            self._bytes = sum(path.stat().st_size for path in files)
        return self._bytes

    def _path(self, name: str) -> Path:
        # Whoever rounds otherwise makes other maps, and a run's results depend on every bit.
        return self.folder / fingerprint() / f"{name}.safetensors"


@dataclass
class EpisodeReader:
    """Makes what an agent learns from of a stream's demonstrations: replays, encodes, tokenises.

    Args:
        source: where the demonstrations come from.
        agent: says what is kept of what the expert saw.
        store: keeps that; ``None`` to make it at each use.
        backend: the simulator in which demonstrations are replayed.
        augmentations: made besides the plain views; the learner draws one at each use.
        split: where the demonstrations are.
        blind: show it nothing, for comparison.
        deaf: let it read nothing, for comparison.
    """

    source: EpisodeSource
    agent: Agent
    store: ViewStore | None = None
    backend: str = "embedded"
    augmentations: tuple[Augmentation, ...] = ()
    split: Split = Split.TRAIN
    blind: bool = False
    deaf: bool = False

    def __call__(self, demonstration: Demonstration) -> EncodedEpisode:
        """The demonstration as tensors."""
        words = ("", [""]) if self.deaf else (demonstration.goal, demonstration.instructions)
        tokens = Tokenizer.default().encode(*words)
        if not self.agent.config.reads_goal:
            tokens = without_goal(tokens)
        hint = demonstration.hint
        return EncodedEpisode(
            key=demonstration.id,
            views=self._views(demonstration.frames_id, Augmentation.NONE),
            tokens=torch.from_numpy(tokens).long(),
            actions=torch.tensor([int(step.action) for step in demonstration.actions]),
            classes=torch.tensor([int(step.target) for step in demonstration.actions]),
            augmented=tuple(
                self._views(demonstration.frames_id, one) for one in self.augmentations
            ),
            label=hint.label if hint else None,
            starts_task=hint.starts_block if hint else None,
        )

    def find(self, name: str) -> EncodedViews:
        """Views that this reader made, by the name that a checkpoint has; made again if need be."""
        kind, _, last = name.rpartition("/")
        frames_id, _, augmentation = last.partition("-")
        if kind != self._kind or frames_id not in self._keys:
            raise DataError(
                f"{name}: views that cannot be made again here, with {self._kind} and "
                f"{self.source.label}; use the encoder, the simulator and the episodes they are of"
            )
        return self._views(frames_id, Augmentation(augmentation))

    def missing(self, keys: Iterable[EpisodeKey]) -> list[str]:
        """Which of the episodes' views the store does not have, room by room."""
        if self.store is None:
            return []
        rooms = {frames_id(self.source, key): room_of(key.trajectory) for key in keys}
        names = sorted(rooms, key=lambda name: (rooms[name], name))
        plain = Augmentation.NONE.value
        return [one for one in names if not self.store.has(f"{self._kind}/{one}-{plain}")]

    def prepare(self, missing: Sequence[str], workers: int) -> Iterator[int]:
        """Makes and stores views in several processes; gives how many are done, again and again."""
        parts = [tuple(missing[first : first + CHUNK]) for first in range(0, len(missing), CHUNK)]
        self.close()
        done = 0
        with WorkerPool(workers) as pool:
            for count in pool.map(partial(_prepare, self), parts):
                done += count
                yield done

    def close(self) -> None:
        """Frees the simulator."""
        if "_simulator" in vars(self):
            self._simulator.close()
            del self._simulator

    def _views(self, frames_id: str, augmentation: Augmentation) -> EncodedViews:
        def make() -> dict[str, Tensor]:
            episode = self.source.episode(self._keys[frames_id])
            shown = (_augmented(one, augmentation) for one in self._observations(episode))
            return self.agent.encode(shown, demonstration_of(episode, self.source).actions)

        if self.store is None:
            return EncodedViews(make())
        return self.store.get(f"{self._kind}/{frames_id}-{augmentation.value}", make)

    @cached_property
    def _kind(self) -> str:
        """Which views are the same: those of one way of seeing and one look of the pictures."""
        embedded = self.backend == "embedded"
        appearance = appearance_label(self.backend) if embedded else appearance_of(self._simulator)
        return f"{self.agent.sight}{'-blind' if self.blind else ''}/{appearance}"

    def _observations(self, episode: Episode) -> Iterable[Observation]:
        for _ in replay(self._simulator, episode, not self.source.has_generated_rooms):
            frame = self._simulator.frame()
            shown = {name: getattr(frame, name) for name in self.agent.observes}
            yield blank(shown, self.agent.feels) if self.blind else shown

    @cached_property
    def _keys(self) -> Mapping[str, EpisodeKey]:
        return frames_index(self.source, self.split)

    @cached_property
    def _simulator(self) -> Simulator:
        seen = self.agent.observes
        options = RenderOptions(
            self.agent.image_size,
            instances=bool(seen & {"instances", "classes"}),
            depth="depth" in seen,
        )
        return make_simulator(self.backend, options, self.source.room)


def _prepare(reader: EpisodeReader, names: Sequence[str]) -> int:
    """In a process of its own: makes the views of some trajectories."""
    torch.set_num_threads(1)
    try:
        for name in names:
            for augmentation in (Augmentation.NONE, *reader.augmentations):
                reader._views(name, augmentation)
    finally:
        reader.close()
    return len(names)


def blank(observation: Observation, feels: bool) -> Observation:
    """Pictures that show nothing.

    Args:
        observation: the pictures.
        feels: let one pixel change whenever anything does, so that an agent that reads off its
            views whether its last action has worked still knows that.
    """
    shown = {name: np.zeros_like(picture) for name, picture in observation.items()}
    if feels and "rgb" in shown:
        digest = zlib.crc32(observation["rgb"].tobytes()).to_bytes(4, "big")
        shown["rgb"][0, 0, 0] = list(digest[:3])
    return shown


def without_goal(tokens: NDArray[np.int32]) -> NDArray[np.int32]:
    """The instructions' tokens alone."""
    steps = np.flatnonzero(tokens == Tokenizer.default().words.index(STEP))
    return tokens[steps[0] :] if len(steps) else tokens


def _augmented(observation: Observation, augmentation: Augmentation) -> Observation:
    if augmentation is Augmentation.NONE or "rgb" not in observation:
        return observation
    return {**observation, "rgb": augment(observation["rgb"], augmentation)}


def replay(simulator: Simulator, episode: Episode, rebuilt: bool = False) -> Iterator[int]:
    """Brings the simulator to where the expert was before each action, and before Stop.

    Gives the number of each step; ``simulator.frame()`` then is what the expert saw. Raises
    ``DataError`` if an action fails: the data does not belong to this simulator.

    Args:
        simulator: where to replay.
        episode: with the expert's actions.
        rebuilt: whether the rooms are rebuilt from recordings, which allow nearly every recorded
            action; one that fails changes nothing, and the expert goes on.
    """
    simulator.reset(episode.trajectory.scene)
    for number, step in enumerate(episode.trajectory.actions):
        yield number
        outcome = simulator.step(step.action, step.object_id)
        if not outcome.success and not rebuilt:
            raise DataError(
                f"{episode.key}: action {number} ({step.action.name} {step.object_id or ''}) fails "
                f"in {simulator.label}: {outcome.failure.value if outcome.failure else ''}"
            )
    yield len(episode.trajectory.actions)
