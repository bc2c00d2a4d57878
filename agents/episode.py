"""Demonstrations as tensors, and ragged batches of them without padded steps."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError, UsageError
from gym_clalfred.objects import ObjectClass

#: The "previous action" at the first step of an episode.
START = len(Action)

#: Index of the padding word; the tokenizer reserves it.
PADDING = 0


@dataclass(frozen=True)
class EncodedViews:
    """An agent's encoding of a demonstration's views, see ``Agent.encode``.

    Args:
        tensors: by name; only the agent knows what they are.
        name: their key in a store; checkpoints then hold only the name.
    """

    tensors: Mapping[str, Tensor]
    name: str = ""

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], lookup: Callable[[str], EncodedViews] | None = None
    ) -> EncodedViews:
        """The inverse of ``state_dict``."""
        if not state["name"]:
            views = cls(state["tensors"])
        elif lookup is None:
            raise UsageError(
                f"the views {state['name']!r} are in a store, not in the checkpoint: load it with "
                "views=store.load"
            )
        else:
            views = lookup(state["name"])
        return views.packed() if state["packed"] else views

    def state_dict(self) -> dict[str, Any]:
        """The tensors, or only their name if a store has them."""
        packed = isinstance(self.tensors, PackedTensors)
        if self.name:
            return {"name": self.name, "packed": packed}
        return {"name": "", "packed": packed, "tensors": dict(self.tensors)}

    def to(self, device: torch.device) -> EncodedViews:
        """The same on a device."""
        return replace(self, tensors={name: one.to(device) for name, one in self.tensors.items()})

    def packed(self) -> EncodedViews:
        """The same, compressed."""
        return replace(self, tensors=PackedTensors(self.tensors))

    @property
    def bytes(self) -> int:
        """Size of the tensors in bytes."""
        if isinstance(self.tensors, PackedTensors):
            return self.tensors.bytes
        return sum(one.numel() * one.element_size() for one in self.tensors.values())


class PackedTensors(Mapping[str, Tensor]):
    """Tensors by name, compressed without loss and unpacked at each use."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._shapes = {name: (one.dtype, one.shape) for name, one in tensors.items()}
        self._packed = {
            name: zlib.compress(one.cpu().contiguous().view(torch.uint8).numpy().tobytes(), 9)
            for name, one in tensors.items()
        }

    def __getitem__(self, name: str) -> Tensor:
        dtype, shape = self._shapes[name]
        content = bytearray(zlib.decompress(self._packed[name]))
        if not content:
            return torch.empty(shape, dtype=dtype)
        return torch.frombuffer(content, dtype=dtype).view(shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    @property
    def bytes(self) -> int:
        """Their compressed size in bytes."""
        return sum(map(len, self._packed.values()))


@dataclass(frozen=True)
class EncodedEpisode:
    """One expert episode as a learner sees it; T steps, the last of them Stop.

    Args:
        key: opaque name, equal only for the same episode.
        views: the encoded views.
        tokens: (L,) int64 words of the step-by-step instructions.
        actions: (T,) int64 values of ``Action``.
        classes: (T,) int64 values of ``ObjectClass``; ``NoObject`` except at interactions.
        augmented: the same views under other augmentations; one is drawn at each use.
        label: the episode's behaviour or room type, for learners that declare ``needs_labels``.
        starts_task: whether a task begins here, for learners that declare ``needs_boundaries``.
    """

    key: str
    views: EncodedViews
    tokens: Tensor
    actions: Tensor
    classes: Tensor
    augmented: tuple[EncodedViews, ...] = ()
    label: str | None = None
    starts_task: bool | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.actions), len(self.classes)}
        if len(lengths) != 1 or 0 in lengths or not len(self.tokens):
            raise BadInputError(
                f"demonstration {self.key!r}: expected actions and classes of one length above 0 "
                f"and at least one token, found {len(self.actions)} and {len(self.classes)} steps "
                f"and {len(self.tokens)} tokens"
            )

    def __len__(self) -> int:
        return len(self.actions)

    def packed(self) -> EncodedEpisode:
        """The same, its views compressed."""
        augmented = tuple(one.packed() for one in self.augmented)
        return replace(self, views=self.views.packed(), augmented=augmented)

    def state_dict(self) -> dict[str, Any]:
        """The episode as tensors and plain values; views in a store are saved by name only."""
        return {
            **{name: getattr(self, name) for name in _PLAIN_FIELDS},
            "views": self.views.state_dict(),
            "augmented": [views.state_dict() for views in self.augmented],
        }

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], lookup: Callable[[str], EncodedViews] | None = None
    ) -> EncodedEpisode:
        """The inverse of ``state_dict``; ``lookup`` finds views in their store by name."""
        return cls(
            **{name: state[name] for name in _PLAIN_FIELDS},
            views=EncodedViews.from_state_dict(state["views"], lookup),
            augmented=tuple(
                EncodedViews.from_state_dict(one, lookup) for one in state["augmented"]
            ),
        )


_PLAIN_FIELDS = ("key", "tokens", "actions", "classes", "label", "starts_task")


@dataclass(frozen=True)
class Batch:
    """B episodes with N steps in total, concatenated episode by episode.

    Only the tokens are padded; ``token_lengths`` says where each instruction ends.

    Args:
        views: the encoded views of each episode.
        tokens: (B, L) int64.
        token_lengths: (B,) int64.
        actions: (N,) int64.
        classes: (N,) int64.
        lengths: the number of steps of each episode.
    """

    views: tuple[EncodedViews, ...]
    tokens: Tensor
    token_lengths: Tensor
    actions: Tensor
    classes: Tensor
    lengths: tuple[int, ...] = field(default=())

    @classmethod
    def of(
        cls,
        episodes: Sequence[EncodedEpisode],
        generator: torch.Generator | None = None,
    ) -> Batch:
        """Puts episodes together.

        Args:
            episodes: to concatenate.
            generator: draws an augmentation of each episode.
        """
        if not episodes:
            raise BadInputError("a batch needs at least one episode, found none")
        return cls(
            views=tuple(_draw_views(one, generator) for one in episodes),
            tokens=torch.nn.utils.rnn.pad_sequence(
                [one.tokens for one in episodes],
                batch_first=True,
                padding_value=PADDING,
            ),
            token_lengths=torch.tensor([len(one.tokens) for one in episodes]),
            actions=torch.cat([one.actions for one in episodes]),
            classes=torch.cat([one.classes for one in episodes]),
            lengths=tuple(len(one) for one in episodes),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device) -> Batch:
        """The same batch on a device."""
        names = ("tokens", "token_lengths", "actions", "classes")
        return replace(
            self,
            views=tuple(one.to(device) for one in self.views),
            **{name: getattr(self, name).to(device) for name in names},
        )

    @cached_property
    def first_rows(self) -> Tensor:
        """(B,) the row of each episode's first step."""
        lengths = torch.tensor(self.lengths, device=self.actions.device)
        return lengths.cumsum(0) - lengths

    @cached_property
    def episode(self) -> Tensor:
        """(N,) the index of each step's episode."""
        device = self.actions.device
        lengths = torch.tensor(self.lengths, device=device)
        return torch.repeat_interleave(torch.arange(len(self), device=device), lengths)

    @cached_property
    def previous_actions(self) -> Tensor:
        """(N,) the expert's action one step before, ``START`` at first steps."""
        return self._previous(self.actions, START)

    @cached_property
    def previous_classes(self) -> Tensor:
        """(N,) the expert's class one step before, ``NoObject`` at first steps."""
        return self._previous(self.classes, int(ObjectClass.NoObject))

    @cached_property
    def interactions(self) -> Tensor:
        """(I,) rows of the steps that interact with an object, in order."""
        return (self.classes != int(ObjectClass.NoObject)).nonzero().flatten()

    @cached_property
    def interaction_counts(self) -> tuple[int, ...]:
        """The number of interactions of each episode."""
        counts = torch.bincount(self.episode[self.interactions], minlength=len(self))
        return tuple(counts.tolist())

    @cached_property
    def progress(self) -> Tensor:
        """(N,) share of the episode done after each step, (t + 1) / T."""
        lengths = torch.tensor(self.lengths, device=self.actions.device)
        step = torch.arange(len(self.actions), device=self.actions.device)
        step = step - self.first_rows[self.episode]
        return (step + 1).float() / lengths[self.episode]

    def _previous(self, values: Tensor, at_start: int) -> Tensor:
        shifted = torch.roll(values, 1)
        shifted[self.first_rows] = at_start
        return shifted


def _draw_views(episode: EncodedEpisode, generator: torch.Generator | None) -> EncodedViews:
    if generator is None or not episode.augmented:
        return episode.views
    choice = int(torch.randint(len(episode.augmented) + 1, (), generator=generator))
    return episode.views if choice == 0 else episode.augmented[choice - 1]
