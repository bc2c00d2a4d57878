"""CLIB's learning rate: two rates alternate, and a t-test decides between them.

Student's t takes four lines here, checked against published values by ``tests/cl/test_clib.py``;
scipy would add 40 MB to the installation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

#: 95 % point of the standard normal distribution.
_Z = 1.6448536269514722


class AdaptiveRate:
    """Compares a rate with a slightly smaller one by how much the loss falls under each.

    The smaller rate becomes the rate if it is significantly better; if the larger is, the rate
    grows back, up to 1.

    Args:
        step: the smaller rate as a share of the larger.
        history: updates with each rate before the two are compared.
    """

    def __init__(self, step: float, history: int) -> None:
        self._step = step
        self._history = history
        self._scale = 1.0
        self._falls: tuple[list[float], list[float]] = ([], [])
        self._turn = 0

    @property
    def factor(self) -> float:
        """The factor on the scheduled rate in the next update."""
        return self._scale * (self._step if self._turn else 1.0)

    def note(self, fall: float) -> None:
        """Records how much the loss fell in this update, and switches to the other rate."""
        self._falls[self._turn].append(fall)
        self._turn = 1 - self._turn
        larger, smaller = self._falls
        if min(len(larger), len(smaller)) < self._history:
            return
        if exceeds(smaller, larger):
            self._scale *= self._step
        elif exceeds(larger, smaller):
            self._scale = min(1.0, self._scale / self._step)
        self._falls = ([], [])

    def state_dict(self) -> dict[str, Any]:
        """The comparison so far."""
        return {"scale": self._scale, "turn": self._turn, "falls": list(self._falls)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from ``state_dict``."""
        self._scale, self._turn = state["scale"], state["turn"]
        self._falls = (list(state["falls"][0]), list(state["falls"][1]))


def exceeds(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether ``a`` has the larger mean, by Welch's one-sided test at 5 %."""
    spreads = [_variance(values) / len(values) for values in (a, b)]
    difference = sum(a) / len(a) - sum(b) / len(b)
    if sum(spreads) == 0:
        return difference > 0
    freedom = sum(spreads) ** 2 / sum(
        spread**2 / (len(values) - 1) for spread, values in zip(spreads, (a, b))
    )
    return difference / math.sqrt(sum(spreads)) > _critical_value(freedom)


def _critical_value(freedom: float) -> float:
    """95 % point of Student's t, by Fisher's expansion around the normal one."""
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    third = (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384
    return _Z + first / freedom + second / freedom**2 + third / freedom**3


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)
