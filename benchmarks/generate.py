"""Times the generation of a tier, replays every demonstration, compares lengths with ALFRED's.

    python -m benchmarks.generate --tier small --workers 1 --again 2
    python -m benchmarks.generate --tier full --workers 2

Writes to a temporary folder unless ``--cache`` names one.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from gym_clalfred.actions import Action
from gym_clalfred.data.archive import archive_path
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.manifest import MANIFEST_NAME, file_sha256
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.tiers import make_tier, tier_folder, tier_source
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.env import ClAlfredEnv

#: Mean, median, 95th percentile and maximum of low-level actions in ALFRED's splits.
ALFRED_LENGTHS = {
    Split.TRAIN: (49.8, 45, 97, 234),
    Split.VALID_SEEN: (50.1, 44, 95, 165),
    Split.VALID_UNSEEN: (47.0, 45, 80, 137),
}


def main() -> None:
    """Runs the benchmark and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tier", default="small", choices=TIERS)
    parser.add_argument("--workers", type=int, default=None, help="default: number of cores")
    parser.add_argument("--cache", type=Path, default=None, help="keep the tier in this folder")
    parser.add_argument(
        "--again", type=int, default=None, help="make it also with so many workers, and compare"
    )
    parser.add_argument("--no-replay", action="store_true", help="only time the generation")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        started = time.perf_counter()
        source = tier_source(options.tier, cache=cache, workers=options.workers)
        made = time.perf_counter()
        tier_source(options.tier, cache=cache)
        again = time.perf_counter()
        folder = tier_folder(TIERS[options.tier], cache)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        own = resource.getrusage(resource.RUSAGE_SELF)
        workers = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{source.label}: {size:.1f} MB")
        print(f"made in {made - started:.1f} s, opened again in {(again - made) * 1e3:.1f} ms")
        print(f"processor time {own.ru_utime + workers.ru_utime:.1f} s")
        print(
            f"largest memory: this process {own.ru_maxrss / 1e3:.0f} MB, "
            f"a worker {workers.ru_maxrss / 1e3:.0f} MB"
        )
        if options.again:
            _compare(options.tier, folder, Path(temporary) / "again", options.again)
        _print_lengths(source)
        if not options.no_replay:
            _replay(source)


def _compare(tier: str, folder: Path, other: Path, workers: int) -> None:
    make_tier(TIERS[tier], other, workers)
    names = [MANIFEST_NAME, *(archive_path(folder, split).name for split in Split)]
    differ = [name for name in names if file_sha256(folder / name) != file_sha256(other / name)]
    said = f"different: {', '.join(differ)}" if differ else "every byte equal"
    print(f"made again with {workers} workers: {said}")


def _print_lengths(source: EpisodeSource) -> None:
    for split in Split:
        entries = [entry for entry in source.entries(split) if entry.key.annotation == 0]
        lengths = np.array([entry.length for entry in entries])
        found = (lengths.mean(), np.median(lengths), np.percentile(lengths, 95), lengths.max())
        print(
            f"{split.value}: {len(entries)} trajectories, {len(source.entries(split))} episodes; "
            f"actions mean/median/p95/max {found[0]:.1f}/{found[1]:.0f}/{found[2]:.0f}/{found[3]}"
            f"{_alfreds(split)}"
        )
        by_type: dict[str, list[int]] = defaultdict(list)
        for entry in entries:
            by_type[entry.task_type.paper_name].append(entry.length)
        print("  " + ", ".join(f"{name} {np.mean(by_type[name]):.1f}" for name in sorted(by_type)))


def _alfreds(split: Split) -> str:
    lengths = ALFRED_LENGTHS.get(split)
    return f" (ALFRED {'/'.join(str(value) for value in lengths)})" if lengths else ""


def _replay(source: EpisodeSource) -> None:
    started = time.perf_counter()
    solved = masks = wrong_masks = episodes = 0
    for split in Split:
        env = ClAlfredEnv(source=source, split=split.value, image_size=16, masks=False)
        for entry in source.entries(split):
            if entry.key.annotation == 0:
                episodes += 1
                success, seen, wrong = _replay_one(env, entry.key)
                solved += success
                masks += seen
                wrong_masks += wrong
                if not success:
                    print(f"not solved: {entry.key}")
        env.close()
    print(
        f"replayed through the environment by (action, class): {solved} of {episodes} solved, "
        f"{masks - wrong_masks} of {masks} masks equal, {time.perf_counter() - started:.1f} s"
    )


def _replay_one(env: ClAlfredEnv, key: EpisodeKey) -> tuple[bool, int, int]:
    """Whether the demonstration solves its episode; its masks; how many differ from the view."""
    env.reset(options={"episode": key})
    episode: Episode = env.episode
    seen = wrong = 0
    for action in episode.trajectory.actions:
        label = 0
        if action.object_id is not None and action.mask is not None:
            label = int(env.simulator.objects[action.object_id].object_class)
            shown = env.simulator.sight().mask(action.object_id)
            seen += 1
            wrong += not np.array_equal(shown, action.mask.decode())
        *_, info = env.step((int(action.action), label))
        if not info["action_success"]:
            return False, seen, wrong
    *_, info = env.step((int(Action.Stop), 0))
    return bool(info["success"]), seen, wrong


if __name__ == "__main__":
    main()
