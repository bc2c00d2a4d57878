"""ResNet-18 up to its last maps, for the paper's setting; takes the usual ImageNet weights file.

He et al., "Deep Residual Learning for Image Recognition", CVPR 2016. Names of parameters are those
of the published checkpoints (``resnet18-*.pth``), which is all that compatibility needs. The
network is written out because torchvision can be imported only beside the torch it was built for.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.vision.encoder import VisualEncoder
from gym_clalfred.errors import BadInputError, DataError

IMAGE_SIZE = 300
MAP_SIZE = 7
CHANNELS = 512
_MEAN = (0.485, 0.456, 0.406)
_DEVIATION = (0.229, 0.224, 0.225)


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions around a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = (
            nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )
            if stride != 1
            else None
        )

    def forward(self, x: Tensor) -> Tensor:
        """One residual step."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(x)) + shortcut)


class ResNet18(nn.Module):
    """(n, 3, H, W), normalised -> (n, 512, h, w), the output of ``layer4``."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = (64, 64, 128, 256, CHANNELS)
        for number in range(1, 5):
            stride = 1 if number == 1 else 2
            layer = nn.Sequential(
                BasicBlock(widths[number - 1], widths[number], stride),
                BasicBlock(widths[number], widths[number], 1),
            )
            setattr(self, f"layer{number}", layer)

    def forward(self, x: Tensor) -> Tensor:
        """The last feature maps."""
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        for number in range(1, 5):
            x = getattr(self, f"layer{number}")(x)
        return x


class ResNetEncoder(VisualEncoder):
    """The paper's encoder: maps (512, 7, 7) in half precision.

    Views of 300 pixels are scaled to 224 first, as for ALFRED's own features.

    Args:
        weights: the ImageNet weights file, for example ``resnet18-f37072fd.pth``.
    """

    image_size = IMAGE_SIZE
    channels = CHANNELS
    cells = MAP_SIZE * MAP_SIZE

    def __init__(self, weights: str | Path | None) -> None:
        if weights is None:
            raise BadInputError(
                "encoder 'resnet-18': its weights do not come with this package; download "
                "resnet18-f37072fd.pth from download.pytorch.org/models and name the file with "
                "encoder_weights (--encoder-weights)"
            )
        self.network = load_resnet(weights)
        digest = hashlib.sha256(Path(weights).read_bytes()).hexdigest()[:12]
        self.name = f"resnet18-{digest}"

    def _encode(self, images: Tensor) -> Tensor:
        x = images.float() / 255
        x = F.interpolate(x, (224, 224), mode="bilinear", antialias=True)
        mean, deviation = torch.tensor(_MEAN), torch.tensor(_DEVIATION)
        x = (x - mean[:, None, None]) / deviation[:, None, None]
        return F.adaptive_avg_pool2d(self.network(x), MAP_SIZE).half()


def load_resnet(weights: str | Path) -> ResNet18:
    """Reads a state dict without executing anything in it; the classifier ``fc`` is not used."""
    try:
        state = torch.load(weights, map_location="cpu", weights_only=True)
        state = {name: value for name, value in state.items() if not name.startswith("fc.")}
        network = ResNet18()
        network.load_state_dict(state)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise DataError(
            f"{weights}: expected the state dict of a ResNet-18 trained on ImageNet, such as "
            f"resnet18-f37072fd.pth ({error})"
        ) from error
    return network.eval()
