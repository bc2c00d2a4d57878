"""An agent of your own: a small transformer that sees class grids instead of feature maps.

At each step it lays the instruction's words, a coarse grid of the classes in each of five views and
what it did before side by side, lets all attend to all, and reads its decision from one place. It
has no memory but its last actions, so acting and training are the same computation.

An installed package registers it by an entry point, and every command knows it by ``--agent``:

    [project.entry-points."clalfred.agents"]
    grid-transformer = "my_package.agents:GridTransformer"
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from clalfred.agents.agent import (
    LABELS,
    Agent,
    AgentConfig,
    Decision,
    Head,
    Observation,
    Outputs,
    State,
)
from clalfred.agents.episode import START, Batch
from clalfred.agents.registry import register_agent
from gym_clalfred.language.tokenizer import Tokenizer

GRID, VIEWS, WORDS = 4, 5, 64  # cells per side, views, words that are read


@dataclass(frozen=True)
class GridConfig(AgentConfig):
    """Adds the transformer's width, layers and heads of attention."""

    width: int = 64
    layers: int = 2
    attention_heads: int = 4


class GridTransformer(Agent):
    """Words, class grids and the previous action attend to each other; no encoder is needed."""

    config: GridConfig
    observes = frozenset({"classes"})
    sight = f"class-grid-{GRID}"
    presets: ClassVar[Mapping[str, AgentConfig]] = {
        "small": GridConfig(batch_size=8, image_size=32),
        "large": GridConfig(batch_size=32, image_size=84, width=256, layers=6),
    }

    def __init__(self, config: GridConfig, encoder: None = None) -> None:
        super().__init__(config, encoder)
        width, cells = config.width, VIEWS * GRID**2
        self.words = nn.Embedding(len(Tokenizer.default().words), width, padding_idx=0)
        self.classes = nn.Embedding(LABELS["class"], width)
        self.actions = nn.Embedding(START + 1, width)
        self.places = nn.Parameter(0.02 * torch.randn(1 + cells + WORDS, width))
        layer = nn.TransformerEncoderLayer(
            width, config.attention_heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        self.heads = nn.ModuleDict({name: nn.Linear(width, n) for name, n in LABELS.items()})

    def see(
        self, observations: Sequence[Observation], memories: Sequence[Any], previous: Tensor
    ) -> dict[str, Tensor]:
        """(n, V * G * G) the class in the middle of each cell of each view."""
        classes = np.stack([observation["classes"] for observation in observations])
        size = classes.shape[-1]
        middles = (2 * np.arange(GRID) + 1) * size // (2 * GRID)
        grid = classes[:, :, middles][:, :, :, middles].reshape(len(classes), -1)
        return {"grid": torch.from_numpy(grid.astype(np.uint8)).to(self.device)}

    def forward(
        self, batch: Batch, generator: torch.Generator | None = None, teacher_forcing: bool = True
    ) -> Outputs:
        """Every step is a sequence of its own, so all steps of a batch are one big batch."""
        seen = torch.cat([views["grid"] for views in batch.views])
        previous = torch.stack([batch.previous_actions, batch.previous_classes], 1)
        said = self._decide(seen, batch.tokens[batch.episode, :WORDS], previous)
        interactions = batch.interactions
        return Outputs(
            {
                "action": Head(said["action"], batch.actions, batch.lengths),
                "class": Head(
                    said["class"][interactions],
                    batch.classes[interactions],
                    batch.interaction_counts,
                ),
            },
            torch.zeros(len(batch), device=self.device),
        )

    def start(self, tokens: Tensor, lengths: Tensor) -> State:
        """It only remembers the words."""
        return {"tokens": tokens[:, :WORDS]}

    def act(
        self, seen: Mapping[str, Tensor], state: State, previous: Tensor, memories: Sequence[Any]
    ) -> tuple[Decision, State]:
        """The same computation for one step."""
        said = self._decide(seen["grid"], state["tokens"], previous)
        return Decision(said["action"], said["class"]), {}

    def _decide(self, grid: Tensor, tokens: Tensor, previous: Tensor) -> dict[str, Tensor]:
        before = self.actions(previous[:, :1]) + self.classes(previous[:, 1:])
        tokens = nn.functional.pad(tokens, (0, WORDS - tokens.shape[1]))
        parts = torch.cat([before, self.classes(grid.long()), self.words(tokens)], 1)
        hidden = torch.zeros_like(parts[:, :, 0], dtype=torch.bool)
        hidden[:, -WORDS:] = tokens == 0
        read = self.body(parts + self.places, src_key_padding_mask=hidden)[:, 0]
        return {name: head(read) for name, head in self.heads.items()}


def main() -> None:
    """Registers the agent, trains it with ER, evaluates it, saves and loads it."""
    from clalfred.cl.experiment import RunConfig, train
    from clalfred.cl.experiment.agent_file import load_agent
    from clalfred.cl.report.text import summary_table

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="runs/examples/own-agent")
    parser.add_argument("--episodes-per-task", type=int, default=4)
    parser.add_argument("--max-steps", type=int, default=50)
    arguments: Any = parser.parse_args()

    register_agent("grid-transformer", GridTransformer)
    config = RunConfig(
        method="er", agent="grid-transformer", tier="tiny", evaluation_episodes=1,
        episodes_per_task=arguments.episodes_per_task, max_steps=arguments.max_steps,
    )  # fmt: skip
    print(summary_table(train(config, arguments.out, media=False)))
    policy, _ = load_agent(arguments.out)
    weights = sum(one.numel() for one in policy.agent.parameters())
    print(f"{type(policy.agent).__name__} loaded again, {weights:,} parameters")


if __name__ == "__main__":
    main()
