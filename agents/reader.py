"""The instruction reader: a Bi-LSTM over the tokens that exist, and nothing else."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.deferred import deferred_matmul

DIRECTIONS = 2


class InstructionReader(nn.Module):
    """A Bi-LSTM whose two directions run in lockstep, longest instructions first.

    Args:
        word_dim: size of a word vector.
        width: units per direction.
    """

    def __init__(self, word_dim: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.from_words = nn.Parameter(torch.empty(DIRECTIONS, word_dim, 4 * width))
        self.from_state = nn.Parameter(torch.empty(DIRECTIONS, width, 4 * width))
        self.bias = nn.Parameter(torch.empty(DIRECTIONS, 1, 4 * width))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(width**-0.5), width**-0.5)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """(B, L, word_dim) words -> (B, L, 2 width) features, zeros at paddings."""
        count, longest, _ = words.shape
        order = lengths.argsort(descending=True, stable=True)
        sorted_lengths = lengths[order].tolist()
        active = [sum(length > t for length in sorted_lengths) for t in range(sorted_lengths[0])]
        episodes = torch.cat([order[:n] for n in active])
        ahead = torch.cat([torch.full_like(order[:n], t) for t, n in enumerate(active)])
        positions = torch.stack([ahead, lengths[episodes] - 1 - ahead])

        inputs = words[episodes, positions] @ self.from_words + self.bias
        recurrent = deferred_matmul(self.from_state)
        hidden = words.new_zeros(DIRECTIONS, count, self.width)
        cell = torch.zeros_like(hidden)
        outputs = []
        for gates, n in zip(inputs.split(active, 1), active):
            gates = gates + recurrent(hidden[:, :n])
            hidden, cell = lstm_cell(gates, cell[:, :n])
            outputs.append(hidden)

        both = torch.cat(outputs, 1)
        features = words.new_zeros(DIRECTIONS, count, longest, self.width)
        direction = torch.arange(DIRECTIONS, device=words.device).unsqueeze(1)
        features = features.index_put((direction, episodes.expand_as(positions), positions), both)
        return torch.cat(list(features), -1)


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Hidden and cell state from gates (..., 4 H), ordered input, forget, candidate, output."""
    enter, forget, candidate, output = gates.chunk(4, -1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(candidate)
    return torch.sigmoid(output) * torch.tanh(cell), cell
