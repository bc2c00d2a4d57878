"""Finetuning: training on the stream alone, the baseline without replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import ContinualLearner, MethodConfig


class Finetuning(ContinualLearner):
    """Updates on the stream only.

    Update: ``theta <- theta - eta * grad L(x)`` on the gathered episodes ``x``.

    Stores: nothing. Boundaries: none.
    """

    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": MethodConfig(stream_size=32, memory=32),
        "released": MethodConfig(
            stream_size=32, memory=32, training=TrainingConfig.released(distillation=False)
        ),
    }
