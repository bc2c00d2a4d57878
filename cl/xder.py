"""X-DER: stored logits learn about later labels, and logits of future labels are kept low."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.agent import LABELS, Head, Outputs
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import SHARE, WEIGHT, MethodConfig, Ranges, Update, mean_or_zero
from clalfred.cl.derpp import DERpp, DERppConfig
from clalfred.cl.memory import MemoryItem

#: "First task" of a label that has not appeared.
FUTURE = 1_000_000


@dataclass(frozen=True)
class XDERConfig(DERppConfig):
    """Adds to DER++'s settings.

    Args:
        gamma: later labels' logits stay below this share of the true label's.
        margin: m, of the constraints between past, present and future labels.
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
    ``relu(m + max p(past) - max p(present))`` on streamed steps whose y is of the present task, p
    over the labels seen so far and the past detached, plus ``eta`` times ``relu(m + max z(future) -
    max z(task of y))`` on all steps, z the logits. Then, in replayed episodes of earlier tasks, the
    stored logits of labels that came later are replaced by the present ones; where their maximum
    exceeds the stored logit of y, they are scaled to ``gamma`` times it. Streamed episodes are
    stored with their logits of past labels scaled in the same way. No contrastive part: the
    encoder is frozen.

    Stores: episodes with logits and task number, by reservoir sampling. Boundaries: needed.
    """

    needs_boundaries = True
    method: XDERConfig
    title = "X-DER"
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": XDERConfig(),
        "released": XDERConfig(
            split_replay=True, training=TrainingConfig.released(distillation=True)
        ),
    }

    extra_state = ("task", "first_task")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.task = -1
        #: By head, (L,) the task in which each label first appeared.
        self.first_task = {name: torch.full((size,), FUTURE) for name, size in LABELS.items()}

    def on_boundary(self) -> None:
        """Counts the tasks."""
        self.task += 1

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """DER++'s loss and the margin constraints of every head."""
        streamed = len(outputs.auxiliary) - len(slots)
        constraints = outputs.auxiliary.new_zeros(())
        for name, head in outputs.heads.items():
            labels, first = head.first(streamed).targets.cpu(), self.first_task[name]
            first[labels] = first[labels].clamp_max(self.task)
            constraints = constraints + self._constraints(head, first.to(self.device), streamed)
        return super().loss(outputs, slots) + self.method.constraint_weight * constraints

    def to_store(self, update: Update) -> list[MemoryItem]:
        """As DER++, with the task's number and the logits of past labels scaled down."""
        targets = update.outputs.targets_by_episode()
        return [
            replace(
                item,
                task=self.task,
                logits={
                    name: self._rewrite(z, z, truth[name], self._past(name, truth[name]))
                    for name, z in item.logits.items()
                },
            )
            for item, truth in zip(super().to_store(update), targets)
        ]

    def after_update(self, update: Update) -> None:
        """Rewrites the stored logits of labels that appeared later, in replayed episodes."""
        replayed = zip(update.slots, update.replay_logits(), update.replay_targets())
        for slot, new, truth in replayed:
            task, old = self.memory[slot].task, self.stored_logits(slot)
            rewritten = {
                name: self._rewrite(old[name], new[name], truth[name], self._later(name, task))
                for name in old
            }
            self.memory.rewrite(slot, rewritten)

    def _constraints(self, head: Head, first_task: Tensor, streamed: int) -> Tensor:
        """Margins over labels of the past (stream) and of the future (all steps)."""
        violations = head.logits.new_zeros(())
        past, future = first_task < self.task, first_task == FUTURE
        present = first_task == self.task
        if past.any() and present.any():
            rows = head.first(streamed)
            probability = rows.logits.masked_fill(future, -torch.inf).softmax(1)
            worst, good = probability[:, past].amax(1).detach(), probability[:, present].amax(1)
            over = (self.method.margin + worst - good).relu()
            violations = violations + mean_or_zero(over[present[rows.targets]])
        if future.any():
            own = first_task == first_task[head.targets].unsqueeze(1)
            good = head.logits.masked_fill(~own, -torch.inf).amax(1)
            worst = head.logits[:, future].amax(1)
            violations = violations + mean_or_zero((self.method.margin + worst - good).relu())
        return violations

    def _later(self, head: str, task: int) -> Tensor:
        """(L,) which labels appeared after a task, so far."""
        first = self.first_task[head]
        return ((first > task) & (first <= self.task)).to(self.device)

    def _past(self, head: str, truth: Tensor) -> Tensor:
        """(L,) which labels appeared before the present task."""
        return (self.first_task[head] < self.task).to(truth.device)

    def _rewrite(self, old: Tensor, new: Tensor, truth: Tensor, labels: Tensor) -> Tensor:
        """(n, L) old logits, those of some labels replaced by new ones that stay below y's."""
        if not labels.any():
            return old
        right = old.gather(1, truth.unsqueeze(1))
        # For a negative true logit "a share of it" means further below it, not above.
        bound = right - (1 - self.method.gamma) * right.abs()
        # y itself, where it is among these labels, is not rescaled.
        others = labels.unsqueeze(0).expand_as(new).clone()
        others[torch.arange(len(truth), device=truth.device), truth] = False
        largest = new.masked_fill(~others, -torch.inf).amax(1, keepdim=True)
        scaled = torch.where(
            (largest > 0) & (bound > 0), new * (bound / largest), new + (bound - largest)
        )
        coming = torch.where(largest > right, scaled, new)
        return torch.where(others, coming, old)
