"""Sweeps: every combination once, finished ones skipped, failed ones retried and reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clalfred.cl.cama import CAMAConfig
from clalfred.cl.experiment import __main__ as experiment
from clalfred.cl.experiment.children import REFUSED
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.sweep import Job, RunOutcome, do, expand, sweep
from clalfred.cl.mir import MIRConfig
from clalfred.cl.report.publish import collect
from clalfred.cl.report.summary import load_runs
from clalfred.scripts.sweep import main
from gym_clalfred.errors import (
    BadInputError,
    ClAlfredError,
    DataError,
    MissingDependencyError,
    SimulatorError,
    StorageError,
    UsageError,
)

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {
    "setup": "environment-il",
    "tier": "tiny",
    "episodes_per_task": 1,
    "batch_size": 2,
    "evaluation_episodes": 1,
    "max_steps": 2,
}


def test_a_sweep_is_every_combination() -> None:
    runs = expand({"method": ["er", "cama"], "order": [1, 3], "seed": [0, 1], **SMALL})
    assert len({run.name for run in runs}) == len(runs) == 8
    assert {run.threads for run in runs} == {1}
    assert [(run.method, run.order, run.seed) for run in runs[:3]] == [
        ("er", 1, 0),
        ("er", 1, 1),
        ("er", 3, 0),
    ]


def test_every_order_can_have_a_seed_of_its_own() -> None:
    runs = expand({"method": ["er", "cama"], "order": [1, 3], "seed": "order", **SMALL})
    assert [(run.order, run.seed) for run in runs] == [(1, 1), (3, 3)] * 2


def test_a_sweep_varies_settings_of_the_method() -> None:
    runs = expand({"overrides": [{}, {"alpha": 0.5}, {"queue_length": 1}], "memory": [None, 30]})
    assert [run.name for run in runs] == [
        "behavior-il-cama-order1-seed0",
        "behavior-il-cama-memory-30-order1-seed0",
        "behavior-il-cama-alpha-0.5-order1-seed0",
        "behavior-il-cama-alpha-0.5-memory-30-order1-seed0",
        "behavior-il-cama-queue_length-1-order1-seed0",
        "behavior-il-cama-queue_length-1-memory-30-order1-seed0",
    ]
    settings = runs[3].method_settings(2520)
    assert isinstance(settings, CAMAConfig)
    assert (settings.alpha, settings.queue_length, settings.memory) == (0.5, 5, 30)
    assert RunConfig.from_dict(runs[3].to_dict()) == runs[3]


def test_a_sweep_can_have_parts_and_what_is_given_wins() -> None:
    parts = [
        {"method": "er"},
        {"method": "der++", "overrides": [{}, {"replay_weight": 1.0}]},
        {"method": ["er", "mir"], "memory": 30},
        {"method": "er", "order": 1},
    ]
    settings = {"runs": parts, "order": [1, 2], "seed": "order"}
    runs = expand(settings)
    assert len(runs) == 2 + 4 + 4
    assert {run.method for run in runs if run.memory == 30} == {"er", "mir"}
    alone = expand(settings, {"order": 2})
    assert {(run.order, run.seed) for run in alone} == {(2, 2)}
    assert len(alone) == 5


def test_runs_of_other_agents_have_other_names() -> None:
    plain, other = RunConfig(), RunConfig(agent="two-branch:paper")
    assert plain.name == "behavior-il-cama-order1-seed0"
    assert other.name == "behavior-il-two-branch-paper-cama-order1-seed0"
    with pytest.raises(BadInputError, match="two parts have other settings"):
        expand({"runs": [{"batch_size": 8}, {"batch_size": 16}]})


def test_a_smaller_batch_has_fewer_of_everything_that_it_is_made_of() -> None:
    def counts(**changes: Any) -> tuple[int, int, int]:
        settings = RunConfig(method="mir", **changes).method_settings(2520)
        assert isinstance(settings, MIRConfig)
        return settings.training.batch_size, settings.stream_size, settings.candidates

    assert counts(batch_size=32) == (32, 16, 50)
    assert counts(batch_size=8) == (8, 4, 12)
    assert counts(batch_size=8, overrides={"candidates": 20}) == (8, 4, 20)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"overrides": {"alhpa": 0.5}}, "did you mean 'alpha'"),
        ({"overrides": {"alpha": 1.5}}, "alpha 1.5: expected a number from 0 to 1"),
        ({"overrides": {"queue_length": 0}}, "queue_length 0: expected a number of at least 1"),
        ({"method": "mir", "overrides": {"candidates": 0}}, "candidates 0"),
        ({"method": "ewc++", "overrides": {"anchor_every": 0}}, "anchor_every 0"),
        ({"method": "clib", "overrides": {"rate_history": 1}}, "rate_history 1"),
        ({"augment": "yes"}, "augment 'yes': expected true or false"),
        ({"overrides": {"memory": 30}}, "unknown setting of the method 'memory'"),
        ({"overrides": {"alpha": "much"}}, "alpha 'much': expected a number"),
        ({"overrides": {"alpha": float("nan")}}, "alpha nan: expected a number"),
        ({"overrides": {"queue_length": 1.5}}, "queue_length 1.5: expected a whole number"),
        ({"overrides": {"by_true_label": 1}}, "by_true_label 1: expected true or false"),
        ({"overrides": "alpha"}, "overrides 'alpha': expected settings by name"),
        ({"method": "er", "overrides": {"alpha": 0.5}}, "unknown setting of the method 'alpha'"),
        ({"method": ["er", "er"]}, "twice"),
        ({"tier": ["tiny", "small"]}, "tier: only setup, method"),
        ({"method": ["cema"]}, "did you mean 'cama'"),
        ({"colour": "blue"}, "unknown setting 'colour'"),
        ({"runs": {"method": "er"}}, "expected a list of settings by name"),
        ({"runs": []}, "expected at least one part"),
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
def grid() -> list[RunConfig]:
    """Two methods, orders and seeds, but not all of their combinations."""
    runs = expand({"method": ["finetuning", "er"], "order": [1, 3], **SMALL})
    return [*runs, *expand({"method": "er", "seed": 1, **SMALL})]


@pytest.fixture(scope="module")
def local(grid: list[RunConfig], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    outcomes = sweep(grid, folder, jobs=2)
    assert [one.status for one in outcomes] == ["done"] * len(grid)
    return folder


def test_finished_runs_are_skipped(grid: list[RunConfig], local: Path) -> None:
    seen: list[RunOutcome] = []
    outcomes = sweep(grid, local, listen=seen.append)
    assert [one.status for one in outcomes] == ["skipped"] * len(grid)
    assert seen == outcomes


def test_damaged_results_are_not_skipped_in_silence(grid: list[RunConfig], local: Path) -> None:
    path = local / grid[3].name / "results.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    try:
        outcomes = sweep(grid, local)
    finally:
        path.write_bytes(whole)
    assert [one.status == "failed" for one in outcomes] == [run is grid[3] for run in grid]
    assert f"{path}: not a JSON document" in outcomes[3].message
    assert "delete it and repeat the command" in outcomes[3].message


def test_results_of_other_settings_are_not_taken_for_those_asked(
    grid: list[RunConfig], local: Path
) -> None:
    others = [replace(run, batch_size=3) for run in grid]
    with pytest.raises(UsageError, match="another run: batch_size is 2, not 3"):
        sweep(others, local)


def test_runs_of_one_sweep_differ(grid: list[RunConfig], local: Path) -> None:
    found = results(local)
    assert len(found) == len(grid)
    assert len({json.dumps(one["curves"]) for one in found.values()}) == len(grid)


def test_a_run_that_makes_no_sense_is_reported_and_not_retried(
    grid: list[RunConfig], tmp_path: Path
) -> None:
    config = {**grid[0].to_dict(), "data": str(tmp_path / "nowhere")}
    outcome = do(Job(config, str(tmp_path / "run"), retries=1, media=False))
    assert (outcome.status, outcome.attempts) == ("failed", 1)
    assert "nowhere" in outcome.message
    assert (tmp_path / "run" / "log.txt").read_text().count("Error: ") == 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no safe path before 3.11")
def test_a_folder_of_the_same_name_as_a_package_is_not_taken_for_it(
    grid: list[RunConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("raise ImportError('not ours')")
    monkeypatch.chdir(tmp_path)
    config = {**grid[0].to_dict(), "data": "nowhere"}
    outcome = do(Job(config, str(tmp_path / "run"), retries=0, media=False))
    assert "data 'nowhere': expected a folder" in outcome.message


def run_instead(folder: Path, text: str) -> str:
    """A program that a sweep starts in the place of Python; ``$4`` is the run's folder."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


posix = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")

COMMAND = """
import sys
from clalfred.scripts.sweep import main
sys.executable, *arguments = sys.argv[1:]
main(arguments)
"""


@pytest.fixture
def heard() -> Iterator[None]:
    """Lets processes hear Ctrl-C also where the tests do not, as in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("to", ["the command alone", "all processes, as a terminal does"])
def test_ctrl_c_ends_a_sweep_at_once(to: str, tmp_path: Path) -> None:
    def started() -> int:
        return sum(len(path.read_text().split()) for path in tmp_path.glob("*/started"))

    sleeper = run_instead(tmp_path, 'echo once >> "$4/started"; exec sleep 600')
    options = ["--methods", "er,mir,clib,cama", "--tier", "tiny", "--jobs", "2"]
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, sleeper, *options, "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while started() < 2 and process.poll() is None:
                time.sleep(0.05)
            (os.kill if to == "the command alone" else os.killpg)(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=30)
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, 0)  # nothing is left of it
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert errors.strip() == "Interrupted. The same command again continues."
    assert started() == 2


@posix
def test_a_failing_run_is_retried_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashing = run_instead(tmp_path, 'echo once >> "$4/started"; echo crashed; kill -KILL $$')
    monkeypatch.setattr(sys, "executable", crashing)
    outcome = do(Job({}, str(tmp_path / "run"), retries=2, media=False))
    assert outcome == RunOutcome("run", "failed", 3, "crashed")
    assert (tmp_path / "run" / "started").read_text().split() == ["once"] * 3


@pytest.mark.parametrize(
    ("error", "code"),
    [(SimulatorError, 1), (StorageError, 1), (BadInputError, REFUSED), (DataError, REFUSED)],
)
def test_a_run_tells_what_may_pass_from_what_will_not(
    error: type[ClAlfredError], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: Any, **options: Any) -> None:
        raise error("no")

    monkeypatch.setattr(experiment, "train", fails)
    assert experiment.main(["{}", "nowhere"]) == code


@posix
@pytest.mark.usefixtures("heard")
def test_an_interrupted_run_is_not_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", run_instead(tmp_path, "kill -INT $$"))
    outcome = do(Job({}, str(tmp_path / "run"), retries=2, media=False))
    assert outcome == RunOutcome("run", "failed", 1, "interrupted")


def children(marker: str) -> list[int]:
    """Processes whose command line names something."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if marker.encode() in command and b"clalfred.cl.experiment" in command:
            found.append(int(path.parent.name))
    return found


@contextmanager
def killer(folder: Path, runs: Sequence[RunConfig], *, parent_too: bool) -> Iterator[list[int]]:
    """Kills one of the runs once, when it has begun to evaluate; gives what was killed.

    Args:
        folder: of the sweep.
        runs: any of them.
        parent_too: kill also the process that started it.
    """
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not killed and not over.wait(0.02):
            for run in runs:
                place = folder / run.name
                if (place / "evaluations").exists() and (found := children(str(place))):
                    status = Path(f"/proc/{found[0]}/status").read_text()
                    parent = int(status.split("PPid:")[1].split()[0])
                    for one in [parent, found[0]] if parent_too else [found[0]]:
                        os.kill(one, signal.SIGKILL)
                        killed.append(one)
                    return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes in /proc")


@needs_proc
def test_a_killed_worker_costs_nothing_but_time(
    grid: list[RunConfig], local: Path, tmp_path: Path
) -> None:
    run = grid[-1]
    with killer(tmp_path, [run], parent_too=False) as killed:
        outcome = sweep([run], tmp_path, jobs=1)[0]
    assert killed
    assert (outcome.status, outcome.attempts) == ("done", 2)
    assert results(tmp_path)[run.name] == results(local)[run.name]


@needs_proc
def test_ray_gives_the_same_with_a_worker_killed_in_the_middle(
    grid: list[RunConfig], local: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ray", reason='ray is not installed: pip install "cl-alfred-gym[ray]"')
    some = grid[-3:]
    with killer(tmp_path, some, parent_too=True) as killed:
        outcomes = sweep(some, tmp_path, engine="ray", jobs=2)
    assert len(killed) == 2
    assert [one.status for one in outcomes] == ["done"] * len(some)
    expected = results(local)
    assert results(tmp_path) == {run.name: expected[run.name] for run in some}


def test_without_ray_the_error_says_how_to_get_it(
    grid: list[RunConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"cl-alfred-gym\[ray\]"):
        sweep(grid, tmp_path, engine="ray")
    with pytest.raises(BadInputError, match="expected one of local, ray"):
        sweep(grid, tmp_path, engine="slurm")


def test_the_command_skips_and_counts(local: Path, tmp_path: Path) -> None:
    common = {**SMALL, "setups": SMALL["setup"]}
    del common["setup"]
    options = [f"--{name.replace('_', '-')}={value}" for name, value in common.items()]
    lists = ["--methods", "finetuning,er", "--orders", "1,3", "--seeds", "0"]
    arguments = [*lists, "--out", str(local), *options]
    run = CliRunner().invoke(main, arguments)
    assert run.exit_code == 0, run.output
    assert run.output.startswith(f"4 runs in {local}")
    assert run.output.count("skipped") == 4
    published = tmp_path / "published"
    finished = load_runs(local)
    left = next(one for one in finished if one.config.method == "er")
    collect([one for one in finished if one is not left], published)
    arguments[arguments.index(str(local))] = str(tmp_path / "runs")
    rest = CliRunner().invoke(main, [*arguments, "--published", str(published)])
    assert rest.output.startswith(f"3 of 4 runs are in {published}\n1 runs in")
    assert rest.output.count("done") == 1
    wrong = CliRunner().invoke(main, ["--seeds", "one", "--out", str(local)])
    assert "expected whole numbers" in wrong.output
