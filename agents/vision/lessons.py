"""What encoders are taught: which classes cells of a view show, and how far away they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.vision import conv_encoder, segmentation
from clalfred.agents.vision.conv_encoder import ConvolutionalNetwork
from clalfred.agents.vision.segmentation import SegmentationEncoder, SegmentationNetwork
from gym_clalfred.objects import PICKUPABLE, ObjectClass
from gym_clalfred.simulator.contract import REACH_METRES, Frame

#: Arrays by name, one row per view; the last dimension is that of columns.
Labels = dict[str, NDArray[np.generic]]

_CLASSES = len(ObjectClass)
_SMALL = np.isin(np.arange(_CLASSES), [int(one) for one in PICKUPABLE])


class Lesson(ABC):
    """How one kind of encoder is trained."""

    image_size: int

    #: Whether it is trained in half precision, where the processor has it.
    half: bool = False

    @abstractmethod
    def modules(self) -> nn.Module:
        """What is trained: images -> scores."""

    @abstractmethod
    def network(self, modules: nn.Module) -> nn.Module:
        """The part that is kept."""

    @abstractmethod
    def labels(self, frame: Frame) -> Labels:
        """What the cells of a frame's views show."""

    @abstractmethod
    def prepare(self, labels: Labels) -> None:
        """Takes note of how frequent classes are."""

    @abstractmethod
    def loss(self, scores: Tensor, labels: Labels) -> Tensor:
        """What is minimised."""

    @abstractmethod
    def said(self, out: Path, frame: Frame) -> NDArray[np.uint8]:
        """(5, n, n) the class that each cell is said to show."""


class SegmentationLesson(Lesson):
    """One class per cell, small things before what they lie on; and how far it is."""

    image_size = segmentation.IMAGE_SIZE
    half = True

    def __init__(self) -> None:
        self._weights = torch.ones(_CLASSES)
        self._encoder: SegmentationEncoder | None = None

    def modules(self) -> nn.Module:
        """The network alone."""
        return SegmentationNetwork()

    def network(self, modules: nn.Module) -> nn.Module:
        """All of it."""
        return modules

    def labels(self, frame: Frame) -> Labels:
        """Classes (n, 42, 42) and codes of distances."""
        assert frame.classes is not None
        assert frame.depth is not None
        classes, depth = cell_labels(frame.classes, frame.depth, segmentation.SIDE, _SMALL)
        return {"classes": classes, "distance": segmentation.distance_code(depth)}

    def prepare(self, labels: Labels) -> None:
        """Rare classes count more, up to eight times as much as common ones."""
        counts = np.bincount(labels["classes"].ravel(), minlength=_CLASSES).astype(np.float64)
        shares = torch.from_numpy(counts / counts.sum())
        common = shares.sort().values[-_CLASSES // 4]
        self._weights = (common / shares.clamp_min(1e-9)).sqrt().clamp(0.5, 8.0).float()

    def loss(self, scores: Tensor, labels: Labels) -> Tensor:
        """Cross-entropy of classes and absolute error of distances."""
        classes = torch.from_numpy(np.ascontiguousarray(labels["classes"])).long()
        distance = torch.from_numpy(np.ascontiguousarray(labels["distance"]))
        error = F.smooth_l1_loss(scores[:, -1], distance, beta=0.02)
        return F.cross_entropy(scores[:, :-1], classes, self._weights) + 4 * error

    def said(self, out: Path, frame: Frame) -> NDArray[np.uint8]:
        """By the encoder that agents see with."""
        if self._encoder is None:
            self._encoder = SegmentationEncoder(out)
        return self._encoder.see(frame.rgb, segmentation.SIDE).classes


class ConvLesson(Lesson):
    """Which classes each of 7 x 7 cells shows, by a linear read-out, and its mean distance."""

    image_size = conv_encoder.IMAGE_SIZE

    #: Pixels that a class must cover, the farthest distance, and how much a shown class counts.
    min_pixels, farthest, shown_weight = 4, 8.0, 3.0

    def __init__(self) -> None:
        self._rarity = torch.ones(_CLASSES, 1, 1)

    def modules(self) -> nn.Module:
        """The network and its read-out."""
        read_out = nn.Conv2d(conv_encoder.CHANNELS, _CLASSES + 1, 1)
        nn.init.constant_(read_out.bias, -4.0)  # type: ignore[arg-type]  # most are absent
        return nn.Sequential(ConvolutionalNetwork(), read_out)

    def network(self, modules: nn.Module) -> nn.Module:
        """Without the read-out."""
        return modules.get_submodule("0")

    def labels(self, frame: Frame) -> Labels:
        """Shown (n, K, 7, 7) and depth (n, 7, 7) in 0..1."""
        assert frame.classes is not None
        assert frame.depth is not None
        count, cells = len(frame.rgb), conv_encoder.CELLS
        pixels = self.image_size // cells
        cell = np.arange(self.image_size) // pixels
        place = (np.arange(count)[:, None, None] * cells + cell[:, None]) * cells + cell
        histogram = np.bincount(
            (place * _CLASSES + frame.classes).ravel(), minlength=count * cells * cells * _CLASSES
        )
        shown = histogram.reshape(count, cells, cells, _CLASSES).transpose(0, 3, 1, 2)
        metres = frame.depth.reshape(count, cells, pixels, cells, pixels).mean((2, 4))
        depth = np.clip(metres / self.farthest, 0, 1).astype(np.float32)
        return {"shown": shown >= self.min_pixels, "depth": depth}

    def prepare(self, labels: Labels) -> None:
        """Rare classes count more, up to eight times as much as common ones."""
        shares = torch.from_numpy(labels["shown"].mean((0, 2, 3), dtype=np.float64)).float()
        common = shares.sort().values[-_CLASSES // 4]
        self._rarity = (common / shares.clamp_min(1e-9)).sqrt().clamp(1.0, 8.0)[:, None, None]

    def loss(self, scores: Tensor, labels: Labels) -> Tensor:
        """Cross-entropy of each class in each cell and error of distances, per cell."""
        shown = torch.from_numpy(np.ascontiguousarray(labels["shown"])).float()
        depth = torch.from_numpy(np.ascontiguousarray(labels["depth"]))
        weight = 1 + self.shown_weight * self._rarity * shown
        classes = F.binary_cross_entropy_with_logits(scores[:, :-1], shown, weight, reduction="sum")
        distance = F.smooth_l1_loss(torch.sigmoid(scores[:, -1]), depth, reduction="sum")
        return (classes + 4 * distance) / shown[:, 0].numel()

    def said(self, out: Path, frame: Frame) -> NDArray[np.uint8]:
        """It names no class: what it is for is its features."""
        raise SystemExit("--check measures encoders that name classes: segmentation")


LESSONS: dict[str, type[Lesson]] = {"segmentation": SegmentationLesson, "conv": ConvLesson}


def check(lesson: Lesson, out: Path, shown: Iterator[Frame], count: int) -> str:
    """A table: of which classes cells within reach are found, and how often a claim is right."""
    hits, claims, truths = (np.zeros(_CLASSES, np.int64) for _ in range(3))
    for frame in islice(shown, count):
        assert frame.classes is not None
        assert frame.depth is not None
        said = lesson.said(out, frame)
        true, depth = cell_labels(frame.classes, frame.depth, said.shape[1], _SMALL)
        near = depth <= REACH_METRES
        hits += np.bincount(true[near & (said == true)], minlength=_CLASSES)
        claims += np.bincount(said[near], minlength=_CLASSES)
        truths += np.bincount(true[near], minlength=_CLASSES)
    rows = [
        ("all classes", list(range(1, _CLASSES))),
        ("small things", sorted(map(int, PICKUPABLE))),
    ]
    rows += [(one.name, [int(one)]) for one in sorted(PICKUPABLE, key=lambda one: one.name)]
    lines = ["cells within reach              recall  precision    cells"]
    for name, chosen in rows:
        found, claimed, there = (int(part[chosen].sum()) for part in (hits, claims, truths))
        if there:
            right = found / max(claimed, 1)
            lines.append(f"{name:31} {found / there:6.2f} {right:10.2f} {there:8d}")
    known = [kind for kind in rows[1][1] if truths[kind]]
    recall = float(np.mean(hits[known] / truths[known]))
    right = float(np.mean(hits[known] / np.maximum(claims[known], 1)))
    lines.insert(3, f"{'small things, mean of classes':31} {recall:6.2f} {right:10.2f}")
    return "\n".join(lines)


@njit(cache=True)
def cell_labels(classes, depth, side, small):  # type: ignore[no-untyped-def]
    """The class of each cell of views (n, size, size) and its mean distance.

    A small thing that covers a fifth of a cell goes before what is larger; else the most frequent.
    """
    count, size = classes.shape[0], classes.shape[1]
    step = size // side
    labels = np.zeros((count, side, side), np.uint8)
    distances = np.zeros((count, side, side), np.float32)
    pixels, sums = np.zeros(256, np.int64), np.zeros(256, np.float32)
    for view in range(count):
        for row in range(side):
            for column in range(side):
                pixels[:], sums[:] = 0, 0.0
                for y in range(row * step, row * step + step):
                    for x in range(column * step, column * step + step):
                        label = classes[view, y, x]
                        pixels[label] += 1
                        sums[label] += depth[view, y, x]
                best, most = 0, -1
                for label in range(len(small)):
                    rank = pixels[label]
                    if small[label] and 5 * rank >= step * step:
                        rank += step * step
                    if rank > most:
                        best, most = label, rank
                labels[view, row, column] = best
                distances[view, row, column] = sums[best] / max(pixels[best], 1)
    return labels, distances
