"""What a run works with: episodes, eyes and a place for feature maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clalfred.agents.encoder import VisualEncoder
from clalfred.agents.features import FeatureStore
from clalfred.cl.experiment.config import RunConfig
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.data.sources import open_source
from gym_clalfred.errors import BadInputError


@dataclass(frozen=True)
class Tools:
    """Made from a config by ``make_tools``, or given to a run by its caller.

    Args:
        source: the episodes.
        encoder: what the agent sees with.
        store: keeps feature maps between runs; ``None`` to encode at each use.
    """

    source: EpisodeSource
    encoder: VisualEncoder
    store: FeatureStore | None = None


def make_tools(config: RunConfig) -> Tools:
    """Opens the episodes, generating a tier on first use, and loads the encoder."""
    return Tools(open_source(config.tier, config.data), make_encoder(config), FeatureStore())


def make_encoder(config: RunConfig) -> VisualEncoder:
    """The encoder that goes with a network."""
    if config.encoder_weights is not None and not Path(config.encoder_weights).is_file():
        raise BadInputError(
            f"encoder_weights {config.encoder_weights!r}: there is no such file; expected one with "
            "the encoder's weights"
        )
    if config.network != "paper":
        from clalfred.agents.conv_encoder import ConvEncoder

        return ConvEncoder(config.encoder_weights)
    from clalfred.agents.resnet import ResNetEncoder

    if config.encoder_weights is None:
        raise BadInputError(
            "network 'paper' sees with ResNet-18, whose weights do not come with this package: "
            "download resnet18-f37072fd.pth from download.pytorch.org/models and name it with "
            "encoder_weights (--encoder-weights)"
        )
    return ResNetEncoder(config.encoder_weights)
