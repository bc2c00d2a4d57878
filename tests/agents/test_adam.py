from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import Tensor

from clalfred.agents.numerics.adam import Adam
from gym_clalfred.errors import DataError


def some_weights() -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = [(3, 5), (7,), (2, 3, 4), (1,)]
    return [torch.randn(shape, generator=generator, requires_grad=True) for shape in shapes]


def give_gradients(weights: list[Tensor], seed: int) -> None:
    """Some to all; the last weight gets none at first."""
    generator = torch.Generator().manual_seed(seed)
    for weight in weights[: None if seed > 2 else -1]:
        weight.grad = torch.randn(weight.shape, generator=generator)


def test_updates_equal_torchs() -> None:
    ours, theirs = some_weights(), some_weights()
    adam, torchs = Adam(ours, 0.01), torch.optim.Adam(theirs, 0.01)
    for seed in range(6):
        adam.learning_rate = torchs.param_groups[0]["lr"] = 0.01 * 0.9**seed
        give_gradients(ours, seed)
        give_gradients(theirs, seed)
        adam.step()
        torchs.step()
        # torch's roots are not exact on every processor.
        for one, other in zip(ours, theirs):
            torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-7)
    adam.zero_grad()
    assert all(weight.grad is None for weight in ours)


def test_a_state_is_continued_from_and_is_not_shared() -> None:
    first, second = some_weights(), some_weights()
    adam, other = Adam(first, 0.01), Adam(second, 0.01)
    other.load_state_dict(adam.state_dict())
    for seed in range(3):
        give_gradients(first, seed)
        adam.step()
    with torch.no_grad():
        for weight, copy in zip(first, second):
            copy.copy_(weight)
    other.load_state_dict(adam.state_dict())
    for one, weights in ((adam, first), (other, second)):
        give_gradients(weights, 9)
        one.step()
    assert all(torch.equal(weight, copy) for weight, copy in zip(first, second))
    with pytest.raises(DataError, match="of 4 weights, expected 3"):
        Adam(first[:3], 0.01).load_state_dict(adam.state_dict())


def test_learning_does_not_import_torchs_compiler() -> None:
    lines = """
import sys, torch
from clalfred.agents.numerics.adam import Adam
from clalfred.agents.behavior_cloning import BehaviorCloning
weight = torch.ones(2, requires_grad=True)
(weight ** 2).sum().backward()
Adam([weight], 0.1).step()
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", lines], check=True)
