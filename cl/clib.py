"""CLIB: train from memory only, and keep the episodes that help the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.behavior_cloning import ViewLookup
from clalfred.agents.episode import EncodedEpisode
from clalfred.agents.training import TrainingConfig
from clalfred.cl.adaptive_rate import AdaptiveRate
from clalfred.cl.base import COUNT, SHARE, ContinualLearner, MethodConfig, Ranges
from clalfred.cl.memory import LabelBalancedMemory, Memory, MemoryItem
from gym_clalfred.errors import BadInputError


@dataclass(frozen=True)
class CLIBConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        importance_decay: share of the old importance in the running mean.
        probes: stored episodes outside the batch on which the drop of the loss is measured.
        rate_step: factor between the two learning rates that are compared.
        rate_history: updates with each rate before the two are compared.
    """

    per_batch = ("stream_size", "probes")
    ranges: ClassVar[Ranges] = {
        **MethodConfig.ranges,
        "importance_decay": SHARE,
        "probes": COUNT,
        "rate_step": (0.01, 1),
        "rate_history": (2, math.inf),
    }
    stream_size: int = 1
    training: TrainingConfig = field(default_factory=lambda: TrainingConfig(decay=0.9999))
    importance_decay: float = 0.9
    probes: int = 32
    rate_step: float = 0.95
    rate_history: int = 10


class ImportanceMemory(LabelBalancedMemory):
    """Replaces the least important episode of the most frequent label."""

    def __init__(self, capacity: int, generator: torch.Generator) -> None:
        super().__init__(capacity, generator)
        self.importance: list[float] = []

    def add(self, item: MemoryItem) -> int | None:
        """A new episode starts with the mean importance of its label, or else of all."""
        alike = [
            value
            for entry, value in zip(self._entries, self.importance)
            if entry.episode.label == item.episode.label
        ]
        known = alike or self.importance
        mean = sum(known) / len(known) if known else 0.0
        slot = super().add(item)
        if slot == len(self.importance):
            self.importance.append(mean)
        elif slot is not None:
            self.importance[slot] = mean
        return slot

    def state_dict(self) -> dict[str, Any]:
        """With the importances."""
        return {**super().state_dict(), "importance": self.importance}

    def load_state_dict(self, state: Mapping[str, Any], views: ViewLookup | None = None) -> None:
        """Continues from ``state_dict``."""
        super().load_state_dict(state, views)
        self.importance = list(state["importance"])

    def slot_to_replace(self, item: MemoryItem) -> int | None:
        """The least important episode of the most frequent label."""
        return min(self.most_frequent_slots(item), key=lambda slot: self.importance[slot])


class CLIB(ContinualLearner):
    """Koh et al., "Online Continual Learning on Class Incremental Blurry Task Configuration", 2022.

    Update: ``min L(x')`` on a batch from memory alone. Each of its episodes n is credited with the
    drop in the loss of others: ``H_n <- 0.9 * H_n + 0.1 * (L_before - L_after)``. The learning
    rate is the better of two that alternate, by a t-test on the same drops.

    Stores: episodes; replaces the least important one of the most frequent label.
    Boundaries: none, but the label (behaviour or room type) of every episode.
    """

    needs_labels = True
    method: CLIBConfig
    memory: ImportanceMemory
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": CLIBConfig(),
        "released": CLIBConfig(training=TrainingConfig.released(distillation=False)),
    }

    extra_state = ("rate",)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.rate = AdaptiveRate(self.method.rate_step, self.method.rate_history)

    @property
    def replay_size(self) -> int:
        """The whole batch; with a small memory, half of the memory is left for probes."""
        room = self.method.memory - self.group_size
        batch = self.training.batch_size
        return batch if room > batch else max(1, room // 2)

    @property
    def learning_rate(self) -> float:
        """The scheduled rate times the factor being tried."""
        return super().learning_rate * self.rate.factor

    def make_memory(self, capacity: int) -> Memory:
        """A memory that replaces episodes by importance."""
        if self.method.memory_bytes:
            raise BadInputError("memory_bytes: CLIB counts episodes; give it a memory instead")
        return ImportanceMemory(max(1, capacity), self.generator)

    def train_on(self, group: tuple[EncodedEpisode, ...]) -> None:
        """Remembers the group first; then all updates use the memory alone."""
        for episode in group:
            self.keep(MemoryItem(episode))
        for _ in range(self.updates_due(len(group))):
            slots = self.memory.sample(self.replay_size)
            others = [slot for slot in range(len(self.memory)) if slot not in set(slots)]
            probes = self.memory.sample(self.method.probes, others)
            before = self._probe(probes)
            self.update((), tuple(slots))
            if probes:
                self._credit(slots, float((before - self._probe(probes)).mean()))

    def _credit(self, slots: list[int], fall: float) -> None:
        """Credits these slots with the drop in the loss of others."""
        decay = self.method.importance_decay
        for slot in slots:
            old = self.memory.importance[slot]
            self.memory.importance[slot] = decay * old + (1 - decay) * fall
        self.rate.note(fall)

    @torch.no_grad()
    def _probe(self, slots: list[int]) -> Tensor:
        """(n,) losses of stored episodes, without dropout and augmentation."""
        if not slots:
            return torch.zeros(0)
        episodes = [self.memory[slot].episode for slot in slots]
        return self.losses(self.plain_forward(self.make_batch(episodes, augment=False)))
