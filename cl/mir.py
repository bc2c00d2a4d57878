"""Maximally interfered retrieval: replay the episodes that the next update would hurt most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import torch
from torch import Tensor

from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import COUNT, ContinualLearner, MethodConfig, Ranges


@dataclass(frozen=True)
class MIRConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        candidates: episodes drawn from memory, of which the most interfered are replayed.
        per_step: compare losses per step, so that long episodes are not preferred.
    """

    per_batch = ("stream_size", "candidates")
    ranges: ClassVar[Ranges] = {**MethodConfig.ranges, "candidates": COUNT}
    candidates: int = 50
    per_step: bool = False


class MIR(ContinualLearner):
    """Aljundi et al., "Online Continual Learning with Maximally Interfered Retrieval", 2019.

    Update: with a virtual step ``theta_v = theta - eta * grad L(x; theta)`` on the stream, replay
    the candidates ``c`` with the largest ``L(c; theta_v) - L(c; theta)``; then as ER.

    Stores: episodes, by reservoir sampling. Boundaries: none.
    """

    method: MIRConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": MIRConfig(),
        "released": MIRConfig(
            training=replace(TrainingConfig.released(distillation=False), max_gradient_norm=inf)
        ),
    }

    def select_replay(self, stream: tuple[EncodedEpisode, ...]) -> list[int]:
        """The candidates that the stream would hurt most."""
        slots = self.memory.sample(self.method.candidates)
        if len(slots) <= self.replay_size:
            return slots
        scores = self.interference(stream, [self.memory[slot].episode for slot in slots])
        return [slots[index] for index in scores.topk(self.replay_size).indices.tolist()]

    def interference(
        self, stream: tuple[EncodedEpisode, ...], candidates: list[EncodedEpisode]
    ) -> Tensor:
        """(C,) the increase in each candidate's loss by a virtual step on the stream."""
        batch = self.make_batch(candidates, augment=False)
        before = self._plain_losses(batch)
        parameters = list(self.agent.parameters())
        streamed = self.make_batch(stream, augment=False)
        loss = self.losses(self.plain_forward(streamed)).mean()
        gradients = torch.autograd.grad(loss, parameters)
        originals = [parameter.detach().clone() for parameter in parameters]
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter.sub_(self.learning_rate * gradient)
            after = self._plain_losses(batch)
            for parameter, original in zip(parameters, originals):
                parameter.copy_(original)
        growth = after - before
        if self.method.per_step:
            growth = growth / torch.tensor(batch.lengths, device=growth.device)
        return growth

    @torch.no_grad()
    def _plain_losses(self, batch: Batch) -> Tensor:
        return self.losses(self.plain_forward(batch))
