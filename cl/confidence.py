"""CAMA's confidence: the network's recent probabilities of each label."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


class ConfidenceQueues:
    """For each label the N most recent probabilities that the network gave it when it was right.

    Args:
        labels: how many labels there are.
        length: N.
    """

    def __init__(self, labels: int, length: int) -> None:
        self._queues: list[deque[float]] = [deque(maxlen=length) for _ in range(labels)]
        self._appeared = [False] * labels

    def add(self, logits: Tensor, truth: Tensor) -> None:
        """Records the confidence of n steps, in order.

        Args:
            logits: (n, labels).
            truth: (n,) the label of each step.
        """
        confidence = logits.detach().softmax(1)[torch.arange(len(truth)), truth]
        for label, value in zip(truth.tolist(), confidence.tolist()):
            self._queues[label].append(value)
            self._appeared[label] = True

    @property
    def mean(self) -> float:
        """The mean confidence over the labels that have appeared, 0 if there are none."""
        means = [sum(queue) / len(queue) for queue in self._queues if queue]
        return sum(means) / len(means) if means else 0.0

    def mean_of(self, values: Tensor) -> float:
        """The mean of values (labels,) over the labels that have appeared, 0 if there are none."""
        shown = values[torch.tensor(self._appeared, device=values.device)]
        return float(shown.mean()) if len(shown) else 0.0

    @property
    def appeared(self) -> int:
        """How many labels have appeared so far."""
        return sum(self._appeared)

    def coefficients(self, alpha: float, chance: float) -> Tensor:
        """(labels,) ``alpha * clip(mean(queue) - chance, 0, 1)``; 0 for an empty queue."""
        means = [sum(queue) / len(queue) if queue else 0.0 for queue in self._queues]
        return torch.tensor([alpha * min(max(mean - chance, 0.0), 1.0) for mean in means])

    def state_dict(self) -> dict[str, Any]:
        """The queues as lists."""
        return {
            "queues": [list(queue) for queue in self._queues],
            "appeared": list(self._appeared),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from ``state_dict``."""
        self._queues = [
            deque(one, maxlen=old.maxlen) for one, old in zip(state["queues"], self._queues)
        ]
        self._appeared = list(state["appeared"])
