"""The two-branch network of CL-ALFRED: one branch says what to do, the other with which class.

Both read the instruction, attend to it at every step, turn what they attend to into point-wise
filters over the five views, and decode with an LSTM.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from clalfred.agents.episode import START, Batch
from clalfred.agents.two_branch.config import BRANCHES, TwoBranchConfig
from clalfred.agents.two_branch.dropout import DropoutMasks
from clalfred.agents.two_branch.fast.decoder import Decoder
from clalfred.agents.two_branch.maps import BatchMaps, scale_of
from clalfred.agents.two_branch.reader import InstructionReader, Instructions
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

    def __init__(self, config: TwoBranchConfig) -> None:
        super().__init__()
        self.config = config
        decoded = config.decoder_dim + config.input_dim
        self.reader = InstructionReader(config)
        self.decoder = Decoder(config)
        self.action_embedding = nn.Embedding(len(Action) + 1, config.action_dim)
        self.class_embedding = (
            nn.Embedding(len(ObjectClass), config.previous_class_dim)
            if config.previous_class_dim
            else None
        )
        self.action_head = nn.Sequential(
            nn.Linear(decoded, config.action_hidden),
            nn.ReLU(),
            nn.Linear(config.action_hidden, config.action_dim),
        )
        self.class_head = nn.Sequential(
            nn.Linear(
                decoded if config.class_reads_input else config.decoder_dim, config.class_hidden
            ),
            nn.ReLU(),
            nn.Linear(config.class_hidden, len(ObjectClass)),
        )
        self.progress_heads = nn.ModuleList([nn.Linear(decoded, 1) for _ in range(BRANCHES)])

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.action_embedding.weight.device

    def read(self, tokens: Tensor, lengths: Tensor) -> Instructions:
        """Reads (B, L) instructions."""
        instructions: Instructions = self.reader(tokens, lengths)
        return instructions

    def forward(
        self, batch: Batch, masks: DropoutMasks | None = None, teacher_forcing: bool = True
    ) -> Predictions:
        """All steps of a batch; at each time only the episodes that last so long.

        Args:
            batch: the episodes.
            masks: switches dropout on.
            teacher_forcing: feed back the expert's previous action, or else the network's own.
        """
        order = sorted(range(len(batch)), key=lambda episode: -batch.lengths[episode])
        active = [sum(length > t for length in batch.lengths) for t in range(max(batch.lengths))]
        first_rows = batch.first_rows[order]
        rows = torch.cat([first_rows[:n] + t for t, n in enumerate(active)])
        instructions = self.read(batch.tokens[order], batch.token_lengths[order])
        table = BatchMaps(batch)
        maps = [partial(table.at, order[:n], t) for t, n in enumerate(active)]
        previous = batch.previous_actions[rows], batch.previous_classes[rows]
        if not teacher_forcing:
            previous = self._own_choices(instructions, maps, table.scale, active, masks)
        decoded = self.decoder(
            instructions, self._previous(*previous), maps, table.scale, active, rows, masks
        ).unbind()
        return Predictions(
            self._action_logits(decoded[0]),
            self._class_logits(decoded[1][batch.interactions]),
            self._progress(decoded),
        )

    def initial_state(self, instructions: Instructions) -> DecoderState:
        """The decoder's state before the first step of each instruction's episode."""
        count, device = len(instructions.valid), self.device
        return DecoderState(
            instructions.start,
            torch.zeros_like(instructions.start),
            torch.full((count,), START, device=device),
            torch.full((count,), int(ObjectClass.NoObject), device=device),
        )

    def step(
        self, views: Tensor, instructions: Instructions, state: DecoderState
    ) -> tuple[StepPredictions, DecoderState]:
        """One step of B episodes, without dropout, for acting.

        Args:
            views: (B, V, C, S) feature maps; int8 stands for value / 127.
            instructions: from ``read``.
            state: from ``initial_state``, later ``state.after(...)`` of the step before.
        """
        previous = self._previous(state.action, state.object_class)
        step = self.decoder.start(instructions, scale_of(views))
        decoded, cell = step(previous, lambda: views, state.hidden, state.cell)
        predictions = StepPredictions(
            self._action_logits(decoded[0]),
            self._class_logits(decoded[1]),
            self._progress(decoded).mean(0),
        )
        hidden = decoded[:, :, : self.config.decoder_dim]
        return predictions, replace(state, hidden=hidden, cell=cell)

    @torch.no_grad()
    def _own_choices(
        self,
        instructions: Instructions,
        maps: list[partial[Tensor]],
        map_scale: float,
        active: list[int],
        masks: DropoutMasks | None,
    ) -> tuple[Tensor, Tensor]:
        """(N,) actions and classes that the network itself would have chosen one step before."""
        state = self.initial_state(instructions)
        hidden, cell, action, object_class = (
            state.hidden,
            state.cell,
            state.action,
            state.object_class,
        )
        actions, classes = [], []
        run = self.decoder.start(instructions, map_scale, masks)
        for n, now in zip(active, maps):
            actions.append(action[:n])
            classes.append(object_class[:n])
            decoded, cell = run(
                self._previous(actions[-1], classes[-1]), now, hidden[:, :n], cell[:, :n]
            )
            hidden = decoded[:, :, : self.config.decoder_dim]
            action = self._action_logits(decoded[0]).argmax(1)
            interacts = (action >= int(Action.PickupObject)) & (action <= int(Action.SliceObject))
            object_class = self._class_logits(decoded[1]).argmax(1) * interacts
        if masks is not None:
            masks.rewind()
        return torch.cat(actions), torch.cat(classes)

    def _previous(self, actions: Tensor, classes: Tensor) -> Tensor:
        action = self.action_embedding(actions)
        if self.class_embedding is None:
            return action
        return torch.cat([action, self.class_embedding(classes)], -1)

    def _action_logits(self, decoded: Tensor) -> Tensor:
        legal = self.action_embedding.weight[: len(Action)]
        return self.action_head(decoded) @ legal.t()

    def _class_logits(self, decoded: Tensor) -> Tensor:
        if self.config.class_reads_input:
            return self.class_head(decoded)
        return self.class_head(decoded[:, : self.config.decoder_dim])

    def _progress(self, decoded: Iterable[Tensor]) -> Tensor:
        scores = [head(x).squeeze(1) for head, x in zip(self.progress_heads, decoded)]
        return torch.sigmoid(torch.stack(scores))
