"""Pantry: experience replay from a packed memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch

from clalfred.agents.episode import EncodedEpisode
from clalfred.cl.base import ContinualLearner, MethodConfig
from clalfred.cl.memory import ByteMemory, MemoryItem
from gym_clalfred.actions import Action


@dataclass(frozen=True)
class PantryConfig(MethodConfig):
    """Adds to the common settings.

    Args:
        varied: balance kinds of behaviour (see ``kind_of``) instead of keeping a random sample.
    """

    packed: bool = True
    varied: bool = False


class Pantry(ContinualLearner):
    """The project's own method: more episodes in the same bytes.

    Update: ``min L(x, x')``, as ER.

    Stores: a random sample of all episodes, packed, that fits into a number of bytes or of
    episodes. With ``varied``, a random episode of the most frequent kind is dropped; a kind is the
    set of verbs that the demonstration uses. Boundaries: none.
    """

    method: PantryConfig
    presets: ClassVar[Mapping[str, MethodConfig]] = {"paper": PantryConfig()}

    def make_memory(self, capacity: int) -> PantryMemory:
        """A memory limited by bytes if the settings give a limit, else by episodes."""
        return PantryMemory(capacity, self.method, self.generator)


class PantryMemory(ByteMemory):
    """Limited by bytes or episodes; if varied, drops episodes of the most frequent kind.

    Args:
        episodes: how many to keep at most, if the settings have no limit of bytes.
        method: the settings.
        generator: random choices.
    """

    def __init__(self, episodes: int, method: PantryConfig, generator: torch.Generator) -> None:
        super().__init__(method.memory_bytes or episodes, generator)
        self._method = method

    def is_too_large(self, item: MemoryItem) -> bool:
        """An episode is too large only under a limit in bytes."""
        return bool(self._method.memory_bytes) and super().is_too_large(item)

    def overflows(self) -> bool:
        """By bytes or by episodes."""
        if self._method.memory_bytes:
            return super().overflows()
        return len(self) > self.capacity

    def slot_to_drop(self) -> int:
        """The slot with the largest number, with ``varied`` among the most frequent kinds."""
        if not self._method.varied:
            return super().slot_to_drop()
        kinds = [kind_of(item.episode) for item in self._entries]
        counts = Counter(kinds)
        most = max(counts.values())
        frequent = [slot for slot, kind in enumerate(kinds) if counts[kind] == most]
        return max(frequent, key=self._draws.__getitem__)


def kind_of(episode: EncodedEpisode) -> frozenset[Action]:
    """The verbs that an episode uses, whatever their order and number."""
    done = {Action(int(one)) for one in episode.actions}
    return frozenset(action for action in done if action.is_interaction)
