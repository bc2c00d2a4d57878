"""One branch of the network: reads the instruction, makes filters from it, decodes what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from agents.config import NetworkConfig
from agents.deferred import Layer, deferred_attention, deferred_linear
from agents.reader import InstructionReader, lstm_cell


@dataclass(frozen=True)
class Instruction:
    """B instructions as one branch reads them: features, keys, valid tokens, decoder's start."""

    values: Tensor
    keys: Tensor
    valid: Tensor
    start: Tensor


@dataclass(frozen=True)
class BranchLayers:
    """Layers of a branch that are used at every step of one pass."""

    attend: Layer
    query: Layer
    filters: Layer
    decoder: Layer


class Branch(nn.Module):
    """Instruction reader, dynamic filters and decoder; heads are the network's."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width = config.decoder_dim
        self.reader = InstructionReader(config.word_dim, config.language_dim)
        self.summary = nn.Linear(width, 1)
        self.key = nn.Linear(width, config.attention_dim)
        self.query = nn.Linear(width, config.attention_dim)
        self.filters = nn.Linear(width, config.filters * config.channels)
        self.decoder = nn.Linear(config.input_dim + width, 4 * width)
        self.progress = nn.Linear(config.input_dim + width, 1)
        bound = width**-0.5
        nn.init.uniform_(self.decoder.weight, -bound, bound)
        nn.init.uniform_(self.decoder.bias, -bound, bound)

    def read(self, words: Tensor, lengths: Tensor) -> Instruction:
        """Reads (B, L, word_dim) words; paddings reach neither the features nor the sums."""
        values = self.reader(words, lengths)
        valid = torch.arange(words.shape[1], device=words.device) < lengths.unsqueeze(1)
        weights = self.summary(values).squeeze(2).masked_fill(~valid, -torch.inf).softmax(1)
        start = (weights.unsqueeze(1) @ values).squeeze(1)
        return Instruction(values, F.relu(self.key(values)), valid, start)

    def start(self, instruction: Instruction) -> BranchLayers:
        """The branch's layers for one pass over the given instructions."""
        return BranchLayers(
            attend=deferred_attention(instruction.keys, instruction.values, instruction.valid),
            query=deferred_linear(self.query.weight, self.query.bias),
            filters=deferred_linear(self.filters.weight, self.filters.bias),
            decoder=deferred_linear(self.decoder.weight, self.decoder.bias),
        )

    def attend(self, layers: BranchLayers, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """What matters of the instruction now (n, H), and the filters (n, F, C) made from it."""
        language = layers.attend(F.relu(layers.query(hidden)))
        filters = torch.tanh(layers.filters(language))
        filters = filters.view(len(hidden), self.config.filters, self.config.channels)
        return language, F.normalize(filters, dim=2)

    def decode(
        self, layers: BranchLayers, decoder_input: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The decoder's next hidden and cell state, each (n, H)."""
        return lstm_cell(layers.decoder(torch.cat([decoder_input, hidden], 1)), cell)
