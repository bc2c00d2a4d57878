"""What holds for every registered method."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from clalfred.agents.episode import Batch
from clalfred.agents.two_branch.agent import TwoBranch
from clalfred.cl.base import ContinualLearner
from clalfred.cl.registry import get_method, method_names
from gym_clalfred.errors import BadInputError, DataError, UsageError
from tests.helpers.learning import (
    demonstration,
    demonstrations,
    learner,
    stream_for,
    tiny_agent,
    tiny_config,
    told,
)

PRESETS = [(name, preset) for name in method_names() for preset in get_method(name).presets]


def dropping(seed: int = 0) -> TwoBranch:
    return tiny_agent(tiny_config(dropout=0.3), seed)


def weights(agent: ContinualLearner) -> torch.Tensor:
    return torch.cat([weight.detach().flatten() for weight in agent.agent.parameters()])


def action_accuracy(agent: ContinualLearner, batch: Batch) -> float:
    with torch.no_grad():
        chosen = agent.agent(batch).heads["action"].logits.argmax(1)
    return (chosen == batch.actions).float().mean().item()


@pytest.mark.parametrize("name", method_names())
def test_overfits_eight_episodes(name: str) -> None:
    # A penalty on change is there to prevent exactly this.
    changes = {"penalty": 0.0} if name == "ewc++" else {}
    network = tiny_agent(tiny_config(language_dim=16))
    agent = learner(name, memory=24, batch_size=16, stream_size=8, agent=network, **changes)
    agent.training = replace(agent.training, learning_rate=0.02, decay=1.0)
    episodes = [demonstration(seed, length=4, words=3) for seed in range(8)]
    batch = Batch.of(episodes)
    assert action_accuracy(agent, batch) < 0.5
    for _ in range(16):
        agent.learn(told(agent, episodes))
        if action_accuracy(agent, batch) > 0.95:
            break
    assert action_accuracy(agent, batch) > 0.95


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_saving_and_loading_in_mid_stream_changes_nothing(
    name: str, preset: str, tmp_path: Path
) -> None:
    whole = learner(name, preset=preset, agent=dropping())
    stream = stream_for(whole, 23)
    whole.learn(stream)

    first = learner(name, preset=preset, agent=dropping())
    for episode in stream[:14]:
        first.observe(episode)
    path = first.save(tmp_path / "agent")
    second = get_method(name).load(path, agent=dropping(9), method=first.method, device="cpu")
    second.learn(stream[14:])

    assert torch.equal(weights(second), weights(whole))
    assert second.num_updates == whole.num_updates
    assert second.num_timesteps == whole.num_timesteps
    assert [second.memory[slot].episode.key for slot in range(len(second.memory))] == [
        whole.memory[slot].episode.key for slot in range(len(whole.memory))
    ]


@pytest.mark.parametrize("name", method_names())
def test_equal_seeds_give_equal_weights_and_others_do_not(name: str) -> None:
    trained = []
    for seed in (3, 3, 4):
        agent = learner(name, seed=seed, agent=dropping(seed))
        trained.append(weights(agent.learn(stream_for(agent, 13))))
    assert torch.equal(trained[0], trained[1])
    assert not torch.equal(trained[0], trained[2])


@pytest.mark.parametrize("name", [name for name in method_names() if name != "joint"])
def test_never_holds_more_than_m_episodes(name: str) -> None:
    agent = learner(name, memory=9)
    for episode in stream_for(agent, 40):
        agent.observe(episode)
        assert agent.held <= 9


@pytest.mark.parametrize("name", ["er", "der++", "cama", "mir"])
def test_memory_and_gathered_episodes_together_reach_m(name: str) -> None:
    agent = learner(name, memory=9)
    most = 0
    for episode in stream_for(agent, 41):
        agent.observe(episode)
        most = max(most, agent.held)
    assert most == 9 - 1  # one more arrives, which is then trained on and offered at once


@pytest.mark.parametrize("name", method_names())
def test_makes_one_update_per_episode_also_for_the_last_incomplete_group(name: str) -> None:
    agent = learner(name, batch_size=6)
    agent.learn(stream_for(agent, 11))
    repeats = getattr(agent.method, "repeats", 1)  # RAR makes several
    assert agent.num_episodes == 11
    assert agent.num_updates == 11 * repeats


@pytest.mark.parametrize("name", method_names())
def test_says_what_it_needs_and_refuses_more_or_less(name: str) -> None:
    agent = learner(name)
    task_free = demonstrations(1)[0]
    needy = stream_for(learner("x-der"), 1)[0]
    if agent.needs_boundaries or agent.needs_labels:
        with pytest.raises(UsageError, match="needs task"):
            agent.observe(task_free)
    else:
        agent.observe(task_free)
        with pytest.raises(UsageError, match="task-free"):
            agent.observe(needy)


@pytest.mark.parametrize("name", method_names())
def test_docstring_tells_rule_storage_and_boundaries(name: str) -> None:
    method = get_method(name)
    told = method.__doc__ or ""
    text = method.__mro__[1].__doc__ or "" if "boundaries: as " in told else told
    assert re.search(r"Update\b[^:]*: [^`]*``", text), "no formula"
    assert "Stores: " in text
    needs = method.wants_boundaries(method.presets["paper"])
    assert f"Boundaries: {'needed' if needs else 'none'}" in text


def test_a_checkpoint_of_another_method_or_setting_is_refused(tmp_path: Path) -> None:
    agent = learner("er")
    path = agent.save(tmp_path / "er.zip")
    with pytest.raises(DataError, match="holds a ER, not a DERpp"):
        get_method("der++").load(path)
    with pytest.raises(DataError, match="made with"):
        get_method("er").load(path, agent=tiny_agent(), preset="released")


def test_unknown_presets_and_foreign_settings_are_refused() -> None:
    with pytest.raises(BadInputError, match="no preset 'best'"):
        get_method("er")(tiny_agent(), preset="best")
    with pytest.raises(BadInputError, match="takes a CAMAConfig"):
        get_method("cama")(tiny_agent(), method=get_method("er").presets["paper"])
