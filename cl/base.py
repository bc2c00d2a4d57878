"""What all continual-learning methods share: gather, update with replay, then remember.

A method is a class that answers two questions: what an update minimises (``loss``), and what else
changes. For each group of k gathered episodes, k times (or as ``updates`` says), ``train_on`` runs

1. ``select_replay``: which slots of the memory to replay;
2. ``loss`` of the streamed and the replayed episodes, the backward pass, ``on_gradients``, and one
   step of the optimiser;
3. ``after_update``;

and then ``after_group``, which offers the items of ``to_store`` to the memory. ``on_boundary`` is
called where a task begins, for methods that declare ``needs_boundaries``.
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

#: The smallest and the largest allowed value of each setting, by name.
Ranges = Mapping[str, tuple[float, float]]
COUNT, WEIGHT, SHARE = (1, math.inf), (0, math.inf), (0, 1)


@dataclass(frozen=True)
class MethodConfig:
    """Settings that all methods share; a method may add its own in a subclass.

    Args:
        stream_size: k, the number of episodes gathered from the stream for an update.
        memory: M, the number of episodes that may be kept, including the gathered ones.
        memory_bytes: bytes that the memory's episodes may take, instead of a number of episodes;
            0 for no such limit.
        packed: compress stored views without loss; bytes are counted compressed.
        average: a; evaluate the moving average ``e <- (1 - a) * e + a * theta`` of the weights
            (Soutif-Cormerais et al. 2023) instead of the last weights; 0 for the last.
        training: optimiser settings and the total batch size.
    """

    #: Settings that count episodes of a batch; a smaller batch makes them smaller.
    per_batch: ClassVar[tuple[str, ...]] = ("stream_size",)

    #: Allowed values of the settings.
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

    ``outputs`` are the ones the loss was computed from, detached from their graph.
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
    """Gathers k episodes, makes k updates on them and on memory samples, then remembers them.

    Args:
        agent: the agent to train, as for ``BehaviorCloning``.
        env: as for ``BehaviorCloning``.
        preset: name of one of the method's ``presets``.
        method: settings that replace the preset.
        arguments: further arguments of ``BehaviorCloning``.
    """

    #: What tables call it; its class's name unless the class says otherwise.
    title: ClassVar[str] = ""

    #: The method's settings by name; ``paper`` is always there.
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": MethodConfig()}

    #: Whether it starts to learn when the stream has ended, so that it is evaluated only then.
    offline: ClassVar[bool] = False

    #: The batch of the current update.
    batch: Batch

    #: Attributes that checkpoints keep besides the memory: tensors, plain values, or objects with
    #: ``state_dict`` and ``load_state_dict``; also dictionaries of them.
    extra_state: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "title" not in vars(cls):
            cls.title = cls.__name__

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
        """Whether it needs task boundaries; override if that depends on the settings."""
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
        """The number of episodes held now, in memory and gathered; at most M."""
        return len(self.memory) + len(self._gathered)

    def state_dict(self) -> dict[str, Any]:
        """The state of ``BehaviorCloning``, plus the memory and the method's settings and state."""
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
        """Makes the updates due for the group, then offers it to the memory."""
        for _ in range(max(1, self.updates_due(len(group)))):
            update = self.update(group, tuple(self.select_replay(group)))
            self.after_update(update)
        self.after_group(update)

    def update(self, stream: tuple[EncodedEpisode, ...], slots: tuple[int, ...]) -> Update:
        """One optimiser step on streamed episodes and on the episodes of some memory slots."""
        replayed = [self.memory[slot].episode for slot in slots]
        self.batch = self.make_batch([*stream, *replayed])
        outputs = self.forward(self.batch)
        self.step(self.loss(outputs, slots))
        update = Update(stream, slots, outputs.detach())
        self._log_accuracy(update)
        return update

    def step(self, loss: Tensor) -> None:
        """One optimiser step, then an update of the averaged weights, at first as a plain mean."""
        super().step(loss)
        if self.averaged is not None:
            share = max(self.method.average, 1 / self.num_updates)
            follow(self.averaged, self.agent, share)

    def budget(self) -> dict[str, int]:
        """Bytes that the method needs in addition to the agent, by kind."""
        models = sum(tensor_bytes(getattr(self, name)) for name in self.extra_state)
        averaged = 0 if self.averaged is None else tensor_bytes(dict(self.averaged.state_dict()))
        return {**self.memory.bytes(), "models": models + averaged}

    def make_memory(self, capacity: int) -> Memory:
        """Override: the replay buffer."""
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
        """Override: the items offered to the memory for the streamed episodes."""
        return [MemoryItem(episode) for episode in update.stream]

    def after_update(self, update: Update) -> None:
        """Override: after each update."""

    def after_group(self, update: Update) -> None:
        """Override and call ``remember``: after the last update on a group of episodes."""
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
        """Logs the accuracy on the streamed episodes before the update."""
        for name, head in update.outputs.heads.items():
            streamed = head.first(len(update.stream))
            if len(streamed.targets):
                right = (streamed.logits.argmax(1) == streamed.targets).float().mean()
                self.logger.record_mean(f"train/{name}_accuracy", float(right))


def mean_or_zero(values: Tensor) -> Tensor:
    """The mean, or 0 without values, as before there is anything to replay."""
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
