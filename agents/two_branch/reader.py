"""The instruction reader: one Bi-LSTM per branch over the tokens that exist, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.two_branch.config import BRANCHES, TwoBranchConfig
from clalfred.agents.two_branch.fast.products import is_small
from clalfred.agents.two_branch.fast.recurrence import run_lstm
from gym_clalfred.language.tokenizer import SPECIALS, STEP

DIRECTIONS = 2

#: The token with which each instruction begins.
STEP_TOKEN = SPECIALS.index(STEP)


@dataclass(frozen=True)
class Instructions:
    """B instructions of at most L tokens as the branches read them.

    Args:
        values: (B, 2, L, H) features of the tokens; zeros at paddings.
        keys: (B, 2, L, d).
        valid: (B, L) whether there is a token.
        start: (2, B, H) the decoder's first hidden state.
    """

    values: Tensor
    keys: Tensor
    valid: Tensor
    start: Tensor

    @classmethod
    def cat(cls, parts: list[Instructions]) -> Instructions:
        """Instructions of equal padded length put together."""
        return cls(
            torch.cat([part.values for part in parts]),
            torch.cat([part.keys for part in parts]),
            torch.cat([part.valid for part in parts]),
            torch.cat([part.start for part in parts], 1),
        )


class InstructionReader(nn.Module):
    """Word embedding, Bi-LSTM, keys for the attention, and the self-attention sum to start from.

    Both directions of both branches run in lockstep.
    """

    def __init__(self, config: TwoBranchConfig) -> None:
        super().__init__()
        self.width = width = config.language_dim
        features = config.decoder_dim
        self.words = nn.Embedding(config.vocabulary, config.word_dim)
        self.steps = nn.Embedding(config.steps, config.word_dim) if config.steps else None
        self.from_words = weight(BRANCHES, DIRECTIONS, config.word_dim, 4 * width, bound=width)
        self.from_state = weight(BRANCHES, DIRECTIONS, width, 4 * width, bound=width)
        self.bias = weight(BRANCHES, DIRECTIONS, 1, 4 * width, bound=width)
        self.summary = weight(BRANCHES, 1, features, 1, bound=features)
        self.key = weight(BRANCHES, 1, features, config.attention_dim, bound=features)
        self.key_bias = weight(BRANCHES, 1, 1, config.attention_dim, bound=features)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Instructions:
        """Reads (B, L) tokens, of which ``lengths`` (B,) are no paddings."""
        words = self.words(tokens)
        if self.steps is not None:
            number = (tokens == STEP_TOKEN).cumsum(1).clamp(max=self.steps.num_embeddings - 1)
            words = words + self.steps(number)
        values = self.features(words, lengths)
        valid = torch.arange(tokens.shape[1], device=tokens.device) < lengths.unsqueeze(1)
        scores = (values @ self.summary).squeeze(3).masked_fill(~valid, -torch.inf)
        start = (scores.softmax(2).unsqueeze(2) @ values).squeeze(2)
        keys = F.relu(values @ self.key + self.key_bias)
        # Episodes first, so that the first n of them are one block of memory.
        values, keys = (part.transpose(0, 1).contiguous() for part in (values, keys))
        return Instructions(values, keys, valid, start)

    def features(self, words: Tensor, lengths: Tensor) -> Tensor:
        """(B, L, word_dim) -> (2, B, L, H), zeros at paddings."""
        count, longest, _ = words.shape
        weights = self.from_state.flatten(0, 1)
        if count == 1 and not torch.is_grad_enabled() and not is_small(weights):
            features = self._features_of_one(words[0, : int(lengths)])
            return F.pad(features, (0, 0, 0, longest - features.shape[1])).unsqueeze(1)
        order = lengths.argsort(descending=True, stable=True)
        sorted_lengths = lengths[order].tolist()
        active = [sum(length > t for length in sorted_lengths) for t in range(sorted_lengths[0])]
        episodes = torch.cat([order[:n] for n in active])
        ahead = torch.repeat_interleave(
            torch.arange(len(active), device=words.device),
            torch.tensor(active, device=words.device),
        )
        positions = torch.stack([ahead, lengths[episodes] - 1 - ahead])
        inputs = words[episodes, positions] @ self.from_words + self.bias
        hidden = run_lstm(inputs.flatten(0, 1), weights, active)
        hidden = hidden.unflatten(0, (BRANCHES, DIRECTIONS))
        places = (episodes * longest + positions).unsqueeze(2).expand(-1, -1, self.width)
        empty = words.new_zeros(BRANCHES, DIRECTIONS, count * longest, self.width)
        placed = empty.scatter(2, places.expand(BRANCHES, -1, -1, -1), hidden)
        return placed.unflatten(2, (count, longest)).movedim(1, 3).flatten(3)

    def _features_of_one(self, words: Tensor) -> Tensor:
        """(L, word_dim) -> (2, L, H) by torch's own LSTM: large ones, or on a GPU."""
        state = words.new_zeros(DIRECTIONS, 1, self.width)
        no_bias = torch.zeros_like(self.bias[0, 0, 0])
        branches = []
        for inputs, states, biases in zip(self.from_words, self.from_state, self.bias):
            weights = [
                part
                for direction in zip(inputs.mT, states.mT, biases[:, 0], [no_bias] * DIRECTIONS)
                for part in direction
            ]
            branches.append(
                torch.lstm(
                    words.unsqueeze(1),
                    (state, state),
                    weights,
                    has_biases=True,
                    num_layers=1,
                    dropout=0.0,
                    train=False,
                    bidirectional=True,
                    batch_first=False,
                )[0]
            )
        return torch.cat(branches, 1).transpose(0, 1)


def weight(*shape: int, bound: int) -> nn.Parameter:
    """A parameter drawn as torch's layers draw theirs, within 1 / sqrt(bound)."""
    return nn.Parameter(torch.empty(shape).uniform_(-(bound**-0.5), bound**-0.5))
