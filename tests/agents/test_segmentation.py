"""The eyes of ``semantic-map:rgb``: what they were taught, and what they see."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from clalfred.agents.registry import make_agent
from clalfred.agents.vision.lessons import LESSONS, SegmentationLesson, cell_labels
from clalfred.agents.vision.pretrain import (
    CHECK_ROOMS,
    LESSON_ROOMS,
    PretrainConfig,
    frames,
    pretrain,
)
from clalfred.agents.vision.segmentation import (
    IMAGE_SIZE,
    SIDE,
    SegmentationEncoder,
    distance_code,
    metres,
)
from gym_clalfred.errors import DataError
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.rooms import TEST_UNSEEN_NUMBERS, TRAIN_NUMBERS, VALID_UNSEEN_NUMBERS
from gym_clalfred.simulator.contract import REACH_METRES

SMALL = np.isin(np.arange(len(ObjectClass)), [int(one) for one in PICKUPABLE])


def test_no_split_uses_a_room_that_it_was_taught_or_checked_in() -> None:
    used = {*TRAIN_NUMBERS, *VALID_UNSEEN_NUMBERS, *TEST_UNSEEN_NUMBERS}
    assert not used & {*LESSON_ROOMS, *CHECK_ROOMS}
    assert not set(LESSON_ROOMS) & set(CHECK_ROOMS)
    assert len(CHECK_ROOMS) == 24


def test_a_cell_shows_the_small_thing_rather_than_what_it_lies_on() -> None:
    table, mug = int(ObjectClass.DiningTable), int(ObjectClass.Mug)
    classes = np.full((1, 8, 8), table, np.uint8)
    depth = np.full((1, 8, 8), 2.0, np.float32)
    classes[0, 0, :4], depth[0, 0, :4] = mug, 1.0  # a quarter of the first cell
    classes[0, 4, 4:6] = mug  # an eighth of the last cell
    labels, distances = cell_labels(classes, depth, 2, SMALL)
    assert labels[0].tolist() == [[mug, table], [table, table]]
    assert distances[0].tolist() == [[1.0, 2.0], [2.0, 2.0]]


def test_distances_are_kept_to_a_few_centimetres() -> None:
    depth = np.linspace(0.1, 10, 400, dtype=np.float32)
    codes = np.round(distance_code(depth) * 255).astype(np.uint8)
    assert np.all(np.diff(codes.astype(int)) >= 0)
    assert np.abs(metres(codes) - depth)[depth < 2].max() < 0.02
    assert np.abs(metres(codes) - depth).max() < 0.06


def test_it_finds_most_of_what_is_within_reach_in_rooms_that_it_never_saw() -> None:
    encoder = SegmentationEncoder()
    right = there = errors = cells = 0.0
    views = frames(CHECK_ROOMS, IMAGE_SIZE, np.random.default_rng(5), each=2)
    for frame in islice(views, 30):
        assert frame.classes is not None
        assert frame.depth is not None
        true, depth = cell_labels(frame.classes, frame.depth, SIDE, SMALL)
        seen = encoder.see(frame.rgb, SIDE)
        near = (depth <= REACH_METRES) & SMALL[true]
        right, there = right + (seen.classes == true)[near].sum(), there + near.sum()
        errors, cells = errors + np.abs(seen.depth - depth).sum(), cells + depth.size
    assert there > 3000
    assert right / there > 0.5
    assert errors / cells < 0.25


def test_the_agent_is_shown_pictures_only_and_draws_what_it_makes_of_them() -> None:
    agent = make_agent("semantic-map:rgb")
    assert agent.observes == {"rgb"}
    assert agent.image_size == IMAGE_SIZE
    assert "segmentation" in agent.sight
    frame = next(frames(CHECK_ROOMS, IMAGE_SIZE, np.random.default_rng(0)))
    memory, expected = agent.new_memory(), agent.new_memory()
    agent.see([{"rgb": frame.rgb}], [memory], torch.tensor([[13, 0]]))
    expected.see(*SegmentationEncoder().see(frame.rgb, 84))
    wanted = int(ObjectClass.CounterTop)
    for one, other in zip(memory.features(wanted, 0), expected.features(wanted, 0)):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", sorted(LESSONS))
def test_every_encoder_can_be_taught(name: str, tmp_path: Path) -> None:
    lesson, out = LESSONS[name](), tmp_path / "weights.safetensors"
    config = PretrainConfig(updates=2, batch_size=4, fresh=5, buffer=10)
    pretrain(lesson, config, out)
    first = out.read_bytes()
    pretrain(LESSONS[name](), config, out)
    assert out.read_bytes() == first
    if isinstance(lesson, SegmentationLesson):
        assert SegmentationEncoder(out).name != SegmentationEncoder().name


def test_other_weights_are_refused_by_their_file(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(b"not weights")
    with pytest.raises(DataError, match=r"other\.safetensors: not weights of this encoder"):
        SegmentationEncoder(path)
