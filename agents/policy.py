"""Acting: from observations to actions, one batched forward for many episodes at once.

What is chosen in an episode must not depend on which other episodes run beside it, to the last
bit: a different rounding could flip a choice. So the network always gets the same number of rows,
filled up if need be, and instructions padded to one of a few lengths that only their own decides.
Whether a row's result is then independent of its place depends on the machine's matrix routines:
``batch_rows`` tries it out, and if not, episodes go through the network one at a time.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.encoder import RememberingEncoder, VisualEncoder
from clalfred.agents.helpers import EpisodeTrace, RolloutHelpers
from clalfred.agents.network import DecoderState, StepPredictions, TwoBranchNetwork
from clalfred.agents.reader import Instructions
from gym_clalfred.errors import BadInputError
from gym_clalfred.language.tokenizer import MAX_TOKENS, STEP, Tokenizer
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import View

#: Episodes per forward, if the machine allows.
ROWS = 8

#: Lengths to which instructions are padded. Paddings cost little; each length is a forward of its
#: own.
TOKEN_LENGTHS = (256, MAX_TOKENS)

Observation = Mapping[str, Any]


@dataclass(frozen=True)
class EpisodeState:
    """All that acting in one episode carries from step to step."""

    instructions: Instructions
    decoder: DecoderState
    trace: EpisodeTrace
    predictions: StepPredictions | None = None

    @property
    def token_length(self) -> int:
        """The padded length of the instruction."""
        return self.instructions.valid.shape[1]


#: One state per environment.
PolicyState = tuple[EpisodeState, ...]


@dataclass
class Policy:
    """Sees with an encoder, reads, and chooses; the network is given at each call.

    Args:
        encoder: must be the one whose maps the network was trained on.
        helpers: the released agent's rules around the network.
        reads_goal: whether the goal sentence is read too, or only the step-by-step instructions.
    """

    encoder: VisualEncoder
    helpers: RolloutHelpers = field(default_factory=RolloutHelpers)
    reads_goal: bool = True

    def __post_init__(self) -> None:
        self._eyes = RememberingEncoder(self.encoder)
        self._together = _Together()

    def predict(
        self,
        network: TwoBranchNetwork,
        observation: Observation,
        state: PolicyState | None,
        episode_start: NDArray[np.bool_] | None,
        deterministic: bool,
        generator: torch.Generator,
    ) -> tuple[NDArray[np.int64], PolicyState]:
        """As SB3's ``predict``; a state lasts until ``episode_start`` says an episode begins."""
        single = np.ndim(observation["rgb"]) == 4
        count = 1 if single else len(observation["rgb"])
        observations = [
            {name: part if single else part[row] for name, part in observation.items()}
            for row in range(count)
        ]
        starts = np.ones(count, bool) if episode_start is None else np.atleast_1d(episode_start)
        if state is not None and episode_start is None:
            starts = np.zeros(count, bool)
        states = tuple(
            self.start(network, one) if state is None or start else state[row]
            for row, (one, start) in enumerate(zip(observations, starts))
        )
        actions, states = self.act(
            network, observations, states, None if deterministic else generator
        )
        return actions[0] if single else actions, states

    @torch.inference_mode()
    def start(self, network: TwoBranchNetwork, observation: Observation) -> EpisodeState:
        """Reads the instruction of a new episode."""
        tokens = torch.from_numpy(self.tokens(observation)).long()
        length = next(padded for padded in TOKEN_LENGTHS if padded >= len(tokens))
        device = network.device
        padded = F.pad(tokens, (0, length - len(tokens))).unsqueeze(0).to(device)
        instructions = network.read(padded, torch.tensor([len(tokens)], device=device))
        return EpisodeState(instructions, network.initial_state(instructions), EpisodeTrace())

    @torch.inference_mode()
    def act(
        self,
        network: TwoBranchNetwork,
        observations: Sequence[Observation],
        states: PolicyState,
        generator: torch.Generator | None = None,
    ) -> tuple[NDArray[np.int64], PolicyState]:
        """Actions (n, 2) of n episodes; with a generator they are drawn, else the likeliest."""
        views = np.stack([observation["rgb"] for observation in observations])
        maps = self._eyes.encode(views.reshape(-1, *views.shape[2:]))
        maps = maps.view(*views.shape[:2], *maps.shape[1:]).to(network.device)
        after: list[EpisodeState] = list(states)
        size = batch_rows(network)
        for length in sorted({state.token_length for state in states}):
            rows = [row for row, state in enumerate(states) if state.token_length == length]
            for first in range(0, len(rows), size):
                self._forward(network, maps, states, rows[first : first + size], size, after)
        actions = np.zeros((len(states), 2), dtype=np.int64)
        for row, (state, observation) in enumerate(zip(after, observations)):
            actions[row], after[row] = self._choose(state, observation, generator)
        return actions, tuple(after)

    def tokens(self, observation: Observation) -> NDArray[np.int32]:
        """The words that the network reads, from ``tokens`` or from the texts."""
        tokenizer = Tokenizer.default()
        if "tokens" in observation:
            tokens = np.asarray(observation["tokens"])
            tokens = tokens[tokens != tokenizer.pad_id]
        elif "instructions" in observation:
            steps = observation["instructions"].split("\n")
            tokens = tokenizer.encode(observation["goal"], steps)
        else:
            raise BadInputError(
                "the observation has neither 'tokens' nor 'instructions': wrap the environment in "
                f"TokenizedObservation; it has {', '.join(sorted(observation))}"
            )
        return tokens if self.reads_goal else without_goal(tokens)

    def _forward(
        self,
        network: TwoBranchNetwork,
        maps: Tensor,
        states: PolicyState,
        rows: list[int],
        size: int,
        after: list[EpisodeState],
    ) -> None:
        filled = [*rows, *[rows[0]] * (size - len(rows))]
        chosen = [states[row] for row in filled]
        instructions = self._together([state.instructions for state in chosen])
        decoder = DecoderState(
            torch.cat([state.decoder.hidden for state in chosen], 1),
            torch.cat([state.decoder.cell for state in chosen], 1),
            torch.cat([state.decoder.action for state in chosen]),
            torch.cat([state.decoder.object_class for state in chosen]),
        )
        predictions, decoder = network.step(maps[filled], instructions, decoder)
        for place, row in enumerate(rows):
            one = slice(place, place + 1)
            after[row] = replace(
                states[row],
                decoder=replace(
                    states[row].decoder,
                    hidden=decoder.hidden[:, one],
                    cell=decoder.cell[:, one],
                ),
                predictions=StepPredictions(
                    predictions.action_logits[one],
                    predictions.class_logits[one],
                    predictions.progress[one],
                ),
            )

    def _choose(
        self, state: EpisodeState, observation: Observation, generator: torch.Generator | None
    ) -> tuple[tuple[int, int], EpisodeState]:
        assert state.predictions is not None
        action_scores = state.predictions.action_logits[0].cpu()
        class_scores = state.predictions.class_logits[0, 1:].cpu()
        if generator is not None:
            action_scores = _perturbed(action_scores, generator)
            class_scores = _perturbed(class_scores, generator)
        # The index is one off because "no object" is never a target.
        object_class = ObjectClass(int(class_scores.argmax()) + 1)
        shown = observation.get("classes")
        action, trace = self.helpers.choose(
            action_scores.numpy(),
            object_class,
            observation["rgb"][View.FRONT],
            None if shown is None else shown[View.FRONT],
            state.trace,
        )
        if not action.is_interaction:
            object_class = ObjectClass.NoObject
        device = state.decoder.action.device
        decoder = state.decoder.after(
            torch.tensor([int(action)], device=device),
            torch.tensor([int(object_class)], device=device),
        )
        return (int(action), int(object_class)), replace(state, decoder=decoder, trace=trace)


class _Together:
    """Instructions put together; the same ones come again at every step."""

    _KEPT = 4

    def __init__(self) -> None:
        self._known: deque[tuple[list[Instructions], Instructions]] = deque(maxlen=self._KEPT)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Together, ()

    def __call__(self, parts: list[Instructions]) -> Instructions:
        for known, joined in self._known:
            if len(known) == len(parts) and all(map(operator.is_, known, parts)):
                return joined
        joined = Instructions.cat(parts)
        self._known.append((parts, joined))
        return joined


def batch_rows(network: TwoBranchNetwork) -> int:
    """``ROWS`` if a row's result does not depend on its place among so many, else 1."""
    shape = (network.config, network.device, torch.get_num_threads())
    if shape not in _BATCH_ROWS:
        _BATCH_ROWS[shape] = ROWS if _is_place_independent(network) else 1
    return _BATCH_ROWS[shape]


_BATCH_ROWS: dict[tuple[object, ...], int] = {}


def _is_place_independent(network: TwoBranchNetwork) -> bool:
    config, generator = network.config, torch.Generator().manual_seed(0)
    tokens = torch.randint(1, config.vocabulary, (ROWS, TOKEN_LENGTHS[0]), generator=generator)
    shape = (ROWS, config.views, config.channels, config.cells)
    views = torch.rand(shape, generator=generator).to(network.device)
    lengths = torch.full((ROWS,), TOKEN_LENGTHS[0], device=network.device)

    def outcomes(order: list[int]) -> Tensor:
        instructions = network.read(tokens[order].to(network.device), lengths)
        state = network.initial_state(instructions)
        state = replace(state, hidden=start[:, order])
        said, state = network.step(views[order], instructions, state)
        both = [said.action_logits, said.class_logits, *state.hidden, *state.cell]
        return torch.cat(both, 1)

    start = torch.rand(2, ROWS, config.decoder_dim, generator=generator).to(network.device) - 0.5
    plain = outcomes(list(range(ROWS)))
    return all(
        torch.equal(outcomes(order), plain[order])
        for turn in range(1, ROWS)
        for order in [[(row + turn) % ROWS for row in range(ROWS)]]
    )


def without_goal(tokens: NDArray[np.int32]) -> NDArray[np.int32]:
    """The instructions' tokens alone."""
    steps = np.flatnonzero(tokens == Tokenizer.default().words.index(STEP))
    return tokens[steps[0] :] if len(steps) else tokens


def _perturbed(scores: Tensor, generator: torch.Generator) -> Tensor:
    """Scores plus Gumbel noise, whose argmax is a draw from their softmax."""
    uniform = torch.rand(scores.shape, generator=generator).clamp_min(1e-20)
    return scores - torch.log(-torch.log(uniform))
