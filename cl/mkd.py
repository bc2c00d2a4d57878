"""MKD: a moving average of the network's own weights is its teacher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.agent import Outputs
from clalfred.agents.losses import sum_by_episode
from clalfred.cl.base import WEIGHT, ContinualLearner, MethodConfig, Ranges


@dataclass(frozen=True)
class MKDConfig(MethodConfig):
    """Adds to the common settings; ``average`` says how fast the teacher follows.

    Args:
        distillation_weight: lambda.
        temperature: T.
    """

    ranges: ClassVar[Ranges] = {
        **MethodConfig.ranges,
        "average": (1e-6, 1),
        "distillation_weight": WEIGHT,
        "temperature": (0.01, 1e6),
    }
    average: float = 0.01
    distillation_weight: float = 5.5
    temperature: float = 4.0


class MKD(ContinualLearner):
    """Michel et al., "Rethinking Momentum Knowledge Distillation in Online CL", ICML 2024.

    Update: ``min L(x, x') + lambda * T^2 * KL(softmax(z_e / T), softmax(z / T))``, summed over
    steps and heads, where z_e are the logits of the teacher ``e <- (1 - a) * e + a * theta``, which
    is also the one evaluated.

    Stores: episodes, by reservoir sampling; one more model. Boundaries: none.
    """

    method: MKDConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": MKDConfig()}

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """Imitation, and agreement with the teacher on stream and replay."""
        apart = self._disagreement(outputs).mean()
        return self.losses(outputs).mean() + self.method.distillation_weight * apart

    def _disagreement(self, outputs: Outputs) -> Tensor:
        """(B,) ``T^2 * KL`` between the teacher's and the agent's distributions."""
        assert self.averaged is not None
        temperature = self.method.temperature
        with torch.no_grad():
            self.num_forwards += len(self.batch)
            taught = self.averaged(self.batch, None, self.training.teacher_forcing)
        total = torch.zeros_like(outputs.auxiliary)
        for name, head in outputs.heads.items():
            said = F.log_softmax(head.logits / temperature, 1)
            wanted = F.log_softmax(taught.heads[name].logits / temperature, 1)
            apart = F.kl_div(said, wanted, reduction="none", log_target=True).sum(1)
            total = total + temperature**2 * sum_by_episode(apart, head.counts)
        return total
