"""Every script in examples/ runs to its end and prints what it promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
SHORT = ("--episodes-per-task", "2", "--max-steps", "5")


def run(name: str, *arguments: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    environment["PYTHONPATH"] = str(EXAMPLES.parent)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_all_examples_are_tested() -> None:
    text = Path(__file__).read_text()
    names = [path.name for path in sorted(EXAMPLES.glob("0*.py"))]
    assert len(names) == 8
    assert all(f'"{name}"' in text for name in names)


def test_random_agent() -> None:
    output = run("01_random_agent.py", "--steps", "60")
    assert "goal: " in output
    assert "episodes, 0 solved" in output


def test_ppo() -> None:
    assert "64 steps of PPO" in run("02_ppo.py", "--timesteps", "64", "--rollout", "64")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples") / "cama"
    output = run("03_train_cama.py", "--out", str(folder), *SHORT)
    assert "SR_last" in output
    assert "forgetting in unseen rooms: 0" in output
    return folder


def test_own_method(tmp_path: Path) -> None:
    output = run("04_own_method.py", "--out", str(tmp_path / "run"), *SHORT)
    assert output.startswith("method     worst-replay")
    assert "behavior_il-disjoint-1" in output


def test_own_agent(tmp_path: Path) -> None:
    output = run(
        "06_own_agent.py", "--out", str(tmp_path / "run"), "--episodes-per-task=1", "--max-steps=4"
    )
    assert "SR_last" in output
    assert "GridTransformer loaded again, 174,404 parameters" in output
    assert len((EXAMPLES / "06_own_agent.py").read_text().splitlines()) < 150


def test_own_task(tmp_path: Path) -> None:
    output = run("07_own_task.py", "--out", str(tmp_path / "run"), "--max-steps", "5")
    assert len(re.findall(r"^ *[0-9]+ actions: ", output, flags=re.M)) == 4
    matrix, tested, failures = output.split("After task 2 of 2")[1].split("\n  ")[0:3]
    for table in (matrix, tested, failures):
        assert "PickPair" in table
    assert len((EXAMPLES / "07_own_task.py").read_text().splitlines()) < 150


def test_own_class(tmp_path: Path) -> None:
    output = run("08_own_class.py", "--out", str(tmp_path / "run"), "--max-steps", "5")
    assert len(re.findall(r"^ *[0-9]+ actions: .* orange", output, flags=re.M)) >= 3
    assert "Orange is label 119 of 120" in output
    assert "After task 2 of 2" in output


def test_evaluate_and_record(trained: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.mp4"
    output = run(
        "05_evaluate_and_record.py", "--agent", str(trained), "--out", str(film), "--limit", "2"
    )
    assert "all" in output
    assert film.stat().st_size > 10_000
