"""The imitation loss episode by episode, and the squared distance of logits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

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
        as_released: take means as the released code does: actions over the longest length in the
            batch, other heads over their own rows. The paper's losses are sums over the episode.
    """

    heads: Mapping[str, float] = field(default_factory=dict)
    auxiliary: float = 1.0
    as_released: bool = False

    @classmethod
    def released(cls, distillation: bool) -> LossConfig:
        """Means instead of sums; progress 0.2, but 1 in the distillation methods."""
        return cls(auxiliary=1.0 if distillation else 0.2, as_released=True)


def imitation_losses(outputs: Outputs, config: LossConfig | None = None) -> Tensor:
    """(B,) what each episode of a batch costs."""
    config = config or LossConfig()
    total = config.auxiliary * outputs.auxiliary
    for name, head in outputs.heads.items():
        part = cross_entropy(head)
        if config.as_released:
            part = part / released_divisor(name, head)
        total = total + config.heads.get(name, 1.0) * part
    return total


def released_divisor(name: str, head: Head) -> float:
    """What makes the mean over B episodes' sums the mean that the released code takes."""
    if name == "action":
        return float(max(head.counts))
    return max(sum(head.counts), 1) / len(head.counts)


def cross_entropy(head: Head) -> Tensor:
    """(B,) the cross-entropy of a head, summed over each episode."""
    values = F.cross_entropy(head.logits, head.targets, reduction="none")
    return sum_by_episode(values if head.weights is None else head.weights * values, head.counts)


def sum_by_episode(values: Tensor, counts: Sequence[int]) -> Tensor:
    """(n,) -> (B,): adds up the values of each episode."""
    repeats = torch.tensor(counts, device=values.device)
    episode = torch.repeat_interleave(torch.arange(len(counts), device=values.device), repeats)
    return values.new_zeros(len(counts)).index_add(0, episode, values)


def mean_by_episode(values: Tensor, counts: Sequence[int]) -> Tensor:
    """(n,) -> (B,): the mean of the values of each episode."""
    return sum_by_episode(values, counts) / torch.tensor(counts, device=values.device)


def logit_distances(
    outputs: Outputs, stored: Sequence[EpisodeLogits], config: LossConfig, squared_norm: bool
) -> Tensor:
    """(n,) how far the logits of the last n episodes are from stored ones.

    Summed over steps and heads, or averaged as the released code does.

    Args:
        outputs: what the agent says now.
        stored: what it said of these episodes when they were stored.
        config: whether sums or means are taken.
        squared_norm: sum the squares over labels; otherwise their mean, as DER++ does.
    """
    reduce = torch.sum if squared_norm else torch.mean
    new = outputs.logits_by_episode()[-len(stored) :]
    total = outputs.auxiliary.new_zeros(len(stored))
    for name, head in outputs.heads.items():
        pairs = [(a[name], b[name]) for a, b in zip(new, stored)]
        part = torch.stack([reduce((a - b) ** 2, 1).sum() for a, b in pairs])
        if config.as_released:
            rows = replace(head, counts=tuple(len(b) for _, b in pairs))
            part = part / released_divisor(name, rows)
        total = total + part
    return total
