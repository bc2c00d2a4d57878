"""Whether pictures, feature maps and updates are the same, bit by bit, on other processors.

    python -m benchmarks.processors [--processors Haswell EPYC] [--episodes 12] [--method cama]

Streams a few episodes here and on processors that QEMU emulates (``apt install qemu-user``;
``qemu-x86_64 -cpu help`` lists them), and compares what each rendered, encoded and learned. That
takes some minutes. For the emulated ones kernels are compiled here, as for the oldest processor
with AVX2; a column of its own has what those make of it here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence

from numpy.typing import NDArray

#: What kernels are compiled for, if not for this machine.
COMPILED_FOR = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+avx,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe,+popcnt,+sse4.2",
}


def digest(arrays: Iterable[NDArray]) -> str:
    """Of their bytes."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(array.tobytes())
    return found.hexdigest()[:12]


def stream_here(episodes: int, method: str) -> dict[str, str]:
    """What this process makes of the first episodes of a stream of ``small``."""
    import torch

    from clalfred.agents.numerics.arithmetic import fingerprint, make_portable
    from clalfred.cl.experiment.callbacks import Listener
    from clalfred.cl.experiment.config import RunConfig
    from clalfred.cl.experiment.folder import RunFolder
    from clalfred.cl.experiment.inputs import Tools, make_encoder
    from clalfred.cl.experiment.run import Run
    from gym_clalfred.data.sources import open_source

    make_portable()
    torch.set_num_threads(1)
    config = RunConfig(method=method, setup="environment-il")
    tools = Tools(open_source(config.tier, config.data), make_encoder(config))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(config, RunFolder(folder, config), tools, "cpu", 1, Listener())
        found = {"data": run.labels["data"], "arithmetic": fingerprint()}
        maps = []
        for _ in range(episodes):
            episode = run.reader(run.stream.next_demonstration())
            maps.append(episode.features.views.numpy())
            run.agent.observe(episode)
        observation, _ = run.env.reset(seed=0)
        run.env.close()
    found["pictures"] = digest([observation["rgb"]])
    found["feature maps"] = digest(maps)
    weights = [one.detach().contiguous().numpy() for one in run.agent.network.parameters()]
    found[f"weights after {run.agent.num_updates} updates"] = digest(weights)
    return found


def stream_elsewhere(
    arguments: argparse.Namespace, emulator: Sequence[str] = (), **variables: str
) -> dict[str, str]:
    """The same in a process of its own, under an emulator if one is given."""
    command = [sys.executable, "-m", "benchmarks.processors", "--here"]
    command += ["--episodes", str(arguments.episodes), "--method", arguments.method]
    done = subprocess.run(
        [*emulator, *command],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main() -> None:
    """Prints a column per processor, and whether all agree."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processors", nargs="+", default=["Haswell", "EPYC"])
    parser.add_argument("--episodes", type=int, default=12)
    parser.add_argument("--method", default="cama")
    parser.add_argument("--here", action="store_true", help="print what this process makes of it")
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(stream_here(arguments.episodes, arguments.method)))
        return
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        sys.exit("qemu-x86_64 is not installed; on Debian and Ubuntu: apt install qemu-user")
    found = {
        "here": stream_elsewhere(arguments),
        "compiled for old": stream_elsewhere(arguments, **COMPILED_FOR),
    }
    for name in arguments.processors:
        found[name] = stream_elsewhere(arguments, [emulator, "-cpu", name], **COMPILED_FOR)
    for what in found["here"]:
        print(f"{what:>28}", *(f"{one[what]:>16}" for one in found.values()))
    print(f"{'':>28}", *(f"{name:>16}" for name in found))
    same = all(one == found["here"] for one in found.values())
    print("all the same, bit by bit" if same else "NOT the same")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
