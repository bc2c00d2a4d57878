"""The networks of the semantic-map agent: a planner that reads, and a walker that looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.agent import AgentConfig
from clalfred.agents.episode import START
from clalfred.agents.numerics.layers import BitLinear, Linear
from clalfred.agents.semantic_map.room_map import BITS, NUMBERS
from gym_clalfred.actions import Action
from gym_clalfred.language.tokenizer import GOAL, SPECIALS, STEP, Tokenizer
from gym_clalfred.objects import ObjectClass

#: Walking actions come first in ``Action``; then one output for "interact now, or stop".
WALKING = int(Action.PickupObject)

_ACTIONS, _CLASSES = len(Action), len(ObjectClass)
_STARTS = (SPECIALS.index(GOAL), SPECIALS.index(STEP))


@dataclass(frozen=True)
class SemanticMapConfig(AgentConfig):
    """Settings of the semantic-map agent.

    Args:
        word_dim: embedding of a word, and of the number of its instruction.
        instructions: instructions that are told apart by their number.
        reading_dim: features of a word in its context.
        track_dim: state that follows what was done.
        attention_dim: keys and queries.
        plan_dim: layer of the planner.
        heard_dim: what the walker hears of the words.
        walk_dim: first layer of the walker; the second has half of it.
        dropout: on words and layers.
        mirror: share of training episodes that are shown and told the other way round.
        tried: share of training steps at which wrong actions are said to have been tried.
        inhibition: taken from the logits of actions that it has tried in the same pose since the
            last interaction.
        place_weight: of the loss for the class of the place where the next thing is.
    """

    word_dim: int = 64
    instructions: int = 24
    reading_dim: int = 192
    track_dim: int = 128
    attention_dim: int = 64
    plan_dim: int = 192
    heard_dim: int = 48
    walk_dim: int = 256
    dropout: float = 0.2
    mirror: float = 0.5
    tried: float = 0.15
    inhibition: float = 4.0
    place_weight: float = 0.45


class Reading(NamedTuple):
    """Words as read: features (B, L, D), keys of the planner and of the walker, values of the
    walker, and which tokens there are (B, L)."""

    features: Tensor
    plan_keys: Tensor
    walk_keys: Tensor
    walk_values: Tensor
    valid: Tensor


class Plan(NamedTuple):
    """Logits for the next interaction: verb (..., A), class (..., K), class of its place."""

    verb: Tensor
    object_class: Tensor
    place: Tensor


class WalkerInput(NamedTuple):
    """What the walker sees: bits, numbers, what was tried here and whether the last step failed,
    the verb, the wanted class and its place; n rows each."""

    bits: Tensor
    numbers: Tensor
    tried: Tensor
    verb: Tensor
    want: Tensor
    place: Tensor


class SemanticMapNetwork(nn.Module):
    """Reads, plans the next interaction from the words and what was done, and walks to it."""

    def __init__(self, config: SemanticMapConfig) -> None:
        super().__init__()
        c = config
        self.words = nn.Embedding(len(Tokenizer.default().words), c.word_dim, padding_idx=0)
        self.numbers = nn.Embedding(c.instructions, c.word_dim)
        # Windows of words as one product: convolutions would round by the processor's caches.
        self.wide = Linear(5 * c.word_dim, c.reading_dim)
        self.near = Linear(3 * c.reading_dim, c.reading_dim)
        self.direct = Linear(c.word_dim, c.reading_dim)
        self.verbs = nn.Embedding(START + 1, 32)
        self.classes = nn.Embedding(_CLASSES, 32)
        self.track = nn.GRUCell(64, c.track_dim)
        self.plan_key = Linear(c.reading_dim, c.attention_dim)
        self.plan_query = Linear(c.track_dim, c.attention_dim)
        self.plan = Linear(c.track_dim + c.reading_dim, c.plan_dim)
        self.verb = Linear(c.plan_dim, _ACTIONS)
        self.object_class = Linear(c.plan_dim, _CLASSES)
        self.place = Linear(c.plan_dim, _CLASSES)
        self.walk_key = Linear(c.reading_dim, c.attention_dim)
        self.walk_value = Linear(c.reading_dim, c.heard_dim)
        self.walk_query = Linear(c.track_dim + 22, c.attention_dim)
        self.want = nn.Embedding(_CLASSES, 24)
        self.want_place = nn.Embedding(_CLASSES, 16)
        seen = NUMBERS + 2 * _ACTIONS + 1 + 24 + 16 + c.heard_dim
        self.walk_bits = BitLinear(BITS, c.walk_dim, like=BITS + seen)
        self.walk_in = Linear(seen, c.walk_dim)
        self.walk_hidden = Linear(c.walk_dim, c.walk_dim // 2)
        self.walk_out = Linear(c.walk_dim // 2, WALKING + 1)
        self.config = config

    def read(self, tokens: Tensor, lengths: Tensor, drop: ByteDropout) -> Reading:
        """Reads (B, L) tokens, of which (B,) are no paddings."""
        starts = (tokens == _STARTS[0]) | (tokens == _STARTS[1])
        number = starts.cumsum(1).clamp(max=self.config.instructions - 1)
        valid = torch.arange(tokens.shape[1], device=tokens.device) < lengths.unsqueeze(1)
        words = drop(self.words(tokens) + self.numbers(number))
        there = valid.unsqueeze(2)
        # Paddings are masked wherever they are read, so they need no products.
        rows = valid.flatten().nonzero().flatten()
        context = drop(F.relu(self.wide(window(words * there, 2), rows))) * there
        features = drop(F.relu(self.near(window(context, 1), rows)) + self.direct(words, rows))
        return Reading(
            features,
            self.plan_key(features, rows),
            self.walk_key(features, rows),
            self.walk_value(features, rows),
            valid,
        )

    def follow(self, verbs: Tensor, classes: Tensor, state: Tensor) -> Tensor:
        """(n, track_dim) the state after interactions (n,) that worked; ``START`` at first."""
        return self.track(torch.cat([self.verbs(verbs), self.classes(classes)], 1), state)

    def think(self, reading: Reading, state: Tensor, drop: ByteDropout) -> tuple[Plan, Tensor]:
        """The next interaction by states (B, K, track_dim), and the attention (B, K, L)."""
        scores = self.plan_query(state) @ reading.plan_keys.transpose(1, 2) / 4
        attention = scores.masked_fill(~reading.valid.unsqueeze(1), -torch.inf).softmax(2)
        both = torch.cat([state, attention @ reading.features], 2)
        layer = drop(F.relu(self.plan(both)))
        walking = torch.arange(_ACTIONS, device=layer.device) < WALKING
        verb = self.verb(layer).masked_fill(walking, -torch.inf)
        return Plan(verb, self.object_class(layer), self.place(layer)), attention

    def walk(
        self,
        reading: Reading,
        place: tuple[Tensor, Tensor],
        state: Tensor,
        sight: WalkerInput,
        drop: ByteDropout,
    ) -> Tensor:
        """(n, walking actions + 1) logits at n steps.

        Args:
            reading: of B episodes.
            place: (n,) the episode of each step, and its number there.
            state: (n, track_dim) the planner's.
            sight: n rows.
            drop: dropout.
        """
        parts = [
            sight.numbers,
            sight.tried,
            F.one_hot(sight.verb, _ACTIONS).to(state.dtype),
            self.want(sight.want),
            self.want_place(sight.place),
            self._hear(reading, place, torch.cat([state, sight.numbers[:, 69:91]], 1)),
        ]
        first = self.walk_bits(sight.bits) + self.walk_in(torch.cat(parts, 1))
        return self.walk_out(drop(F.relu(self.walk_hidden(drop(F.relu(first))))))

    def _hear(self, reading: Reading, place: tuple[Tensor, Tensor], about: Tensor) -> Tensor:
        """(n, heard_dim) what the walker hears of the words; steps are laid out by episode."""
        episodes, longest = len(reading.valid), int(place[1].max()) + 1
        query = self.walk_query(about)
        queries = query.new_zeros(episodes, longest, query.shape[1]).index_put(place, query)
        scores = queries @ reading.walk_keys.transpose(1, 2) / 4
        attention = scores.masked_fill(~reading.valid.unsqueeze(1), -torch.inf).softmax(2)
        return (attention @ reading.walk_values)[place]


class ByteDropout:
    """Dropout that is drawn from a generator; without one it does nothing."""

    def __init__(self, share: float, generator: torch.Generator | None) -> None:
        self.share, self.generator = share, generator

    def __call__(self, values: Tensor) -> Tensor:
        """The values, some of them 0 and the others larger."""
        if self.generator is None or not self.share:
            return values
        # Eight bits are enough to draw by, and cheap.
        drawn = torch.empty(values.shape, dtype=torch.uint8)
        kept = drawn.random_(0, 256, generator=self.generator) >= round(256 * self.share)
        share = 1 - round(256 * self.share) / 256
        dropped: Tensor = _Dropped.apply(values, kept.to(values.device), share)
        return dropped


class _Dropped(torch.autograd.Function):
    """``values * kept / share``, with one array less each way."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, kept: Tensor, share: float) -> Tensor:
        ctx.save_for_backward(kept)
        ctx.share = share
        return (values * kept).div_(share)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = ctx.saved_tensors
        return (slope / ctx.share).mul_(kept), None, None


def window(values: Tensor, reach: int) -> Tensor:
    """(B, L, D) -> (B, L, (2 * reach + 1) * D): each place beside its neighbours, zeros outside."""
    padded = F.pad(values, (0, 0, reach, reach))
    length = values.shape[1]
    return torch.cat([padded[:, shift : shift + length] for shift in range(2 * reach + 1)], 2)


def combined(walking: Tensor, verb: Tensor) -> Tensor:
    """(n, A) logits of actions: walking ones, and interacting by the verb's share of it."""
    return torch.cat(
        [walking[:, :WALKING], walking[:, WALKING:] + verb[:, WALKING:].log_softmax(1)], 1
    )
