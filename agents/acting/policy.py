"""Acting: from observations to actions, many episodes in one batched forward pass.

The actions in an episode must not depend on the other episodes in the batch, not even by rounding,
which could flip a choice. So every forward pass has the same number of rows, filled up if need be,
and an instruction is padded to one of a few lengths, chosen by its own length alone. Whether a
row's result is then independent of its position depends on the machine's matrix routines:
``batch_rows`` tests it, and if it is not, episodes go through the agent one at a time.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.acting.heuristics import ActionHeuristics, EpisodeTrace
from clalfred.agents.agent import Agent, Decision, Observation, State
from clalfred.agents.demonstrations import blank, without_goal
from clalfred.agents.episode import START
from gym_clalfred.errors import BadInputError
from gym_clalfred.language.tokenizer import MAX_TOKENS, Tokenizer
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import View

#: Episodes per forward pass, if the machine allows.
ROWS = 8

#: Lengths to which instructions are padded. Padding costs little; each length needs its own
#: forward pass.
TOKEN_LENGTHS = (128, 256, MAX_TOKENS)

#: The previous action and class at the first step.
BEFORE = (START, int(ObjectClass.NoObject))


@dataclass(frozen=True)
class EpisodeState:
    """The state of acting in one episode, carried from step to step.

    Args:
        state: the agent's own, tensors with one row.
        memory: the agent's memory, such as a map.
        previous: the previous action and its class.
        trace: the memory of the heuristics.
        decision: the agent's own decision in the last step, for inspection.
    """

    state: State
    memory: Any = None
    previous: tuple[int, int] = BEFORE
    trace: EpisodeTrace = field(default_factory=EpisodeTrace)
    decision: Decision | None = None

    @property
    def shapes(self) -> tuple[torch.Size, ...]:
        """States of equal shapes share a forward pass."""
        return tuple(value.shape for value in self.state.values())


#: One state per environment.
PolicyState = tuple[EpisodeState, ...]


@dataclass
class Policy:
    """An agent with the heuristics around it.

    Args:
        agent: the network.
        heuristics: the released agent's rules around it.
        blind: show it nothing, and turn off the rules, which use the views.
        deaf: give it an empty instruction.
    """

    agent: Agent
    heuristics: ActionHeuristics = field(default_factory=ActionHeuristics)
    blind: bool = False
    deaf: bool = False

    def __post_init__(self) -> None:
        self._join = _JoinCache()

    def predict(
        self,
        observation: Observation,
        state: PolicyState | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
        generator: torch.Generator | None = None,
    ) -> tuple[NDArray[np.int64], PolicyState]:
        """As SB3's ``predict``; a state lasts until ``episode_start`` says an episode begins.

        Args:
            observation: of one environment, or of n stacked.
            state: from the step before; ``None`` at first.
            episode_start: (n,) whether an episode begins.
            deterministic: choose the likeliest action instead of sampling.
            generator: to sample with.

        Raises:
            BadInputError: if the observation lacks an image that the agent uses, or its size.
        """
        observations, single = split_observations(observation, self.agent.observes)
        check_size(observations[0], self.agent)
        count = len(observations)
        starts = np.ones(count, bool) if episode_start is None else np.atleast_1d(episode_start)
        if state is not None and episode_start is None:
            starts = np.zeros(count, bool)
        states = tuple(
            self.start(one) if state is None or start else state[row]
            for row, (one, start) in enumerate(zip(observations, starts))
        )
        actions, states = self.act(observations, states, None if deterministic else generator)
        return actions[0] if single else actions, states

    @torch.inference_mode()
    def start(self, observation: Observation) -> EpisodeState:
        """Reads the instruction of a new episode."""
        tokens = torch.from_numpy(self.tokens(observation)).long()
        length = next(padded for padded in TOKEN_LENGTHS if padded >= len(tokens))
        device = self.agent.device
        padded = F.pad(tokens, (0, length - len(tokens))).unsqueeze(0).to(device)
        state = self.agent.start(padded, torch.tensor([len(tokens)], device=device))
        return EpisodeState(state, self.agent.new_memory())

    @torch.inference_mode()
    def act(
        self,
        observations: Sequence[Observation],
        states: PolicyState,
        generator: torch.Generator | None = None,
    ) -> tuple[NDArray[np.int64], PolicyState]:
        """Actions (n, 2) of n episodes: sampled with a generator, else the likeliest."""
        shown = [self._shown(observation) for observation in observations]
        done = torch.tensor([state.previous for state in states], device=self.agent.device)
        seen = self.agent.see(shown, [state.memory for state in states], done)
        after: list[EpisodeState] = list(states)
        size = batch_rows(self.agent)
        shapes = [state.shapes for state in states]
        for shape in dict.fromkeys(shapes):
            rows = [row for row, one in enumerate(shapes) if one == shape]
            for first in range(0, len(rows), size):
                self._forward(seen, states, rows[first : first + size], size, after)
        actions = np.zeros((len(states), 2), dtype=np.int64)
        for row, (state, observation) in enumerate(zip(after, observations)):
            actions[row], after[row] = self._choose(state, observation, generator)
        return actions, tuple(after)

    def tokens(self, observation: Observation) -> NDArray[np.int32]:
        """The words that the agent reads, from ``tokens`` or from the texts."""
        tokenizer = Tokenizer.default()
        if self.deaf:
            tokens = tokenizer.encode("", [""])
        elif "tokens" in observation:
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
        return tokens if self.agent.config.reads_goal else without_goal(tokens)

    def _shown(self, observation: Observation) -> Observation:
        if not self.blind:
            return observation
        pictures = {name: observation[name] for name in self.agent.observes}
        return blank(pictures, self.agent.feels)

    def _forward(
        self,
        seen: dict[str, Tensor],
        states: PolicyState,
        rows: list[int],
        size: int,
        after: list[EpisodeState],
    ) -> None:
        filled = [*rows, *[rows[0]] * (size - len(rows))]
        chosen = [states[row] for row in filled]
        state = {
            name: self._join(name, [one.state[name] for one in chosen]) for name in chosen[0].state
        }
        previous = torch.tensor([one.previous for one in chosen], device=self.agent.device)
        looked = {name: value[filled] for name, value in seen.items()}
        memories = [one.memory for one in chosen]
        decision, changed = self.agent.act(looked, state, previous, memories)
        for place, row in enumerate(rows):
            one = slice(place, place + 1)
            own = {name: value[one] for name, value in changed.items()}
            after[row] = replace(
                states[row], state={**states[row].state, **own}, decision=decision.row(place)
            )

    def _choose(
        self, state: EpisodeState, observation: Observation, generator: torch.Generator | None
    ) -> tuple[tuple[int, int], EpisodeState]:
        assert state.decision is not None
        action_scores = state.decision.action_logits[0].cpu()
        class_scores = state.decision.class_logits[0, 1:].cpu()
        if generator is not None:
            action_scores = _perturbed(action_scores, generator)
            class_scores = _perturbed(class_scores, generator)
        # The index is one off because "no object" is never a target.
        object_class = ObjectClass(int(class_scores.argmax()) + 1)
        heuristics = ActionHeuristics.off() if self.blind else self.heuristics
        shown = observation.get("classes")
        action, trace = heuristics.choose(
            action_scores.numpy(),
            object_class,
            observation[front_picture(observation)][View.FRONT],
            None if shown is None else shown[View.FRONT],
            state.trace,
        )
        if not action.is_interaction:
            object_class = ObjectClass.NoObject
        done = int(action), int(object_class)
        return done, replace(state, previous=done, trace=trace)


def front_picture(observation: Observation) -> str:
    """The image that tells whether the front view has changed."""
    return next(name for name in ("rgb", "instances", "classes") if name in observation)


def split_observations(
    observation: Observation, pictures: frozenset[str]
) -> tuple[list[Observation], bool]:
    """The observations of each environment, and whether it was only one, not stacked."""
    missing = sorted(name for name in pictures if name not in observation)
    if missing:
        raise BadInputError(
            f"the observation lacks {', '.join(missing)}, which the agent looks at; it has "
            f"{', '.join(sorted(observation))}. Make the environment with "
            f"{'depth=True and ' if 'depth' in pictures else ''}without wrappers that take "
            "pictures away, as SB3Observation does"
        )
    name = min(pictures)
    single = np.ndim(observation[name]) == (4 if name == "rgb" else 3)
    if single:
        return [observation], True
    count = len(observation[name])
    return [{key: part[row] for key, part in observation.items()} for row in range(count)], False


def check_size(observation: Observation, agent: Agent) -> None:
    """Raises ``BadInputError`` for images of another size than the agent's."""
    for name in sorted(agent.observes):
        found = np.shape(observation[name])[1:3]
        if found != (agent.image_size, agent.image_size):
            raise BadInputError(
                f"the agent looks at pictures of {agent.image_size} x {agent.image_size} pixels, "
                f"and {name} has {' x '.join(map(str, found))}; make the environment with "
                f"image_size={agent.image_size}"
            )


class _JoinCache:
    """Joins tensors of episodes; joins unchanged ones once, not at every step."""

    _KEPT = 4

    def __init__(self) -> None:
        self._known: dict[str, deque[tuple[list[Tensor], Tensor]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _JoinCache, ()

    def __call__(self, name: str, parts: list[Tensor]) -> Tensor:
        known = self._known.setdefault(name, deque(maxlen=self._KEPT))
        for before, joined in known:
            if len(before) == len(parts) and all(map(operator.is_, before, parts)):
                return joined
        joined = torch.cat(parts)
        known.append((parts, joined))
        return joined


def batch_rows(agent: Agent) -> int:
    """``ROWS`` if a row's result does not depend on its position in the batch, else 1."""
    shape = (type(agent), agent.config, agent.device, torch.get_num_threads())
    if shape not in _BATCH_ROWS:
        _BATCH_ROWS[shape] = ROWS if _is_place_independent(agent) else 1
    return _BATCH_ROWS[shape]


_BATCH_ROWS: dict[tuple[object, ...], int] = {}


def _is_place_independent(agent: Agent) -> bool:
    """Tests random instructions and views in every rotation of the rows, for two steps."""
    generator, random = torch.Generator().manual_seed(0), np.random.default_rng(0)
    words = len(Tokenizer.default().words)
    shape = (ROWS, TOKEN_LENGTHS[0])
    tokens = torch.randint(1, words, shape, generator=generator).to(agent.device)
    lengths = torch.full((ROWS,), TOKEN_LENGTHS[0], device=agent.device)
    previous = torch.tensor([BEFORE] * ROWS, device=agent.device)
    memories = [agent.new_memory() for _ in range(ROWS)]
    seen = agent.see([_noise(agent, random) for _ in range(ROWS)], memories, previous)

    def outcomes(order: list[int]) -> Tensor:
        state = agent.start(tokens[order], lengths)
        looked = {name: value[order] for name, value in seen.items()}
        for _ in range(2):
            kept = [memories[row] for row in order]
            decision, changed = agent.act(looked, state, previous, kept)
            state = {**state, **changed}
        parts = [decision.action_logits, decision.class_logits]
        parts += [value.flatten(1).float() for value in changed.values()]
        return torch.cat(parts, 1)

    plain = outcomes(list(range(ROWS)))
    return all(
        torch.equal(outcomes(order), plain[order])
        for turn in range(1, ROWS)
        for order in [[(row + turn) % ROWS for row in range(ROWS)]]
    )


def _noise(agent: Agent, random: np.random.Generator) -> Observation:
    """A random observation, to test rounding."""
    shape = (len(View), agent.image_size, agent.image_size)
    pictures: dict[str, Any] = {
        "rgb": random.integers(0, 256, (*shape, 3), dtype=np.uint8),
        "classes": random.integers(0, len(ObjectClass), shape, dtype=np.uint8),
        "instances": random.integers(0, 50, shape, dtype=np.int16),
        "depth": random.random(shape, dtype=np.float32) * 5,
    }
    return {name: pictures[name] for name in agent.observes}


def _perturbed(scores: Tensor, generator: torch.Generator) -> Tensor:
    """Scores plus Gumbel noise, whose argmax is a draw from their softmax."""
    uniform = torch.rand(scores.shape, generator=generator).clamp_min(1e-20)
    return scores - torch.log(-torch.log(uniform))
