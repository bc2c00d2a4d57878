"""ER-ACE, RAR, STAR, MKD, averaged weights and budgets, by hand and against plain steps."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.agent import Head, Outputs
from clalfred.agents.episode import EncodedEpisode, EncodedViews
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import follow
from clalfred.cl.erace import ERACE
from clalfred.cl.memory import ByteMemory, MemoryItem
from clalfred.cl.mkd import MKD
from clalfred.cl.pantry import PantryConfig, PantryMemory, kind_of
from gym_clalfred.actions import Action
from tests.helpers.learning import demonstration, demonstrations, learner, stream_for


def outputs_of(class_logits: torch.Tensor, targets: list[int], counts: tuple[int, ...]) -> Outputs:
    """Two episodes whose action head says nothing and costs log 2 a row."""
    rows = len(targets)
    actions = Head(torch.zeros(rows, 2), torch.zeros(rows, dtype=torch.long), counts)
    return Outputs(
        {"action": actions, "class": Head(class_logits, torch.tensor(targets), counts)},
        torch.zeros(len(counts)),
    )


def test_er_ace_hides_absent_labels_of_the_stream_only() -> None:
    agent = learner("er-ace")
    assert isinstance(agent, ERACE)
    logits = torch.tensor([[0.0, 2.0, 1.0], [0.5, 0.0, 3.0], [1.0, 1.0, 1.0]])
    outputs = outputs_of(logits, [0, 1, 2], (2, 1))  # the second episode is replayed
    found = float(agent.loss(outputs, (0,)).detach())
    first = -F.log_softmax(torch.tensor([0.0, 2.0]), 0)[0]
    second = -F.log_softmax(torch.tensor([0.5, 0.0]), 0)[1]
    third = -F.log_softmax(torch.tensor([1.0, 1.0, 1.0]), 0)[2]
    action = torch.log(torch.tensor(2.0))
    expected = ((first + second + 2 * action) + (third + action)) / 2
    assert found == pytest.approx(float(expected), abs=1e-6)


def test_rar_makes_r_updates_per_episode() -> None:
    agent = learner("rar", repeats=3)
    agent.learn(stream_for(agent, 9))
    assert agent.num_updates == 27


@pytest.mark.parametrize(("updates", "expected"), [(1.0, 12), (0.5, 6), (2.0, 24)])
@pytest.mark.parametrize("name", ["er", "finetuning", "clib", "joint"])
def test_all_methods_make_as_many_updates(name: str, updates: float, expected: int) -> None:
    training = TrainingConfig(batch_size=6, updates=updates)
    agent = learner(name, training=training)
    agent.learn(stream_for(agent, 12))
    assert agent.num_updates == expected


def test_rar_weighs_stream_and_memory_apart() -> None:
    agent = learner("rar", replay_weight=0.5)
    outputs = outputs_of(torch.zeros(3, 3), [0, 1, 2], (2, 1))
    each = torch.log(torch.tensor(3.0)) + torch.log(torch.tensor(2.0))
    assert float(agent.loss(outputs, (0,)).detach()) == pytest.approx(
        float(2 * each + 0.5 * each), abs=1e-6
    )


def test_mkd_punishes_disagreement_with_its_teacher() -> None:
    agent = learner("mkd", distillation_weight=2.0, temperature=4.0)
    assert isinstance(agent, MKD)
    assert agent.averaged is not None
    with torch.no_grad():
        for weight in agent.averaged.parameters():
            weight.add_(0.1)
    agent.batch = agent.make_batch(demonstrations(3), augment=False)
    outputs = agent.plain_forward(agent.batch)
    taught = agent.averaged(agent.batch)
    apart = torch.zeros(3)
    for name, head in outputs.heads.items():
        rows = zip(head.logits.split(head.counts), taught.heads[name].logits.split(head.counts))
        for episode, (mine, theirs) in enumerate(rows):
            p, q = (theirs / 4).softmax(1), (mine / 4).softmax(1)
            apart[episode] += 16 * float((p * (p / q).log()).sum().detach())
    expected = agent.losses(outputs).mean() + 2.0 * apart.mean()
    assert float(agent.loss(outputs, ()).detach()) == pytest.approx(
        float(expected.detach()), rel=1e-4
    )
    assert float(apart.sum()) > 0


def test_the_average_follows_and_is_what_acts() -> None:
    agent = learner("er", average=0.25)
    assert agent.policy.agent is agent.averaged
    before = copy.deepcopy(agent.averaged)
    assert before is not None
    plain = learner("er")
    stream = stream_for(agent, 3)
    agent.learn(stream)
    plain.learn(stream)
    states = []
    step = learner("er")

    class Keep(type(step)):  # type: ignore[misc]
        def step(self, loss: torch.Tensor) -> None:
            super().step(loss)
            states.append([one.detach().clone() for one in self.agent.parameters()])

    step.__class__ = Keep
    step.learn(stream)
    expected = states[0]
    for number, state in enumerate(states[1:], start=2):
        share = max(0.25, 1 / number)
        expected = [(1 - share) * old + share * new for old, new in zip(expected, state)]
    for one, other in zip(agent.averaged.parameters(), expected):  # type: ignore[union-attr]
        torch.testing.assert_close(one.detach(), other)
    for one, other in zip(agent.agent.parameters(), plain.agent.parameters()):
        assert torch.equal(one, other), "averaging must not change what is learned"


def test_follow_is_the_formula() -> None:
    average, agent = torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)
    average.weight.data.fill_(2.0)
    agent.weight.data.fill_(6.0)
    follow(average, agent, 0.25)
    assert float(average.weight.detach()) == 3.0


def test_star_keeps_the_weights_where_they_were_and_changes_the_gradient() -> None:
    calm, star = learner("star", stability_weight=0.0), learner("star", stability_weight=5.0)
    er = learner("er")
    for agent in (calm, star, er):
        agent.learn(stream_for(agent, 12))
    same = [torch.equal(a, b) for a, b in zip(calm.agent.parameters(), er.agent.parameters())]
    # The noise of STAR draws from the same generator, so only the first group must agree.
    assert len(same) == len(list(star.agent.parameters()))
    assert not all(
        torch.equal(a, b) for a, b in zip(calm.agent.parameters(), star.agent.parameters())
    )
    assert all(bool(torch.isfinite(one).all()) for one in star.agent.parameters())


def test_star_measures_the_divergence_where_it_is_right() -> None:
    agent = learner("star")
    here = outputs_of(torch.tensor([[2.0, 0.0], [0.0, 2.0]]), [0, 0], (1, 1))
    there = outputs_of(torch.tensor([[0.0, 0.0], [5.0, 0.0]]), [0, 0], (1, 1))
    p = torch.tensor([2.0, 0.0]).softmax(0)
    expected = float((p * (p / 0.5).log()).sum()) / 2  # the second step is wrong and counts nothing
    assert float(agent._divergence(here, there)) == pytest.approx(expected, abs=1e-6)  # type: ignore[attr-defined]


def test_bytes_are_counted_by_kind() -> None:
    agent = learner("der++")
    agent.learn(stream_for(agent, 12))
    item = agent.memory[0]
    sizes = item.bytes()
    assert sizes["words"] == 2 * len(item.episode.tokens)
    assert sizes["actions"] == 2 * len(item.episode)
    rows = sum(len(one) * one.shape[1] for one in item.logits.values())
    assert sizes["logits"] == 4 * rows
    total = agent.budget()
    assert total["logits"] == sum(
        agent.memory[slot].bytes()["logits"] for slot in range(len(agent.memory))
    )
    assert total["models"] == 0
    assert learner("ewc++").budget()["models"] > 0


def test_a_memory_in_bytes_keeps_within_them_and_loses_nobody_by_length() -> None:
    generator = torch.Generator().manual_seed(0)
    kept = torch.zeros(12)
    for _ in range(200):
        memory = ByteMemory(20_000, generator)
        for episode in demonstrations(12):
            memory.add(MemoryItem(episode))
            assert sum(memory.bytes().values()) <= 20_000
        for slot in range(len(memory)):
            kept[int(memory[slot].episode.key.split("-")[1])] += 1
    assert float(kept.min()) > 0.4 * float(kept.max())


def test_what_is_larger_than_a_memory_in_bytes_drives_nobody_out() -> None:
    short, long = demonstrations(1)[0], demonstration(5, length=200)
    memory = ByteMemory(sum(MemoryItem(short).bytes().values()), torch.Generator())
    memory.add(MemoryItem(short))
    assert [memory.add(MemoryItem(long)) for _ in range(20)] == [None] * 20
    assert memory[0].episode is short


def test_a_memory_in_bytes_resumes() -> None:
    agent = learner("er", memory_bytes=9_000)
    stream = stream_for(agent, 20)
    agent.learn(stream[:12])
    other = learner("er", memory_bytes=9_000)
    other.load_state_dict(agent.state_dict())
    for one in (agent, other):
        one.learn(stream[12:])
    assert [agent.memory[i].episode.key for i in range(len(agent.memory))] == [
        other.memory[i].episode.key for i in range(len(other.memory))
    ]


def episode_of(actions: list[Action], number: int = 0) -> EncodedEpisode:
    """An episode of some actions, in which nothing else matters."""
    steps = len(actions)
    return EncodedEpisode(
        key=f"{number}",
        views=EncodedViews({"bits": torch.zeros(steps, 1000, dtype=torch.uint8)}),
        tokens=torch.ones(3, dtype=torch.long),
        actions=torch.tensor(list(map(int, actions))),
        classes=torch.zeros(steps, dtype=torch.long),
    )


PICK = [Action.MoveAhead, Action.PickupObject, Action.PutObject, Action.Stop]
SLICE = [Action.PickupObject, Action.SliceObject, Action.Stop]


def test_the_kind_of_an_episode_is_its_verbs() -> None:
    assert kind_of(episode_of(PICK)) == {Action.PickupObject, Action.PutObject}
    assert kind_of(episode_of(PICK * 2)) == kind_of(episode_of(PICK))


def test_a_pantry_keeps_what_is_rare() -> None:
    memory = PantryMemory(4, PantryConfig(varied=True), torch.Generator().manual_seed(0))
    for number in range(2):
        memory.add(MemoryItem(episode_of(SLICE, number)))
    for number in range(50):
        memory.add(MemoryItem(episode_of(PICK, 2 + number)))
    kept = [kind_of(memory[slot].episode) for slot in range(len(memory))]
    assert len(kept) == 4
    assert kept.count(kind_of(episode_of(SLICE))) == 2


@pytest.mark.parametrize("method", ["er", "der++", "cama", "pantry"])
def test_a_memory_holds_more_if_it_is_packed(method: str) -> None:
    held = []
    for packed in (False, True):
        agent = learner(method, packed=packed, memory_bytes=9_000)
        agent.learn(stream_for(agent, 24))
        assert sum(agent.memory.bytes().values()) <= 9_000
        held.append(len(agent.memory))
    assert held[0] < held[1]


def test_packing_loses_nothing() -> None:
    for episode in demonstrations(3):
        tensors, packed = episode.views.tensors, episode.views.packed()
        assert packed.tensors.keys() == tensors.keys()
        for name, one in tensors.items():
            assert torch.equal(packed[name], one)
            assert packed[name].dtype == one.dtype


@pytest.mark.parametrize("method", ["er", "der++", "cama", "clib", "pantry"])
def test_packed_or_not_a_method_learns_the_same_and_resumes(method: str) -> None:
    one, other, third = (learner(method, packed=packed) for packed in (True, False, True))
    stream = stream_for(one, 12)
    for agent in (one, other):
        agent.learn(stream[:6])
    third.load_state_dict(one.state_dict())
    assert third.memory.bytes() == one.memory.bytes() != other.memory.bytes()
    for agent in (one, other, third):
        agent.learn(stream[6:])
    for mine, *others in zip(*(agent.agent.parameters() for agent in (one, other, third))):
        assert all(torch.equal(mine, theirs) for theirs in others)
