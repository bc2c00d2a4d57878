"""STAR: predictions on memory should not change under the worst small weight perturbation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.agent import Outputs
from clalfred.agents.episode import EncodedEpisode
from clalfred.agents.losses import sum_by_episode
from clalfred.cl.base import WEIGHT, ContinualLearner, MethodConfig, Ranges


@dataclass(frozen=True)
class STARConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        stability_weight: lambda.
        radius: length of the perturbation d, relative to the norm of each weight tensor.
    """

    ranges: ClassVar[Ranges] = {
        **MethodConfig.ranges,
        "stability_weight": WEIGHT,
        "radius": WEIGHT,
    }
    stability_weight: float = 0.1
    radius: float = 0.05


class STAR(ContinualLearner):
    """Eskandar et al., "STAR: Stability-Inducing Weight Perturbation", ICLR 2025.

    Update: ``min L(x, x') + lambda * KL(p_theta(x'), p_{theta+d}(x'))`` on steps of replayed
    episodes at which the agent is right, where d is the perturbation within the radius with the
    largest divergence, approximated by one gradient from a random start.

    Stores: episodes, by reservoir sampling. Boundaries: none.
    """

    method: STARConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": STARConfig()}

    def update(self, stream: tuple[EncodedEpisode, ...], slots: tuple[int, ...]) -> Any:
        """As ER's; the gradient of the stability term is added before the step."""
        self._replayed = [self.memory[slot].episode for slot in slots]
        return super().update(stream, slots)

    def on_gradients(self) -> None:
        """Adds the gradient of the divergence at the worst perturbation."""
        if not self._replayed:
            return
        batch = self.make_batch(self._replayed, augment=False)
        with torch.no_grad():
            here = self.plain_forward(batch)
        weights = [one for one in self.agent.parameters() if one.grad is not None]
        originals = [one.detach().clone() for one in weights]
        noise = [self._noise(one) for one in weights]
        self._shift(weights, originals, noise)
        slopes = _gradients(self._divergence(here, self.plain_forward(batch)), weights)
        self._shift(weights, originals, slopes)
        gradients = _gradients(self._divergence(here, self.plain_forward(batch)), weights)
        with torch.no_grad():
            for weight, original, gradient in zip(weights, originals, gradients):
                weight.copy_(original)
                assert weight.grad is not None
                weight.grad.add_(gradient, alpha=self.method.stability_weight)

    def _noise(self, weight: Tensor) -> Tensor:
        noise = torch.randn(weight.shape, generator=self.generator)
        return noise.to(weight.device)

    @torch.no_grad()
    def _shift(self, weights: list[Any], originals: list[Tensor], ways: list[Tensor]) -> None:
        """Moves every weight tensor by the radius along its part of a direction."""
        for weight, original, way in zip(weights, originals, ways):
            length = way.norm().clamp_min(1e-12)
            weight.copy_(original + self.method.radius * original.norm() * way / length)

    def _divergence(self, here: Outputs, there: Outputs) -> Tensor:
        """Mean over episodes of ``KL(p_here, p_there)``, at the steps where ``here`` is right."""
        total = there.auxiliary.new_zeros(len(there.auxiliary))
        for name, head in here.heads.items():
            sure = F.log_softmax(head.logits, 1)
            moved = F.log_softmax(there.heads[name].logits, 1)
            right = (head.logits.argmax(1) == head.targets).float()
            apart = F.kl_div(moved, sure, reduction="none", log_target=True).sum(1) * right
            total = total + sum_by_episode(apart, head.counts)
        return total.mean()


def _gradients(value: Tensor, weights: list[Any]) -> list[Tensor]:
    """The gradient for every weight; zeros for unused ones."""
    found = torch.autograd.grad(value, weights, allow_unused=True)
    return [torch.zeros_like(w) if g is None else g for g, w in zip(found, weights)]
