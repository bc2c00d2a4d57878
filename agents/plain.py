"""The two-branch agent as usually written, in one file: the reference, and the one to extend.

Every episode is padded to the longest, the maps are dense floats, the recurrences are torch's own
modules, each branch drops maps of its own, and automatic differentiation does the rest. Without
dropout it predicts what ``TwoBranch`` predicts with the same weights; ``copy_weights`` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from clalfred.agents.agent import AgentConfig, Decision, Head, Observation, Outputs, State
from clalfred.agents.episode import START, Batch
from clalfred.agents.losses import mean_by_episode
from clalfred.agents.two_branch.agent import MapAgent, filled
from clalfred.agents.two_branch.config import BRANCHES, TwoBranchConfig
from clalfred.agents.two_branch.maps import dense, scale_of
from clalfred.agents.vision.encoder import VisualEncoder
from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass

#: What only the small two-branch agent has, and how it is without.
_ADDITIONS: dict[str, Any] = {
    name: getattr(TwoBranchConfig, name)
    for name in (
        "previous_class_dim",
        "steps",
        "class_reads_input",
        "visual_bottleneck_dim",
        "attention_gain",
        "filter_gain",
    )
}


class PlainTwoBranch(MapAgent):
    """The paper's network without the small agent's additions.

    Of the config it takes the paper's sizes; settings that only the small agent has are refused.
    """

    presets: ClassVar[Mapping[str, AgentConfig]] = {
        "small": replace(TwoBranchConfig.small(), **_ADDITIONS),
        "paper": TwoBranchConfig.paper(),
    }

    def __init__(self, config: TwoBranchConfig, encoder: VisualEncoder) -> None:
        super().__init__(config, encoder)
        for name, default in _ADDITIONS.items():
            value = getattr(config, name)
            if value != default:
                raise BadInputError(
                    f"agent plain: expected {name} {default}, found {value}; only two-branch has it"
                )
        self.sizes = c = filled(config, encoder)
        self.words = nn.Embedding(c.vocabulary, c.word_dim)
        self.branches = nn.ModuleList([PlainBranch(c) for _ in range(BRANCHES)])
        self.action_embedding = nn.Embedding(len(Action) + 1, c.action_dim)
        self.action_head = nn.Sequential(
            nn.Linear(c.decoder_dim + c.input_dim, c.action_hidden),
            nn.ReLU(),
            nn.Linear(c.action_hidden, c.action_dim),
        )
        self.class_head = nn.Sequential(
            nn.Linear(c.decoder_dim, c.class_hidden),
            nn.ReLU(),
            nn.Linear(c.class_hidden, len(ObjectClass)),
        )
        self.progress_heads = nn.ModuleList(
            [nn.Linear(c.decoder_dim + c.input_dim, 1) for _ in range(BRANCHES)]
        )

    def see(
        self, observations: Sequence[Observation], memories: Sequence[Any], previous: Tensor
    ) -> dict[str, Tensor]:
        """Feature maps (n, V, C, S) as floats."""
        maps = super().see(observations, memories, previous)["maps"]
        return {"maps": maps.float() * scale_of(maps)}

    def forward(
        self, batch: Batch, generator: torch.Generator | None = None, teacher_forcing: bool = True
    ) -> Outputs:
        """Actions at all steps, classes at interactions; the progress monitors' squared error."""
        dtype = self.words.weight.dtype
        scale = scale_of(batch.views[0]["views"])
        maps = pad_sequence([dense(one).to(dtype) for one in batch.views], batch_first=True) * scale
        before = pad_sequence(batch.previous_actions.split(batch.lengths), batch_first=True)
        words, previous = self.words(batch.tokens), self.action_embedding(before)
        drop = Dropout(self.config.dropout, generator)
        decoded = []
        for branch in self._branches():
            read = branch.read(words, batch.token_lengths)
            decoded.append(branch(read, maps, previous, drop))
        real = up_to(torch.tensor(batch.lengths, device=self.device), maps.shape[1])
        actions, classes, progress = self._heads([one[real] for one in decoded])
        error = ((progress - batch.progress) ** 2).sum(0)
        targets = batch.classes[batch.interactions]
        return Outputs(
            {
                "action": Head(actions, batch.actions, batch.lengths),
                "class": Head(classes[batch.interactions], targets, batch.interaction_counts),
            },
            mean_by_episode(error, batch.lengths),
        )

    def start(self, tokens: Tensor, lengths: Tensor) -> State:
        """What each branch reads, and its first hidden state."""
        words = self.words(tokens)
        state: State = {}
        for number, branch in enumerate(self._branches()):
            values, keys, padding, hidden = branch.read(words, lengths)
            parts = {"values": values, "keys": keys, "padding": padding, "hidden": hidden}
            state |= {f"{name}{number}": part for name, part in parts.items()}
            state[f"cell{number}"] = torch.zeros_like(hidden)
        return state

    def act(
        self, seen: Mapping[str, Tensor], state: State, previous: Tensor, memories: Sequence[Any]
    ) -> tuple[Decision, State]:
        """One step of both decoders."""
        changed: State = {}
        decoded = []
        before = self.action_embedding(previous[:, 0])
        for number, branch in enumerate(self._branches()):
            values, keys, padding, hidden, cell = (
                state[f"{name}{number}"] for name in ("values", "keys", "padding", "hidden", "cell")
            )
            both, hidden, cell = branch.step(
                (values, keys, padding), seen["maps"], before, hidden, cell
            )
            decoded.append(both)
            changed |= {f"hidden{number}": hidden, f"cell{number}": cell}
        actions, classes, progress = self._heads(decoded)
        return Decision(actions, classes, progress.mean(0)), changed

    def _branches(self) -> list[PlainBranch]:
        return [one for one in self.branches if isinstance(one, PlainBranch)]

    def _heads(self, decoded: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of actions (n, A) and classes (n, K), progress (2, n)."""
        actions = self.action_head(decoded[0]) @ self.action_embedding.weight[:START].t()
        classes = self.class_head(decoded[1][:, : self.sizes.decoder_dim])
        progress = [head(x).squeeze(1) for head, x in zip(self.progress_heads, decoded)]
        return actions, classes, torch.sigmoid(torch.stack(progress))


class Dropout:
    """Drops numbers and scales up the rest; draws from one generator, nothing without it."""

    def __init__(self, rate: float = 0.0, generator: torch.Generator | None = None) -> None:
        self.rate, self.generator = rate, generator

    def __call__(self, values: Tensor) -> Tensor:
        """The values, some of them 0."""
        if self.generator is None or not self.rate:
            return values
        kept = torch.rand(values.shape, generator=self.generator) >= self.rate
        return values * kept.to(values.device) / (1 - self.rate)


#: Features and keys of the words, where there are none, and the first hidden state.
Read = tuple[Tensor, Tensor, Tensor, Tensor]


class PlainBranch(nn.Module):
    """Reads, attends, looks and decodes, one time step after the other."""

    def __init__(self, config: TwoBranchConfig) -> None:
        super().__init__()
        self.config = c = config
        self.reader = nn.LSTM(c.word_dim, c.language_dim, batch_first=True, bidirectional=True)
        self.summary = nn.Linear(c.decoder_dim, 1, bias=False)
        self.key = nn.Linear(c.decoder_dim, c.attention_dim)
        self.query = nn.Linear(c.decoder_dim, c.attention_dim)
        self.filters = nn.ModuleList(
            [nn.Linear(c.decoder_dim, c.channels) for _ in range(c.filters)]
        )
        self.cell = nn.LSTMCell(c.input_dim, c.decoder_dim)

    def read(self, words: Tensor, lengths: Tensor) -> Read:
        """Reads (B, L, word_dim), of which (B,) words are no paddings."""
        packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
        values, _ = pad_packed_sequence(
            self.reader(packed)[0], batch_first=True, total_length=words.shape[1]
        )
        padding = ~up_to(lengths, words.shape[1])
        shares = self.summary(values).squeeze(2).masked_fill(padding, -torch.inf).softmax(1)
        hidden = (shares.unsqueeze(1) @ values).squeeze(1)
        return values, torch.relu(self.key(values)), padding, hidden

    def forward(self, read: Read, maps: Tensor, previous: Tensor, drop: Dropout) -> Tensor:
        """Hidden state and input (B, T, H + input_dim) of every step, paddings among them.

        Args:
            read: from ``read``.
            maps: (B, T, V, C, S).
            previous: (B, T, P) embedding of what was done before each step.
            drop: for maps, hidden states and cells.
        """
        *words, hidden = read
        cell, decoded = torch.zeros_like(hidden), []
        for time in range(maps.shape[1]):
            both, hidden, cell = self.step(
                tuple(words), maps[:, time], previous[:, time], hidden, cell, drop
            )
            decoded.append(both)
        return torch.stack(decoded, 1)

    def step(
        self,
        words: Sequence[Tensor],
        maps: Tensor,
        previous: Tensor,
        hidden: Tensor,
        cell: Tensor,
        drop: Dropout | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden state and input together, the hidden state and the cell after one step."""
        c, (values, keys, padding) = self.config, words
        query = torch.relu(self.query(hidden)).unsqueeze(2)
        scores = (keys @ query).squeeze(2) * c.attention_dim**-0.5
        attention = scores.masked_fill(padding, -torch.inf).softmax(1)
        language = (attention.unsqueeze(1) @ values).squeeze(1)
        filters = [F.normalize(torch.tanh(make(language))) for make in self.filters]
        seen = torch.stack(filters, 1).unsqueeze(1) @ (drop(maps) if drop else maps)
        inputs = torch.cat([seen.flatten(1) * c.channels**-0.5, language, previous], 1)
        hidden, cell = self.cell(inputs, (hidden, cell))
        if drop:
            hidden, cell = drop(hidden), drop(cell)
        return torch.cat([hidden, inputs], 1), hidden, cell


def up_to(lengths: Tensor, longest: int) -> Tensor:
    """(B, longest) true before the end of each of B sequences."""
    return torch.arange(longest, device=lengths.device) < lengths.unsqueeze(1)
