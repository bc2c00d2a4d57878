"""EWC++: important weights are held in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import COUNT, SHARE, WEIGHT, ContinualLearner, MethodConfig, Ranges, Update


@dataclass(frozen=True)
class EWCppConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        penalty: lambda.
        fisher_decay: share of the old Fisher information in the running mean.
        anchor_at_boundaries: set the anchor when a task begins.
        anchor_every: otherwise set it after every N updates.
    """

    ranges: ClassVar[Ranges] = {
        **MethodConfig.ranges,
        "penalty": WEIGHT,
        "fisher_decay": SHARE,
        "anchor_every": COUNT,
    }
    penalty: float = 100.0
    fisher_decay: float = 0.5
    anchor_at_boundaries: bool = True
    anchor_every: int = 100


class EWCpp(ContinualLearner):
    """Chaudhry et al., "Riemannian Walk for Incremental Learning", ECCV 2018.

    Update: ``min L(x, x') + lambda * sum F (theta - theta*)^2``, where
    ``F <- d * F + (1 - d) * g^2`` is a running mean over the gradients g of L, and the anchor
    (theta* with its F) is set where a task begins. ``x'`` is ER's replay, without which the paper's
    numbers cannot be reached; ``without-replay`` is the method by itself, ``task-free`` sets its
    anchor every 100 updates.

    Stores: episodes, by reservoir sampling; the anchor's weights and Fisher information.
    Boundaries: needed, except by ``task-free``.
    """

    method: EWCppConfig
    title = "EWC++"
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": EWCppConfig(),
        "released": EWCppConfig(
            training=replace(TrainingConfig.released(distillation=False), max_gradient_norm=inf)
        ),
        "without-replay": EWCppConfig(stream_size=32, memory=32),
        "task-free": EWCppConfig(anchor_at_boundaries=False),
    }

    extra_state = ("fisher", "anchor", "anchor_fisher")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fisher = {name: torch.zeros_like(weight) for name, weight in self._weights()}
        self.anchor: dict[str, Tensor] = {}
        self.anchor_fisher: dict[str, Tensor] = {}

    @classmethod
    def wants_boundaries(cls, method: MethodConfig) -> bool:
        """Needed if the anchor is set there."""
        return isinstance(method, EWCppConfig) and method.anchor_at_boundaries

    def set_anchor(self) -> None:
        """Anchors the present weights, with their present Fisher information."""
        self.anchor = {name: weight.detach().clone() for name, weight in self._weights()}
        self.anchor_fisher = {name: fisher.clone() for name, fisher in self.fisher.items()}

    @torch.no_grad()
    def on_gradients(self) -> None:
        """Updates the running Fisher information and adds the gradient of the penalty."""
        decay = self.method.fisher_decay
        for name, weight in self._weights():
            if weight.grad is None:
                continue
            self.fisher[name].mul_(decay).addcmul_(weight.grad, weight.grad, value=1 - decay)
            if self.anchor:
                slope = self.anchor_fisher[name] * (weight - self.anchor[name])
                weight.grad.add_(slope, alpha=2 * self.method.penalty)

    def after_update(self, update: Update) -> None:
        """Sets the anchor every N updates, unless it is set at boundaries."""
        every = self.method.anchor_every
        if not self.method.anchor_at_boundaries and self.num_updates % every == 0:
            self.set_anchor()

    def on_boundary(self) -> None:
        """Sets the anchor, unless nothing has been learned yet."""
        if self.num_updates:
            self.set_anchor()

    def _weights(self) -> list[tuple[str, torch.nn.Parameter]]:
        return list(self.agent.named_parameters())
