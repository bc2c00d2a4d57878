"""X-DER: stored logits learn about labels that came later, and future ones are kept quiet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.batch import Batch, EncodedEpisode, ViewFeatures
from clalfred.agents.losses import EpisodeLogits
from clalfred.agents.network import Predictions
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import SHARE, WEIGHT, MethodConfig, Ranges, Update, mean_or_zero
from clalfred.cl.derpp import DERpp, DERppConfig
from clalfred.cl.memory import Stored
from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass

#: "First task" of a label that has not appeared.
FUTURE = 1_000_000


@dataclass(frozen=True)
class XDERConfig(DERppConfig):
    """Adds to DER++'s settings.

    Args:
        gamma: later labels' logits stay below this share of the true label's.
        margin: m, by which the true label's probability is to exceed those of other heads.
        constraint_weight: eta, of the margin constraints.
    """

    ranges: ClassVar[Ranges] = {
        **DERppConfig.ranges,
        "gamma": SHARE,
        "margin": SHARE,
        "constraint_weight": WEIGHT,
    }
    gamma: float = 0.85
    margin: float = 0.7
    constraint_weight: float = 0.001


class XDER(DERpp):
    """Boschi et al., "Class-Incremental Continual Learning into the eXtended DER-verse", 2022.

    A label belongs to the task in which it first appeared. Update: DER++'s loss, plus ``eta`` times
    ``relu(m + max p(past) - p(y))`` on the stream where y is of the present task, plus the same
    with labels of the future on all steps. Then, in replayed episodes of earlier tasks, the stored
    logits of labels that came later are replaced by the present ones, scaled down where their
    maximum exceeds ``gamma`` times the stored logit of y. No contrastive part: the encoder is
    frozen.

    Stores: episodes with logits and task number, by reservoir sampling. Boundaries: needed.
    """

    needs_boundaries = True
    method: XDERConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": XDERConfig(),
        "released": XDERConfig(
            split_replay=True, training=TrainingConfig.released(distillation=True)
        ),
    }

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.task = -1
        self.action_task = torch.full((len(Action),), FUTURE)
        self.class_task = torch.full((len(ObjectClass),), FUTURE)

    def state_dict(self) -> dict[str, Any]:
        """With the tasks in which labels first appeared."""
        tasks = {"task": self.task, "action_task": self.action_task, "class_task": self.class_task}
        return {**super().state_dict(), **tasks}

    def load_state_dict(
        self, state: Mapping[str, Any], features: Callable[[str], ViewFeatures] | None = None
    ) -> None:
        """Continues from ``state_dict``."""
        super().load_state_dict(state, features)
        self.task = state["task"]
        self.action_task, self.class_task = state["action_task"], state["class_task"]

    def _on_boundary(self) -> None:
        self.task += 1

    def _on_arrival(self, episode: EncodedEpisode) -> None:
        for first_tasks, labels in (
            (self.action_task, episode.actions),
            (self.class_task, episode.classes[episode.classes > 0]),
        ):
            first_tasks[labels] = first_tasks[labels].clamp_max(self.task)

    def _loss(self, predictions: Predictions, batch: Batch, slots: tuple[int, ...]) -> Tensor:
        streamed = len(batch) - len(slots)
        truth = batch.classes[batch.interactions]
        steps = sum(batch.lengths[:streamed])
        interactions = sum(batch.interaction_counts[:streamed])
        constraints = self._constraints(
            predictions.action_logits, batch.actions, self.action_task, steps
        ) + self._constraints(predictions.class_logits, truth, self.class_task, interactions)
        return (
            super()._loss(predictions, batch, slots) + self.method.constraint_weight * constraints
        )

    def _constraints(
        self, logits: Tensor, truth: Tensor, first_task: Tensor, streamed: int
    ) -> Tensor:
        """Margins of the true label over labels of the past (stream) and of the future (all)."""
        first_task = first_task.to(logits.device)
        probability = logits.softmax(1)
        right = probability.gather(1, truth.unsqueeze(1)).squeeze(1)
        violations = logits.new_zeros(())
        past, future = first_task < self.task, first_task == FUTURE
        if past.any():
            present = first_task[truth[:streamed]] == self.task
            worst = probability[:streamed, past].amax(1)
            over = (self.method.margin + worst - right[:streamed]).relu()
            violations = violations + mean_or_zero(over[present])
        if future.any():
            worst = probability[:, future].amax(1)
            violations = violations + mean_or_zero((self.method.margin + worst - right).relu())
        return violations

    def _to_store(self, update: Update) -> list[Stored]:
        return [replace(stored, task=self.task) for stored in super()._to_store(update)]

    def _after_update(self, update: Update) -> None:
        for slot, new in zip(update.slots, update.replay_logits()):
            stored, old = self.memory[slot], self.stored_logits(slot)
            episode = stored.episode
            targets = episode.classes[episode.classes > 0]
            rewritten = EpisodeLogits(
                self._rewrite(old.actions, new.actions, episode.actions, self.action_task, stored),
                self._rewrite(old.classes, new.classes, targets, self.class_task, stored),
            )
            self.memory.rewrite(slot, rewritten)

    def _rewrite(
        self, old: Tensor, new: Tensor, truth: Tensor, first_task: Tensor, stored: Stored
    ) -> Tensor:
        """(n, L) old logits with those of later labels replaced by new ones, scaled down."""
        later = (first_task > stored.task) & (first_task <= self.task)
        if not later.any():
            return old
        later = later.to(old.device)
        right = old.gather(1, truth.to(old.device).unsqueeze(1))
        # For a negative true logit "a share of it" means further below it, not above.
        bound = right - (1 - self.method.gamma) * right.abs()
        coming = new[:, later]
        largest = coming.amax(1, keepdim=True)
        scaled = torch.where(
            (largest > 0) & (bound > 0), coming * (bound / largest), coming + (bound - largest)
        )
        rewritten = old.clone()
        rewritten[:, later] = torch.where(largest > bound, scaled, coming)
        return rewritten
