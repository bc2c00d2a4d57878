"""Pre-trains the small encoder on views of the training rooms.

``python -m clalfred.agents.vision.pretrain --updates 3000`` looks around in random arrangements
of the training rooms, never those of validation, and trains the encoder so that a linear read-out
of each cell tells which classes it shows and how far away it is.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.vision.conv_encoder import CELLS, CHANNELS, IMAGE_SIZE, ConvolutionalNetwork
from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES, Action
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.rooms import TRAIN_NUMBERS
from gym_clalfred.simulator.contract import (
    CAMERA_ABOVE_AGENT,
    PITCH_RANGE,
    REACH_METRES,
    AgentPose,
    Frame,
    ObjectState,
    RenderOptions,
    Scene,
    Simulator,
)
from gym_clalfred.simulator.embedded.generator import arrange, make_room
from gym_clalfred.simulator.embedded.room import AGENT_HEIGHT
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator

PIXELS = IMAGE_SIZE // CELLS
MIN_PIXELS = 4
FAR_METRES = 8.0
FRAMES_PER_ARRANGEMENT = 40

#: Share of frames in which the agent faces something from near, as experts do to act on it.
FACING_SHARE = 0.7

#: Of these frames, the share in which it is a small thing; each class is then equally likely.
SMALL_SHARE = 0.7

#: A cell that shows a class counts so many times as much as one that does not; rare classes more.
SHOWN_WEIGHT = 3.0
MAX_RARITY_WEIGHT = 8.0


@dataclass(frozen=True)
class PretrainConfig:
    """Settings of the pre-training.

    Args:
        updates: how many steps of the optimiser.
        batch_size: views per update.
        buffer: views from which batches are drawn.
        learning_rate: at the start; falls to zero along a cosine.
        seed: of weights and draws.
    """

    updates: int = 3000
    batch_size: int = 48
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


def training_views(rng: np.random.Generator) -> Iterator[Views]:
    """Views of random places in random arrangements of the training rooms, without end."""
    simulator = EmbeddedSimulator(RenderOptions(IMAGE_SIZE, depth=True))
    while True:
        room = make_room(int(rng.choice(TRAIN_NUMBERS)))
        points = np.array(sorted(room.walkable))
        start = AgentPose(float(points[0, 0]), AGENT_HEIGHT, float(points[0, 1]), 0, 30)
        simulator.reset(Scene(room.number, start, arrange(room, rng)))
        for _ in range(FRAMES_PER_ARRANGEMENT):
            simulator.teleport(_random_pose(simulator, points, rng))
            yield labelled(simulator.frame())
            _meddle(simulator, rng)


def _random_pose(
    simulator: Simulator, points: NDArray[np.float64], rng: np.random.Generator
) -> AgentPose:
    """Before an object and facing it, as experts act, or anywhere, as they walk."""
    if rng.random() < FACING_SHARE:
        x, y, z = _something(simulator, rng).position
        offsets = np.array([x, z]) - points
        near = np.flatnonzero(np.hypot(*offsets.T) < REACH_METRES)
        if len(near):
            place = int(rng.choice(near))
            dx, dz = offsets[place]
            yaw = round(np.degrees(np.arctan2(dx, dz)) / ROTATE_DEGREES) % 4 * ROTATE_DEGREES
            drop = AGENT_HEIGHT + CAMERA_ABOVE_AGENT - y
            down = np.degrees(np.arctan2(drop, max(abs(dx), abs(dz))))
            pitch = round(down / LOOK_DEGREES + rng.normal(0, 0.5)) * LOOK_DEGREES
            return _pose(points[place], yaw, int(np.clip(pitch, *PITCH_RANGE)))
    yaw = ROTATE_DEGREES * int(rng.integers(4))
    return _pose(points[rng.integers(len(points))], yaw, int(rng.choice((0, 15, 30, 30, 30, 45))))


def _pose(point: NDArray[np.float64], yaw: int, pitch: int) -> AgentPose:
    return AgentPose(float(point[0]), AGENT_HEIGHT, float(point[1]), yaw, pitch)


def _something(simulator: Simulator, rng: np.random.Generator) -> ObjectState:
    """Any object, or one of a small class, all of them equally likely however many there are."""
    objects = list(simulator.objects.values())
    if rng.random() < SMALL_SHARE:
        classes = sorted({one.object_class for one in objects} & PICKUPABLE)
        chosen = classes[rng.integers(len(classes))]
        objects = [one for one in objects if one.object_class is chosen]
    return objects[rng.integers(len(objects))]


def _meddle(simulator: Simulator, rng: np.random.Generator) -> None:
    """Opens, switches, takes, puts or cuts something in sight; what is impossible just fails."""
    visible = sorted(simulator.sight().visible)
    if visible:
        action = Action(int(rng.integers(Action.PickupObject, Action.Stop)))
        simulator.step(action, visible[rng.integers(len(visible))])


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

    def rarity(self) -> Tensor:
        """(K, 1, 1) how much more to count a class because few cells show it: 1 for common ones."""
        shares = torch.from_numpy(self._shown.mean((0, 2, 3), dtype=np.float64)).float()
        common = shares.sort().values[-len(shares) // 4]
        weights = (common / shares.clamp_min(1e-9)).sqrt().clamp(1.0, MAX_RARITY_WEIGHT)
        return weights[:, None, None]

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Images (n, 3, H, W) in 0..1, shown and depth of random views."""
        chosen = rng.integers(len(self._images), size=count)
        images = torch.from_numpy(self._images[chosen]).permute(0, 3, 1, 2).float() / 255
        return (
            images,
            torch.from_numpy(self._shown[chosen]).float(),
            torch.from_numpy(self._depth[chosen]),
        )


def pretrain(config: PretrainConfig, out: Path) -> None:
    """Trains and writes the weights now and then, with the read-out's quality printed."""
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    network, read_out = ConvolutionalNetwork(), nn.Conv2d(CHANNELS, len(ObjectClass) + 1, 1)
    nn.init.constant_(read_out.bias, -4.0)  # type: ignore[arg-type]  # most classes are absent
    modules = nn.ModuleList([network, read_out])
    modules.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in the stubs
    optimizer = torch.optim.AdamW(modules.parameters(), config.learning_rate, weight_decay=1e-4)
    buffer = Buffer(training_views(rng), config.buffer)
    rarity = buffer.rarity()
    quality = np.full((2, 3), 1e-9)
    for update in range(config.updates):
        buffer.fill(config.batch_size // 3)
        images, shown, depth = buffer.draw(config.batch_size, rng)
        scores = read_out(network(images))
        weight = 1 + SHOWN_WEIGHT * rarity * shown
        classes = F.binary_cross_entropy_with_logits(scores[:, :-1], shown, weight, reduction="sum")
        distance = F.smooth_l1_loss(torch.sigmoid(scores[:, -1]), depth, reduction="sum")
        loss = (classes + 4 * distance) / shown[:, 0].numel()
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * 0.5 * (1 + np.cos(np.pi * update / config.updates))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        quality = 0.98 * quality + 0.02 * _counts(scores[:, :-1] > 0, shown.bool())
        if (update + 1) % 100 == 0:
            parts = [
                f"{name}: precision {hits / claims:.3f}, recall {hits / present:.3f}"
                for name, (hits, claims, present) in zip(("all", "small things"), quality)
            ]
            print(
                f"{update + 1:6d} updates  loss {loss.item():.3f}  {'; '.join(parts)}", flush=True
            )
            save(network, out)
    save(network, out)


def _counts(said: Tensor, truth: Tensor) -> NDArray[np.float64]:
    """(2, 3) right claims, claims and truths, of all classes and of the small ones."""
    chosen = [list(range(1, len(ObjectClass))), sorted(map(int, PICKUPABLE))]
    return np.array(
        [
            [float(part[:, classes].sum()) for part in (said & truth, said, truth)]
            for classes in chosen
        ]
    )


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
    parser.add_argument("--updates", type=int, default=PretrainConfig.updates)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "weights" / "conv.safetensors"
    )
    options = parser.parse_args()
    config = PretrainConfig(updates=options.updates, seed=options.seed)
    pretrain(config, options.out)


if __name__ == "__main__":
    main()
