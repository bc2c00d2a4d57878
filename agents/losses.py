"""The imitation loss episode by episode, and the squared distance of logits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.batch import Batch
from clalfred.agents.network import Predictions


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
    """Logits of one episode: actions (T, A), classes at interaction steps (I, K)."""

    actions: Tensor
    classes: Tensor

    def detached(self) -> EpisodeLogits:
        """A copy of its own, to be stored."""
        return EpisodeLogits(self.actions.detach().clone(), self.classes.detach().clone())

    def to(self, device: torch.device) -> EpisodeLogits:
        """The same on a device."""
        return EpisodeLogits(self.actions.to(device), self.classes.to(device))


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


def logit_distances(
    new: Sequence[EpisodeLogits], old: Sequence[EpisodeLogits], squared_norm: bool = False
) -> Tensor:
    """(n,) how far n episodes' logits are from stored ones, summed over steps and interactions.

    Args:
        new: what the network says now.
        old: what it said when the logits were stored.
        squared_norm: sum the squares over labels; otherwise their mean, as DER++ does.
    """
    reduce = torch.sum if squared_norm else torch.mean
    return torch.stack(
        [
            reduce((a.actions - b.actions) ** 2, 1).sum()
            + reduce((a.classes - b.classes) ** 2, 1).sum()
            for a, b in zip(new, old)
        ]
    )


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
    """The logits of each episode of the batch."""
    actions = predictions.action_logits.split(batch.lengths)
    classes = predictions.class_logits.split(batch.interaction_counts)
    return [EpisodeLogits(a, c) for a, c in zip(actions, classes)]
