"""The two-branch network as usually written: what ``clalfred.agents.network`` is measured against.

Every episode is padded to the longest, the maps are dense floats, the recurrences are torch's own
modules, each branch drops maps of its own, and automatic differentiation does the rest. Only the
paper's shape is here. Without dropout the predictions are those of ``TwoBranchNetwork``, which
``tests/test_plain_network.py`` checks.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from clalfred.agents.batch import Batch
from clalfred.agents.config import BRANCHES
from clalfred.agents.dropout import DropoutMasks
from clalfred.agents.network import Predictions, TwoBranchNetwork
from gym_clalfred.actions import Action


class PlainNetwork(nn.Module):
    """Takes the place of a ``TwoBranchNetwork`` in training, with the same weights.

    Args:
        network: where the weights are copied from.
    """

    def __init__(self, network: TwoBranchNetwork) -> None:
        super().__init__()
        self.width = network.config.decoder_dim
        self.words = deepcopy(network.reader.words)
        self.branches = nn.ModuleList([PlainBranch(network, one) for one in range(BRANCHES)])
        self.action_embedding = deepcopy(network.action_embedding)
        self.action_head = deepcopy(network.action_head)
        self.class_head = deepcopy(network.class_head)
        self.progress_heads = deepcopy(network.progress_heads)

    def forward(
        self, batch: Batch, masks: DropoutMasks | None = None, teacher_forcing: bool = True
    ) -> Predictions:
        """As ``TwoBranchNetwork``, but ``train()`` switches dropout on, and teachers always force.

        Args:
            batch: the episodes.
            masks: not used.
            teacher_forcing: not used.
        """
        dtype = self.words.weight.dtype
        maps = pad_sequence([one.dense().to(dtype) for one in batch.features], batch_first=True)
        before = pad_sequence(batch.previous_actions.split(batch.lengths), batch_first=True)
        words, previous = self.words(batch.tokens), self.action_embedding(before)
        decoded = [branch(words, batch.token_lengths, maps, previous) for branch in self.branches]
        real = up_to(torch.tensor(batch.lengths), maps.shape[1])
        actions = self.action_head(decoded[0]) @ self.action_embedding.weight[: len(Action)].t()
        classes = self.class_head(decoded[1][:, :, : self.width])
        progress = [head(x).squeeze(2) for head, x in zip(self.progress_heads, decoded)]
        return Predictions(
            actions[real],
            classes[real][batch.interactions],
            torch.sigmoid(torch.stack(progress))[:, real],
        )


class PlainBranch(nn.Module):
    """Reads, attends, looks and decodes, one time step after the other.

    Args:
        network: where the weights are copied from.
        branch: its number there.
    """

    def __init__(self, network: TwoBranchNetwork, branch: int) -> None:
        super().__init__()
        self.config = c = network.config
        self.reader = nn.LSTM(c.word_dim, c.language_dim, batch_first=True, bidirectional=True)
        self.summary = nn.Linear(c.decoder_dim, 1, bias=False)
        self.key = nn.Linear(c.decoder_dim, c.attention_dim)
        self.query = nn.Linear(c.decoder_dim, c.attention_dim)
        self.filters = nn.ModuleList(
            [nn.Linear(c.decoder_dim, c.channels) for _ in range(c.filters)]
        )
        self.cell = nn.LSTMCell(c.input_dim, c.decoder_dim)
        self.dropout = nn.Dropout(c.dropout)
        self._copy(network, branch)
        self.to(network.action_embedding.weight)

    def forward(self, words: Tensor, lengths: Tensor, maps: Tensor, previous: Tensor) -> Tensor:
        """Hidden state and input (B, T, H + input_dim) of every step, paddings among them.

        Args:
            words: (B, L, word_dim).
            lengths: (B,) words that are no paddings.
            maps: (B, T, V, C, S).
            previous: (B, T, P) embedding of what was done before each step.
        """
        c, decoded = self.config, []
        values, padding = self._read(words, lengths), ~up_to(lengths, words.shape[1])
        keys = torch.relu(self.key(values))
        shares = self.summary(values).squeeze(2).masked_fill(padding, -torch.inf).softmax(1)
        hidden = (shares.unsqueeze(1) @ values).squeeze(1)
        cell = torch.zeros_like(hidden)
        for time in range(maps.shape[1]):
            query = torch.relu(self.query(hidden)).unsqueeze(2)
            scores = (keys @ query).squeeze(2) * c.attention_dim**-0.5
            attention = scores.masked_fill(padding, -torch.inf).softmax(1)
            language = (attention.unsqueeze(1) @ values).squeeze(1)
            filters = [F.normalize(torch.tanh(make(language))) for make in self.filters]
            looks = torch.stack(filters, 1).unsqueeze(1) @ self.dropout(maps[:, time])
            seen = looks.flatten(1) * c.channels**-0.5
            inputs = torch.cat([seen, language, previous[:, time]], 1)
            hidden, cell = self.cell(inputs, (hidden, cell))
            hidden, cell = self.dropout(hidden), self.dropout(cell)
            decoded.append(torch.cat([hidden, inputs], 1))
        return torch.stack(decoded, 1)

    def _read(self, words: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        values: Tensor = pad_packed_sequence(self.reader(packed)[0], batch_first=True)[0]
        return values

    @torch.no_grad()
    def _copy(self, network: TwoBranchNetwork, branch: int) -> None:
        reader, decoder, c = network.reader, network.decoder, self.config
        for direction, suffix in enumerate(("", "_reverse")):
            place = branch, direction
            getattr(self.reader, f"weight_ih_l0{suffix}").copy_(reader.from_words[place].t())
            getattr(self.reader, f"weight_hh_l0{suffix}").copy_(reader.from_state[place].t())
            getattr(self.reader, f"bias_ih_l0{suffix}").copy_(reader.bias[place][0])
            getattr(self.reader, f"bias_hh_l0{suffix}").zero_()
        self.summary.weight.copy_(reader.summary[branch, 0].t())
        self.key.weight.copy_(reader.key[branch, 0].t())
        self.key.bias.copy_(reader.key_bias[branch, 0, 0])
        self.query.weight.copy_(decoder.query[branch].t())
        self.query.bias.copy_(decoder.query_bias[branch, 0])
        weights = decoder.filters[branch].t().split(c.channels)
        biases = decoder.filters_bias[branch, 0].split(c.channels)
        for make, weight, bias in zip(self.filters, weights, biases):
            make.weight.copy_(weight)
            make.bias.copy_(bias)
        from_input, from_state = decoder.gates[branch].t().split((c.input_dim, c.decoder_dim), 1)
        self.cell.weight_ih.copy_(from_input)
        self.cell.weight_hh.copy_(from_state)
        self.cell.bias_ih.copy_(decoder.gates_bias[branch, 0])
        self.cell.bias_hh.zero_()


def up_to(lengths: Tensor, longest: int) -> Tensor:
    """(B, longest) true before the end of each of B sequences."""
    return torch.arange(longest) < lengths.unsqueeze(1)
