from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from clalfred.agents.episode import START, Batch, EncodedEpisode, EncodedViews
from clalfred.agents.losses import imitation_losses
from clalfred.agents.two_branch.agent import TwoBranch
from clalfred.agents.two_branch.config import TwoBranchConfig
from clalfred.agents.two_branch.dropout import DropoutMasks
from clalfred.agents.two_branch.fast import decoder, products
from clalfred.agents.two_branch.maps import BatchMaps, dense
from clalfred.agents.two_branch.network import TwoBranchNetwork
from clalfred.agents.two_branch.reader import STEP_TOKEN, InstructionReader
from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from tests.helpers.learning import (
    CHANNELS,
    VIEWS,
    demonstration,
    demonstrations,
    tiny_agent,
    tiny_config,
)

#: The paper's shape, and what the small network adds to it.
SHAPES: dict[str, dict[str, object]] = {
    "paper": {},
    "small": {
        "previous_class_dim": 3,
        "steps": 3,
        "class_reads_input": True,
        "visual_bottleneck_dim": 4,
        "filter_gain": 4.0,
        "attention_gain": 4.0,
    },
}


@pytest.fixture(params=SHAPES)
def agent(request: pytest.FixtureRequest) -> TwoBranch:
    return tiny_agent(tiny_config(**SHAPES[request.param])).double()


@pytest.fixture
def network(agent: TwoBranch) -> TwoBranchNetwork:
    return agent.network


def in_doubles(one: EncodedEpisode) -> EncodedEpisode:
    return with_maps(one, one.views["views"].double())


def with_maps(one: EncodedEpisode, maps: Tensor) -> EncodedEpisode:
    return replace(one, views=EncodedViews({**one.views.tensors, "views": maps}))


def logits_of(network: TwoBranchNetwork, episodes: list[EncodedEpisode]) -> list[Tensor]:
    batch = Batch.of(episodes)
    predictions = network(batch)
    actions = predictions.action_logits.split(batch.lengths)
    classes = predictions.class_logits.split(batch.interaction_counts)
    progress = predictions.progress.split(batch.lengths, 1)
    return [
        torch.cat([a.flatten(), c.flatten(), p.flatten()])
        for a, c, p in zip(actions, classes, progress)
    ]


def test_the_papers_network_has_42_million_parameters() -> None:
    with torch.device("meta"):
        config = replace(TwoBranchConfig.paper(), vocabulary=2_000, channels=512, cells=49)
        network = TwoBranchNetwork(config)
    assert config.input_dim == 2_349
    assert 42e6 <= sum(parameter.numel() for parameter in network.parameters()) < 43e6


def test_batch_order_and_batch_size_do_not_change_an_episodes_logits(
    network: TwoBranchNetwork,
) -> None:
    episodes = [in_doubles(one) for one in demonstrations(6)]
    together = logits_of(network, episodes)
    backwards = logits_of(network, episodes[::-1])[::-1]
    for episode, a, b in zip(episodes, together, backwards):
        torch.testing.assert_close(a, b)
        torch.testing.assert_close(a, logits_of(network, [episode])[0])


def test_paddings_of_the_instruction_do_not_change_logits(network: TwoBranchNetwork) -> None:
    short, long = in_doubles(demonstration(1, words=3)), in_doubles(demonstration(2, words=19))
    alone = logits_of(network, [short])[0]
    torch.testing.assert_close(alone, logits_of(network, [short, long])[0])


def test_the_number_of_a_step_changes_how_its_words_are_read() -> None:
    torch.manual_seed(0)
    reader = InstructionReader(tiny_config(steps=3)).double()
    tokens = torch.tensor([[STEP_TOKEN, 7, STEP_TOKEN, 7, STEP_TOKEN, 7, STEP_TOKEN, 7]])
    words = reader.words(tokens) + reader.steps(torch.tensor([[1, 1, 2, 2, 2, 2, 2, 2]]))
    expected = reader.features(words, torch.tensor([8]))
    read = reader(tokens, torch.tensor([8])).values.transpose(0, 1)
    torch.testing.assert_close(read, expected)


def test_other_words_at_the_same_place_change_logits(network: TwoBranchNetwork) -> None:
    one, other = in_doubles(demonstration(1)), in_doubles(demonstration(2))
    swapped = replace(one, tokens=other.tokens)
    assert not torch.allclose(logits_of(network, [one])[0], logits_of(network, [swapped])[0])


def test_step_by_step_decoding_equals_the_batched_one(network: TwoBranchNetwork) -> None:
    episodes = [in_doubles(demonstration(seed, length=7, words=2 + seed)) for seed in range(3)]
    batch = Batch.of(episodes)
    predictions = network(batch)
    instructions = network.read(batch.tokens, batch.token_lengths)
    state = network.initial_state(instructions)
    actions, classes, progress = [], [], []
    for t in range(7):
        views = torch.stack([dense(one.views)[t] for one in episodes])
        step, state = network.step(views, instructions, state)
        actions.append(step.action_logits)
        classes.append(step.class_logits)
        progress.append(step.progress)
        state = state.after(
            torch.stack([one.actions[t] for one in episodes]),
            torch.stack([one.classes[t] for one in episodes]),
        )
    torch.testing.assert_close(predictions.action_logits, torch.stack(actions, 1).flatten(0, 1))
    torch.testing.assert_close(
        predictions.class_logits, torch.stack(classes, 1).flatten(0, 1)[batch.interactions]
    )
    torch.testing.assert_close(predictions.progress.mean(0), torch.stack(progress, 1).flatten(0, 1))


def test_logits_are_only_for_real_actions_and_classes(network: TwoBranchNetwork) -> None:
    batch = Batch.of([in_doubles(demonstration(0))])
    predictions = network(batch)
    assert predictions.action_logits.shape == (6, len(Action))
    assert predictions.class_logits.shape == (len(batch.interactions), len(ObjectClass))


def test_gradients_equal_those_of_finite_differences(agent: TwoBranch) -> None:
    batch = Batch.of([in_doubles(one) for one in demonstrations(3)])

    def loss() -> Tensor:
        return imitation_losses(agent(batch)).sum()

    loss().backward()
    generator = torch.Generator().manual_seed(0)
    for name, parameter in agent.named_parameters():
        assert parameter.grad is not None, name
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        slope = (parameter.grad * direction).sum()
        with torch.no_grad():
            parameter += 1e-6 * direction
            ahead = loss()
            parameter -= 2e-6 * direction
            behind = loss()
            parameter += 1e-6 * direction
        torch.testing.assert_close((ahead - behind) / 2e-6, slope, rtol=1e-4, atol=1e-5)


def test_int8_maps_stand_for_value_over_127(network: TwoBranchNetwork) -> None:
    one = demonstration(0)
    bytes_ = ((2 * one.views["views"] - 1) * 127).round().to(torch.int8)
    stored, floats = with_maps(one, bytes_), with_maps(one, bytes_.double() / 127)
    torch.testing.assert_close(logits_of(network, [stored])[0], logits_of(network, [floats])[0])


def test_gradients_under_dropout_equal_those_of_finite_differences() -> None:
    agent = tiny_agent(tiny_config(previous_class_dim=3, dropout=0.3)).double()
    batch = Batch.of([in_doubles(one) for one in demonstrations(2)])

    def loss() -> Tensor:
        return imitation_losses(agent(batch, torch.Generator().manual_seed(0))).sum()

    loss().backward()
    weight = agent.network.decoder.gates
    assert weight.grad is not None
    direction = torch.randn(weight.shape, dtype=torch.float64)
    slope = (weight.grad * direction).sum()
    with torch.no_grad():
        weight += 1e-6 * direction
        ahead = loss()
        weight -= 2e-6 * direction
    torch.testing.assert_close((ahead - loss()) / 2e-6, slope, rtol=1e-4, atol=1e-5)


def test_packed_matrices_give_the_same_predictions_and_gradients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent, batch = tiny_agent(), Batch.of(demonstrations(4))
    found = []
    for least in (products.SMALL_BYTES, 0):
        monkeypatch.setattr(products, "SMALL_BYTES", least)
        agent.zero_grad()
        outputs = agent(batch)
        imitation_losses(outputs).sum().backward()
        gradients = [weight.grad for weight in agent.parameters() if weight.grad is not None]
        found.append([outputs.heads["action"].logits.detach(), *gradients])
    for small, packed in zip(*found):
        torch.testing.assert_close(packed, small, rtol=1e-4, atol=1e-4)


def test_a_look_at_a_few_episodes_at_a_time_gives_the_same_gradients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = tiny_agent(tiny_config(**{**SHAPES["small"], "dropout": 0.3})).double()
    batch = Batch.of([in_doubles(one) for one in demonstrations(5)])
    found = []
    for size in (decoder.LOOK_BYTES, 2 * 8 * BatchMaps(batch).at([0], 0).numel(), 1):
        monkeypatch.setattr(decoder, "LOOK_BYTES", size)
        agent.zero_grad()
        imitation_losses(agent(batch, torch.Generator().manual_seed(0))).sum().backward()
        found.append([weight.grad for weight in agent.parameters()])
    for together, two_by_two, one_by_one in zip(*found):
        torch.testing.assert_close(two_by_two, together)
        torch.testing.assert_close(one_by_one, together)


def test_a_step_needs_no_special_mode() -> None:
    """Whoever calls it with gradients on gets a step without them."""
    network, one = TwoBranchNetwork(tiny_config()), demonstration(0)
    instructions = network.read(one.tokens[None], torch.tensor([len(one.tokens)]))
    state = network.initial_state(instructions)
    said, _ = network.step(dense(one.views)[:1], instructions, state)
    assert said.action_logits.isfinite().all()


def test_without_teacher_forcing_the_networks_own_actions_are_fed_back(
    network: TwoBranchNetwork,
) -> None:
    one = in_doubles(demonstration(3, length=6))
    batch = Batch.of([one])
    own = network(batch, teacher_forcing=False)
    instructions = network.read(batch.tokens, batch.token_lengths)
    state = network.initial_state(instructions)
    for t in range(6):
        step, state = network.step(dense(one.views)[t : t + 1], instructions, state)
        torch.testing.assert_close(own.action_logits[t], step.action_logits[0])
        action = step.action_logits.argmax(1)
        interacts = Action(int(action)).is_interaction
        state = state.after(action, step.class_logits.argmax(1) * interacts)


def test_what_was_done_a_step_before_is_fed_back() -> None:
    first, second = demonstration(0, length=5), demonstration(1, length=4)
    batch = Batch.of([first, second])
    for previous, start, one, other in (
        (batch.previous_actions, START, first.actions, second.actions),
        (batch.previous_classes, ObjectClass.NoObject, first.classes, second.classes),
    ):
        expected = [int(start), *one[:-1].tolist(), int(start), *other[:-1].tolist()]
        assert previous.tolist() == expected


def test_the_reader_is_a_bidirectional_lstm() -> None:
    torch.manual_seed(0)
    config = tiny_config()
    ours = InstructionReader(config)
    theirs = nn.LSTM(config.word_dim, config.language_dim, batch_first=True, bidirectional=True)
    words = torch.randn(3, 6, config.word_dim)
    lengths = torch.tensor([2, 6, 4])
    read = ours.features(words, lengths)
    for branch in range(2):
        with torch.no_grad():
            for direction, suffix in enumerate(("", "_reverse")):
                place = branch, direction
                getattr(theirs, f"weight_ih_l0{suffix}").copy_(ours.from_words[place].t())
                getattr(theirs, f"weight_hh_l0{suffix}").copy_(ours.from_state[place].t())
                getattr(theirs, f"bias_ih_l0{suffix}").copy_(ours.bias[place][0])
                getattr(theirs, f"bias_hh_l0{suffix}").zero_()
        for row, length in enumerate(lengths.tolist()):
            expected = theirs(words[row : row + 1, :length])[0][0]
            torch.testing.assert_close(read[branch, row, :length], expected)
            assert not read[branch, row, length:].any()


def test_dropout_keeps_the_mean_and_drops_the_rate() -> None:
    masks = DropoutMasks(0.3, torch.Generator().manual_seed(0), torch.device("cpu"))
    kept = masks.keep(torch.Size((400, 500))).float().mean().item()
    assert abs(kept - 0.7) < 0.005
    assert abs(masks.scale * kept - 1) < 0.005


def test_dropout_depends_on_the_generator_only() -> None:
    def draw(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        return DropoutMasks(0.3, generator, torch.device("cpu")).keep(torch.Size((50,)))

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


def test_previous_actions_and_progress_start_anew_in_each_episode() -> None:
    first, second = demonstration(0, length=3), demonstration(1, length=2)
    batch = Batch.of([first, second])
    expected = [START, *first.actions[:2].tolist(), START, int(second.actions[0])]
    assert batch.previous_actions.tolist() == expected
    torch.testing.assert_close(batch.progress, torch.tensor([1 / 3, 2 / 3, 1.0, 0.5, 1.0]))
    assert batch.episode.tolist() == [0, 0, 0, 1, 1]


def test_views_are_shared_and_augmentations_drawn() -> None:
    one = demonstration(0, length=2)
    index = torch.zeros(2, VIEWS, dtype=torch.long)
    shared = EncodedViews({"views": torch.rand(1, CHANNELS, 4), "index": index})
    assert dense(shared).shape == (2, VIEWS, CHANNELS, 4)
    augmented = replace(one, augmented=(shared,))
    generator = torch.Generator().manual_seed(0)
    drawn = {id(Batch.of([augmented], generator).views[0]) for _ in range(20)}
    assert drawn == {id(one.views), id(shared)}
    assert Batch.of([augmented]).views[0] is one.views


def test_demonstrations_of_unequal_lengths_are_refused() -> None:
    one = demonstration(0, length=4)
    with pytest.raises(BadInputError, match="found 3 and 4 steps"):
        replace(one, actions=one.actions[:3])
    with pytest.raises(BadInputError, match="at least one"):
        Batch.of([])
