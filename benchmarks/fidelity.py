"""Measures an import and the fidelity of its rooms: time, memory, size, replays, masks.

Run: ``python -m benchmarks.fidelity --alfred DIR --out FOLDER [--every 10]``.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import asdict
from pathlib import Path

from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.fidelity_report import measure, summarise, write_report
from gym_clalfred.data.store import AlfredStore, folder_bytes, is_store
from gym_clalfred.data.trajectory import Split


def main() -> None:
    """Imports unless the store is there, replays, writes ``benchmark.json`` and the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alfred", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="replay every so many-th train expert")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    result: dict[str, object] = {}
    folder = options.out / "store"
    if not is_store(folder):
        start = time.perf_counter()
        import_alfred(options.alfred, folder, workers=options.workers)
        result["import_seconds"] = round(time.perf_counter() - start, 1)
        used = [resource.getrusage(who).ru_maxrss for who in _WHO]
        result["import_megabytes"] = round((used[0] + options.workers * used[1]) / 1024)
    store = AlfredStore(folder)
    result["store_megabytes"] = round(folder_bytes(folder) / 1e6, 1)
    replays = {}
    for name in store.info.trajectories:
        split = Split(name)
        every = options.every if split is Split.TRAIN else 1
        replays[split] = measure(store, split, every=every, workers=options.workers)
        result[name] = asdict(summarise(replays[split]))
    write_report(store, replays, options.out / "report")
    (options.out / "benchmark.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

if __name__ == "__main__":
    main()
