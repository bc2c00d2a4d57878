"""An agent of another package: found by its entry point, trained, killed, resumed, reported."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "06_own_agent.py"
NAME = "grid-transformer"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH with an installed package: one module and its dist-info."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(EXAMPLE, folder / "their_agent.py")
    info = folder / "their_agent-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-agent\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[clalfred.agents]\n{NAME} = their_agent:GridTransformer\n"
    )
    return folder


def environment(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}


def command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"clalfred.scripts.{name}", *arguments]


def options(out: Path) -> list[str]:
    return [
        *("--agent", NAME, "--method", "er", "--tier", "tiny", "--episodes-per-task", "2"),
        *("--setup", "environment-il"),
        *("--set", "agent.width=16", "--set", "agent.layers=1", "--evaluation-episodes", "1"),
        *("--max-steps", "4", "--device", "cpu", "--no-media", "--out", str(out)),
    ]


def run(site: Path, *words: str) -> str:
    done = subprocess.run(
        list(words), env=environment(site), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


def kill_after_first_checkpoint(site: Path, out: Path) -> None:
    """Starts the command and kills it once it has saved something."""
    child = subprocess.Popen(
        command("train", *options(out)),
        env=environment(site),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (out / "checkpoint.zip").exists() and child.poll() is None:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert not (out / "results.json").exists()


def results(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "results.json").read_text())
    del document["seconds"]
    return document


def test_it_is_trained_killed_resumed_evaluated_and_reported(site: Path, tmp_path: Path) -> None:
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    run(site, *command("train", *options(whole)))
    kill_after_first_checkpoint(site, pieces)
    assert "continuing after episode" in run(site, *command("train", *options(pieces)))
    assert results(pieces) == results(whole)
    assert (pieces / "agent.zip").read_bytes() == (whole / "agent.zip").read_bytes()
    many = "--split", "train", "--limit", "9", "--max-steps", "5"  # enough for two processes
    evaluated = run(site, *command("evaluate", str(whole), *many, "--workers", "2"))
    assert "all" in evaluated
    # Who has not installed the package is told so, and can still read the results.
    alone = subprocess.run(
        command("evaluate", str(whole)), capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert f"unknown agent '{NAME}'" in alone.stderr
    assert alone.stderr.count("\n") <= 2
    assert NAME in run(tmp_path, *command("report", str(whole)))
