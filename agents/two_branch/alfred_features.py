"""Reads the feature files that CL-ALFRED's authors published, one per trajectory and look."""

from __future__ import annotations

from pathlib import Path

import torch

from clalfred.agents.episode import EncodedViews
from clalfred.agents.two_branch.maps import dense_views
from clalfred.agents.vision.augment import Augmentation
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.contract import View

#: In the files the first axis is the view, in this order.
FILE_VIEWS = (View.LEFT, View.UP, View.FRONT, View.DOWN, View.RIGHT)

FILE_NAMES = {
    Augmentation.NONE: "feat_conv_panoramic.pt",
    Augmentation.SWAP_1: "feat_conv_colorSwap1_panoramic.pt",
    Augmentation.SWAP_2: "feat_conv_colorSwap2_panoramic.pt",
    Augmentation.AUTO_1: "feat_conv_onlyAutoAug1_panoramic.pt",
    Augmentation.AUTO_2: "feat_conv_onlyAutoAug2_panoramic.pt",
    Augmentation.AUTO_3: "feat_conv_onlyAutoAug3_panoramic.pt",
    Augmentation.AUTO_4: "feat_conv_onlyAutoAug4_panoramic.pt",
}


def read_alfred_features(
    folder: str | Path, augmentation: Augmentation = Augmentation.NONE
) -> EncodedViews:
    """The maps of a trajectory's folder, (T, 5, 512, 49) in the views' own order, half precision.

    Nothing in the file is executed; the tensor in it is indexed [view, time, 512, 7, 7].
    """
    path = Path(folder) / FILE_NAMES[augmentation]
    try:
        maps = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise DataError(f"{path}: not a file of tensors ({error})") from error
    if not isinstance(maps, torch.Tensor) or maps.dim() != 5 or len(maps) != len(FILE_VIEWS):
        found = tuple(maps.shape) if isinstance(maps, torch.Tensor) else type(maps).__name__
        raise DataError(f"{path}: expected a tensor (5, T, 512, 7, 7), found {found}")
    order = [FILE_VIEWS.index(view) for view in View]
    return EncodedViews(dense_views(maps[order].transpose(0, 1).half()))
