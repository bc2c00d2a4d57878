"""Experience replay: half of each batch comes from a reservoir."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import ContinualLearner, MethodConfig


class ER(ContinualLearner):
    """Rolnick et al., "Experience Replay for Continual Learning", NeurIPS 2019.

    Update: ``min L(x, x')``, the mean over streamed episodes ``x`` and as many episodes ``x'``
    drawn from memory.

    Stores: episodes, by reservoir sampling. Boundaries: none.
    """

    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": MethodConfig(),
        "released": MethodConfig(training=TrainingConfig.released(distillation=False)),
    }
