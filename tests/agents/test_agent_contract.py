"""What holds for every registered agent and encoder; a new one is tested by being registered."""

from __future__ import annotations

import pickle
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import RolloutConfig, evaluate
from clalfred.agents.agent import LABELS, Agent
from clalfred.agents.losses import imitation_losses
from clalfred.agents.registry import (
    AGENTS,
    ENCODERS,
    agent_config,
    agent_kind,
    agent_name,
    config_from_dict,
    register_agent,
    register_encoder,
)
from clalfred.cl.er import ER
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError, UnknownAgentError
from tests.helpers.contract_agents import (
    episodes_for,
    joined,
    look,
    make_encoder,
    observations,
    small_agent,
    small_config,
    weights,
)
from tests.helpers.fakes import FakeSource

#: Every registered agent, and the presets that see in another way.
AGENT_NAMES = (*AGENTS.names(), "semantic-map:rgb")

#: In training these are told the class of the demonstration's next interaction; they have a test of
#: their own.
TOLD_WHAT_COMES = ("semantic-map", "semantic-map:rgb")

each_agent = pytest.mark.parametrize("name", AGENT_NAMES)
each_encoder = pytest.mark.parametrize("name", ENCODERS.names())


@each_agent
def test_heads_have_their_labels_and_count_their_steps(name: str) -> None:
    agent = small_agent(name)
    batch = agent.collate(episodes_for(agent))
    outputs = agent(batch)
    assert next(iter(outputs.heads)) == "action"
    assert outputs.auxiliary.shape == (len(batch),)
    for head_name, head in outputs.heads.items():
        assert head.logits.shape == (sum(head.counts), LABELS[head_name])
        assert head.targets.shape == (sum(head.counts),)
        assert len(head.counts) == len(batch)
    assert torch.equal(outputs.heads["action"].targets, batch.actions)


@pytest.mark.parametrize("name", [one for one in AGENT_NAMES if one not in TOLD_WHAT_COMES])
def test_training_and_acting_say_the_same(name: str) -> None:
    """Teacher-forced logits of ``forward`` are those of ``act``, step by step."""
    agent = small_agent(name)
    policy = Policy(agent, ActionHeuristics.off())
    words = observations(agent, 1)[0]
    seen = [{**one, **_words(words)} for one in observations(agent, 9)]
    states = (policy.start(words),)
    generator = torch.Generator().manual_seed(0)
    done, decisions = [], []
    for observation in seen:
        actions, states = policy.act([observation], states, generator)
        done.append(torch.from_numpy(actions[0]))
        decisions.append(states[0].decision)
    actions, classes = torch.stack(done).unbind(1)
    example = episodes_for(agent, 1)[0]
    tokens = torch.from_numpy(policy.tokens(words)).long()
    episode = replace(
        example,
        views=replace(example.views, tensors=agent.encode(seen, [])),
        tokens=tokens, actions=actions, classes=classes,
    )  # fmt: skip
    batch = agent.collate([episode])
    with torch.no_grad():
        heads = agent(batch).heads
    acted = joined([one.action_logits for one in decisions if one is not None])
    torch.testing.assert_close(heads["action"].logits, acted, rtol=1e-5, atol=1e-5)
    assert len(batch.interactions)
    chosen = joined([one.class_logits for one in decisions if one is not None])[batch.interactions]
    torch.testing.assert_close(heads["class"].logits, chosen, rtol=1e-5, atol=1e-5)


def _words(observation: dict[str, object]) -> dict[str, object]:
    return {name: observation[name] for name in ("goal", "instructions")}


@each_agent
def test_an_episodes_loss_does_not_depend_on_its_batch(name: str) -> None:
    agent = small_agent(name)
    episodes = episodes_for(agent, 4)
    with torch.no_grad():
        together = imitation_losses(agent(agent.collate(episodes)))
        alone = joined([imitation_losses(agent(agent.collate([one]))) for one in episodes])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)


@each_agent
def test_what_is_chosen_is_bit_equal_whatever_runs_beside_it(name: str) -> None:
    policy = Policy(small_agent(name), ActionHeuristics.off())
    seen = observations(policy.agent, 5)

    def logits(rows: list[int]) -> dict[int, torch.Tensor]:
        chosen = [seen[row] for row in rows]
        states = tuple(policy.start(one) for one in chosen)
        for _ in range(2):
            _, states = policy.act(chosen, states)
        said = [state.decision for state in states]
        return {row: one.action_logits for row, one in zip(rows, said) if one is not None}

    together = logits([0, 1, 2, 3, 4])
    for rows in ([3], [4, 0], [2, 1, 3]):
        for row, one in logits(rows).items():
            assert torch.equal(one, together[row])


@each_agent
def test_it_learns_and_leaves_torchs_random_state_alone(name: str) -> None:
    agent = small_agent(name)
    episodes = episodes_for(agent, 2)
    optimizer = torch.optim.Adam(agent.parameters(), 0.01)
    generator, before, losses = torch.Generator().manual_seed(0), torch.get_rng_state(), []
    for _ in range(12):
        loss = imitation_losses(agent(agent.collate(episodes, generator), generator)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    assert torch.equal(torch.get_rng_state(), before)


@each_agent
def test_saving_and_loading_in_mid_stream_changes_nothing(name: str, tmp_path: Path) -> None:
    def learner() -> ER:
        agent = small_agent(name, **_dropout(name))
        settings = ER.presets["paper"]
        training = replace(settings.training, batch_size=4)
        method = replace(settings, stream_size=2, memory=5, training=training)
        return ER(agent, method=method, device="cpu")

    whole, first = learner(), learner()
    stream = [
        replace(one, key=f"{one.key}-{turn}")
        for turn in range(2)
        for one in episodes_for(whole.agent, 4)
    ]
    whole.learn(stream)
    for episode in stream[:5]:
        first.observe(episode)
    path = first.save(tmp_path / "learner")
    second = ER.load(path, method=first.method, device="cpu")
    assert agent_kind(second.agent) == name.partition(":")[0]
    second.learn(stream[5:])
    assert torch.equal(weights(second.agent), weights(whole.agent))


def _dropout(name: str) -> dict[str, float]:
    return {"dropout": 0.2} if hasattr(small_config(name), "dropout") else {}


@each_agent
def test_workers_and_copies_act_alike(name: str) -> None:
    policy, source = Policy(small_agent(name)), FakeSource()
    keys = [entry.key for entry in source.entries(Split.VALID_SEEN)][:4]
    config = RolloutConfig(backend="fake", max_steps=5, environments=2)
    alone = evaluate(policy, source, keys, config)
    assert not any(result.error for result in alone)
    copy = pickle.loads(pickle.dumps(policy))
    assert evaluate(copy, source, keys, replace(config, environments=1)) == alone
    assert evaluate(policy, source, keys, replace(config, workers=2)) == alone


@each_agent
def test_its_config_goes_through_plain_values_and_names_what_it_does_not_know(name: str) -> None:
    kind = name.partition(":")[0]
    for preset in AGENTS.get(kind).presets:
        config = agent_config(f"{kind}:{preset}")
        assert config_from_dict(name, asdict(config)) == config
    with pytest.raises(BadInputError, match="no setting 'future'; it may come from a later"):
        config_from_dict(name, {**asdict(config), "future": 1})


@each_agent
def test_what_it_sees_has_a_name_and_a_row_per_observation(name: str) -> None:
    agent = small_agent(name)
    assert agent.sight
    assert agent.observes <= {"rgb", "classes", "instances", "depth"}
    seen = look(agent, observations(agent, 3))
    assert {len(value) for value in seen.values()} == {3}


@each_encoder
def test_encoders_say_their_sizes_and_the_same_alone_or_together(name: str, tmp_path: Path) -> None:
    encoder = make_encoder(name, tmp_path)
    size = encoder.image_size
    views = np.random.default_rng(0).integers(0, 256, (4, size, size, 3), dtype=np.uint8)
    maps = encoder.encode(views)
    assert maps.shape == (4, encoder.channels, encoder.cells)
    assert encoder.name
    alone = joined([encoder.encode(view[None]) for view in views])
    torch.testing.assert_close(alone.float(), maps.float(), rtol=1e-3, atol=1e-3)
    copy = pickle.loads(pickle.dumps(encoder))
    assert copy.name == encoder.name
    assert torch.equal(copy.encode(views), maps)


def test_names_are_forgiving_and_unknown_ones_get_the_closest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert agent_name("TwoBranch:paper") == "two-branch:paper"
    with pytest.raises(UnknownAgentError, match="did you mean 'plain'"):
        agent_name("plian")
    with pytest.raises(BadInputError, match="unknown encoder 'resnet': did you mean 'resnet-18'"):
        ENCODERS.get("resnet")
    assert len(set(AGENTS.names())) == len(AGENTS.names())
    monkeypatch.setattr(AGENTS, "_entries", dict(AGENTS._entries))
    with pytest.raises(BadInputError, match="agent 'Plain' is registered already"):
        register_agent("Plain", AGENTS.get("two-branch"))
    with pytest.raises(BadInputError, match="expected a subclass of Agent"):
        register_agent("mine", dict)  # type: ignore[arg-type]
    with pytest.raises(BadInputError, match="expected a VisualEncoder"):
        register_encoder("mine", dict)  # type: ignore[arg-type]


def test_an_agent_without_an_encoder_must_say_how_it_sees() -> None:
    kind = AGENTS.get("semantic-map")
    nameless = type("Nameless", (kind,), {"sight": Agent.sight})
    with pytest.raises(TypeError, match="Nameless sees without an encoder"):
        nameless(small_config("semantic-map"))
