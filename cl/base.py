"""What all continual-learning methods share: gather, update with replay, then remember.

A method is a class around two questions: what does an update minimise (``_loss``), and what else
changes (the hooks below). Everything else is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.batch import Batch, EncodedEpisode, ViewFeatures
from clalfred.agents.behavior_cloning import BehaviorCloning
from clalfred.agents.config import NetworkConfig
from clalfred.agents.losses import EpisodeLogits, split_logits
from clalfred.agents.network import Predictions
from clalfred.agents.training import TrainingConfig
from clalfred.cl.memory import Memory, Stored
from gym_clalfred.errors import BadInputError, DataError

#: What settings may be, by name: the smallest and the largest value.
Ranges = Mapping[str, tuple[float, float]]
COUNT, WEIGHT, SHARE = (1, math.inf), (0, math.inf), (0, 1)


@dataclass(frozen=True)
class MethodConfig:
    """Settings of a method; each has its own class with more of them.

    Args:
        stream_size: k, episodes that are gathered from the stream for an update.
        memory: M, episodes that may be kept in all, the gathered ones included.
        training: optimiser settings and the whole batch's size.
    """

    #: Settings that count episodes of a batch; a smaller batch makes them smaller.
    per_batch: ClassVar[tuple[str, ...]] = ("stream_size",)

    #: What settings may be; others are refused.
    ranges: ClassVar[Ranges] = {"stream_size": COUNT, "memory": WEIGHT}

    stream_size: int = 16
    memory: int = 500
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        for name, (least, most) in self.ranges.items():
            value = getattr(self, name)
            if not least <= value <= most:
                limit = f"from {least} to {most}" if most < math.inf else f"of at least {least}"
                raise BadInputError(f"{name} {value!r}: expected a number {limit}")


@dataclass(frozen=True)
class Update:
    """One update: k streamed episodes, then those replayed from memory slots.

    ``predictions`` are those that the loss was computed from, without their graph.
    """

    stream: tuple[EncodedEpisode, ...]
    slots: tuple[int, ...]
    batch: Batch
    predictions: Predictions

    def stream_logits(self) -> list[EpisodeLogits]:
        """The logits of each streamed episode."""
        return split_logits(self.predictions, self.batch)[: len(self.stream)]

    def replay_logits(self) -> list[EpisodeLogits]:
        """The logits of each replayed episode."""
        return split_logits(self.predictions, self.batch)[len(self.stream) :]


class ContinualLearner(BehaviorCloning):
    """Gathers k episodes, makes k updates on them and on samples from memory, remembers them.

    Args:
        network: sizes of the network.
        env: as for ``BehaviorCloning``.
        preset: name of one of the method's ``presets``.
        method: settings instead of a preset's.
        arguments: of ``BehaviorCloning``.
    """

    #: The method's settings by name; ``paper`` is always there.
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": MethodConfig()}

    #: Whether it learns only once the stream has ended; there is nothing to evaluate before.
    offline: ClassVar[bool] = False

    def __init__(
        self,
        network: NetworkConfig,
        env: Any = None,
        *,
        preset: str = "paper",
        method: MethodConfig | None = None,
        **arguments: Any,
    ) -> None:
        if preset not in self.presets:
            raise BadInputError(
                f"{type(self).__name__} has no preset {preset!r}: expected one of "
                f"{', '.join(self.presets)}"
            )
        self.method = method or self.presets[preset]
        expected = type(self.presets["paper"])
        if not isinstance(self.method, expected):
            raise BadInputError(
                f"{type(self).__name__} takes a {expected.__name__}, found a "
                f"{type(self.method).__name__}"
            )
        super().__init__(network, env, training=self.method.training, **arguments)
        self.needs_boundaries = self.wants_boundaries(self.method)
        room = self.method.memory - self.group_size if self.replay_size else 0
        self.memory = self._make_memory(max(0, room))

    @classmethod
    def wants_boundaries(cls, method: MethodConfig) -> bool:
        """Whether it needs task boundaries with these settings; override if that depends."""
        return cls.needs_boundaries

    @property
    def group_size(self) -> int:
        """k, but no more than the memory may hold."""
        return max(1, min(self.method.stream_size, self.method.memory))

    @property
    def replay_size(self) -> int:
        """How many episodes of each batch come from memory."""
        return max(0, self.training.batch_size - self.method.stream_size)

    @property
    def held(self) -> int:
        """Episodes kept now: in memory and gathered; never more than M."""
        return len(self.memory) + len(self._gathered)

    def state_dict(self) -> dict[str, Any]:
        """As ``BehaviorCloning``, with the memory and the method's settings."""
        return {
            **super().state_dict(),
            "method": asdict(self.method),
            "memory": self.memory.state_dict(),
        }

    def load_state_dict(
        self,
        state: Mapping[str, Any],
        features: Callable[[str], ViewFeatures] | None = None,
    ) -> None:
        """Continues from a state of the same method with the same settings."""
        if state["method"] != asdict(self.method):
            raise DataError(
                f"the checkpoint was made with {state['method']}, this {type(self).__name__} has "
                f"{asdict(self.method)}: load it with the same preset= or method="
            )
        super().load_state_dict(state, features)
        self.memory.load_state_dict(state["memory"], features)

    def _train_on(self, group: tuple[EncodedEpisode, ...]) -> None:
        for _ in group:
            update = self._update(group, tuple(self._select(group)))
            self._after_update(update)
        self._after_group(update)

    def _update(self, stream: tuple[EncodedEpisode, ...], slots: tuple[int, ...]) -> Update:
        batch = self.make_batch([*stream, *(self.memory[slot].episode for slot in slots)])
        predictions = self.forward(batch)
        self.step(self._loss(predictions, batch, slots))
        update = Update(stream, slots, batch, predictions.detach())
        self._log_accuracy(update)
        return update

    def _log_accuracy(self, update: Update) -> None:
        """How often the network was right, before the update, about the streamed episodes."""
        batch, count = update.batch, len(update.stream)
        steps, interactions = sum(batch.lengths[:count]), sum(batch.interaction_counts[:count])
        if interactions:
            predicted = update.predictions.action_logits[:steps].argmax(1)
            right = (predicted == batch.actions[:steps]).float().mean()
            self.logger.record_mean("train/action_accuracy", float(right))
            predicted = update.predictions.class_logits[:interactions].argmax(1)
            truth = batch.classes[batch.interactions[:interactions]]
            self.logger.record_mean(
                "train/class_accuracy", float((predicted == truth).float().mean())
            )

    def _remember(self, update: Update) -> None:
        """Offers the streamed episodes of a group to the memory."""
        for stored in self._to_store(update):
            self.memory.offer(stored)

    def _make_memory(self, capacity: int) -> Memory:
        """Override: another kind of memory."""
        return Memory(capacity, self.generator)

    def _select(self, stream: tuple[EncodedEpisode, ...]) -> list[int]:
        """Override: the slots to replay in the next update."""
        return self.memory.sample(self.replay_size)

    def _loss(self, predictions: Predictions, batch: Batch, slots: tuple[int, ...]) -> Tensor:
        """Override: what the update minimises; the last ``len(slots)`` episodes are replayed."""
        return self.losses(predictions, batch).total.mean()

    def _to_store(self, update: Update) -> list[Stored]:
        """Override: what the memory is offered of the streamed episodes."""
        return [Stored(episode) for episode in update.stream]

    def _after_update(self, update: Update) -> None:
        """Override: after each update."""

    def _after_group(self, update: Update) -> None:
        """Override, and call ``_remember``: after the last update on a group of episodes."""
        self._remember(update)


def mean_or_zero(values: Tensor) -> Tensor:
    """The mean, 0 for no values: before there is anything to replay."""
    return values.mean() if len(values) else torch.zeros((), device=values.device)
