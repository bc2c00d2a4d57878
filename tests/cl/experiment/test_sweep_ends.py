"""How sweeps end: killed ones take their runs along; what they say until then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from clalfred.cl.experiment import __main__ as experiment
from clalfred.cl.experiment import sweep
from clalfred.cl.experiment.sweep import ENGINES, Job, RunOutcome, do, expand
from clalfred.scripts.sweep import main, time_left
from gym_clalfred.errors import BadInputError
from tests.helpers.thor_players import alive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes in /proc"),
]

#: Writes down who it is and then would train for ten minutes; nothing kills it for being slow.
SLEEPER = """
import os, sys, time
from pathlib import Path
from clalfred.cl.experiment import __main__ as experiment
from clalfred.cl.experiment import children
children.PATIENCE_SECONDS = 600
def train(config, folder, **options):
    Path(folder, "pid").write_text(str(os.getpid()))
    time.sleep(600)
experiment.train = train
sys.exit(experiment.main(sys.argv[1:]))
"""

COMMAND = """
import sys
from clalfred.cl.experiment import sweep
from clalfred.scripts.sweep import main
program, *arguments = sys.argv[1:]
plain = sweep._command
sweep._command = lambda job: [sys.executable, program, *plain(job)[3:]]
main(arguments)
"""


def wait_for(path: Path) -> str:
    for _ in range(2400):
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} does not come")


@pytest.mark.parametrize("deaf", [False, True], ids=["in front", "in the background"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_sweep_leaves_no_run(number: signal.Signals, deaf: bool, tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    options = ["--methods", "er", "--tier", "tiny", "--jobs", "1", "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(tmp_path / "sleeper.py"), *options],
        stdout=subprocess.DEVNULL,
        # What a script starts in the background ignores interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if deaf else signal.SIG_DFL),
    ) as process:
        run = int(wait_for(tmp_path / "behavior-il-er-order1-seed0" / "pid"))
        assert alive(run)
        process.send_signal(number)
        assert process.wait(30) == -number
    for _ in range(400):
        if not alive(run):
            break
        time.sleep(0.05)
    else:
        os.kill(run, signal.SIGKILL)
        raise AssertionError("the run goes on without its sweep")
    said = (tmp_path / "behavior-il-er-order1-seed0" / "log.txt").read_text()
    assert said.strip() == ("" if deaf else "Interrupted.")


def test_a_run_waits_for_one_that_is_just_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (config,) = expand({"tier": "tiny", "method": "er"})
    folder = tmp_path / "run"
    folder.mkdir()
    holder = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sys, time\n"
            "from filelock import FileLock\n"
            "with FileLock(sys.argv[1]):\n"
            "    print('held', flush=True)\n"
            "    time.sleep(2)\n",
            str(folder / "run.lock"),
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    finished = tmp_path / "instead.py"
    finished.write_text(
        "import sys\n"
        "from clalfred.cl.experiment import __main__ as experiment, run\n"
        "run.make_inputs = lambda config: sys.exit('took the lock')\n"
        "sys.exit(experiment.main(sys.argv[1:]))\n"
    )
    plain = sweep._command
    monkeypatch.setattr(
        sweep, "_command", lambda job: [sys.executable, str(finished), *plain(job)[3:]]
    )
    outcome = do(Job(config.to_dict(), str(folder), retries=0, media=False))
    holder.wait()
    holder.stdout.close()
    assert outcome.message == "took the lock"


def test_a_run_by_itself_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    monkeypatch.setattr(experiment, "train", lambda *_, **options: seen.update(options))
    assert experiment.main(["{}", "nowhere", "--no-media"]) == 0
    assert seen == {"device": "cpu", "media": False, "wait_seconds": 0.0}


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_ray_address_that_nobody_answers_is_one_line(address: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason='ray is not installed: pip install "cl-alfred-gym[ray]"')
    options = ["--tier", "tiny", "--engine", "ray", "--address", address, "--out", str(tmp_path)]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 1
    error = done.output.splitlines()[-1]
    assert error.startswith(f"Error: address '{address}': expected a running Ray cluster")
    assert "Connection refused" in error
    assert "ray start --head" in error


@pytest.mark.parametrize(
    ("seconds", "ended", "expected"),
    [
        (600.0, {"done": 2}, "(8 left, about 40 min)"),
        (600.0, {"done": 1, "failed": 1, "skipped": 4}, "(4 left, about 20 min)"),
        (6000.0, {"done": 1}, "(9 left, about 15.0 h)"),
        (3.0, {"done": 5}, "(5 left, about a minute)"),
        (600.0, {"skipped": 5}, ""),
        (600.0, {"done": 10}, ""),
    ],
)
def test_a_sweep_tells_the_time_left(seconds: float, ended: dict[str, int], expected: str) -> None:
    assert time_left(seconds, ended, 10) == expected


def test_time_left_is_shown_after_each_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def engine(waiting: list[Job], jobs: int | None, address: str | None) -> Iterator[RunOutcome]:
        yield from (RunOutcome(Path(job.folder).name, "done", 1) for job in waiting)

    monkeypatch.setitem(ENGINES, "local", engine)
    options = ["--tier", "tiny", "--methods", "er,cama", "--out", str(tmp_path)]
    lines = CliRunner().invoke(main, options).output.splitlines()
    assert lines[1] == "done    behavior-il-er-order1-seed0  (1 left, about a minute)"
    assert lines[2] == "done    behavior-il-cama-order1-seed0"


def test_a_value_that_occurs_twice_is_named() -> None:
    with pytest.raises(BadInputError, match="run behavior-il-cama-order1-seed0 twice"):
        expand({"seed": [0, 0]})
