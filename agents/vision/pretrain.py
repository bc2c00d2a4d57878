"""Pre-trains an encoder on views of rooms that no stream and no test uses.

``python -m clalfred.agents.vision.pretrain segmentation`` looks around in random arrangements of
240 rooms of their own and trains the eyes of ``semantic-map:rgb``; ``conv`` trains the small
encoder of ``two-branch``. Every tenth room is kept apart: ``--check`` measures there, class by
class, what the encoder finds within reach.
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
from torch import nn

from clalfred.agents.vision.lessons import LESSONS, Labels, Lesson, check
from gym_clalfred.actions import LOOK_DEGREES, ROTATE_DEGREES, Action
from gym_clalfred.objects import PICKUPABLE
from gym_clalfred.rooms import PRETRAINING_NUMBERS
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
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator

#: Rooms to learn from, and rooms to check by.
CHECK_ROOMS = PRETRAINING_NUMBERS[9::10]
LESSON_ROOMS = tuple(number for number in PRETRAINING_NUMBERS if number not in CHECK_ROOMS)

#: Frames of one arrangement of a room: many to learn from, few to check by.
FRAMES_PER_ARRANGEMENT = 40
FRAMES_PER_CHECK = 5

#: Share of frames in which the agent faces something from near, as experts do to act on it.
FACING_SHARE = 0.7

#: Of these frames, the share in which it is a small thing; each class is then equally likely.
SMALL_SHARE = 0.7


@dataclass(frozen=True)
class PretrainConfig:
    """Settings of the pre-training.

    Args:
        updates: how many steps of the optimiser.
        batch_size: views per update.
        fresh: new views per update, in place of the oldest in the buffer.
        buffer: views from which batches are drawn.
        learning_rate: at the start; falls to zero along a cosine.
        seed: of weights and draws.
    """

    updates: int = 8_000
    batch_size: int = 32
    fresh: int = 15
    buffer: int = 10_000
    learning_rate: float = 3e-3
    seed: int = 0


def frames(
    rooms: tuple[int, ...],
    image_size: int,
    rng: np.random.Generator,
    each: int = FRAMES_PER_ARRANGEMENT,
) -> Iterator[Frame]:
    """Random places in random arrangements of some rooms, each arrangement a few times."""
    simulator = EmbeddedSimulator(RenderOptions(image_size, depth=True))
    while True:
        room = make_room(int(rng.choice(rooms)))
        points = np.array(sorted(room.walkable))
        start = AgentPose(float(points[0, 0]), AGENT_HEIGHT, float(points[0, 1]), 0, 30)
        simulator.reset(Scene(room.number, start, arrange(room, rng)))
        for _ in range(each):
            simulator.teleport(_random_pose(simulator, points, rng))
            yield simulator.frame()
            _act_at_random(simulator, rng)


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


def _act_at_random(simulator: Simulator, rng: np.random.Generator) -> None:
    """Opens, switches, takes, puts or cuts something in sight; what is impossible just fails."""
    visible = sorted(simulator.sight().visible)
    if visible:
        action = Action(int(rng.integers(Action.PickupObject, Action.Stop)))
        simulator.step(action, visible[rng.integers(len(visible))])


class Buffer:
    """The latest views with their labels, from which batches are drawn."""

    def __init__(self, lesson: Lesson, config: PretrainConfig, rng: np.random.Generator) -> None:
        self._lesson = lesson
        self._frames = frames(LESSON_ROOMS, lesson.image_size, rng)
        side = lesson.image_size
        self._images = np.zeros((config.buffer, side, side, 3), np.uint8)
        self._labels: Labels = {}
        self._next = 0
        self.fill(config.buffer)

    def fill(self, count: int) -> None:
        """Takes in new views in place of the oldest ones."""
        while count > 0:
            frame = next(self._frames)
            labels = self._lesson.labels(frame)
            slots = (self._next + np.arange(len(frame.rgb))) % len(self._images)
            self._images[slots] = frame.rgb
            for name, values in labels.items():
                if name not in self._labels:
                    shape = (len(self._images), *values.shape[1:])
                    self._labels[name] = np.zeros(shape, values.dtype)
                self._labels[name][slots] = values
            self._next += len(slots)
            count -= len(slots)

    @property
    def labels(self) -> Labels:
        """Of all views."""
        return self._labels

    def draw(self, count: int, rng: np.random.Generator) -> tuple[NDArray[np.uint8], Labels]:
        """Random views with their labels, some of them mirrored."""
        chosen = rng.integers(len(self._images), size=count)
        images, labels = self._images[chosen], {n: v[chosen] for n, v in self._labels.items()}
        flipped = rng.random(count) < 0.5
        images[flipped] = images[flipped, :, ::-1]
        for values in labels.values():
            values[flipped] = values[flipped][..., ::-1]
        return images, labels


def pretrain(lesson: Lesson, config: PretrainConfig, out: Path) -> None:
    """Trains and writes the weights now and then."""
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    modules = lesson.modules()
    modules.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in the stubs
    modules.train()
    optimizer = torch.optim.AdamW(modules.parameters(), config.learning_rate, weight_decay=1e-4)
    buffer = Buffer(lesson, config, rng)
    lesson.prepare(buffer.labels)
    started, recent = time.process_time(), 0.0
    for update in range(config.updates):
        buffer.fill(config.fresh)
        views, labels = buffer.draw(config.batch_size, rng)
        images = torch.from_numpy(views).permute(0, 3, 1, 2).float() / 255
        rate = config.learning_rate * 0.5 * (1 + np.cos(np.pi * update / config.updates))
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (update + 1) / 200)
        with torch.autocast("cpu", torch.bfloat16, enabled=lesson.half):
            scores = modules(images)
        loss = lesson.loss(scores.float(), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent += (loss.item() - recent) * (0.02 if update else 1.0)
        if (update + 1) % 200 == 0:
            seconds = time.process_time() - started
            print(f"{update + 1:6d} updates  {seconds:6.0f} s  loss {recent:.4f}", flush=True)
            save(lesson.network(modules), out)
    save(lesson.network(modules), out)


def save(network: nn.Module, out: Path) -> None:
    """Writes the weights, as half floats, at once or not at all."""
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_suffix(".tmp")
    weights = {
        name: value.contiguous().half() if value.is_floating_point() else value
        for name, value in network.state_dict().items()
    }
    safetensors.torch.save_file(weights, temporary)
    os.replace(temporary, out)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder", choices=sorted(LESSONS))
    parser.add_argument("--updates", type=int, default=PretrainConfig.updates)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="Weights file.  [default: that of the package]")
    parser.add_argument("--check", type=int, metavar="FRAMES", help="Only measure, on new frames.")
    options = parser.parse_args()
    lesson = LESSONS[options.encoder]()
    out = options.out or Path(__file__).parent / "weights" / f"{options.encoder}.safetensors"
    if options.check:
        rng = np.random.default_rng(options.seed + 1)
        shown = frames(CHECK_ROOMS, lesson.image_size, rng, FRAMES_PER_CHECK)
        print(check(lesson, out, shown, options.check))
        return
    pretrain(lesson, PretrainConfig(updates=options.updates, seed=options.seed), out)


if __name__ == "__main__":
    main()
