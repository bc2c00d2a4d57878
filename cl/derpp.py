"""Dark experience replay: replayed episodes keep their labels and their earlier logits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from clalfred.agents.agent import Outputs
from clalfred.agents.losses import logit_distances
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import WEIGHT, ContinualLearner, MethodConfig, Ranges, Update, mean_or_zero
from clalfred.cl.memory import MemoryItem


@dataclass(frozen=True)
class DERppConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        replay_weight: of the imitation loss of replayed episodes.
        distillation_weight: of the squared distance between new and stored logits.
        split_replay: use the first half of the replayed episodes for distillation and the second
            for imitation, as the released code does, instead of all for both.
        squared_norm: sum squared differences over labels instead of taking their mean.
    """

    ranges: ClassVar[Ranges] = {
        **MethodConfig.ranges,
        "replay_weight": WEIGHT,
        "distillation_weight": WEIGHT,
    }
    stream_size: int = 11
    replay_weight: float = 0.5
    distillation_weight: float = 0.5
    split_replay: bool = False
    squared_norm: bool = False


class DERpp(ContinualLearner):
    """Buzzega et al., "Dark Experience for General Continual Learning", NeurIPS 2020.

    Update: ``min L(x) + a * L(x') + b * MSE(z', z'_old)``, where z are the logits of every head
    at the steps at which it counts.

    Stores: episodes with the logits of their last update, by reservoir sampling.
    Boundaries: none.
    """

    method: DERppConfig
    title = "DER++"
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": DERppConfig(),
        "released": DERppConfig(
            split_replay=True, training=TrainingConfig.released(distillation=True)
        ),
    }

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """Imitation of the stream and of the memory, and distance to the stored logits."""
        imitation = self.losses(outputs)
        streamed = len(imitation) - len(slots)
        replayed, distances = imitation[streamed:], self._distances(outputs, slots)
        if self.method.split_replay:
            half = len(slots) // 2
            distances, replayed = distances[:half], replayed[half:]
        return (
            imitation[:streamed].mean()
            + self.method.replay_weight * mean_or_zero(replayed)
            + self.method.distillation_weight * mean_or_zero(distances)
        )

    def stored_logits(self, slot: int) -> dict[str, Tensor]:
        """The logits stored for an episode, on the agent's device."""
        return {name: one.to(self.device) for name, one in self.memory[slot].logits.items()}

    def to_store(self, update: Update) -> list[MemoryItem]:
        """The episodes with the logits of the last update on them."""
        return [
            MemoryItem(episode, {name: one.clone() for name, one in logits.items()})
            for episode, logits in zip(update.stream, update.stream_logits())
        ]

    def _distances(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """(len(slots),) distance of each replayed episode's logits to the stored ones."""
        if not slots:
            return outputs.auxiliary.new_zeros(0)
        stored = [self.stored_logits(slot) for slot in slots]
        return logit_distances(outputs, stored, self.training.loss, self.method.squared_norm)
