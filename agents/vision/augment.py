"""The paper's seven augmentations: none, two channel swaps, four AutoAugment-like ones."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.uint8]


class Augmentation(str, Enum):
    """One look; every view and step of an episode gets the same."""

    NONE = "none"
    SWAP_1 = "color-swap-1"
    SWAP_2 = "color-swap-2"
    AUTO_1 = "auto-1"
    AUTO_2 = "auto-2"
    AUTO_3 = "auto-3"
    AUTO_4 = "auto-4"


def augment(images: Images, augmentation: Augmentation) -> Images:
    """(..., H, W, 3) images in another look; shapes and places of things stay the same."""
    if augmentation is Augmentation.NONE:
        return images
    if augmentation is Augmentation.SWAP_1:
        return images[..., (1, 2, 0)]
    if augmentation is Augmentation.SWAP_2:
        return images[..., (2, 0, 1)]
    if augmentation is Augmentation.AUTO_1:
        return _contrast(_posterize(images, bits=4), 1.4)
    if augmentation is Augmentation.AUTO_2:
        return _brightness(_saturation(images, 0.4), 1.3)
    if augmentation is Augmentation.AUTO_3:
        return _saturation(_equalize(images), 1.6)
    return _brightness(_solarize(images, above=200), 0.7)


def _posterize(images: Images, bits: int) -> Images:
    return images & np.uint8(256 - (1 << (8 - bits)))


def _solarize(images: Images, above: int) -> Images:
    return np.where(images >= above, 255 - images, images)


def _brightness(images: Images, factor: float) -> Images:
    return _bytes(images * np.float32(factor))


def _contrast(images: Images, factor: float) -> Images:
    mean = images.mean(axis=(-3, -2, -1), keepdims=True, dtype=np.float32)
    return _bytes(mean + (images - mean) * np.float32(factor))


def _saturation(images: Images, factor: float) -> Images:
    grey = images.mean(axis=-1, keepdims=True, dtype=np.float32)
    return _bytes(grey + (images - grey) * np.float32(factor))


def _equalize(images: Images) -> Images:
    """Stretches each image's channels to the whole range."""
    low = images.min(axis=(-3, -2), keepdims=True).astype(np.float32)
    high = images.max(axis=(-3, -2), keepdims=True).astype(np.float32)
    return _bytes((images - low) * (255 / np.maximum(high - low, 1)))


def _bytes(values: NDArray[np.float32]) -> Images:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
