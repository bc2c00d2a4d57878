"""From demonstrations to tensors, with every view encoded once and kept on disk.

The store is a folder with one safetensors file per arithmetic, trajectory and augmentation: its
distinct views' maps and which view shows which. Files are written at once or not at all, and mapped
into memory when read, so that a store larger than memory can be trained from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray

from clalfred.agents.arithmetic import fingerprint
from clalfred.agents.augment import Augmentation, augment
from clalfred.agents.batch import EncodedEpisode, ViewFeatures
from clalfred.agents.encoder import VisualEncoder, view_digest
from clalfred.agents.looks import looks_in
from clalfred.agents.policy import without_goal
from clalfred.agents.replay import replay
from gym_clalfred.data.cache import cache_dir
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import DataError
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.simulator.backends import looks_of, make_simulator
from gym_clalfred.simulator.contract import RenderOptions, Simulator
from gym_clalfred.stream import Demonstration, frames_index

Frames = Iterable[NDArray[np.uint8]]

#: With the largest tier beside it, the cache stays below 1.5 GB.
STORE_BYTES = 1_400_000_000


class FeatureStore:
    """Feature maps of trajectories by name.

    Args:
        folder: where to keep them; the user's cache folder by default.
        limit_bytes: write no more once the folder holds so much; the rest is encoded at each use.
    """

    def __init__(self, folder: str | Path | None = None, limit_bytes: int = STORE_BYTES) -> None:
        self.folder = Path(folder) if folder is not None else cache_dir() / "features"
        self.limit_bytes = limit_bytes
        self._bytes: int | None = None

    def load(self, name: str) -> ViewFeatures:
        """Maps a stored file into memory; raises ``DataError`` if it is missing or damaged."""
        path = self._path(name)
        try:
            tensors = safetensors.torch.load_file(path)
            return ViewFeatures(tensors["views"], tensors["index"].long(), name)
        except (OSError, KeyError, safetensors.SafetensorError) as error:
            raise DataError(
                f"{path}: no readable feature maps ({error}); delete the file, it will be made "
                "again from its demonstration"
            ) from error

    def get(self, name: str, make: Callable[[], ViewFeatures]) -> ViewFeatures:
        """The stored maps, made and stored first if they are not there or damaged."""
        try:
            return self.load(name)
        except DataError:
            made = make()
        if self._size() >= self.limit_bytes:
            return made
        self._write(name, made)
        return replace(made, name=name)

    def _write(self, name: str, features: ViewFeatures) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        tensors = {"views": features.views.contiguous(), "index": features.index.to(torch.int32)}
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


def encode_views(encoder: VisualEncoder, frames: Frames) -> ViewFeatures:
    """Encodes frames (V, H, W, 3), every distinct view once: turning left shows a known view."""
    rows: dict[bytes, int] = {}
    distinct: list[NDArray[np.uint8]] = []
    index: list[list[int]] = []
    for frame in frames:
        step = []
        for view in frame:
            digest = view_digest(view)
            if digest not in rows:
                rows[digest] = len(distinct)
                distinct.append(view)
            step.append(rows[digest])
        index.append(step)
    return ViewFeatures(encoder.encode(np.stack(distinct)), torch.tensor(index))


@dataclass
class EpisodeReader:
    """Makes tensors of a stream's demonstrations: replays, encodes, tokenises.

    Args:
        source: where the demonstrations come from.
        encoder: what the agent sees with.
        store: keeps feature maps; ``None`` to encode at each use.
        backend: the simulator in which demonstrations are replayed.
        augmentations: made besides the plain views; the learner draws one at each use.
        reads_goal: as for ``Policy``.
        split: where the demonstrations are.
    """

    source: EpisodeSource
    encoder: VisualEncoder
    store: FeatureStore | None = None
    backend: str = "embedded"
    augmentations: tuple[Augmentation, ...] = ()
    reads_goal: bool = True
    split: Split = Split.TRAIN

    def __call__(self, demonstration: Demonstration) -> EncodedEpisode:
        """The demonstration as tensors."""
        tokenizer = Tokenizer.default()
        tokens = tokenizer.encode(demonstration.goal, demonstration.instructions)
        if not self.reads_goal:
            tokens = without_goal(tokens)
        hint = demonstration.hint
        return EncodedEpisode(
            key=demonstration.id,
            features=self._features(demonstration.frames_id, Augmentation.NONE),
            tokens=torch.from_numpy(tokens).long(),
            actions=torch.tensor([int(step.action) for step in demonstration.actions]),
            classes=torch.tensor([int(step.target) for step in demonstration.actions]),
            augmented=tuple(
                self._features(demonstration.frames_id, one) for one in self.augmentations
            ),
            label=hint.label if hint else None,
            starts_task=hint.starts_block if hint else None,
        )

    def find(self, name: str) -> ViewFeatures:
        """Maps that this reader made, by the name that a checkpoint has; made again if need be."""
        kind, _, last = name.rpartition("/")
        frames_id, _, look = last.partition("-")
        if kind != self._kind or frames_id not in self._keys:
            raise DataError(
                f"{name}: feature maps that cannot be made again here, with {self._kind} and "
                f"{self.source.label}; use the encoder, the simulator and the episodes they are of"
            )
        return self._features(frames_id, Augmentation(look))

    def _features(self, frames_id: str, augmentation: Augmentation) -> ViewFeatures:
        def make() -> ViewFeatures:
            frames = self._frames(frames_id)
            return encode_views(self.encoder, (augment(one, augmentation) for one in frames))

        if self.store is None:
            return make()
        return self.store.get(f"{self._kind}/{frames_id}-{augmentation.value}", make)

    @cached_property
    def _kind(self) -> str:
        """Which maps are the same: those of one encoder and one look of the pictures."""
        embedded = self.backend == "embedded"
        looks = looks_of(self.backend) if embedded else looks_in(self._simulator)
        return f"{self.encoder.name}/{looks}"

    def _frames(self, frames_id: str) -> Frames:
        episode = self.source.episode(self._keys[frames_id])
        return (self._simulator.frame().rgb for _ in replay(self._simulator, episode))

    @cached_property
    def _keys(self) -> Mapping[str, EpisodeKey]:
        return frames_index(self.source, self.split)

    @cached_property
    def _simulator(self) -> Simulator:
        options = RenderOptions(self.encoder.image_size, instances=False)
        return make_simulator(self.backend, options, self.source.room)
