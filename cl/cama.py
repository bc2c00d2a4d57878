"""CAMA: stored logits follow the network, the faster the surer it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.batch import ViewFeatures
from clalfred.agents.losses import EpisodeLogits
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import COUNT, SHARE, MethodConfig, Ranges, Update
from clalfred.cl.confidence import ConfidenceQueues
from clalfred.cl.derpp import DERpp, DERppConfig
from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass


@dataclass(frozen=True)
class CAMAConfig(DERppConfig):
    """Adds to DER++'s settings.

    Args:
        alpha: the largest share of the new logits.
        queue_length: N, confidences kept per label.
        confidence_of_replay: take confidences from replayed episodes too, after the streamed.
        chance_of_all_labels: subtract 1 / (number of labels) instead of 1 / (labels seen so far).
        by_true_label: mix all logits of a step by the coefficient of its true label, instead of
            each logit by its own label's coefficient.
        once_per_group: refresh after the last update of a group, behind the insertion, instead of
            after every update.
    """

    ranges: ClassVar[Ranges] = {**DERppConfig.ranges, "alpha": SHARE, "queue_length": COUNT}
    replay_weight: float = 1.0
    alpha: float = 0.99
    queue_length: int = 5
    confidence_of_replay: bool = False
    chance_of_all_labels: bool = False
    by_true_label: bool = False
    once_per_group: bool = False


_PAPER = CAMAConfig()
_RELEASED = CAMAConfig(
    replay_weight=0.5,
    split_replay=True,
    alpha=1.0,
    confidence_of_replay=True,
    chance_of_all_labels=True,
    by_true_label=True,
    once_per_group=True,
    training=TrainingConfig.released(distillation=True),
)


class CAMA(DERpp):
    """Kim, Seo, Choi, "Online Continual Learning for Interactive Instruction Following", 2024.

    Confidence-Aware Moving Average. Update: ``min L(x) + L(x') + beta * ||z' - z'_old||^2``, the
    square a mean over labels as in DER++ (``squared_norm`` makes it a sum); then the logits of the
    replayed episodes follow: ``z'_old <- (1 - g) * z'_old + g * z'`` with ``g_i = alpha *
    clip(mean(confidences of label i) - 1 / K, 0, 1)``, label by label, K the number of labels seen
    so far.

    Stores: episodes with logits, by reservoir sampling; per label its N latest confidences.
    Boundaries: none.
    """

    method: CAMAConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": _PAPER, "released": _RELEASED}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.action_confidence = ConfidenceQueues(len(Action), self.method.queue_length)
        self.class_confidence = ConfidenceQueues(len(ObjectClass), self.method.queue_length)

    def coefficients(self) -> tuple[Tensor, Tensor]:
        """gamma of every action (A,) and of every class (K,)."""
        return (
            self._coefficients(self.action_confidence, len(Action)),
            self._coefficients(self.class_confidence, len(ObjectClass)),
        )

    def state_dict(self) -> dict[str, Any]:
        """With the confidences."""
        queues = self.action_confidence, self.class_confidence
        return {**super().state_dict(), "confidence": [queue.state_dict() for queue in queues]}

    def load_state_dict(
        self, state: Mapping[str, Any], features: Callable[[str], ViewFeatures] | None = None
    ) -> None:
        """Continues from ``state_dict``."""
        super().load_state_dict(state, features)
        self.action_confidence.load_state_dict(state["confidence"][0])
        self.class_confidence.load_state_dict(state["confidence"][1])

    def _after_update(self, update: Update) -> None:
        if not self.method.once_per_group:
            self._note_confidence(update)
            self._refresh(update)

    def _after_group(self, update: Update) -> None:
        before = [self.memory[slot] for slot in update.slots]
        self._remember(update)
        if self.method.once_per_group:
            self._note_confidence(update)
            # Insertion came first, as released; it may have given a slot to another episode.
            kept = [self.memory[slot] is old for slot, old in zip(update.slots, before)]
            self._refresh(update, kept)

    def _note_confidence(self, update: Update) -> None:
        replayed = update.replay_logits() if self.method.confidence_of_replay else []
        batch, count = update.batch, len(update.stream) + len(replayed)
        steps, interactions = sum(batch.lengths[:count]), sum(batch.interaction_counts[:count])
        self.action_confidence.add(update.predictions.action_logits[:steps], batch.actions[:steps])
        self.class_confidence.add(
            update.predictions.class_logits[:interactions],
            batch.classes[batch.interactions[:interactions]],
        )

    def _refresh(self, update: Update, kept: list[bool] | None = None) -> None:
        """Moves the stored logits of the replayed episodes, and of no others."""
        gammas = [gamma.to(self.device) for gamma in self.coefficients()]
        queues = self.action_confidence, self.class_confidence
        for part, gamma, queue in zip(("actions", "classes"), gammas, queues):
            self.logger.record(f"cama/gamma_{part}", queue.mean_of(gamma))
            self.logger.record(f"cama/confidence_{part}", queue.mean)
        for number, (slot, new) in enumerate(zip(update.slots, update.replay_logits())):
            if kept is not None and not kept[number]:
                continue
            old, episode = self.stored_logits(slot), self.memory[slot].episode
            targets = episode.classes[episode.classes > 0]
            actions = self._mix(old.actions, new.actions, gammas[0], episode.actions)
            classes = self._mix(old.classes, new.classes, gammas[1], targets)
            self.memory.rewrite(slot, EpisodeLogits(actions, classes))

    def _mix(self, old: Tensor, new: Tensor, gamma: Tensor, truth: Tensor) -> Tensor:
        share = gamma[truth.to(self.device)].unsqueeze(1) if self.method.by_true_label else gamma
        return (1 - share) * old + share * new

    def _coefficients(self, queues: ConfidenceQueues, labels: int) -> Tensor:
        seen = labels if self.method.chance_of_all_labels else max(1, queues.appeared)
        return queues.coefficients(self.method.alpha, 1 / seen)


class CAMAWithoutDC(CAMA):
    """CAMA without dynamic coefficients: ``g_i = alpha`` for every label, sure or not.

    Update, storage and boundaries: as CAMA.
    """

    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": _PAPER,
        "released": replace(_RELEASED, alpha=0.99),
    }

    def _coefficients(self, queues: ConfidenceQueues, labels: int) -> Tensor:
        return torch.full((labels,), self.method.alpha)
