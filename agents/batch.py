"""Demonstrations as tensors, and ragged batches of them in which no padding can matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError, UsageError
from gym_clalfred.objects import ObjectClass

#: What the decoder is told as "previous action" at the first step of an episode.
START = len(Action)

#: Maps of a batch up to this size are put together, which makes them quicker to look up.
MAX_JOINED_BYTES = 64_000_000

#: Index of the padding word; the tokenizer reserves it.
PADDING = 0


@dataclass(frozen=True)
class ViewFeatures:
    """Feature maps of all views of a demonstration, every distinct view kept once.

    Args:
        views: (U, C, S) maps of the U distinct views over S cells; int8 stands for value / 127.
        index: (T, V) int64, the row of ``views`` that each of the V views shows at each step.
        name: where a feature store keeps the maps; checkpoints then hold the name only.
    """

    views: Tensor
    index: Tensor
    name: str = ""

    @classmethod
    def from_dense(cls, maps: Tensor) -> ViewFeatures:
        """From maps (T, V, C, h, w) or (T, V, C, S) without looking for equal views."""
        steps, views = maps.shape[:2]
        return cls(maps.flatten(3).flatten(0, 1), torch.arange(steps * views).view(steps, views))

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], lookup: Callable[[str], ViewFeatures] | None = None
    ) -> ViewFeatures:
        """The inverse of ``state_dict``."""
        if not state["name"]:
            return cls(state["views"], state["index"])
        if lookup is None:
            raise UsageError(
                f"the maps {state['name']!r} are in a feature store, not in the checkpoint: load "
                "it with features=store.load"
            )
        return lookup(state["name"])

    def state_dict(self) -> dict[str, Any]:
        """The maps, or only their name if a store has them."""
        if self.name:
            return {"name": self.name}
        return {"name": "", "views": self.views, "index": self.index}

    def unseen(self) -> ViewFeatures:
        """As many steps that show nothing."""
        return ViewFeatures(torch.zeros_like(self.views[:1]), torch.zeros_like(self.index))

    def dense(self) -> Tensor:
        """(T, V, C, S) maps of every view at every step."""
        return self.views[self.index]

    def to(self, device: torch.device) -> ViewFeatures:
        """The same maps on a device."""
        return replace(self, views=self.views.to(device), index=self.index.to(device))

    @property
    def scale(self) -> float:
        """What turns the stored numbers into feature values."""
        return self.scale_of(self.views)

    @staticmethod
    def scale_of(maps: Tensor) -> float:
        """What turns the numbers of stored maps into feature values."""
        return 1 / 127 if maps.dtype == torch.int8 else 1.0

    def __len__(self) -> int:
        return len(self.index)


@dataclass(frozen=True)
class EncodedEpisode:
    """One expert episode as a learner sees it; T steps, the last of them Stop.

    Args:
        key: opaque name, equal only for the same episode.
        features: what the agent sees at each step.
        tokens: (L,) int64 words of the step-by-step instructions.
        actions: (T,) int64 values of ``Action``.
        classes: (T,) int64 values of ``ObjectClass``; ``NoObject`` away from interactions.
        augmented: the same views under other augmentations; one is drawn at each use.
        label: the episode's behaviour or room type, for learners that declare ``needs_labels``.
        starts_task: whether a task begins here, for learners that declare ``needs_boundaries``.
    """

    key: str
    features: ViewFeatures
    tokens: Tensor
    actions: Tensor
    classes: Tensor
    augmented: tuple[ViewFeatures, ...] = ()
    label: str | None = None
    starts_task: bool | None = None

    def __post_init__(self) -> None:
        lengths = {len(self.features), len(self.actions), len(self.classes)}
        if len(lengths) != 1 or 0 in lengths or not len(self.tokens):
            raise BadInputError(
                f"demonstration {self.key!r}: expected features, actions and classes of one "
                f"length above 0 and at least one token, found {len(self.features)}, "
                f"{len(self.actions)}, {len(self.classes)} steps and {len(self.tokens)} tokens"
            )

    def __len__(self) -> int:
        return len(self.actions)

    def state_dict(self) -> dict[str, Any]:
        """The episode as tensors and plain values; of maps in a store only the name."""
        return {
            **{name: getattr(self, name) for name in _PLAIN_FIELDS},
            "features": self.features.state_dict(),
            "augmented": [features.state_dict() for features in self.augmented],
        }

    @classmethod
    def from_state_dict(
        cls, state: Mapping[str, Any], lookup: Callable[[str], ViewFeatures] | None = None
    ) -> EncodedEpisode:
        """The inverse of ``state_dict``; ``lookup`` finds maps in their store by name."""
        return cls(
            **{name: state[name] for name in _PLAIN_FIELDS},
            features=ViewFeatures.from_state_dict(state["features"], lookup),
            augmented=tuple(
                ViewFeatures.from_state_dict(one, lookup) for one in state["augmented"]
            ),
        )


_PLAIN_FIELDS = ("key", "tokens", "actions", "classes", "label", "starts_task")


@dataclass(frozen=True)
class Batch:
    """B episodes of N steps in all, their steps one after another, episode by episode.

    Only the tokens are padded; ``token_lengths`` says where each instruction ends.

    Args:
        features: the maps of each episode, as stored; together they would need twice the memory.
        tokens: (B, L) int64.
        token_lengths: (B,) int64.
        actions: (N,) int64.
        classes: (N,) int64.
        lengths: the number of steps of each episode.
    """

    features: tuple[ViewFeatures, ...]
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
        blind: float = 0.0,
    ) -> Batch:
        """Puts episodes together.

        Args:
            episodes: one after the other.
            generator: each episode shows an augmentation that is drawn from it.
            blind: probability that an episode shows nothing, also drawn from it.
        """
        if not episodes:
            raise BadInputError("a batch needs at least one episode, found none")
        return cls(
            features=tuple(_draw_features(one, generator, blind) for one in episodes),
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
            features=tuple(one.to(device) for one in self.features),
            **{name: getattr(self, name).to(device) for name in names},
        )

    def maps(self, episodes: Sequence[int], step: int) -> Tensor:
        """(n, V, C, S) what n episodes show at a step, as stored, before ``map_scale``."""
        if self._joined is None:
            shown = [self.features[episode] for episode in episodes]
            views = shown[0].views
            maps = views.new_empty(len(shown), shown[0].index.shape[1], *views.shape[1:])
            for one, place in zip(shown, maps):
                torch.index_select(one.views, 0, one.index[step], out=place)
            return maps
        rows = self._joined.index[self.first_rows[episodes] + step]
        # Several times as fast as an index of two dimensions, which copies number by number.
        views = self._joined.views.index_select(0, rows.flatten())
        return views.unflatten(0, rows.shape)

    @cached_property
    def _joined(self) -> ViewFeatures | None:
        """The maps of all episodes as one table, unless it would take too much memory."""
        sizes = [one.views.numel() * one.views.element_size() for one in self.features]
        if sum(sizes) > MAX_JOINED_BYTES:
            return None
        index, offset = [], 0
        for features in self.features:
            index.append(features.index + offset)
            offset += len(features.views)
        return ViewFeatures(torch.cat([one.views for one in self.features]), torch.cat(index))

    @property
    def map_scale(self) -> float:
        """What turns the numbers of ``maps`` into feature values."""
        return self.features[0].scale

    @cached_property
    def first_rows(self) -> Tensor:
        """(B,) row of each episode's first step."""
        lengths = torch.tensor(self.lengths, device=self.actions.device)
        return lengths.cumsum(0) - lengths

    @cached_property
    def episode(self) -> Tensor:
        """(N,) number of the episode to which each step belongs."""
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


def _draw_features(
    episode: EncodedEpisode, generator: torch.Generator | None, blind: float
) -> ViewFeatures:
    if generator is None:
        return episode.features
    if blind and float(torch.rand((), generator=generator)) < blind:
        return episode.features.unseen()
    if not episode.augmented:
        return episode.features
    choice = int(torch.randint(len(episode.augmented) + 1, (), generator=generator))
    return episode.features if choice == 0 else episode.augmented[choice - 1]
