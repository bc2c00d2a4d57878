"""Pre-trains the small encoder on what experts see in the training rooms.

``python -m agents.pretrain --minutes 10`` replays the demonstrations of a tier's train split, whose
rooms are never those of ``valid_unseen``, and trains the encoder so that a linear read-out of each
cell tells which classes it shows and how far away it is.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from agents.conv_encoder import CELLS, CHANNELS, IMAGE_SIZE, ConvolutionalNetwork
from agents.replay import replay
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import Split
from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import TRAIN_NUMBERS
from gym_clalfred.simulator.backends import make_simulator
from gym_clalfred.simulator.contract import Frame, RenderOptions

PIXELS = IMAGE_SIZE // CELLS
MIN_PIXELS = 4
FAR_METRES = 8.0


@dataclass(frozen=True)
class PretrainConfig:
    """Settings of the pre-training.

    Args:
        minutes: how long to train.
        batch_size: views per update.
        buffer: views from which batches are drawn.
        learning_rate: at the start; falls to zero along a cosine.
        seed: of weights and draws.
    """

    minutes: float = 10.0
    batch_size: int = 96
    buffer: int = 12_000
    learning_rate: float = 3e-3
    seed: int = 0


@dataclass(frozen=True)
class Views:
    """Labelled views: images (n, 84, 84, 3), shown (n, K, 7, 7) bool, depth (n, 7, 7) in 0..1."""

    images: NDArray[np.uint8]
    shown: NDArray[np.bool_]
    depth: NDArray[np.float32]


def labelled(frame: Frame) -> Views:
    """What the cells of a frame's views show, and their mean distance."""
    assert frame.classes is not None
    assert frame.depth is not None
    count, labels = len(frame.rgb), len(ObjectClass)
    cell = np.arange(IMAGE_SIZE) // PIXELS
    place = (np.arange(count)[:, None, None] * CELLS + cell[:, None]) * CELLS + cell
    histogram = np.bincount(
        (place * labels + frame.classes).ravel(), minlength=count * CELLS * CELLS * labels
    )
    shown = histogram.reshape(count, CELLS, CELLS, labels).transpose(0, 3, 1, 2) >= MIN_PIXELS
    metres = frame.depth.reshape(count, CELLS, PIXELS, CELLS, PIXELS).mean((2, 4))
    return Views(frame.rgb, shown, np.clip(metres / FAR_METRES, 0, 1).astype(np.float32))


def training_views(source: EpisodeSource, rng: np.random.Generator) -> Iterator[Views]:
    """Views of the train split's demonstrations, in random order, again and again."""
    keys = list({entry.key.trajectory: entry.key for entry in source.entries(Split.TRAIN)}.values())
    simulator = make_simulator("embedded", RenderOptions(IMAGE_SIZE, depth=True), source.room)
    while True:
        for index in rng.permutation(len(keys)):
            episode = source.episode(keys[index])
            assert episode.trajectory.scene.number in TRAIN_NUMBERS
            # Neighbouring steps look alike: every third is enough, from another one each time.
            first = int(rng.integers(3))
            for number in replay(simulator, episode):
                if number % 3 == first:
                    yield labelled(simulator.frame())


class Buffer:
    """The latest labelled views, from which batches are drawn."""

    def __init__(self, views: Iterator[Views], size: int) -> None:
        self._views = views
        self._images = np.zeros((size, IMAGE_SIZE, IMAGE_SIZE, 3), np.uint8)
        self._shown = np.zeros((size, len(ObjectClass), CELLS, CELLS), np.bool_)
        self._depth = np.zeros((size, CELLS, CELLS), np.float32)
        self._next = 0
        self.fill(size)

    def fill(self, count: int) -> None:
        """Takes in new views in place of the oldest ones."""
        while count > 0:
            new = next(self._views)
            slots = (self._next + np.arange(len(new.images))) % len(self._images)
            self._images[slots], self._shown[slots] = new.images, new.shown
            self._depth[slots] = new.depth
            self._next += len(slots)
            count -= len(slots)

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Images (n, 3, H, W) in 0..1, shown and depth of random views."""
        chosen = rng.integers(len(self._images), size=count)
        images = torch.from_numpy(self._images[chosen]).permute(0, 3, 1, 2).float() / 255
        return (
            images,
            torch.from_numpy(self._shown[chosen]).float(),
            torch.from_numpy(self._depth[chosen]),
        )


def pretrain(source: EpisodeSource, config: PretrainConfig, out: Path) -> None:
    """Trains for the given time and writes the weights, with the read-out's quality printed."""
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    network, read_out = ConvolutionalNetwork(), nn.Conv2d(CHANNELS, len(ObjectClass) + 1, 1)
    nn.init.constant_(read_out.bias, -4.0)  # type: ignore[arg-type]  # most classes are absent
    modules = nn.ModuleList([network, read_out])
    optimizer = torch.optim.AdamW(modules.parameters(), config.learning_rate, weight_decay=1e-4)
    buffer = Buffer(training_views(source, rng), config.buffer)
    start, updates, quality = time.monotonic(), 0, np.zeros(3)
    while (share := (time.monotonic() - start) / (60 * config.minutes)) < 1:
        buffer.fill(config.batch_size // 3)
        images, shown, depth = buffer.draw(config.batch_size, rng)
        scores = read_out(network(images))
        weight = 1 + 3 * shown
        classes = F.binary_cross_entropy_with_logits(scores[:, :-1], shown, weight, reduction="sum")
        distance = F.smooth_l1_loss(torch.sigmoid(scores[:, -1]), depth, reduction="sum")
        loss = (classes + 4 * distance) / shown[:, 0].numel()
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * 0.5 * (1 + np.cos(np.pi * share))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
        said = scores[:, 1:-1] > 0
        truth = shown[:, 1:].bool()
        counts = [float((said & truth).sum()), float(said.sum()), float(truth.sum())]
        quality = 0.98 * quality + 0.02 * np.array(counts)
        if updates % 100 == 0:
            hits, claims, present = quality
            print(
                f"{updates:6d} updates  loss {loss.item():.3f}  precision {hits / claims:.3f}  "
                f"recall {hits / present:.3f}",
                flush=True,
            )
            save(network, out)
    save(network, out)


def save(network: ConvolutionalNetwork, out: Path) -> None:
    """Writes the weights at once or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_suffix(".tmp")
    safetensors.torch.save_file(
        {name: value.contiguous() for name, value in network.state_dict().items()}, temporary
    )
    os.replace(temporary, out)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tier", default="small")
    parser.add_argument("--data", type=Path, help="a folder of episodes instead of a tier")
    parser.add_argument("--minutes", type=float, default=PretrainConfig.minutes)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "weights" / "conv.safetensors"
    )
    options = parser.parse_args()
    config = PretrainConfig(minutes=options.minutes, seed=options.seed)
    pretrain(open_source(options.tier, options.data), config, options.out)


if __name__ == "__main__":
    main()
