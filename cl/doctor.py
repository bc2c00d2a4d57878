"""What works on this machine, and how to fix the rest.

Nothing is imported before it is looked at: any of it may be what is broken.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Args:
        name: what.
        works: whether it does.
        detail: what was found.
        fix: what to do if it does not work.
        needed: whether the embedded backend and the small network need it.
    """

    name: str
    works: bool
    detail: str
    fix: str = ""
    needed: bool = True


def examine() -> list[Finding]:
    """Looks at everything; a check that fails unexpectedly is a finding, not an error."""
    return [_guarded(name, check) for name, check in CHECKS.items()]


def _guarded(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except ImportError as error:
        return Finding(name, False, str(error), "install it again: pip install cl-alfred-gym")
    except Exception as error:
        return Finding(name, False, f"{type(error).__name__}: {error}", "report this as a bug")


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", sys.version_info >= (3, 10), version, "install Python 3.10 or newer")


def _numba() -> Finding:
    import numba

    return Finding("numba", True, numba.__version__)


def _renderer() -> Finding:
    from gym_clalfred.simulator.backends import make_simulator
    from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
    from gym_clalfred.simulator.embedded.generator import make_room

    room = make_room(1)
    x, z = sorted(room.walkable)[0]
    simulator = make_simulator("embedded", RenderOptions(84), make_room)
    simulator.reset(Scene(1, AgentPose(x, 0.9, z, 0, 30)))
    simulator.frame()
    began, count = time.perf_counter(), 100
    for turn in range(count):
        simulator.teleport(AgentPose(x, 0.9, z, 90 * (turn % 4), 30))
        frame = simulator.frame()
    speed = count / (time.perf_counter() - began)
    simulator.close()
    works = frame.rgb.std() > 1
    return Finding(
        "renderer",
        bool(works),
        f"five views of 84 x 84: {speed:.0f} per second" if works else "draws nothing",
        "install numba and numpy again; if that does not help, report this as a bug",
    )


def _torch() -> Finding:
    import torch

    devices = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
    return Finding("torch", True, f"{torch.__version__} on {', '.join(devices)}")


def _arithmetic() -> Finding:
    from clalfred.agents.numerics.arithmetic import fingerprint, is_portable, make_portable

    make_portable()
    detail = "equal those of other machines"
    if not is_portable():
        detail = "differ from those of other machines as those of another seed do"
    return Finding(
        "arithmetic",
        is_portable(),
        f"{fingerprint()}: runs {detail}",
        "only for bit-equal runs: an x86-64 processor with AVX2, and torch as in constraints.txt",
        needed=False,
    )


def _ffmpeg() -> Finding:
    try:
        import imageio_ffmpeg  # type: ignore[import-not-found,import-untyped,unused-ignore]

        path = imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError) as error:
        return Finding("ffmpeg", False, str(error), "pip install imageio-ffmpeg")
    import numpy as np

    from clalfred.agents.acting.recording import write_film

    frames = [np.full((32, 32, 3), shade, dtype=np.uint8) for shade in (0, 255)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            film = write_film(Path(folder) / "film.mp4", frames)
        except Exception as error:
            reason = str(error).partition("\n")[0]
            fix = "unset IMAGEIO_FFMPEG_EXE, and: pip install --force-reinstall imageio-ffmpeg"
            return Finding("ffmpeg", False, f"{path}: cannot encode a film ({reason})", fix)
        return Finding("ffmpeg", film.stat().st_size > 0, f"{path}: encodes films")


def _encoder() -> Finding:
    from clalfred.agents.vision.conv_encoder import ConvEncoder

    return Finding("encoder", True, ConvEncoder().name, "reinstall the package")


def _cache() -> Finding:
    from gym_clalfred.data.cache import CACHE_VARIABLE, cache_dir

    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding(
            "cache", False, f"{folder}: {error}", f"set {CACHE_VARIABLE} to a folder of yours"
        )
    free = shutil.disk_usage(folder).free / 1e9
    return Finding(
        "cache",
        free > 2,
        f"{folder}, {free:.0f} GB free",
        f"free 2 GB or set {CACHE_VARIABLE} to another disk",
    )


def _tiers() -> Finding:
    from gym_clalfred.data.manifest import MANIFEST_NAME
    from gym_clalfred.data.quotas import TIERS
    from gym_clalfred.data.store import folder_bytes
    from gym_clalfred.data.tiers import foreign_tiers, tier_folder

    found = [name for name, tier in TIERS.items() if (tier_folder(tier) / MANIFEST_NAME).is_file()]
    detail = ", ".join(found) or "none yet"
    if others := foreign_tiers():
        size = sum(map(folder_bytes, others)) / 1e6
        detail += (
            f"; {len(others)} of other releases in {others[0].parent} ({size:.0f} MB), to be "
            "deleted when no run uses them"
        )
    return Finding(
        "generated data", bool(found), detail, "made on first use, or: clalfred-generate small",
        needed=False,
    )  # fmt: skip


def _alfred() -> Finding:
    variable = os.environ.get("CLALFRED_ALFRED_DATA")
    if variable and Path(variable).exists():
        return Finding("ALFRED for tests", True, variable, needed=False)
    return Finding(
        "ALFRED for tests",
        False,
        f"{variable}: not there" if variable else "CLALFRED_ALFRED_DATA is not set",
        "only for this project's tests on real data: set it to the folder that has json_2.1.0. To "
        "train on ALFRED: clalfred-data import, see docs/REAL_ALFRED.md",
        needed=False,
    )


def _thor() -> Finding:
    if find_spec("ai2thor") is None:
        return Finding(
            "AI2-THOR",
            False,
            "package not installed",
            'pip install "cl-alfred-gym[thor]"',
            needed=False,
        )
    from gym_clalfred.simulator.thor.checks import check_thor

    # Starting Unity takes a while; a user who names an executable wants to know whether it works.
    checks = list(check_thor(start="CLALFRED_THOR_EXECUTABLE" in os.environ))
    last = checks[-1]
    detail = "; ".join(f"{check.name} {check.detail}" for check in checks)
    return Finding("AI2-THOR", last.passed, detail, last.advice, needed=False)


def _optional(package: str, extra: str) -> Callable[[], Finding]:
    def check() -> Finding:
        there = find_spec(package) is not None
        detail = "installed" if there else "not installed"
        return Finding(
            package, there, detail, f'pip install "cl-alfred-gym[{extra}]"', needed=False
        )

    return check


CHECKS: dict[str, Callable[[], Finding]] = {
    "python": _python,
    "numba": _numba,
    "renderer": _renderer,
    "torch": _torch,
    "arithmetic": _arithmetic,
    "encoder": _encoder,
    "ffmpeg": _ffmpeg,
    "cache": _cache,
    "generated data": _tiers,
    "ALFRED for tests": _alfred,
    "AI2-THOR": _thor,
    "ray": _optional("ray", "ray"),
    "minari": _optional("minari", "minari"),
}
