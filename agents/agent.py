"""The agent interface: all that methods, runs, rollouts and files know about a network.

An agent is a ``torch.nn.Module`` that says what it observes, keeps a compact form of what a
demonstration shows, predicts every step of a batch in named heads, and acts step by step. To add
one, write a subclass in a file of your own and register it, see ``clalfred.agents.registry``.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from typing_extensions import Self

from clalfred.agents.episode import Batch, EncodedEpisode
from clalfred.agents.vision.encoder import VisualEncoder
from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.stream import DemonstratedAction

#: What an environment shows: ``rgb``, ``classes``, ``instances``, ``depth`` and the words.
Observation = Mapping[str, Any]

#: An agent's recurrent state; the first dimension of every tensor is the episode.
State = dict[str, Tensor]

#: How many labels each head has.
LABELS: Mapping[str, int] = {"action": len(Action), "class": len(ObjectClass)}


@dataclass(frozen=True)
class Head:
    """One kind of decision, at the steps of a batch where it counts, episode by episode.

    Args:
        logits: (n, L).
        targets: (n,) the expert's labels.
        counts: how many of the n rows belong to each episode.
        weights: (n,) of each row's cross-entropy; ``None`` for 1.
    """

    logits: Tensor
    targets: Tensor
    counts: tuple[int, ...]
    weights: Tensor | None = None

    def first(self, episodes: int) -> Head:
        """The rows of the first few episodes."""
        rows = sum(self.counts[:episodes])
        weights = None if self.weights is None else self.weights[:rows]
        return Head(self.logits[:rows], self.targets[:rows], self.counts[:episodes], weights)

    def by_episode(self) -> list[tuple[Tensor, Tensor]]:
        """(logits, targets) of each episode."""
        return list(zip(self.logits.split(self.counts), self.targets.split(self.counts)))


@dataclass(frozen=True)
class Outputs:
    """An agent's predictions for the steps of a batch of B episodes.

    Args:
        heads: by name, ``action`` first; methods treat them all alike.
        auxiliary: (B,) the agent's own additional losses.
    """

    heads: dict[str, Head]
    auxiliary: Tensor

    def detach(self) -> Outputs:
        """The same values, detached from their graph."""
        heads = {name: replace(one, logits=one.logits.detach()) for name, one in self.heads.items()}
        return Outputs(heads, self.auxiliary.detach())

    def logits_by_episode(self) -> list[dict[str, Tensor]]:
        """The logits of each episode, by head."""
        parts = {name: head.logits.split(head.counts) for name, head in self.heads.items()}
        return [dict(zip(parts, row)) for row in zip(*parts.values())]

    def targets_by_episode(self) -> list[dict[str, Tensor]]:
        """The labels of each episode, by head."""
        parts = {name: head.targets.split(head.counts) for name, head in self.heads.items()}
        return [dict(zip(parts, row)) for row in zip(*parts.values())]


@dataclass(frozen=True)
class Decision:
    """What an agent would do next in B episodes.

    Args:
        action_logits: (B, A).
        class_logits: (B, K), the class to interact with.
        progress: (B,) its estimate of the share of the episode done, 0..1; ``None`` without one.
        shown: more tensors to look at, by name, such as ``words`` (B, L), its attention to the
            instruction's tokens, or ``heat`` (B, V, h, w), where it looks.
    """

    action_logits: Tensor
    class_logits: Tensor
    progress: Tensor | None = None
    shown: Mapping[str, Tensor] = field(default_factory=dict)

    def row(self, index: int) -> Decision:
        """What it would do in one of the episodes."""
        one = slice(index, index + 1)
        progress = None if self.progress is None else self.progress[one]
        shown = {name: value[one] for name, value in self.shown.items()}
        return Decision(self.action_logits[one], self.class_logits[one], progress, shown)


@dataclass(frozen=True)
class AgentConfig:
    """Settings that every agent has; each kind adds its own.

    Args:
        batch_size: default number of episodes per update.
        updates: default number of updates per streamed episode; the paper makes one.
        learning_rate: default learning rate.
        max_gradient_norm: gradients are clipped to this norm; the paper's is 5.
        encoder: name of the visual encoder; empty for none.
        image_size: side of the observed views, unless the encoder decides it.
        reads_goal: whether it reads the goal sentence besides the step-by-step instructions.
        portable: give equal bits on all processors that ``clalfred.agents.numerics.arithmetic``
            supports.
    """

    batch_size: int = 32
    updates: float = 1.0
    learning_rate: float = 1e-3
    max_gradient_norm: float = 5.0
    encoder: str = ""
    image_size: int = 84
    reads_goal: bool = True
    portable: bool = True


class Agent(nn.Module, ABC):
    """A network together with its way of seeing and reading.

    Args:
        config: its settings, an instance of its own config class.
        encoder: the visual encoder, if ``config.encoder`` names one.
    """

    #: Its settings by name, instances of its config class; the first is the default.
    presets: ClassVar[Mapping[str, AgentConfig]]

    #: The images it uses: some of ``rgb``, ``classes``, ``instances`` and ``depth``.
    observes: frozenset[str] = frozenset({"rgb"})

    #: Whether it tells from its views that its last action worked; a blind one can then feel it.
    feels: ClassVar[bool] = False

    #: Whether it can be trained on its own choices instead of the expert's (no teacher forcing).
    can_feed_back: ClassVar[bool] = False

    def __init__(self, config: AgentConfig, encoder: VisualEncoder | None = None) -> None:
        super().__init__()
        if bool(config.encoder) != (encoder is not None):
            raise BadInputError(
                f"{type(self).__name__}: expected an encoder exactly if its config names one, "
                f"found config.encoder={config.encoder!r} and encoder={encoder!r}"
            )
        if encoder is None and type(self).sight is Agent.sight:
            raise TypeError(f"{type(self).__name__} sees without an encoder: override Agent.sight")
        self.config = config
        self.encoder = encoder

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    @property
    def image_size(self) -> int:
        """Side of the observed views in pixels."""
        return self.encoder.image_size if self.encoder is not None else self.config.image_size

    @property
    def sight(self) -> str:
        """Names what ``encode`` depends on besides the frames; the key of stored views.

        Agents that see without an encoder override it.
        """
        assert self.encoder is not None
        return self.encoder.name

    def twin(self) -> Self:
        """A copy with weights of its own and the same encoder."""
        shared = {id(self.encoder): self.encoder}
        return copy.deepcopy(self, shared)

    def new_memory(self) -> Any:
        """The memory of a new episode besides its state, such as a map; ``None`` for none.

        ``see`` may change it.
        """
        return None

    @abstractmethod
    def see(
        self, observations: Sequence[Observation], memories: Sequence[Any], previous: Tensor
    ) -> dict[str, Tensor]:
        """Perceives one step of n episodes: tensors with n rows, without gradients.

        Args:
            observations: of each environment.
            memories: from ``new_memory``, one per episode.
            previous: (n, 2) as for ``act``.
        """

    def encode(
        self, observations: Iterable[Observation], actions: Sequence[DemonstratedAction]
    ) -> dict[str, Tensor]:
        """The compact form of a whole demonstration's views, made once and stored.

        By default what ``see`` gives, one row per step, without memory; ``forward`` finds it in
        ``batch.views``.

        Args:
            observations: what the expert saw before each action.
            actions: what it did; all annotations of a trajectory share the result.
        """
        nothing = torch.zeros(1, 2, dtype=torch.long)
        rows = [self.see([observation], [None], nothing) for observation in observations]
        return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}

    def collate(
        self, episodes: Sequence[EncodedEpisode], generator: torch.Generator | None = None
    ) -> Batch:
        """Makes a batch of episodes; with a generator, draws an augmentation of each."""
        return Batch.of(episodes, generator).to(self.device)

    @abstractmethod
    def forward(
        self,
        batch: Batch,
        generator: torch.Generator | None = None,
        teacher_forcing: bool = True,
    ) -> Outputs:
        """Predicts every step of a batch.

        Args:
            batch: from ``collate``.
            generator: if given, dropout is on and drawn from it.
            teacher_forcing: feed the expert's previous actions, not the agent's own choices.
        """

    @abstractmethod
    def start(self, tokens: Tensor, lengths: Tensor) -> State:
        """Reads the instructions of B new episodes.

        Args:
            tokens: (B, L).
            lengths: (B,) number of tokens without padding.
        """

    @abstractmethod
    def act(
        self, seen: Mapping[str, Tensor], state: State, previous: Tensor, memories: Sequence[Any]
    ) -> tuple[Decision, State]:
        """One step of B episodes, without dropout and without gradients.

        Args:
            seen: from ``see``, B rows.
            state: from ``start``, then from the previous call.
            previous: (B, 2) the previous action (``START`` at first) and its class.
            memories: of the episodes; only ``see`` may change them.

        Returns:
            The decision, and the changed parts of the state.
        """
