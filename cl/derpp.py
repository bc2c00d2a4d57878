"""Dark experience replay: replayed episodes keep their labels and what was thought of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from clalfred.agents.batch import Batch
from clalfred.agents.losses import EpisodeLogits, logit_distances, split_logits
from clalfred.agents.network import Predictions
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import WEIGHT, ContinualLearner, MethodConfig, Ranges, Update, mean_or_zero
from clalfred.cl.memory import Stored


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

    Update: ``min L(x) + a * L(x') + b * MSE(z', z'_old)``, z the logits of actions at every step
    and of classes at interaction steps.

    Stores: episodes with the logits of their last update, by reservoir sampling.
    Boundaries: none.
    """

    method: DERppConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": DERppConfig(),
        "released": DERppConfig(
            split_replay=True, training=TrainingConfig.released(distillation=True)
        ),
    }

    def _loss(self, predictions: Predictions, batch: Batch, slots: tuple[int, ...]) -> Tensor:
        streamed = len(batch) - len(slots)
        imitation = self.losses(predictions, batch).total
        replayed, distances = imitation[streamed:], self._distances(predictions, batch, slots)
        if self.method.split_replay:
            half = len(slots) // 2
            distances, replayed = distances[:half], replayed[half:]
        return (
            imitation[:streamed].mean()
            + self.method.replay_weight * mean_or_zero(replayed)
            + self.method.distillation_weight * mean_or_zero(distances)
        )

    def _distances(self, predictions: Predictions, batch: Batch, slots: tuple[int, ...]) -> Tensor:
        """(len(slots),) distance of each replayed episode's logits to the stored ones."""
        if not slots:
            return predictions.action_logits.new_zeros(0)
        new = split_logits(predictions, batch)[-len(slots) :]
        old = [self.stored_logits(slot) for slot in slots]
        distances = logit_distances(new, old, self.method.squared_norm)
        return distances / (max(batch.lengths) if self.training.loss.per_padded_step else 1)

    def stored_logits(self, slot: int) -> EpisodeLogits:
        """What the memory has for an episode, on the agent's device also after a resume."""
        logits = self.memory[slot].logits
        assert logits is not None
        return logits.to(self.device)

    def _to_store(self, update: Update) -> list[Stored]:
        logits = update.stream_logits()
        return [Stored(episode, one.detached()) for episode, one in zip(update.stream, logits)]
