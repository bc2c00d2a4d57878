from __future__ import annotations

import math
from dataclasses import replace

import torch

from clalfred.agents.agent import Head
from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.cl.xder import FUTURE, XDER
from gym_clalfred.actions import Action
from tests.helpers.learning import demonstration, demonstrations, learner, stream_for

ACTIONS = len(Action)


def make(**changes: object) -> XDER:
    agent = learner("x-der", **changes)
    assert isinstance(agent, XDER)
    return agent


def of_actions(*actions: int, starts: bool = False) -> EncodedEpisode:
    return replace(
        demonstration(0, length=len(actions)),
        actions=torch.tensor(actions),
        classes=torch.zeros(len(actions), dtype=torch.long),
        starts_task=starts,
    )


def test_a_label_belongs_to_the_task_in_which_it_first_appeared() -> None:
    agent = make(batch_size=20, stream_size=10)
    agent.learn([of_actions(0, 1, 12, starts=True)])
    agent.learn([of_actions(1, 2, 12, starts=True), of_actions(0, 3, 12)])
    assert agent.first_task["action"][[0, 1, 12, 2, 3]].tolist() == [0, 0, 0, 1, 1]
    assert agent.first_task["action"][4] == FUTURE
    assert agent.task == 1


def rewritten(old: list[float], new: list[float], truth: int, tasks: list[int]) -> list[float]:
    agent = make()
    agent.task = 1
    agent.first_task["few"] = torch.tensor(tasks)
    result = agent._rewrite(
        torch.tensor([old]), torch.tensor([new]), torch.tensor([truth]), agent._later("few", task=0)
    )
    return [round(value, 5) for value in result[0].tolist()]


def test_logits_of_later_labels_are_replaced_and_scaled_below_gamma_times_the_true_one() -> None:
    # Labels 2 and 3 came in task 1, label 4 is still to come. The largest new one, 8, is scaled to
    # 0.85 * 4 = 3.4 and the other with it.
    old, new = [4.0, 1.0, -9.0, -9.0, -9.0], [5.0, 5.0, 8.0, 2.0, 5.0]
    assert rewritten(old, new, 0, [0, 0, 1, 1, FUTURE]) == [4.0, 1.0, 3.4, 0.85, -9.0]


def test_logits_of_later_labels_that_are_small_enough_are_taken_as_they_are() -> None:
    old, new = [4.0, 0.0, 0.0], [9.0, 3.0, -2.0]
    assert rewritten(old, new, 0, [0, 1, 1]) == [4.0, 3.0, -2.0]


def test_a_negative_true_logit_still_stays_the_largest() -> None:
    old, new = [-2.0, 0.0, 0.0], [0.0, 3.0, 1.0]
    # The bound is 15 % of |-2| below -2; the new ones are shifted there.
    assert rewritten(old, new, 0, [0, 1, 1]) == [-2.0, -2.3, -4.3]


def test_episodes_of_the_present_task_keep_their_logits() -> None:
    agent = make()
    agent.task = 1
    old = torch.zeros(1, 2)
    agent.first_task["few"] = torch.tensor([0, 1])
    later = agent._later("few", task=1)
    assert agent._rewrite(old, torch.ones(1, 2), torch.tensor([0]), later) is old


def test_margin_constraints_between_past_present_and_future() -> None:
    agent = make(margin=0.7)
    agent.task = 1
    first_task = torch.tensor([0, 1, FUTURE])
    probability = torch.tensor([[0.3, 0.5, 0.2], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1]])
    truth = torch.tensor([1, 1, 0])
    # Past against present on the two streamed steps, among labels seen: 3/8 and 5/8, 1/9 and 8/9.
    past = (0.7 + 3 / 8 - 5 / 8) + max(0.0, 0.7 + 1 / 9 - 8 / 9)
    # Future against the truth's task on all steps, by logits.
    pairs = ((0.2, 0.5), (0.1, 0.8), (0.1, 0.6))
    future = sum(max(0.0, 0.7 + math.log(a) - math.log(b)) for a, b in pairs)
    expected = past / 2 + future / 3
    head = Head(probability.log(), truth, (2, 1))
    value = agent._constraints(head, first_task, streamed=1)
    torch.testing.assert_close(value, torch.tensor(expected))


def test_a_group_never_spans_two_tasks_and_episodes_know_theirs() -> None:
    agent = make(batch_size=6, stream_size=3, memory=30)
    agent.learn(stream_for(agent, 10))
    tasks = {agent.memory[slot].episode.key: agent.memory[slot].task for slot in range(10)}
    assert [tasks[f"episode-{seed}"] for seed in range(10)] == [0] * 5 + [1] * 5
    assert agent.num_updates == 10


def test_replayed_episodes_are_rewritten_in_training() -> None:
    agent = make(batch_size=4, stream_size=2, memory=30)
    agent.learn([of_actions(0, 12, starts=True), of_actions(0, 12)])
    before = [agent.stored_logits(slot)["action"].clone() for slot in range(2)]
    agent.learn([of_actions(1, 12, starts=True), of_actions(1, 12)])
    for slot in range(2):
        after = agent.stored_logits(slot)
        changed = (after["action"] != before[slot]).any(0).nonzero().flatten().tolist()
        assert changed == [1]


def test_classes_belong_to_tasks_as_actions_do() -> None:
    agent = make(batch_size=20, stream_size=10)
    episode = stream_for(agent, 1)[0]
    agent.learn([episode])
    named = episode.classes[episode.classes > 0]
    assert len(named)
    assert (agent.first_task["class"][named] == 0).all()
    assert agent.first_task["class"].eq(0).sum() == len(named.unique())


def test_the_loss_is_derpps_and_the_weighted_constraints() -> None:
    agent, plain = make(constraint_weight=0.5), learner("der++")
    agent.task = 1
    first = agent.first_task["action"]
    first[:6], first[6:9] = 0, 1
    outputs = agent.agent(Batch.of(demonstrations(3)))
    extra = agent.loss(outputs, ()) - plain.loss(outputs, ())
    constraints = [
        agent._constraints(outputs.heads[name], agent.first_task[name], streamed=3)
        for name in ("action", "class")
    ]
    assert min(constraints) > 0
    torch.testing.assert_close(extra, 0.5 * sum(constraints))
