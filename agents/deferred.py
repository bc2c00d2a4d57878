"""Layers used at every step of a recurrence whose weight gradients are made once, at the end.

Back-propagation through time normally adds a full-size weight gradient at every step, which for a
decoder of 14 million weights is most of the work. Here each step only notes its input and output
gradient; one matrix product over all steps gives the same sum.

How: ``_Anchor`` is an identity in the graph through which every step depends on the weights. The
engine runs its backward after that of all steps, when the notes are complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F  # noqa: N812

Layer = Callable[[Tensor], Tensor]


def deferred_linear(weight: Tensor, bias: Tensor) -> Layer:
    """``(n, in) -> (n, out)``, ``x W^T + b``, for one forward and backward pass.

    Args:
        weight: (out, in).
        bias: (out,).
    """
    notes = _LinearNotes(weight.detach(), bias.detach())
    anchor = _Anchor.apply(notes, weight, bias)
    return lambda x: _LinearStep.apply(x, anchor, notes)


def deferred_attention(keys: Tensor, values: Tensor, valid: Tensor) -> Layer:
    """``(n, d) -> (n, D)``, one query for each of the first n episodes over its own tokens.

    Args:
        keys: (B, L, d).
        values: (B, L, D).
        valid: (B, L) whether a token is one; paddings get no weight.
    """
    notes = _AttentionNotes(keys.detach(), values.detach(), valid)
    anchor = _Anchor.apply(notes, keys, values)
    return lambda query: _AttentionStep.apply(query, anchor, notes)


def deferred_matmul(weights: Tensor) -> Layer:
    """``(D, n, in) -> (D, n, out)``, ``x W`` for D recurrences in lockstep.

    Args:
        weights: (D, in, out).
    """
    notes = _MatmulNotes(weights.detach())
    anchor = _Anchor.apply(notes, weights)
    return lambda x: _MatmulStep.apply(x, anchor, notes)


def filter_views(filters: Tensor, keep: Tensor | None, maps: Callable[[], Tensor]) -> Tensor:
    """Point-wise products of language-made filters with frozen maps, under dropout of the maps.

    Args:
        filters: (n, F, C).
        keep: (n, V, C, S) bool, the elements that dropout leaves; ``None`` for no dropout.
        maps: makes the float maps (n, V, C, S); called again for the backward pass, because they
            are 500 times larger than all else that a step has to keep.

    Returns:
        (n, V, F, S).
    """
    return _FilterViews.apply(filters, keep, maps)


class _LinearNotes:
    """The weights, and what each step of a backward pass leaves behind."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight, self.bias = weight, bias
        self.inputs: list[Tensor] = []
        self.output_gradients: list[Tensor] = []

    def gradients(self) -> tuple[Tensor, ...]:
        inputs, outputs = torch.cat(self.inputs), torch.cat(self.output_gradients)
        self.inputs, self.output_gradients = [], []
        return outputs.t() @ inputs, outputs.sum(0)


class _MatmulNotes:
    """The weights, and what each step of a backward pass leaves behind."""

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights
        self.inputs: list[Tensor] = []
        self.output_gradients: list[Tensor] = []

    def gradients(self) -> tuple[Tensor, ...]:
        inputs, outputs = torch.cat(self.inputs, 1), torch.cat(self.output_gradients, 1)
        self.inputs, self.output_gradients = [], []
        return (inputs.transpose(1, 2) @ outputs,)


class _AttentionNotes:
    """Keys and values, and per step the gradient of the scores, query, weights and gradient."""

    def __init__(self, keys: Tensor, values: Tensor, valid: Tensor) -> None:
        self.keys, self.values, self.valid = keys, values, valid
        self.scale = keys.shape[-1] ** -0.5
        self.steps: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def gradients(self) -> tuple[Tensor, ...]:
        scores, queries, weights, outputs = (
            torch.stack([F.pad(x, (0, 0, 0, len(self.keys) - len(x))) for x in column], dim=1)
            for column in zip(*self.steps)
        )
        self.steps = []
        return scores.transpose(1, 2) @ queries, weights.transpose(1, 2) @ outputs


class _Anchor(Function):
    @staticmethod
    def forward(
        ctx: Any, notes: _LinearNotes | _MatmulNotes | _AttentionNotes, *weights: Tensor
    ) -> Tensor:
        ctx.notes = notes
        return weights[0].new_zeros(())

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> tuple[Tensor | None, ...]:
        return (None, *ctx.notes.gradients())


class _LinearStep(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, anchor: Tensor, notes: _LinearNotes) -> Tensor:
        ctx.notes = notes
        ctx.save_for_backward(x)
        return torch.addmm(notes.bias, x, notes.weight.t())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (x,) = gradients, ctx.saved_tensors
        ctx.notes.inputs.append(x)
        ctx.notes.output_gradients.append(gradient)
        return gradient @ ctx.notes.weight, gradient.new_zeros(()), None


class _MatmulStep(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, anchor: Tensor, notes: _MatmulNotes) -> Tensor:
        ctx.notes = notes
        ctx.save_for_backward(x)
        return x @ notes.weights

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (x,) = gradients, ctx.saved_tensors
        ctx.notes.inputs.append(x)
        ctx.notes.output_gradients.append(gradient)
        return gradient @ ctx.notes.weights.transpose(1, 2), gradient.new_zeros(()), None


class _AttentionStep(Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, anchor: Tensor, notes: _AttentionNotes) -> Tensor:
        n = len(query)
        scores = (notes.keys[:n] @ query.unsqueeze(2)).squeeze(2) * notes.scale
        weights = scores.masked_fill(~notes.valid[:n], -torch.inf).softmax(1)
        ctx.notes = notes
        ctx.save_for_backward(query, weights)
        return (weights.unsqueeze(1) @ notes.values[:n]).squeeze(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (query, weights), notes = gradients, ctx.saved_tensors, ctx.notes
        n = len(query)
        slope = (notes.values[:n] @ gradient.unsqueeze(2)).squeeze(2)
        slope = weights * (slope - (weights * slope).sum(1, keepdim=True)) * notes.scale
        notes.steps.append((slope, query, weights, gradient))
        query_gradient = (slope.unsqueeze(1) @ notes.keys[:n]).squeeze(1)
        return query_gradient, gradient.new_zeros(()), None


class _FilterViews(Function):
    @staticmethod
    def forward(
        ctx: Any, filters: Tensor, keep: Tensor | None, maps: Callable[[], Tensor]
    ) -> Tensor:
        ctx.maps = maps
        ctx.save_for_backward(keep)
        return filters.unsqueeze(1) @ _dropped(maps, keep)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (keep,) = gradients, ctx.saved_tensors
        filters = (gradient @ _dropped(ctx.maps, keep).transpose(2, 3)).sum(1)
        return filters, None, None


def _dropped(maps: Callable[[], Tensor], keep: Tensor | None) -> Tensor:
    made = maps()
    return made if keep is None else made.mul_(keep)
