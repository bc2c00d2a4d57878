"""Virtual environments with other versions of AI2-THOR, made once and kept in the cache folder."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from gym_clalfred.data.cache import cache_dir, file_lock
from tests import ROOT


def python_with(version: str) -> Path:
    """The interpreter of an environment with a version; all else is what this one has."""
    tag = f"ai2thor-{version}-py{sys.version_info[0]}{sys.version_info[1]}"
    folder = cache_dir() / "environments" / tag
    python = folder / "bin" / "python"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(folder.with_name(f"{tag}.lock")):
        if _version(python) != version:
            venv.create(folder, with_pip=True, clear=True)
            install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps"]
            done = subprocess.run(
                [*install, f"ai2thor=={version}"], capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                pytest.skip(f"ai2thor {version} cannot be installed here: {done.stderr[-300:]}")
        # All other packages come from the environment of the tests, behind the venv's own.
        site = next((folder / "lib").glob("python*/site-packages"))
        packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        lines = [f"import site; site.addsitedir({path!r})" for path in packages]
        (site / "tests.pth").write_text("\n".join([*lines, str(ROOT), ""]))
    return python


def _version(python: Path) -> str:
    if not python.exists():
        return ""
    command = [str(python), "-c", "import ai2thor; print(ai2thor.__version__)"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
