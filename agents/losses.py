"""The imitation loss episode by episode, and the squared distance of logits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from clalfred.agents.agent import Head, Outputs

#: Logits of one episode by head, (steps that count, labels).
EpisodeLogits = Mapping[str, Tensor]


@dataclass(frozen=True)
class LossConfig:
    """How the loss is put together.

    Args:
        heads: weights of the heads' cross-entropies by name; 1 for those that are not named.
        auxiliary: weight of the agent's own losses, such as a progress monitor's.
        per_padded_step: whether sums over an episode are divided by the longest length in the
            batch, as the released code does; the paper's loss is the plain sum.
    """

    heads: Mapping[str, float] = field(default_factory=dict)
    auxiliary: float = 1.0
    per_padded_step: bool = False

    @classmethod
    def released(cls, distillation: bool) -> LossConfig:
        """Divided by the padded length; progress 0.2, but 1 in the distillation methods."""
        return cls(auxiliary=1.0 if distillation else 0.2, per_padded_step=True)


def imitation_losses(outputs: Outputs, config: LossConfig | None = None) -> Tensor:
    """(B,) what each episode of a batch costs."""
    config = config or LossConfig()
    longest = max(next(iter(outputs.heads.values())).counts)
    total: Tensor | None = None
    for name, head in outputs.heads.items():
        part = config.heads.get(name, 1.0) * _per_step(cross_entropy(head), config, longest)
        total = part if total is None else total + part
    assert total is not None
    return total + config.auxiliary * _per_step(outputs.auxiliary, config, longest)


def cross_entropy(head: Head) -> Tensor:
    """(B,) the cross-entropy of a head, summed over each episode."""
    values = F.cross_entropy(head.logits, head.targets, reduction="none")
    return sum_by_episode(values if head.weights is None else head.weights * values, head.counts)


def sum_by_episode(values: Tensor, counts: Sequence[int]) -> Tensor:
    """(n,) -> (B,): adds up the values of each episode."""
    repeats = torch.tensor(counts, device=values.device)
    episode = torch.repeat_interleave(torch.arange(len(counts), device=values.device), repeats)
    return values.new_zeros(len(counts)).index_add(0, episode, values)


def logit_distances(
    new: Sequence[EpisodeLogits], old: Sequence[EpisodeLogits], squared_norm: bool = False
) -> Tensor:
    """(n,) how far n episodes' logits are from stored ones, summed over steps and heads.

    Args:
        new: what the network says now.
        old: what it said when the logits were stored.
        squared_norm: sum the squares over labels; otherwise their mean, as DER++ does.
    """
    reduce = torch.sum if squared_norm else torch.mean

    def distance(a: EpisodeLogits, b: EpisodeLogits) -> Tensor:
        return torch.stack([reduce((a[head] - b[head]) ** 2, 1).sum() for head in a]).sum()

    return torch.stack([distance(a, b) for a, b in zip(new, old)])


def _per_step(values: Tensor, config: LossConfig, longest: int) -> Tensor:
    return values / longest if config.per_padded_step else values
