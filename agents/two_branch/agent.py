"""The paper's agent: two branches, one says what to do, the other with which class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from clalfred.agents.agent import Agent, AgentConfig, Decision, Head, Observation, Outputs, State
from clalfred.agents.episode import Batch
from clalfred.agents.losses import mean_by_episode
from clalfred.agents.two_branch.config import TwoBranchConfig
from clalfred.agents.two_branch.dropout import DropoutMasks
from clalfred.agents.two_branch.maps import distinct_views
from clalfred.agents.two_branch.network import DecoderState, TwoBranchNetwork
from clalfred.agents.two_branch.reader import Instructions
from clalfred.agents.vision.encoder import CachedEncoder, VisualEncoder
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.stream import DemonstratedAction


class MapAgent(Agent):
    """An agent that keeps feature maps of the views, and encodes every distinct view once."""

    config: TwoBranchConfig
    encoder: VisualEncoder

    def __init__(self, config: TwoBranchConfig, encoder: VisualEncoder) -> None:
        super().__init__(config, encoder)
        self._cached = CachedEncoder(encoder)

    def see(
        self, observations: Sequence[Observation], memories: Sequence[Any], previous: Tensor
    ) -> dict[str, Tensor]:
        """Feature maps (n, V, C, S)."""
        views = np.stack([observation["rgb"] for observation in observations])
        maps = self._cached.encode(views.reshape(-1, *views.shape[2:]))
        return {"maps": maps.view(*views.shape[:2], *maps.shape[1:]).to(self.device)}

    def encode(
        self, observations: Iterable[Observation], actions: Sequence[DemonstratedAction]
    ) -> dict[str, Tensor]:
        """Feature maps of the distinct views, and which of them each view of each step shows."""
        return distinct_views(self.encoder, (one["rgb"] for one in observations))


class TwoBranch(MapAgent):
    """Kim, Seo, Choi, "Online Continual Learning for Interactive Instruction Following", 2024.

    Both branches read the instruction, attend to it at every step, turn what they attend to into
    point-wise filters over the feature maps of five views, and decode with an LSTM. A progress
    monitor in each branch is an auxiliary loss.
    """

    presets: ClassVar[Mapping[str, AgentConfig]] = {
        "small": TwoBranchConfig.small(),
        "paper": TwoBranchConfig.paper(),
    }
    can_feed_back = True

    def __init__(self, config: TwoBranchConfig, encoder: VisualEncoder) -> None:
        super().__init__(config, encoder)
        self.network = TwoBranchNetwork(filled(config, encoder))

    def forward(
        self, batch: Batch, generator: torch.Generator | None = None, teacher_forcing: bool = True
    ) -> Outputs:
        """Actions at all steps, classes at interactions; the progress monitors' squared error."""
        masks = None
        if generator is not None and self.config.dropout:
            masks = DropoutMasks(self.config.dropout, generator, self.device)
        said = self.network(batch, masks, teacher_forcing)
        error = ((said.progress - batch.progress) ** 2).sum(0)
        return Outputs(
            {
                "action": Head(said.action_logits, batch.actions, batch.lengths),
                "class": Head(
                    said.class_logits,
                    batch.classes[batch.interactions],
                    batch.interaction_counts,
                ),
            },
            mean_by_episode(error, batch.lengths),
        )

    def start(self, tokens: Tensor, lengths: Tensor) -> State:
        """What the branches read, and the decoders' first states."""
        read = self.network.read(tokens, lengths)
        state = self.network.initial_state(read)
        return {
            "values": read.values,
            "keys": read.keys,
            "valid": read.valid,
            "hidden": state.hidden.transpose(0, 1),
            "cell": state.cell.transpose(0, 1),
        }

    def act(
        self, seen: Mapping[str, Tensor], state: State, previous: Tensor, memories: Sequence[Any]
    ) -> tuple[Decision, State]:
        """One step of both decoders."""
        hidden, cell = (state[name].transpose(0, 1).contiguous() for name in ("hidden", "cell"))
        read = Instructions(state["values"], state["keys"], state["valid"], hidden)
        decoder = DecoderState(hidden, cell, previous[:, 0], previous[:, 1])
        said, decoder = self.network.step(seen["maps"], read, decoder)
        changed = {"hidden": decoder.hidden.transpose(0, 1), "cell": decoder.cell.transpose(0, 1)}
        return Decision(said.action_logits, said.class_logits, said.progress), changed


def filled(config: TwoBranchConfig, encoder: VisualEncoder) -> TwoBranchConfig:
    """The config with the sizes that the tokenizer and the encoder decide, where it has none."""
    return replace(
        config,
        vocabulary=config.vocabulary or len(Tokenizer.default().words),
        channels=encoder.channels,
        cells=encoder.cells,
    )
