"""The imitation loss of SPEC section 5, episode by episode, and the squared distance of logits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from agents.batch import Batch
from agents.network import Predictions


@dataclass(frozen=True)
class LossConfig:
    """How the loss is put together.

    Args:
        action: weight of the cross-entropy of actions.
        object_class: weight of the cross-entropy of classes at interaction steps.
        progress: weight of the squared error of both progress monitors.
        per_padded_step: whether sums over an episode are divided by the longest length in the
            batch, as the released code does; the paper's loss is the plain sum.
    """

    action: float = 1.0
    object_class: float = 1.0
    progress: float = 1.0
    per_padded_step: bool = False

    @classmethod
    def paper(cls) -> LossConfig:
        """Sums over the episode, all weights 1."""
        return cls()

    @classmethod
    def released(cls, distillation: bool) -> LossConfig:
        """Divided by the padded length; progress 0.2, but 1 in the distillation methods."""
        return cls(progress=1.0 if distillation else 0.2, per_padded_step=True)


@dataclass(frozen=True)
class EpisodeLosses:
    """Losses of the B episodes of a batch, each (B,)."""

    action: Tensor
    object_class: Tensor
    progress: Tensor
    total: Tensor


@dataclass(frozen=True)
class EpisodeLogits:
    """Logits of one episode as a memory keeps them: actions (T, A), classes (I, K)."""

    actions: Tensor
    classes: Tensor


def imitation_losses(
    predictions: Predictions, batch: Batch, config: LossConfig | None = None
) -> EpisodeLosses:
    """What each episode of the batch costs."""
    config = config or LossConfig()
    action = F.cross_entropy(predictions.action_logits, batch.actions, reduction="none")
    object_class = F.cross_entropy(
        predictions.class_logits, batch.classes[batch.interactions], reduction="none"
    )
    progress = ((predictions.progress - batch.progress) ** 2).sum(0)
    sums = EpisodeSums(batch, config.per_padded_step)
    parts = sums.steps(action), sums.interactions(object_class), sums.steps(progress)
    total = config.action * parts[0] + config.object_class * parts[1] + config.progress * parts[2]
    return EpisodeLosses(*parts, total)


def distillation_losses(
    predictions: Predictions,
    stored: Predictions,
    batch: Batch,
    config: LossConfig | None = None,
    mean_over_labels: bool = True,
) -> Tensor:
    """(B,) squared distance to stored logits, of actions at every step and classes at interactions.

    Args:
        predictions: what the network says now.
        stored: what it said when the logits were stored; progress is not compared.
        batch: the episodes of both.
        config: whether the sum over an episode is divided as the imitation loss is.
        mean_over_labels: the mean over labels as in DER++, or the sum, which is the squared norm.
    """
    config = config or LossConfig()
    action = (predictions.action_logits - stored.action_logits) ** 2
    object_class = (predictions.class_logits - stored.class_logits) ** 2
    if mean_over_labels:
        action, object_class = action.mean(1), object_class.mean(1)
    else:
        action, object_class = action.sum(1), object_class.sum(1)
    sums = EpisodeSums(batch, config.per_padded_step)
    return sums.steps(action) + sums.interactions(object_class)


@dataclass(frozen=True)
class EpisodeSums:
    """Adds up values of steps for each episode of a batch."""

    batch: Batch
    per_padded_step: bool = False

    def steps(self, values: Tensor) -> Tensor:
        """(N,) -> (B,)."""
        return self._sum(values, self.batch.episode)

    def interactions(self, values: Tensor) -> Tensor:
        """(I,) -> (B,)."""
        return self._sum(values, self.batch.episode[self.batch.interactions])

    def _sum(self, values: Tensor, episode: Tensor) -> Tensor:
        totals = values.new_zeros(len(self.batch)).index_add(0, episode, values)
        return totals / max(self.batch.lengths) if self.per_padded_step else totals


def split_logits(predictions: Predictions, batch: Batch) -> list[EpisodeLogits]:
    """The logits of each episode, without their graph."""
    actions = predictions.action_logits.detach().split(batch.lengths)
    classes = predictions.class_logits.detach().split(batch.interaction_counts)
    return [EpisodeLogits(a.clone(), c.clone()) for a, c in zip(actions, classes)]


def join_logits(logits: list[EpisodeLogits]) -> Predictions:
    """The inverse of ``split_logits``, with empty progress."""
    actions = torch.cat([one.actions for one in logits])
    classes = torch.cat([one.classes for one in logits])
    return Predictions(actions, classes, actions.new_zeros(2, len(actions)))
