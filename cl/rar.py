"""RAR: more updates per episode, each with fresh replay and augmentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from clalfred.agents.agent import Outputs
from clalfred.agents.episode import EncodedEpisode
from clalfred.cl.base import COUNT, WEIGHT, ContinualLearner, MethodConfig, Ranges, mean_or_zero


@dataclass(frozen=True)
class RARConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        repeats: r, the factor on the number of updates; each draws from memory anew.
        replay_weight: of the imitation loss of replayed episodes.
    """

    ranges: ClassVar[Ranges] = {
        **MethodConfig.ranges,
        "repeats": COUNT,
        "replay_weight": WEIGHT,
    }
    repeats: int = 2
    replay_weight: float = 1.0


class RAR(ContinualLearner):
    """Zhang et al., "A simple but strong baseline for online continual learning", NeurIPS 2022.

    Repeated augmented rehearsal. Update, r times as often as others: ``min L(x) + w * L(x')``,
    ``x'`` drawn and augmented anew each time.

    Stores: episodes, by reservoir sampling. Boundaries: none.
    """

    method: RARConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": RARConfig()}

    def train_on(self, group: tuple[EncodedEpisode, ...]) -> None:
        """Makes r times the updates due for the group."""
        for _ in range(max(1, self.updates_due(len(group))) * self.method.repeats):
            update = self.update(group, tuple(self.select_replay(group)))
        self.after_group(update)

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """The stream's and the memory's imitation losses, each a mean."""
        imitation = self.losses(outputs)
        streamed = len(imitation) - len(slots)
        replayed = mean_or_zero(imitation[streamed:])
        return imitation[:streamed].mean() + self.method.replay_weight * replayed
