"""Adam, as torch's, without what torch's optimisers bring along.

Making any of torch's optimisers imports its compiler, which costs every process more than
a second. On a CPU, roots are rounded as IEEE says; torch's are a bit off on some processors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from clalfred.agents.numerics.arithmetic import exact_sqrt
from gym_clalfred.errors import DataError

#: b1 and b2, and e, as torch has them.
BETAS, EPSILON = (0.9, 0.999), 1e-8


class Adam:
    """Kingma and Ba, "Adam: a method for stochastic optimization", 2015.

    ``m <- b1 m + (1 - b1) g``, ``v <- b2 v + (1 - b2) g^2``,
    ``w <- w - rate * m' / (sqrt(v') + e)``
    with ``m' = m / (1 - b1^t)`` and ``v' = v / (1 - b2^t)``; t counts the updates of each weight.

    Args:
        parameters: what to train; those without a gradient are left alone.
        learning_rate: may be changed at any time.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        learning_rate: float,
    ) -> None:
        self.parameters = tuple(parameters)
        self.learning_rate = learning_rate
        self._states: list[tuple[int, Tensor, Tensor] | None] = [None] * len(self.parameters)

    def zero_grad(self) -> None:
        """Forgets all gradients."""
        for weight in self.parameters:
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update."""
        first, second = BETAS
        for number, weight in enumerate(self.parameters):
            if (gradient := weight.grad) is None:
                continue
            state = self._states[number] or (0, torch.zeros_like(weight), torch.zeros_like(weight))
            count, mean, square = state[0] + 1, state[1], state[2]
            mean.lerp_(gradient, 1 - first)
            square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
            spread = exact_sqrt(square).div_((1 - second**count) ** 0.5).add_(EPSILON)
            weight.addcdiv_(mean, spread, value=-(self.learning_rate / (1 - first**count)))
            self._states[number] = count, mean, square

    def state_dict(self) -> list[dict[str, Any]]:
        """What updates so far left behind, for each weight; empty before its first one."""
        names = "step", "exp_avg", "exp_avg_sq"
        return [{} if state is None else dict(zip(names, state)) for state in self._states]

    def load_state_dict(self, states: Sequence[dict[str, Any]]) -> None:
        """Continues from ``state_dict`` of an optimiser of the same weights."""
        if states and len(states) != len(self.parameters):
            raise DataError(
                f"the optimiser's state is of {len(states)} weights, expected "
                f"{len(self.parameters)}"
            )
        self._states = [
            (
                int(one["step"]),
                one["exp_avg"].to(weight, copy=True),
                one["exp_avg_sq"].to(weight, copy=True),
            )
            if one
            else None
            for one, weight in zip(states or [{}] * len(self.parameters), self.parameters)
        ]
