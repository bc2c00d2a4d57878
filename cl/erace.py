"""ER-ACE: streamed episodes do not push down labels absent from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor

from clalfred.agents.agent import Head, Outputs
from clalfred.cl.base import ContinualLearner, MethodConfig

#: Heads whose labels arrive task by task; every action occurs in every task.
MASKED = ("class",)


class ERACE(ContinualLearner):
    """Caccia et al., "New Insights on Reducing Abrupt Representation Change", ICLR 2022.

    Update: ``min L(x, x')`` as ER, but in the class head the cross-entropy of streamed steps is
    over the labels of the incoming batch alone; replayed steps count all labels.

    Stores: episodes, by reservoir sampling. Boundaries: none.
    """

    title = "ER-ACE"
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": MethodConfig()}

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """Imitation with the stream's class logits masked."""
        streamed = len(outputs.auxiliary) - len(slots)
        heads = {
            name: _masked(head, streamed) if name in MASKED else head
            for name, head in outputs.heads.items()
        }
        return self.losses(Outputs(heads, outputs.auxiliary)).mean()


def _masked(head: Head, streamed: int) -> Head:
    """The head with the streamed steps' logits of labels absent from the batch masked."""
    rows = len(head.first(streamed).targets)
    absent = torch.ones(head.logits.shape[1], dtype=torch.bool, device=head.logits.device)
    absent[head.targets[:rows]] = False
    hidden = torch.zeros_like(head.logits, dtype=torch.bool)
    hidden[:rows] = absent
    return replace(head, logits=head.logits.masked_fill(hidden, -torch.inf))
