"""Sweeps: every combination once, finished ones skipped, failed ones retried and reported."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cl.experiment.sweep import Job, Outcome, do, expand, sweep
from gym_clalfred.errors import BadInputError, MissingDependencyError
from scripts.sweep import main

SMALL: dict[str, Any] = {
    "tier": "tiny",
    "network": "micro",
    "episodes_per_task": 1,
    "batch_size": 4,
    "evaluation_episodes": 1,
    "max_steps": 2,
}


def test_a_sweep_is_every_combination() -> None:
    runs = expand({"method": ["er", "cama"], "order": [1, 2], "seed": [0, 1], **SMALL})
    assert len({run.name for run in runs}) == len(runs) == 8
    assert {run.threads for run in runs} == {1}
    assert [(run.method, run.order, run.seed) for run in runs[:3]] == [
        ("er", 1, 0),
        ("er", 1, 1),
        ("er", 2, 0),
    ]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"method": ["er", "er"]}, "twice"),
        ({"tier": ["tiny", "small"]}, "tier: only setup, method"),
        ({"method": ["cema"]}, "did you mean 'cama'"),
        ({"colour": "blue"}, "unknown setting 'colour'"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(BadInputError, match=match):
        expand(settings)


def results(folder: Path) -> dict[str, Any]:
    found = {}
    for path in sorted(folder.glob("*/results.json")):
        document = json.loads(path.read_text())
        del document["seconds"]
        found[path.parent.name] = document
    return found


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    outcomes = sweep(GRID, folder, jobs=2)
    assert [one.status for one in outcomes] == ["done"] * len(GRID)
    return folder


GRID = expand({"method": ["finetuning", "er"], "seed": [0, 1], **SMALL})


def test_finished_runs_are_skipped(local: Path) -> None:
    seen: list[Outcome] = []
    outcomes = sweep(GRID, local, listen=seen.append)
    assert [one.status for one in outcomes] == ["skipped"] * len(GRID)
    assert seen == outcomes


def test_runs_of_one_sweep_differ(local: Path) -> None:
    found = results(local)
    assert len(found) == len(GRID)
    assert len({json.dumps(one["curves"]) for one in found.values()}) == len(GRID)


def test_a_failing_run_is_retried_and_reported(tmp_path: Path) -> None:
    config = {**GRID[0].to_dict(), "data": str(tmp_path / "nowhere")}
    outcome = do(Job(config, str(tmp_path / "run"), retries=1, media=False))
    assert (outcome.status, outcome.attempts) == ("failed", 2)
    assert "nowhere" in outcome.message
    assert (tmp_path / "run" / "log.txt").read_text().count("Error: ") == 2


def children(marker: str) -> list[int]:
    """Processes whose command line names something."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if marker.encode() in command and b"cl.experiment" in command:
            found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to find the process")
def test_a_killed_worker_costs_nothing_but_time(local: Path, tmp_path: Path) -> None:
    run = GRID[2]
    killed: list[int] = []

    def kill() -> None:
        folder = tmp_path / run.name
        for _ in range(2000):
            if (folder / "evaluations").exists() and (found := children(str(folder))):
                os.kill(found[0], signal.SIGKILL)
                killed.extend(found)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    outcome = sweep([run], tmp_path, jobs=1)[0]
    thread.join()
    assert killed
    assert (outcome.status, outcome.attempts) == ("done", 2)
    assert results(tmp_path)[run.name] == results(local)[run.name]


def test_ray_gives_the_same_with_a_worker_killed_in_the_middle(local: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed (pip install cl-alfred-gym[ray])")
    killed: list[int] = []

    def kill() -> None:
        """Kills the Ray worker itself, the parent of a run, once the run has begun."""
        for _ in range(6000):
            for run in GRID:
                folder = tmp_path / run.name
                if (folder / "evaluations").exists() and (found := children(str(folder))):
                    status = Path(f"/proc/{found[0]}/status").read_text()
                    parent = int(status.split("PPid:")[1].split()[0])
                    os.kill(parent, signal.SIGKILL)
                    os.kill(found[0], signal.SIGKILL)
                    killed.append(parent)
                    return
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    outcomes = sweep(GRID, tmp_path, engine="ray", jobs=2)
    thread.join()
    assert killed
    assert [one.status for one in outcomes] == ["done"] * len(GRID)
    assert results(tmp_path) == results(local)


def test_without_ray_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"cl-alfred-gym\[ray\]"):
        sweep(GRID, tmp_path, engine="ray")
    with pytest.raises(BadInputError, match="expected one of local, ray"):
        sweep(GRID, tmp_path, engine="slurm")


def test_the_command_skips_and_counts(local: Path) -> None:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    arguments = ["--methods", "finetuning,er", "--seeds", "0,1", "--out", str(local), *options]
    run = CliRunner().invoke(main, arguments)
    assert run.exit_code == 0, run.output
    assert run.output.startswith(f"4 runs in {local}")
    assert run.output.count("skipped") == 4
    wrong = CliRunner().invoke(main, ["--seeds", "one", "--out", str(local)])
    assert "expected whole numbers" in wrong.output
