"""How an agent is trained: optimiser settings and the learning rate with resets."""

from __future__ import annotations

from dataclasses import dataclass, field

from clalfred.agents.losses import LossConfig


@dataclass(frozen=True)
class TrainingConfig:
    """Adam with exponential decay that starts again every few updates.

    Args:
        batch_size: episodes per update.
        updates: per streamed episode; those of a group are made when it is complete.
        learning_rate: the rate to which every reset returns.
        decay: factor per update; 1 for a constant rate.
        reset_every: updates between resets.
        max_gradient_norm: longer gradients are scaled down to this.
        loss: how the imitation loss is put together.
        teacher_forcing: feed the expert's previous action to the decoder, or else its own.
    """

    batch_size: int = 32
    updates: float = 1.0
    learning_rate: float = 1e-3
    decay: float = 0.95
    reset_every: int = 10
    max_gradient_norm: float = 5.0
    loss: LossConfig = field(default_factory=LossConfig)
    teacher_forcing: bool = True

    @classmethod
    def released(cls, distillation: bool) -> TrainingConfig:
        """The released code: constant rate, its own actions fed back, mean over padded steps."""
        return cls(decay=1.0, loss=LossConfig.released(distillation), teacher_forcing=False)

    def rate(self, update: int) -> float:
        """The learning rate of an update, counted from 0."""
        return self.learning_rate * self.decay ** (update % self.reset_every)
