"""The recurrent decoder of both branches: attend, make filters, look, update the state.

Forward and backward are written out step by step for speed; ``tests/agents/test_network.py``
checks them against finite differences. Shapes: D = 2 branches, n episodes at a time, H units,
F filters, C channels, V views, S cells, L tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from clalfred.agents.two_branch.config import BRANCHES, TwoBranchConfig
from clalfred.agents.two_branch.dropout import DropoutMasks, drop_
from clalfred.agents.two_branch.fast.products import multiply, product
from clalfred.agents.two_branch.fast.recurrence import Gates, Slopes, lstm_backward, lstm_forward
from clalfred.agents.two_branch.reader import Instructions, weight

#: Copies the maps (n, V, C, S) of a time step, as stored; called again in the backward pass,
#: because they are 500 times larger than all else that a step has to keep. Only after dropout they
#: are kept: the mask alone would take half as much.
Maps = Callable[[], Tensor]

#: Of so many bytes of maps, as floats, a look is made at once: they stay in the processor's cache
#: between being converted and being multiplied.
LOOK_BYTES = 1_000_000


class Weights(NamedTuple):
    """The decoder's parameters; matrices are (D, in, out), biases (D, 1, out)."""

    query: Tensor
    query_bias: Tensor
    filters: Tensor
    filters_bias: Tensor
    gates: Tensor
    gates_bias: Tensor
    glance: Tensor
    glance_bias: Tensor


@dataclass(frozen=True)
class SavedStep:
    """What one step leaves for the backward pass."""

    maps: Maps
    query: Tensor
    attention: Tensor
    raw_filters: Tensor
    norms: Tensor
    responses: Tensor
    before: Tensor
    gates: Gates
    keep_hidden: Tensor | None
    keep_cell: Tensor | None


class Decoder(nn.Module):
    """Attention over the instruction, dynamic filters over the views, and the LSTM."""

    def __init__(self, config: TwoBranchConfig) -> None:
        super().__init__()
        self.config = config
        width = config.decoder_dim
        filters = config.filters * config.channels
        self.query = weight(BRANCHES, width, config.attention_dim, bound=width)
        self.query_bias = weight(BRANCHES, 1, config.attention_dim, bound=width)
        self.filters = weight(BRANCHES, width, filters, bound=width)
        self.filters_bias = weight(BRANCHES, 1, filters, bound=width)
        self.gates = weight(BRANCHES, config.input_dim + width, 4 * width, bound=width)
        self.gates_bias = weight(BRANCHES, 1, 4 * width, bound=width)
        if config.visual_bottleneck_dim:
            self.glance = weight(
                BRANCHES, config.visual_dim, config.visual_bottleneck_dim, bound=config.visual_dim
            )
            self.glance_bias = weight(
                BRANCHES, 1, config.visual_bottleneck_dim, bound=config.visual_dim
            )
        else:
            # Nothing to learn or to store, but the list of weights stays the same.
            empty = torch.empty(BRANCHES, config.visual_dim, 0)
            self.register_buffer("glance", empty, persistent=False)
            self.register_buffer("glance_bias", empty[:, :1], persistent=False)

    @property
    def weights(self) -> Weights:
        """All of them."""
        return Weights(*(getattr(self, name) for name in Weights._fields))

    def forward(
        self,
        instructions: Instructions,
        previous: Tensor,
        maps: Sequence[Maps],
        map_scale: float,
        active: Sequence[int],
        rows: Tensor,
        masks: DropoutMasks | None,
    ) -> Tensor:
        """Hidden state and input of every step of ragged episodes, longest first.

        Args:
            instructions: of the episodes.
            previous: (N, P) embedding of what was done before each step, time by time.
            maps: of each time; with dropout, what they give is changed.
            map_scale: what turns the maps' numbers into feature values.
            active: how many episodes have a step at each time.
            rows: (N,) in which row of the result each step belongs, time by time.
            masks: switches dropout on.

        Returns:
            (D, N, H + input_dim).
        """
        run = _DecoderPass(
            self.config, self.weights, instructions.valid, map_scale, masks, many=True
        )
        return _DecodeFunction.apply(
            *self.weights,
            instructions.keys,
            instructions.values,
            instructions.start,
            previous,
            run,
            tuple(maps),
            tuple(active),
            rows,
        )

    def start(
        self, instructions: Instructions, map_scale: float, masks: DropoutMasks | None = None
    ) -> Callable[[Tensor, Maps, Tensor, Tensor], tuple[Tensor, Tensor]]:
        """A function that makes one step without gradients.

        It takes the embedding (n, P) of what was done before, the maps, and the hidden and cell
        state (D, n, H) of the first n episodes, and gives hidden state and input
        (D, n, H + input_dim) and the cell state.
        """
        run = _DecoderPass(self.config, self.weights, instructions.valid, map_scale, masks)

        @torch.no_grad()
        def step(
            previous: Tensor, maps: Maps, hidden: Tensor, cell: Tensor
        ) -> tuple[Tensor, Tensor]:
            keys, values = instructions.keys, instructions.values
            hidden, cell, made = run.forward(keys, values, previous, maps, hidden, cell)
            return torch.cat([hidden, made.before[:, :, : self.config.input_dim]], 2), cell

        return step


class _DecoderPass:
    """The arithmetic of a step, forward and backward, for one pass over a batch."""

    def __init__(
        self,
        config: TwoBranchConfig,
        weights: Weights,
        valid: Tensor,
        map_scale: float,
        masks: DropoutMasks | None,
        many: bool = False,
    ) -> None:
        self.config = config
        w = Weights(*(weight.detach() for weight in weights))
        self.to_query = product(w.query, w.query_bias, many)
        self.to_filters = product(w.filters, w.filters_bias, many)
        self.to_gates = product(w.gates, w.gates_bias, many)
        self.to_glance = product(w.glance, w.glance_bias, many)
        self._weights, self._many = w, many
        self.no_token = ~valid.unsqueeze(1)
        self.masks = masks
        self.drop_scale = 1.0 if masks is None else masks.scale
        self.look_scale = map_scale * config.filter_gain * config.channels**-0.5 * self.drop_scale
        self.attention_scale = config.attention_gain * config.attention_dim**-0.5

    def forward(
        self,
        keys: Tensor,
        values: Tensor,
        previous: Tensor,
        maps: Maps,
        hidden: Tensor,
        cell: Tensor,
        before: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, SavedStep]:
        """Hidden state, cell state, and what backward needs.

        ``before`` is where to put input and hidden state (D, n, input_dim + H).
        """
        n, c = hidden.shape[1], self.config
        query = self.to_query(hidden).relu_()
        scores = (query.transpose(0, 1).unsqueeze(2) @ keys[:n].transpose(2, 3)).squeeze(2)
        scores *= self.attention_scale
        attention = scores.masked_fill_(self.no_token[:n], -torch.inf).softmax(2)
        language = (attention.unsqueeze(2) @ values[:n]).squeeze(2).transpose(0, 1)
        raw = self.to_filters(language).tanh_()
        raw = raw.view(BRANCHES, n, c.filters, c.channels)
        norms = raw.norm(dim=3, keepdim=True).clamp_min_(1e-12)
        responses, maps = self._look(raw / norms, maps)
        seen = self.to_glance(responses).relu_() if c.visual_bottleneck_dim else responses
        inputs = [seen, language, previous.expand(BRANCHES, -1, -1), hidden]
        before = torch.cat(inputs, 2, out=before)
        hidden, cell, saved = lstm_forward(self.to_gates(before), cell)
        keep_hidden = keep_cell = None
        if self.masks is not None:
            keep_hidden, keep_cell = self.masks.keep(hidden.shape), self.masks.keep(cell.shape)
            hidden, cell = self._drop(hidden, keep_hidden), self._drop(cell, keep_cell)
        step = SavedStep(
            maps,
            query,
            attention,
            raw,
            norms,
            responses,
            before,
            saved,
            keep_hidden,
            keep_cell,
        )
        return hidden, cell, step

    def turn_back(self) -> None:
        """Gets ready for the backward pass."""
        w = self._weights
        self.back_from_query = product(w.query.transpose(1, 2), many=self._many)
        self.back_from_filters = product(w.filters.transpose(1, 2), many=self._many)
        self.back_from_gates = product(w.gates.transpose(1, 2), many=self._many)
        self.back_from_glance = product(w.glance.transpose(1, 2), many=self._many)

    def backward(
        self,
        keys: Tensor,
        values: Tensor,
        step: SavedStep,
        d_decoded: Tensor,
        d_cell: Tensor,
        d_gates: Tensor,
    ) -> dict[str, Tensor]:
        """Gradients of one step's insides by name; ``hidden`` and ``cell`` are those before it.

        ``d_cell`` may be of fewer episodes: the others end here. ``d_gates`` (D, n, 4, H) is where
        to put the gradients of the gates.
        """
        c = self.config
        n, width = d_decoded.shape[1], c.decoder_dim
        d_hidden = self._drop(d_decoded[:, :, :width], step.keep_hidden)
        keep_cell = None if step.keep_cell is None else step.keep_cell[:, : d_cell.shape[1]]
        _, d_cell = lstm_backward(
            d_hidden, self._drop(d_cell, keep_cell), Slopes.of(step.gates), d_gates
        )
        d_before = self.back_from_gates(d_gates.flatten(2))
        d_before[:, :, : c.input_dim] += d_decoded[:, :, width:]
        sizes = (c.seen_dim, width, c.input_dim - c.seen_dim - width, width)
        d_seen, d_language, d_previous, d_hidden = d_before.split(sizes, 2)
        if c.visual_bottleneck_dim:
            d_seen = d_seen * (step.before[:, :, : c.visual_bottleneck_dim] > 0)

        filters = step.raw_filters / step.norms
        d_responses = self.back_from_glance(d_seen) if c.visual_bottleneck_dim else d_seen
        d_filters = self._look_back(d_responses, step)
        along = (filters * d_filters).sum(3, keepdim=True)
        d_raw = (d_filters - filters * along) / step.norms
        d_raw = (d_raw * (1 - step.raw_filters**2)).flatten(2)
        d_language = d_language + self.back_from_filters(d_raw)

        slope = d_language.transpose(0, 1).unsqueeze(2) @ values[:n].transpose(2, 3)
        slope = slope.squeeze(2)
        expected = (step.attention * slope).sum(2, keepdim=True)
        d_scores = step.attention * (slope - expected) * self.attention_scale
        d_query = (d_scores.unsqueeze(2) @ keys[:n]).squeeze(2).transpose(0, 1)
        d_query = d_query * (step.query > 0)
        d_hidden = d_hidden + self.back_from_query(d_query)
        return {
            "seen": d_seen,
            "raw": d_raw,
            "language": d_language,
            "scores": d_scores,
            "query": d_query,
            "previous": d_previous.sum(0),
            "hidden": d_hidden,
            "cell": d_cell,
        }

    def _look(self, filters: Tensor, maps: Maps) -> tuple[Tensor, Maps]:
        """Responses (D, n, V F S) of the filters (D, n, F, C), and the maps that were looked at.

        Both branches look together.
        """
        c, n = self.config, filters.shape[1]
        shown = maps()
        if self.masks is not None:
            drop_(shown, self.masks.keep(shown.shape))
        both = (filters * self.look_scale).transpose(0, 1).flatten(1, 2)
        responses = torch.cat(
            [some.unsqueeze(1) @ at.to(both.dtype) for some, at in self._in_parts(both, shown)]
        )
        responses = responses.view(n, c.views, BRANCHES, c.filters, c.cells)
        responses = responses.movedim(2, 0).flatten(2)
        return responses, maps if self.masks is None else lambda: shown

    def _look_back(self, d_responses: Tensor, step: SavedStep) -> Tensor:
        """Gradient (D, n, F, C) of the filters."""
        c, n = self.config, d_responses.shape[1]
        d_responses = d_responses.reshape(BRANCHES, n, c.views, c.filters, c.cells).movedim(0, 2)
        d_responses = d_responses.flatten(2, 3)
        d_both = torch.cat(
            [
                (some @ at.to(some.dtype).transpose(2, 3)).sum(1)
                for some, at in self._in_parts(d_responses, step.maps())
            ]
        )
        d_both = (d_both * self.look_scale).view(n, BRANCHES, c.filters, c.channels)
        return d_both.transpose(0, 1)

    def _in_parts(self, values: Tensor, maps: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """A few episodes of both at a time."""
        count = max(1, LOOK_BYTES // (maps[0].numel() * values.element_size()))
        return zip(values.split(count), maps.split(count))

    def _drop(self, x: Tensor, keep: Tensor | None) -> Tensor:
        return x if keep is None else x * keep * self.drop_scale


class _DecodeFunction(Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        *_, keys, values, start, previous, run, maps, active, rows = inputs
        hidden, cell = start, torch.zeros_like(start)
        inputs_dim, width = run.config.input_dim, start.shape[2]
        before = start.new_empty(BRANCHES, len(rows), inputs_dim + width)
        steps, outputs = [], []
        for n, now, last, place in zip(
            active, maps, previous.split(active), before.split(active, 1)
        ):
            hidden, cell, step = run.forward(
                keys, values, last, now, hidden[:, :n], cell[:, :n], place
            )
            outputs.append(hidden)
            steps.append(step)
        ctx.run, ctx.steps, ctx.active = run, steps, active
        ctx.save_for_backward(keys, values, before, rows)
        decoded = start.new_empty(BRANCHES, len(rows), width + inputs_dim)
        decoded[:, rows, :width] = torch.cat(outputs, 1)
        decoded[:, rows, width:] = before[:, :, :inputs_dim]
        return decoded

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (keys, values, before, rows) = gradients, ctx.saved_tensors
        run, steps, active = ctx.run, ctx.steps, ctx.active
        run.turn_back()
        width = run.config.decoder_dim
        carry = gradient.new_zeros(BRANCHES, 0, width)
        d_cell = carry
        d_gates = gradient.new_empty(BRANCHES, len(rows), 4, width)
        times = zip(
            steps, gradient.index_select(1, rows).split(active, 1), d_gates.split(active, 1)
        )
        parts: list[dict[str, Tensor]] = []
        for step, d_decoded, place in reversed(list(times)):
            d_decoded[:, : carry.shape[1], :width] += carry
            parts.append(run.backward(keys, values, step, d_decoded, d_cell, place))
            carry, d_cell = parts[-1]["hidden"], parts[-1]["cell"]
        parts.reverse()

        def joined(name: str) -> Tensor:
            return torch.cat([part[name] for part in parts], 1)

        d_gates, d_raw, d_query = d_gates.flatten(2), joined("raw"), joined("query")
        language = before[:, :, run.config.seen_dim :][:, :, :width]
        hidden = before[:, :, run.config.input_dim :]
        steps_of = _RowIndex(active, gradient.device)
        responses = torch.cat([step.responses for step in steps], 1)
        d_glance = joined("seen")[:, :, : run.config.visual_bottleneck_dim]
        queries = torch.cat([step.query for step in steps], 1)
        attention = torch.cat([step.attention for step in steps]).transpose(0, 1)
        d_scores = torch.cat([part["scores"] for part in parts]).transpose(0, 1)
        d_keys = steps_of.by_episode(d_scores).transpose(2, 3) @ steps_of.by_episode(queries)
        d_values = steps_of.by_episode(attention).transpose(2, 3) @ steps_of.by_episode(
            joined("language")
        )
        return (
            multiply(hidden.transpose(1, 2), d_query),
            d_query.sum(1, keepdim=True),
            multiply(language.transpose(1, 2), d_raw),
            d_raw.sum(1, keepdim=True),
            multiply(before.transpose(1, 2), d_gates),
            d_gates.sum(1, keepdim=True),
            multiply(responses.transpose(1, 2), d_glance),
            d_glance.sum(1, keepdim=True),
            d_keys.transpose(0, 1),
            d_values.transpose(0, 1),
            carry,
            torch.cat([part["previous"] for part in parts]),
            None,
            None,
            None,
            None,
        )


class _RowIndex:
    """Where the steps of each episode are in a layout time by time."""

    def __init__(self, active: Sequence[int], device: torch.device) -> None:
        self._shape = active[0], len(active)
        self._episode = torch.cat([torch.arange(n, device=device) for n in active])
        self._time = torch.repeat_interleave(
            torch.arange(len(active), device=device), torch.tensor(active, device=device)
        )

    def by_episode(self, values: Tensor) -> Tensor:
        """(D, N, X) -> (D, B, T, X), zeros after an episode's end."""
        out = values.new_zeros(len(values), *self._shape, values.shape[2])
        out[:, self._episode, self._time] = values
        return out
