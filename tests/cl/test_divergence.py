"""Numbers that are not finite stop a run; nothing that was good is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from clalfred.agents.agent import Outputs
from clalfred.agents.checkpoint import load_state
from clalfred.cl.er import ER
from clalfred.cl.registry import METHODS, register
from gym_clalfred.errors import DivergenceError
from tests.helpers.learning import learner, stream_for
from tests.helpers.runs import fake_config, run_fake


class Exploding(ER):
    """ER whose loss becomes infinite in its fifth update."""

    broken = True

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        loss = super().loss(outputs, slots)
        return loss / 0.0 if self.broken and self.num_updates == 4 else loss


@pytest.fixture
def exploding(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))
    register("exploding", Exploding)
    return "exploding"


def test_a_run_stops_at_the_first_loss_that_is_no_number(
    exploding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = fake_config(method=exploding, episodes_per_task=3, evaluation_episodes=1, max_steps=3)
    with pytest.raises(DivergenceError, match="the loss of update 5 is inf"):
        run_fake(config, tmp_path / "run")
    assert not (tmp_path / "run" / "results.json").exists()
    state = load_state(tmp_path / "run" / "checkpoint.zip")["learner"]
    assert state["counts"][2] <= 4
    for value in state["weights"].values():
        assert not value.is_floating_point() or value.isfinite().all()
    # From there it goes on, once the loss is mended.
    monkeypatch.setattr(Exploding, "broken", False)
    results = run_fake(config, tmp_path / "run")
    text = (tmp_path / "run" / "results.json").read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    assert json.loads(text)["training"]["updates"] == results.stream.length


def test_a_gradient_that_is_no_number_leaves_the_weights_alone() -> None:
    agent = learner("er")
    agent.learn(stream_for(agent, 6))
    before = [weight.detach().clone() for weight in agent.agent.parameters()]
    done = agent.num_updates

    def spoil() -> None:
        weight = next(agent.agent.parameters())
        assert weight.grad is not None
        weight.grad[0] = torch.nan

    agent.on_gradients = spoil  # type: ignore[method-assign]
    with pytest.raises(DivergenceError, match=f"the gradient of update {done + 1} is nan"):
        agent.learn(stream_for(agent, 6, first_seed=30))
    for old, weight in zip(before, agent.agent.parameters()):
        assert torch.equal(old, weight)
