"""LSTM recurrences over ragged sequences, with back-propagation through time written out.

Automatic differentiation would add a full-size weight gradient at every time step, which for the
paper's decoder is most of the work. Here each step only leaves its gate gradients behind, and one
matrix product over all steps gives the sum. D recurrences of the same shape run in lockstep.

Sequences are sorted by length, longest first, and their steps are laid out time by time: first
those of time 0, then those of time 1 of all sequences that are long enough, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from clalfred.agents.two_branch.fast.kernels import read_backward, read_forward
from clalfred.agents.two_branch.fast.products import is_small, multiply, product


class Gates(NamedTuple):
    """What the backward pass of an LSTM cell needs; all (D, n, H)."""

    enter: Tensor
    forget: Tensor
    candidate: Tensor
    output: Tensor
    cell_before: Tensor
    squashed: Tensor


def lstm_forward(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Gates]:
    """Hidden and cell state (D, n, H) from gates (D, n, 4 H): input, forget, candidate, output."""
    width = cell.shape[-1]
    open_shares = torch.sigmoid(gates)
    enter, forget, _, output = open_shares.split(width, -1)
    candidate = torch.tanh(gates[..., 2 * width : 3 * width])
    after = torch.addcmul(forget * cell, enter, candidate)
    squashed = torch.tanh(after)
    return output * squashed, after, Gates(enter, forget, candidate, output, cell, squashed)


class Slopes(NamedTuple):
    """How an LSTM cell answers small changes, at any number of steps (D, N, ...) at once.

    Args:
        cell: (D, N, H) of the hidden state with the cell state.
        gates: (D, N, 3, H) of the cell state with the gates of input, forget and candidate.
        output: (D, N, H) of the hidden state with the output gate.
        forget: (D, N, H) of the cell state with the one before.
    """

    cell: Tensor
    gates: Tensor
    output: Tensor
    forget: Tensor

    @classmethod
    def of(cls, gates: Gates) -> Slopes:
        """From what the forward pass left."""
        i, f, g, o, before, squashed = gates
        return cls(
            o - o * squashed * squashed,
            torch.stack([g * (i - i * i), before * (f - f * f), i - i * g * g], 2),
            squashed * (o - o * o),
            f,
        )

    def split(self, counts: Sequence[int]) -> list[Slopes]:
        """Step by step."""
        return [Slopes(*parts) for parts in zip(*(part.split(counts, 1) for part in self))]


def lstm_backward(
    d_hidden: Tensor, d_cell: Tensor, slopes: Slopes, d_gates: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Gradients of the gates (D, n, 4, H) and of the cell before (D, n, H).

    Args:
        d_hidden: (D, n, H) gradient of the hidden state.
        d_cell: (D, m, H) gradient of the cell state; sequences m to n end here and have none.
        slopes: of the step.
        d_gates: where to put the gates' gradients.
    """
    whole = d_hidden * slopes.cell
    whole[:, : d_cell.shape[1]] += d_cell
    if d_gates is None:
        d_gates = d_hidden.new_empty(*d_hidden.shape[:2], 4, d_hidden.shape[2])
    torch.mul(slopes.gates, whole.unsqueeze(2), out=d_gates[:, :, :3])
    torch.mul(slopes.output, d_hidden, out=d_gates[:, :, 3])
    return d_gates, whole * slopes.forget


def run_lstm(inputs: Tensor, weights: Tensor, active: Sequence[int]) -> Tensor:
    """Hidden states of D LSTMs over ragged sequences.

    Args:
        inputs: (D, N, 4 H) the inputs' part of the gates, bias included.
        weights: (D, H, 4 H) from the hidden state to the gates.
        active: how many sequences have a step at each time; sums to N.

    Returns:
        (D, N, H).
    """
    kind = _SmallLstm if is_small(weights) else _Lstm
    return kind.apply(inputs, weights, tuple(active))


class _SmallLstm(Function):
    """All steps in one kernel."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weights: Tensor, active: tuple[int, ...]) -> Tensor:
        gates = inputs.clone(memory_format=torch.contiguous_format)
        shape = *gates.shape[:2], weights.shape[1]
        before, hidden, cells, squashed = (gates.new_empty(shape) for _ in range(4))
        counts = np.array(active)
        states = (one.numpy() for one in (before, hidden, cells, squashed))
        read_forward(gates.numpy(), weights.contiguous().numpy(), counts, *states)
        ctx.counts = counts
        ctx.save_for_backward(weights, gates, before, cells, squashed)
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        weights, gates, before, cells, squashed = ctx.saved_tensors
        d_gates = torch.empty_like(gates)
        turned = weights.transpose(1, 2).contiguous()
        read_backward(
            gradients[0].contiguous().numpy(),
            gates.numpy(),
            turned.numpy(),
            ctx.counts,
            cells.numpy(),
            squashed.numpy(),
            d_gates.numpy(),
        )
        return d_gates, multiply(before.transpose(1, 2), d_gates), None


class _Lstm(Function):
    """Step by step, for large weights and on a GPU."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weights: Tensor, active: tuple[int, ...]) -> Tensor:
        count, width = weights.shape[0], weights.shape[1]
        hidden = cell = inputs.new_zeros(count, active[0], width)
        to_gates = product(weights, many=True)
        befores, outputs, saved = [], [], []
        for n, step in zip(active, inputs.split(active, 1)):
            befores.append(hidden[:, :n])
            hidden, cell, gates = lstm_forward(to_gates(befores[-1], step), cell[:, :n])
            outputs.append(hidden)
            saved.append(gates)
        ctx.active, ctx.gates = active, saved
        ctx.save_for_backward(weights, torch.cat(befores, 1))
        return torch.cat(outputs, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (weights, befores) = gradients, ctx.saved_tensors
        d_hidden = d_cell = gradient.new_zeros(weights.shape[0], 0, weights.shape[1])
        back = product(weights.transpose(1, 2), many=True)
        slopes = Slopes.of(Gates(*(torch.cat(parts, 1) for parts in zip(*ctx.gates))))
        d_inputs = gradient.new_empty(*gradient.shape[:2], 4, gradient.shape[2])
        steps = zip(gradient.clone().split(ctx.active, 1), d_inputs.split(ctx.active, 1))
        for (d_step, d_gates), slope in reversed(list(zip(steps, slopes.split(ctx.active)))):
            d_step[:, : d_hidden.shape[1]] += d_hidden
            _, d_cell = lstm_backward(d_step, d_cell, slope, d_gates)
            d_hidden = back(d_gates.flatten(2))
        d_inputs = d_inputs.flatten(2)
        return d_inputs, befores.transpose(1, 2) @ d_inputs, None
