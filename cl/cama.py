"""CAMA: stored logits follow the network, faster where it is more confident."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.agent import LABELS
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import COUNT, SHARE, MethodConfig, Ranges, Update
from clalfred.cl.confidence import ConfidenceQueues
from clalfred.cl.derpp import DERpp, DERppConfig


@dataclass(frozen=True)
class CAMAConfig(DERppConfig):
    """Adds to DER++'s settings.

    Args:
        alpha: the largest share of the new logits.
        queue_length: N, confidences kept per label.
        confidence_of_replay: also record confidences on replayed episodes, after the streamed ones.
        chance_of_all_labels: subtract 1 / (number of labels) instead of 1 / (labels seen so far).
        by_true_label: mix all logits of a step by the coefficient of its true label, instead of
            each logit by its own label's coefficient.
        once_per_group: refresh once after a group has been inserted into the memory, instead of
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
    extra_state = ("confidence",)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        length = self.method.queue_length
        self.confidence = {name: ConfidenceQueues(size, length) for name, size in LABELS.items()}

    def coefficients(self, head: str) -> Tensor:
        """(L,) gamma of every label of a head."""
        queues = self.confidence[head]
        labels = LABELS[head] if self.method.chance_of_all_labels else max(1, queues.appeared)
        return queues.coefficients(self.method.alpha, 1 / labels)

    def after_update(self, update: Update) -> None:
        """Records confidences, then refreshes the stored logits of the replayed episodes."""
        if not self.method.once_per_group:
            self._note_confidence(update)
            self._refresh(update, list(update.slots))

    def after_group(self, update: Update) -> None:
        """Remembers the group; the released code refreshes after that."""
        before = [self.memory[slot] for slot in update.slots]
        self.remember(update)
        if self.method.once_per_group:
            self._note_confidence(update)
            # Insertion may have moved episodes to other slots, or dropped them.
            now = {id(self.memory[slot]): slot for slot in range(len(self.memory))}
            self._refresh(update, [now.get(id(item)) for item in before])

    def _note_confidence(self, update: Update) -> None:
        replayed = len(update.slots) if self.method.confidence_of_replay else 0
        for name, head in update.outputs.heads.items():
            counted = head.first(len(update.stream) + replayed)
            self.confidence[name].add(counted.logits, counted.targets)

    def _refresh(self, update: Update, slots: Sequence[int | None]) -> None:
        """Updates the stored logits of the replayed episodes, which are now in these slots."""
        gammas = {name: self.coefficients(name).to(self.device) for name in update.outputs.heads}
        for name, gamma in gammas.items():
            self.logger.record(f"cama/gamma_{name}", self.confidence[name].mean_of(gamma))
            self.logger.record(f"cama/confidence_{name}", self.confidence[name].mean)
        replayed = zip(slots, update.replay_logits(), update.replay_targets())
        for slot, new, truth in replayed:
            if slot is not None:
                old = self.stored_logits(slot)
                mixed = {
                    name: self._mix(old[name], new[name], gammas[name], truth[name]) for name in old
                }
                self.memory.rewrite(slot, mixed)

    def _mix(self, old: Tensor, new: Tensor, gamma: Tensor, truth: Tensor) -> Tensor:
        share = gamma[truth].unsqueeze(1) if self.method.by_true_label else gamma
        return (1 - share) * old + share * new


class CAMAWithoutDC(CAMA):
    """CAMA without dynamic coefficients: ``g_i = alpha`` for every label.

    Update, storage and boundaries: as CAMA.
    """

    title = "CAMA w/o DC"
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": _PAPER,
        "released": replace(_RELEASED, alpha=0.99),
    }

    def coefficients(self, head: str) -> Tensor:
        """(L,) alpha."""
        return torch.full((LABELS[head],), self.method.alpha)
