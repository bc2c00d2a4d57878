"""Instructions beside what they describe, for a person to judge, and their length beside ALFRED's.

    python -m benchmarks.instructions --tier small --count 20 --out sheets

Each picture shows one trajectory: the view at the start and after each high-level step of the
expert, with every annotation of that step and the actions it took.
"""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.tiers import tier_source
from gym_clalfred.data.trajectory import ExpertAction, Split, Trajectory
from gym_clalfred.language.tokenizer import split_words
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator

#: Mean and maximum of the tokens of ALFRED's training instructions, goals not counted.
ALFRED_TOKENS = (83.6, 374)

TILE, TEXT, COLUMNS, LETTERS = 240, 320, 5, 38
_SHORT = {
    Action.MoveAhead: "M",
    Action.RotateLeft: "L",
    Action.RotateRight: "R",
    Action.LookUp: "u",
    Action.LookDown: "d",
}


def main() -> None:
    """Draws the sheets and prints the lengths."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tier", default="small", choices=TIERS)
    parser.add_argument("--split", default="train", choices=[split.value for split in Split])
    parser.add_argument("--count", type=int, default=20, help="trajectories to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--out", type=Path, default=Path("instructions"), help="folder")
    options = parser.parse_args()
    source = tier_source(options.tier)
    print_lengths(source)
    entries = [e for e in source.entries(Split(options.split)) if e.key.annotation == 0]
    sample = np.random.default_rng(options.seed).permutation(len(entries))[: options.count]
    simulator = EmbeddedSimulator(RenderOptions(image_size=TILE, instances=False))
    options.out.mkdir(parents=True, exist_ok=True)
    for number, index in enumerate(sample):
        trajectory = source.episode(entries[index].key).trajectory
        path = options.out / f"{number:02d}.png"
        sheet(simulator, trajectory).save(path)
        print(f"{path}  {entries[index].key}")
    simulator.close()


def print_lengths(source: EpisodeSource) -> None:
    """Tokens of the step-by-step instructions of each split."""
    for split in Split:
        counts = [
            sum(len(split_words(step)) for step in source.episode(entry.key).annotation.steps)
            for entry in source.entries(split)
        ]
        print(
            f"{split.value}: {len(counts)} episodes, tokens mean {np.mean(counts):.1f}, "
            f"max {max(counts)} (ALFRED train {ALFRED_TOKENS[0]}, {ALFRED_TOKENS[1]})"
        )


def sheet(simulator: EmbeddedSimulator, trajectory: Trajectory) -> Image.Image:
    """The views of one trajectory in reading order, with their texts."""
    annotations = trajectory.annotations
    simulator.reset(trajectory.scene)
    tiles = [_tile(simulator, "start", [annotation.goal for annotation in annotations])]
    for number, step in enumerate(trajectory.plan):
        actions = [action for action in trajectory.actions if action.step == number]
        for action in actions:
            simulator.step(action.action, action.object_id)
        words = [annotation.steps[number] for annotation in annotations]
        tiles.append(_tile(simulator, f"{step.action} {_brief(actions)}", words))
    rows = -(-len(tiles) // COLUMNS)
    picture = Image.new("RGB", (COLUMNS * TILE, rows * (TILE + TEXT)), "white")
    for index, tile in enumerate(tiles):
        picture.paste(tile, (index % COLUMNS * TILE, index // COLUMNS * (TILE + TEXT)))
    return picture


def _tile(simulator: EmbeddedSimulator, title: str, texts: list[str]) -> Image.Image:
    tile = Image.new("RGB", (TILE, TILE + TEXT), "white")
    tile.paste(Image.fromarray(simulator.frame().rgb[0]), (0, 0))
    lines = textwrap.wrap(title, LETTERS)
    for text in texts:
        lines += textwrap.wrap(text, LETTERS, initial_indent="- ", subsequent_indent="  ")
    font = ImageFont.load_default(size=11)
    ImageDraw.Draw(tile).text((4, TILE + 3), "\n".join(lines), fill="black", font=font)
    return tile


def _brief(actions: list[ExpertAction]) -> str:
    return "".join(_SHORT.get(one.action, f" {one.action.name} ") for one in actions)


if __name__ == "__main__":
    main()
