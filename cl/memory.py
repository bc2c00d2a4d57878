"""The replay buffer: which streamed episodes are kept, and their stored logits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from clalfred.agents.episode import EncodedEpisode, EncodedViews
from gym_clalfred.errors import BadInputError

#: The paper's memory of 500 episodes as a share of ALFRED's 21,023.
PAPER_EPISODES, STREAM_SHARE = 500, 0.024


def memory_size(stream_length: int, batch_size: int = 32) -> int:
    """M for a stream: the paper's 500 for ALFRED's, else the same share, but at least a batch."""
    share = round(STREAM_SHARE * stream_length)
    return max(batch_size, min(PAPER_EPISODES, share))


@dataclass(frozen=True)
class MemoryItem:
    """An episode in memory.

    Args:
        episode: the demonstration.
        logits: the agent's logits for it, by head, for methods that distil; else empty.
        task: number of the task in which it arrived, for methods that know it; else 0.
    """

    episode: EncodedEpisode
    logits: Mapping[str, Tensor] = field(default_factory=dict)
    task: int = 0

    def bytes(self) -> dict[str, int]:
        """Its size: two bytes per word, one per action and class, logits at full size."""
        episode = self.episode
        return {
            "views": sum(one.bytes for one in (episode.views, *episode.augmented)),
            "words": 2 * len(episode.tokens),
            "actions": 2 * len(episode.actions),
            "logits": tensor_bytes(self.logits),
        }

    @property
    def size(self) -> int:
        """All of these bytes."""
        return sum(self.bytes().values())


class Memory:
    """Reservoir sampling (Vitter's algorithm R): every episode seen is equally likely kept.

    Args:
        capacity: how many episodes to keep.
        generator: random choices.
    """

    def __init__(self, capacity: int, generator: torch.Generator) -> None:
        if capacity < 0:
            raise BadInputError(f"memory capacity: expected at least 0, found {capacity}")
        self.capacity = capacity
        self.seen = 0
        self._generator = generator
        self._entries: list[MemoryItem] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, slot: int) -> MemoryItem:
        return self._entries[slot]

    def add(self, item: MemoryItem) -> int | None:
        """Keeps the episode or drops it; returns its slot if it was kept."""
        self.seen += 1
        if len(self._entries) < self.capacity:
            self._entries.append(item)
            return len(self._entries) - 1
        if not self.capacity:
            return None
        slot = self.slot_to_replace(item)
        if slot is not None:
            self._entries[slot] = item
        return slot

    def rewrite(self, slot: int, logits: Mapping[str, Tensor]) -> None:
        """Replaces the logits of one slot."""
        self._entries[slot] = replace(self._entries[slot], logits=logits)

    def sample(self, count: int, among: Sequence[int] | None = None) -> list[int]:
        """Up to ``count`` distinct slots, drawn uniformly."""
        slots = range(len(self._entries)) if among is None else among
        order = torch.randperm(len(slots), generator=self._generator)[:count]
        return [slots[index] for index in order.tolist()]

    def bytes(self) -> dict[str, int]:
        """The size of all items, by kind."""
        kinds: Counter[str] = Counter({"views": 0, "words": 0, "actions": 0, "logits": 0})
        for item in self._entries:
            kinds.update(item.bytes())
        return dict(kinds)

    def state_dict(self) -> dict[str, Any]:
        """All entries and counters; the generator belongs to the learner."""
        return {
            "capacity": self.capacity,
            "seen": self.seen,
            "entries": [
                {
                    "episode": item.episode.state_dict(),
                    "logits": dict(item.logits),
                    "task": item.task,
                }
                for item in self._entries
            ],
        }

    def load_state_dict(
        self, state: Mapping[str, Any], views: Callable[[str], EncodedViews] | None = None
    ) -> None:
        """Continues from ``state_dict``."""
        self.capacity, self.seen = state["capacity"], state["seen"]
        self._entries = [
            MemoryItem(
                EncodedEpisode.from_state_dict(entry["episode"], views),
                entry["logits"],
                entry["task"],
            )
            for entry in state["entries"]
        ]

    def slot_to_replace(self, item: MemoryItem) -> int | None:
        """Override: the slot that makes room in a full memory; ``None`` to drop the new item."""
        slot = int(torch.randint(self.seen, (), generator=self._generator))
        return slot if slot < self.capacity else None


class ByteMemory(Memory):
    """Keeps a random sample of all episodes seen that fits into a number of bytes.

    Every episode draws a number, and the episode with the largest number is dropped while the
    memory is too large. Each is kept with nearly equal probability; docs/PANTRY.md says how nearly.
    """

    def __init__(self, budget: int, generator: torch.Generator) -> None:
        super().__init__(budget, generator)
        self._draws: list[float] = []
        self._sizes: list[int] = []

    def add(self, item: MemoryItem) -> int | None:
        """Keeps the episode, dropping others if need be; one that can never fit is refused."""
        self.seen += 1
        if self.is_too_large(item):
            return None
        draw = float(torch.rand((), generator=self._generator))
        self._entries.append(item)
        self._draws.append(draw)
        self._sizes.append(item.size)
        while self.overflows():
            last = self.slot_to_drop()
            del self._entries[last], self._draws[last], self._sizes[last]
        return self._draws.index(draw) if draw in self._draws else None

    def is_too_large(self, item: MemoryItem) -> bool:
        """Override: whether an episode would not fit even into an empty memory."""
        return item.size > self.capacity

    def overflows(self) -> bool:
        """Override: whether an episode has to be dropped."""
        return sum(self._sizes) > self.capacity

    def rewrite(self, slot: int, logits: Mapping[str, Tensor]) -> None:
        """Replaces the logits of one slot."""
        super().rewrite(slot, logits)
        self._sizes[slot] = self._entries[slot].size

    def slot_to_drop(self) -> int:
        """Override: the slot to drop; here the one with the largest number."""
        return max(range(len(self._draws)), key=self._draws.__getitem__)

    def state_dict(self) -> dict[str, Any]:
        """With the numbers drawn."""
        return {**super().state_dict(), "draws": self._draws}

    def load_state_dict(
        self, state: Mapping[str, Any], views: Callable[[str], EncodedViews] | None = None
    ) -> None:
        """Continues from ``state_dict``."""
        super().load_state_dict(state, views)
        self._draws = list(state["draws"])
        self._sizes = [item.size for item in self._entries]


class LabelBalancedMemory(Memory):
    """Balances labels: a new episode replaces a random one of the most frequent label."""

    def slot_to_replace(self, item: MemoryItem) -> int | None:
        """A random slot of the most frequent label."""
        return self.sample(1, self.most_frequent_slots(item))[0]

    def most_frequent_slots(self, arriving: MemoryItem) -> list[int]:
        """Slots of the most frequent label, counted with the arriving episode; ties by name."""
        labels = [str(entry.episode.label) for entry in self._entries]
        counts = Counter([*labels, str(arriving.episode.label)])
        most = max(sorted(set(labels)), key=lambda label: counts[label])
        return [slot for slot, label in enumerate(labels) if label == most]


def tensor_bytes(value: Any) -> int:
    """The size of a tensor, or of all tensors in nested mappings; 0 for anything else."""
    if isinstance(value, Mapping):
        return sum(tensor_bytes(one) for one in value.values())
    return value.numel() * value.element_size() if isinstance(value, Tensor) else 0
