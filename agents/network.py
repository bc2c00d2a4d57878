"""The two-branch network of CL-ALFRED: one branch says what to do, the other with which class.

Both read the instruction, attend to it at every step, turn what they attend to into point-wise
filters over the five views, and decode with an LSTM.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from agents.batch import START, Batch, ViewFeatures
from agents.branch import Branch, BranchLayers, Instruction
from agents.config import NetworkConfig
from agents.deferred import filter_views
from agents.dropout import DropoutMasks
from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass


@dataclass(frozen=True)
class Predictions:
    """What the network says about the N steps of a batch, I of them interactions.

    Args:
        action_logits: (N, A).
        class_logits: (I, K), at the steps ``batch.interactions``.
        progress: (2, N) in 0..1, from the action and from the class branch.
    """

    action_logits: Tensor
    class_logits: Tensor
    progress: Tensor

    def detach(self) -> Predictions:
        """The same values without their graph."""
        return Predictions(
            self.action_logits.detach(), self.class_logits.detach(), self.progress.detach()
        )


@dataclass(frozen=True)
class DecoderState:
    """Hidden and cell state of both branches and what was done last.

    Args:
        hidden: (2, B, H).
        cell: (2, B, H).
        action: (B,) previous action, ``START`` at first.
        object_class: (B,) previous class, ``NoObject`` at first.
    """

    hidden: Tensor
    cell: Tensor
    action: Tensor
    object_class: Tensor

    def after(self, action: Tensor, object_class: Tensor) -> DecoderState:
        """The state for the next step, once it is known what was done."""
        return replace(self, action=action, object_class=object_class)


@dataclass(frozen=True)
class StepPredictions:
    """What the network says about one step of B episodes: logits (B, A), (B, K), progress (B,)."""

    action_logits: Tensor
    class_logits: Tensor
    progress: Tensor


class TwoBranchNetwork(nn.Module):
    """Instruction, five views and the previous action in; action, class and progress out."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width = config.decoder_dim
        self.words = nn.Embedding(config.vocabulary, config.word_dim)
        self.action_embedding = nn.Embedding(len(Action) + 1, config.action_dim)
        self.class_embedding = (
            nn.Embedding(len(ObjectClass), config.previous_class_dim)
            if config.previous_class_dim
            else None
        )
        self.action_branch = Branch(config)
        self.class_branch = Branch(config)
        self.action_head = nn.Sequential(
            nn.Linear(width + config.input_dim, config.action_hidden),
            nn.ReLU(),
            nn.Linear(config.action_hidden, config.action_dim),
        )
        self.class_head = nn.Sequential(
            nn.Linear(width, config.class_hidden),
            nn.ReLU(),
            nn.Linear(config.class_hidden, len(ObjectClass)),
        )

    def read(self, tokens: Tensor, lengths: Tensor) -> tuple[Instruction, ...]:
        """Reads (B, L) instructions, once per branch."""
        words = self.words(tokens)
        return tuple(branch.read(words, lengths) for branch in self._branches)

    def forward(
        self, batch: Batch, masks: DropoutMasks | None = None, teacher_forcing: bool = True
    ) -> Predictions:
        """All steps of a batch; at time t only the episodes that last longer than t.

        Args:
            batch: the episodes.
            masks: switches dropout on.
            teacher_forcing: feed back the expert's previous action, or else the network's own.
        """
        order = sorted(range(len(batch)), key=lambda episode: -batch.lengths[episode])
        active = [sum(length > t for length in batch.lengths) for t in range(max(batch.lengths))]
        first_rows = batch.first_rows[order]
        rows = [first_rows[:n] + t for t, n in enumerate(active)]
        previous = self._previous(batch.previous_actions, batch.previous_classes)
        instructions = self.read(batch.tokens[order], batch.token_lengths[order])
        layers = self._layers(instructions)
        state = self.initial_state(instructions)
        hidden, cell = list(state.hidden), list(state.cell)
        steps: list[list[Tensor]] = []
        for t, n in enumerate(active):
            maps = partial(batch.maps, order[:n], t, previous.dtype)
            hidden, cell = [h[:n] for h in hidden], [c[:n] for c in cell]
            before = previous[rows[t]]
            if not teacher_forcing and t > 0:
                before = self._own_choice([branch[:n] for branch in steps[-1]])
            inputs, hidden, cell = self._step(
                layers, maps, batch.map_scale, before, hidden, cell, masks
            )
            steps.append([torch.cat(pair, 1) for pair in zip(hidden, inputs)])
        episode_by_episode = torch.cat(rows).argsort()
        decoded = [torch.cat(branch)[episode_by_episode] for branch in zip(*steps)]
        return Predictions(
            self._action_logits(decoded[0]),
            self._class_logits(decoded[1][batch.interactions]),
            self._progress(decoded),
        )

    def initial_state(self, instructions: tuple[Instruction, ...]) -> DecoderState:
        """The decoder's state before the first step of each instruction's episode."""
        hidden = torch.stack([instruction.start for instruction in instructions])
        count, device = hidden.shape[1], hidden.device
        return DecoderState(
            hidden,
            torch.zeros_like(hidden),
            torch.full((count,), START, device=device),
            torch.full((count,), int(ObjectClass.NoObject), device=device),
        )

    def step(
        self, views: Tensor, instructions: tuple[Instruction, ...], state: DecoderState
    ) -> tuple[StepPredictions, DecoderState]:
        """One step of B episodes, without dropout, for acting.

        Args:
            views: (B, V, C, S) feature maps; uint8 stands for value / 255.
            instructions: from ``read``.
            state: from ``initial_state``, later ``state.after(...)`` of the step before.
        """
        previous = self._previous(state.action, state.object_class)
        scale = ViewFeatures.scale_of(views)
        inputs, hidden, cell = self._step(
            self._layers(instructions),
            lambda: views.to(previous.dtype),
            scale,
            previous,
            list(state.hidden),
            list(state.cell),
            None,
        )
        decoded = [torch.cat(pair, 1) for pair in zip(hidden, inputs)]
        predictions = StepPredictions(
            self._action_logits(decoded[0]),
            self._class_logits(decoded[1]),
            self._progress(decoded).mean(0),
        )
        return predictions, replace(state, hidden=torch.stack(hidden), cell=torch.stack(cell))

    def _step(
        self,
        layers: list[BranchLayers],
        maps: Callable[[], Tensor],
        map_scale: float,
        previous: Tensor,
        hidden: list[Tensor],
        cell: list[Tensor],
        masks: DropoutMasks | None,
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Decoder inputs, hidden and cell states of both branches after one step.

        The filters of both branches go over the views together, which reads the maps once.
        """
        config = self.config
        attended = [
            branch.attend(layer, h) for branch, layer, h in zip(self._branches, layers, hidden)
        ]
        filters = torch.cat([filters for _, filters in attended], 1)
        filters = filters * (map_scale * config.channels**-0.5)
        keep = None
        if masks is not None:
            shape = (len(previous), config.views, config.channels, config.cells)
            keep, filters = masks.keep(torch.Size(shape)), filters * masks.scale
        responses = filter_views(filters, keep, maps).split(config.filters, 2)
        inputs = [
            torch.cat([visual.flatten(1), language, previous], 1)
            for visual, (language, _) in zip(responses, attended)
        ]
        states = [
            branch.decode(layer, x, h, c)
            for branch, layer, x, h, c in zip(self._branches, layers, inputs, hidden, cell)
        ]
        if masks is not None:
            states = [(masks.drop(h), masks.drop(c)) for h, c in states]
        return inputs, [h for h, _ in states], [c for _, c in states]

    def _layers(self, instructions: tuple[Instruction, ...]) -> list[BranchLayers]:
        return [branch.start(read) for branch, read in zip(self._branches, instructions)]

    @property
    def _branches(self) -> tuple[Branch, Branch]:
        return self.action_branch, self.class_branch

    def _previous(self, actions: Tensor, classes: Tensor) -> Tensor:
        action = self.action_embedding(actions)
        if self.class_embedding is None:
            return action
        return torch.cat([action, self.class_embedding(classes)], -1)

    def _own_choice(self, decoded: list[Tensor]) -> Tensor:
        with torch.no_grad():
            actions = self._action_logits(decoded[0]).argmax(1)
            classes = self._class_logits(decoded[1]).argmax(1)
        interacts = (actions >= int(Action.PickupObject)) & (actions <= int(Action.SliceObject))
        return self._previous(actions, classes * interacts)

    def _action_logits(self, decoded: Tensor) -> Tensor:
        legal = self.action_embedding.weight[: len(Action)]
        return self.action_head(decoded) @ legal.t()

    def _class_logits(self, decoded: Tensor) -> Tensor:
        return self.class_head(decoded[:, : self.config.decoder_dim])

    def _progress(self, decoded: list[Tensor]) -> Tensor:
        scores = [branch.progress(x).squeeze(1) for branch, x in zip(self._branches, decoded)]
        return torch.sigmoid(torch.stack(scores))
