"""The examples of CONTRIBUTING.md do what the page says."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

import pytest
import torch

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import RolloutConfig, evaluate
from clalfred.agents.registry import AGENTS, ENCODERS, make_agent
from clalfred.cl.experiment import RunConfig
from clalfred.cl.experiment.inputs import new_agent
from clalfred.cl.registry import METHODS, get_method
from gym_clalfred.data.trajectory import Split
from gym_clalfred.simulator.backends import BACKENDS
from gym_clalfred.tasks import spec
from tests import ROOT
from tests.helpers.contract_agents import episodes_for, look, observations
from tests.helpers.fakes import FakeSource

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.M))
TITLES = (
    *("Add an agent", "Add an encoder", "Add a method", "Add a task", "Add an object class"),
    "Add a backend",
)


@pytest.fixture(autouse=True)
def _untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (AGENTS, ENCODERS, METHODS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    monkeypatch.setattr(spec, "_KNOWN", dict(spec._KNOWN))
    for name in list(BACKENDS):
        monkeypatch.setitem(BACKENDS, name, BACKENDS[name])


def run(title: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Executes the block of a section; gives what it defines."""
    module = ModuleType("contributing_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (block,) = re.findall(r"```python\n(.*?)```", SECTIONS[title], flags=re.DOTALL)
    exec(compile(block, f"CONTRIBUTING.md, {title}", "exec"), vars(module))
    return vars(module)


@pytest.mark.parametrize("title", TITLES)
def test_examples_run(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(BACKENDS)
    try:
        run(title, monkeypatch)
    finally:
        for name in set(BACKENDS) - before:
            del BACKENDS[name]


@pytest.mark.parametrize("title", TITLES)
def test_each_is_under_a_page(title: str) -> None:
    assert len(SECTIONS[title].splitlines()) <= 80


def test_the_agent_learns_with_the_method_and_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    run("Add an agent", monkeypatch)
    run("Add a method", monkeypatch)
    agent = make_agent("habit")
    learner = get_method("shortest-replay")(agent, device="cpu")
    before = agent.actions.weight.detach().clone()  # type: ignore[union-attr, operator]
    learner.learn(episodes_for(agent, 4))
    assert learner.num_updates == 4
    assert not torch.equal(agent.actions.weight, before)  # type: ignore[union-attr]
    source = FakeSource()
    keys = [entry.key for entry in source.entries(Split.VALID_SEEN)][:2]
    config = RolloutConfig(backend="fake", max_steps=4)
    assert not any(one.error for one in evaluate(Policy(agent), source, keys, config))


def test_the_encoder_serves_the_two_branch_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    run("Add an encoder", monkeypatch)
    agent = new_agent(RunConfig(agent="two-branch", encoder="mean-colours"))
    assert agent.sight == "mean-colours-1"
    assert look(agent, observations(agent, 2))["maps"].shape == (2, 5, 3, 49)
