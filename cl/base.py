"""What all continual-learning methods share: gather, update with replay, then remember.

A method is a class around two questions: what does an update minimise (``loss``), and what else
changes. For each group of k gathered episodes ``train_on`` does, k times (or as ``updates`` says):

1. ``select_replay``: which slots of the memory to replay;
2. ``loss``: of the streamed and the replayed episodes; then one step of the optimiser, between
   whose gradient and step comes ``on_gradients``;
3. ``after_update``;

and then ``after_group``, which offers ``to_store`` to the memory. Where a task begins comes
``on_boundary``, for methods that declare ``needs_boundaries``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from clalfred.agents.agent import Agent, Outputs
from clalfred.agents.behavior_cloning import BehaviorCloning, ViewLookup
from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.agents.training import TrainingConfig
from clalfred.cl.memory import ByteMemory, Memory, MemoryItem, tensor_bytes
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
        memory_bytes: bytes that the memory's episodes may take, instead of a number of episodes;
            0 for no such limit.
        packed: keep what was seen compressed, without loss, and count it so.
        average: a; what is evaluated is the average ``e <- (1 - a) * e + a * theta`` over the
            updates (Soutif-Cormerais et al. 2023) instead of the last weights; 0 for the last.
        training: optimiser settings and the whole batch's size.
    """

    #: Settings that count episodes of a batch; a smaller batch makes them smaller.
    per_batch: ClassVar[tuple[str, ...]] = ("stream_size",)

    #: What settings may be; others are refused.
    ranges: ClassVar[Ranges] = {
        "stream_size": COUNT,
        "memory": WEIGHT,
        "memory_bytes": WEIGHT,
        "average": SHARE,
    }

    stream_size: int = 16
    memory: int = 500
    memory_bytes: int = 0
    packed: bool = False
    average: float = 0.0
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

    ``outputs`` are those that the loss was computed from, without their graph.
    """

    stream: tuple[EncodedEpisode, ...]
    slots: tuple[int, ...]
    outputs: Outputs

    def stream_logits(self) -> list[dict[str, Tensor]]:
        """The logits of each streamed episode, by head."""
        return self.outputs.logits_by_episode()[: len(self.stream)]

    def replay_logits(self) -> list[dict[str, Tensor]]:
        """The logits of each replayed episode, by head."""
        return self.outputs.logits_by_episode()[len(self.stream) :]

    def replay_targets(self) -> list[dict[str, Tensor]]:
        """The labels of each replayed episode, by head."""
        return self.outputs.targets_by_episode()[len(self.stream) :]


class ContinualLearner(BehaviorCloning):
    """Gathers k episodes, makes k updates on them and on samples from memory, remembers them.

    Args:
        agent: what learns, as for ``BehaviorCloning``.
        env: as for ``BehaviorCloning``.
        preset: name of one of the method's ``presets``.
        method: settings instead of a preset's.
        arguments: of ``BehaviorCloning``.
    """

    #: The method's settings by name; ``paper`` is always there.
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": MethodConfig()}

    #: Whether it learns only once the stream has ended; there is nothing to evaluate before.
    offline: ClassVar[bool] = False

    #: The batch of the update under way.
    batch: Batch

    #: Attributes that checkpoints keep besides the memory: tensors, plain values, or objects with
    #: ``state_dict`` and ``load_state_dict``; also dictionaries of them.
    extra_state: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        agent: Agent | str,
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
        super().__init__(agent, env, training=self.method.training, **arguments)
        self.needs_boundaries = self.wants_boundaries(self.method)
        room = self.method.memory - self.group_size if self.replay_size else 0
        self.memory = self.make_memory(max(0, room))
        self.averaged = self.agent.twin() if self.method.average else None
        if self.averaged is not None:
            self.policy = replace(self.policy, agent=self.averaged)

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
        """As ``BehaviorCloning``, with the memory and the method's settings and state."""
        return {
            **super().state_dict(),
            "method": asdict(self.method),
            "memory": self.memory.state_dict(),
            "extra": {name: _saved(getattr(self, name)) for name in self.extra_state},
            "averaged": {} if self.averaged is None else dict(self.averaged.state_dict()),
        }

    def load_state_dict(self, state: Mapping[str, Any], views: ViewLookup | None = None) -> None:
        """Continues from a state of the same method with the same settings."""
        if state["method"] != asdict(self.method):
            raise DataError(
                f"the checkpoint was made with {state['method']}, this {type(self).__name__} has "
                f"{asdict(self.method)}: load it with the same preset= or method="
            )
        super().load_state_dict(state, views)
        self.memory.load_state_dict(state["memory"], views)
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])
        for name in self.extra_state:
            restored = _restored(getattr(self, name), state["extra"][name], self.device)
            setattr(self, name, restored)

    def train_on(self, group: tuple[EncodedEpisode, ...]) -> None:
        """The updates that the group calls for; then it is remembered."""
        for _ in range(max(1, self.updates_due(len(group)))):
            update = self.update(group, tuple(self.select_replay(group)))
            self.after_update(update)
        self.after_group(update)

    def update(self, stream: tuple[EncodedEpisode, ...], slots: tuple[int, ...]) -> Update:
        """One step of the optimiser on streamed episodes and on those of some memory slots."""
        replayed = [self.memory[slot].episode for slot in slots]
        self.batch = self.make_batch([*stream, *replayed])
        outputs = self.forward(self.batch)
        self.step(self.loss(outputs, slots))
        update = Update(stream, slots, outputs.detach())
        self._log_accuracy(update)
        return update

    def step(self, loss: Tensor) -> None:
        """As ``BehaviorCloning``; then the average follows, at first as a plain mean."""
        super().step(loss)
        if self.averaged is not None:
            share = max(self.method.average, 1 / self.num_updates)
            follow(self.averaged, self.agent, share)

    def budget(self) -> dict[str, int]:
        """Bytes that it needs besides the agent, by kind."""
        models = sum(tensor_bytes(getattr(self, name)) for name in self.extra_state)
        averaged = 0 if self.averaged is None else tensor_bytes(dict(self.averaged.state_dict()))
        return {**self.memory.bytes(), "models": models + averaged}

    def make_memory(self, capacity: int) -> Memory:
        """Override: another kind of memory."""
        if self.method.memory_bytes:
            return ByteMemory(self.method.memory_bytes, self.generator)
        return Memory(capacity, self.generator)

    def select_replay(self, stream: tuple[EncodedEpisode, ...]) -> list[int]:
        """Override: the slots to replay in the next update."""
        return self.memory.sample(self.replay_size)

    def loss(self, outputs: Outputs, slots: tuple[int, ...]) -> Tensor:
        """Override: what the update minimises; the last ``len(slots)`` episodes are replayed."""
        return self.losses(outputs).mean()

    def to_store(self, update: Update) -> list[MemoryItem]:
        """Override: what the memory is offered of the streamed episodes."""
        return [MemoryItem(episode) for episode in update.stream]

    def after_update(self, update: Update) -> None:
        """Override: after each update."""

    def after_group(self, update: Update) -> None:
        """Override, and call ``remember``: after the last update on a group of episodes."""
        self.remember(update)

    def remember(self, update: Update) -> None:
        """Offers the streamed episodes of a group to the memory."""
        for item in self.to_store(update):
            self.keep(item)

    def keep(self, item: MemoryItem) -> None:
        """Offers one item to the memory, packed if the settings say so."""
        episode = item.episode.packed() if self.method.packed else item.episode
        self.memory.add(replace(item, episode=episode))

    def _log_accuracy(self, update: Update) -> None:
        """How often the agent was right, before the update, about the streamed episodes."""
        for name, head in update.outputs.heads.items():
            streamed = head.first(len(update.stream))
            if len(streamed.targets):
                right = (streamed.logits.argmax(1) == streamed.targets).float().mean()
                self.logger.record_mean(f"train/{name}_accuracy", float(right))


def mean_or_zero(values: Tensor) -> Tensor:
    """The mean, 0 for no values: before there is anything to replay."""
    return values.mean() if len(values) else torch.zeros((), device=values.device)


@torch.no_grad()
def follow(average: torch.nn.Module, agent: torch.nn.Module, share: float) -> None:
    """``e <- (1 - a) * e + a * theta``, weight by weight."""
    for old, new in zip(average.parameters(), agent.parameters()):
        old.mul_(1 - share).add_(new, alpha=share)


def _saved(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _saved(one) for name, one in value.items()}
    return value.state_dict() if hasattr(value, "state_dict") else value


def _restored(present: Any, saved: Any, device: torch.device) -> Any:
    if hasattr(present, "load_state_dict"):
        present.load_state_dict(saved)
        return present
    if isinstance(saved, Mapping):
        known = present if isinstance(present, Mapping) else {}
        return {name: _restored(known.get(name), one, device) for name, one in saved.items()}
    return saved.to(device) if isinstance(saved, Tensor) else saved
