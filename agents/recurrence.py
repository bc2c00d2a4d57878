"""LSTM recurrences over ragged sequences, with back-propagation through time written out.

Automatic differentiation would add a full-size weight gradient at every time step, which for the
paper's decoder is most of the work. Here each step only leaves its gate gradients behind, and one
matrix product over all steps gives the sum. D recurrences of the same shape run in lockstep.

Sequences are sorted by length, longest first, and their steps are laid out time by time: first
those of time 0, then those of time 1 of all sequences that are long enough, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from agents.products import product


@dataclass(frozen=True)
class Gates:
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


def lstm_backward(d_hidden: Tensor, d_cell: Tensor, gates: Gates) -> tuple[Tensor, Tensor]:
    """Gradients of the gates (D, n, 4 H) and of the cell before (D, n, H)."""
    i, f, g, o = gates.enter, gates.forget, gates.candidate, gates.output
    d_cell = torch.addcmul(d_cell, d_hidden * o, 1 - gates.squashed * gates.squashed)
    d_gates = torch.cat(
        [
            d_cell * g * (i - i * i),
            d_cell * gates.cell_before * (f - f * f),
            d_cell * i * (1 - g * g),
            d_hidden * gates.squashed * (o - o * o),
        ],
        -1,
    )
    return d_gates, d_cell * f


def add_carry(gradient: Tensor, carry: Tensor) -> Tensor:
    """``gradient`` (D, n, H) plus what comes from the next time, which has n' <= n sequences."""
    total = gradient.clone()
    total[:, : carry.shape[1]] += carry
    return total


def run_lstm(inputs: Tensor, weights: Tensor, active: Sequence[int]) -> Tensor:
    """Hidden states of D LSTMs over ragged sequences.

    Args:
        inputs: (D, N, 4 H) the inputs' part of the gates, bias included.
        weights: (D, H, 4 H) from the hidden state to the gates.
        active: how many sequences have a step at each time; sums to N.

    Returns:
        (D, N, H).
    """
    return _Lstm.apply(inputs, weights, tuple(active))


class _Lstm(Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weights: Tensor, active: tuple[int, ...]) -> Tensor:
        count, width = weights.shape[0], weights.shape[1]
        hidden = cell = inputs.new_zeros(count, active[0], width)
        to_gates = product(weights, many=True)
        befores, outputs, saved = [], [], []
        for n, step in zip(active, inputs.split(active, 1)):
            befores.append(hidden[:, :n])
            hidden, cell, gates = lstm_forward(step + to_gates(befores[-1]), cell[:, :n])
            outputs.append(hidden)
            saved.append(gates)
        ctx.active, ctx.gates = active, saved
        ctx.save_for_backward(weights, torch.cat(befores, 1))
        return torch.cat(outputs, 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (weights, befores) = gradients, ctx.saved_tensors
        d_hidden = d_cell = gradient.new_zeros(weights.shape[0], 0, weights.shape[1])
        back = product(weights.transpose(1, 2), many=True)
        d_gates = []
        for d_step, gates in zip(reversed(gradient.split(ctx.active, 1)), reversed(ctx.gates)):
            d_cell = add_carry(torch.zeros_like(d_step), d_cell)
            d_now, d_cell = lstm_backward(add_carry(d_step, d_hidden), d_cell, gates)
            d_hidden = back(d_now)
            d_gates.append(d_now)
        d_inputs = torch.cat(d_gates[::-1], 1)
        return d_inputs, befores.transpose(1, 2) @ d_inputs, None
