"""An object class of your own: oranges, which ALFRED does not have.

A class is one record (size, words, what can be done with it, in which rooms it lies and where it
belongs) and one function that draws it. It gets the label after ALFRED's 119, so agents trained
with it have one class more. Rooms and furniture stay the same; small things lie elsewhere.

Labels are fixed when the package is imported, so a class must be installed, with an entry point:

    [project.entry-points."clalfred.classes"]
    Orange = "my_package.classes:ORANGE"

This script installs itself into a folder of its own and starts again from there.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from gym_clalfred.classes.record import ClassRecord

ORANGE = ClassRecord(
    size=(0.085, 0.082, 0.085, 0.1),
    words="orange",
    traits="pickupable coolable cleanable",
    rooms=(30, 0, 0, 0),  # in all kitchens
    goes_in="Bowl CoffeeTable CounterTop DiningTable Fridge GarbageCan Plate SideTable SinkBasin",
    target_count=4000,  # ten times as often asked for as a tomato
    draw=f"{Path(__file__).stem}:draw_orange",
)


def draw_orange(builder: Any, size: tuple[float, float, float], style: int, look: Any) -> None:
    """A ball with a green stalk; the styles differ in colour."""
    from gym_clalfred.simulator.embedded.catalog.style import choose
    from gym_clalfred.simulator.embedded.render.mesh import Paint

    r, h = size[0] / 2, size[1]
    peel = choose(style, "peel", (Paint((240, 140, 30)), Paint((226, 118, 24))))
    profile = [(0.4 * r, 0.0), (0.9 * r, 0.2 * h), (r, 0.5 * h), (0.9 * r, 0.8 * h), (0.2 * r, h)]
    builder.lathe(profile, peel, sides=8)
    builder.box((-0.1 * r, 0.9 * h, -0.1 * r), (0.1 * r, h, 0.1 * r), Paint((62, 112, 44)))


def install_and_restart(folder: Path) -> None:
    """Does what ``pip install`` does for an entry point, and runs this script once more."""
    info = folder / "oranges-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: oranges\nVersion: 1.0\n")
    entry = f"[clalfred.classes]\nOrange = {Path(__file__).stem}:ORANGE\n"
    (info / "entry_points.txt").write_text(entry)
    paths = [str(folder), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)


def main() -> None:
    """Generates episodes with oranges, trains an agent on them and evaluates it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="runs/examples/own-class", type=Path)
    parser.add_argument("--max-steps", type=int, default=50)
    arguments: Any = parser.parse_args()
    from gym_clalfred.classes import INSTALLED

    if "Orange" not in INSTALLED:
        install_and_restart(arguments.out / "site")

    from clalfred.agents.agent import LABELS
    from clalfred.cl.experiment import RunConfig, train
    from clalfred.cl.report.text import evaluation_table
    from gym_clalfred.data import Split, open_source
    from gym_clalfred.data.quotas import Quota, Scope, Tier
    from gym_clalfred.data.tiers import make_tier
    from gym_clalfred.objects import ObjectClass
    from gym_clalfred.rooms import RoomType
    from gym_clalfred.tasks.spec import TaskType

    tasks = (TaskType.PICK_AND_PLACE, TaskType.COOL)
    quotas = tuple(Quota(task, RoomType.KITCHEN, 2, 2) for task in tasks)
    scope = Scope(sliced=0.0, hidden=0.0, nearest=True)
    tier = Tier("oranges", dict.fromkeys(Split, quotas), scope=scope)
    make_tier(tier, arguments.out / "data", workers=1)
    source = open_source(data=arguments.out / "data")
    for entry in source.entries(Split.TRAIN):
        episode = source.episode(entry.key)
        print(f"{len(episode.trajectory.actions):3} actions: {episode.annotation.goal}")
    print(f"Orange is label {ObjectClass['Orange'].value} of {LABELS['class']}")

    config = RunConfig(
        method="er", data=str(arguments.out / "data"), tasks="Pick&Place,Cool",
        max_steps=arguments.max_steps,
    )  # fmt: skip
    results = train(config, arguments.out / "run", media=False)
    print(evaluation_table(results, learned=2))


if __name__ == "__main__":
    main()
