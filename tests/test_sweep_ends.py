"""A sweep that is killed takes its runs along, and the same command goes on at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from thor_players import alive

from clalfred.cl.experiment import __main__ as experiment
from clalfred.cl.experiment.sweep import Job, do, expand

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes in /proc"),
]

#: Writes down who it is and then would train for ten minutes.
SLEEPER = """
import os, sys, time
from pathlib import Path
from clalfred.cl.experiment import __main__ as experiment
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_sweep_leaves_no_run(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    options = ["--methods", "er", "--tier", "tiny", "--jobs", "1", "--out", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(tmp_path / "sleeper.py"), *options],
        stdout=subprocess.DEVNULL,
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
    assert "Interrupted." in (tmp_path / "behavior-il-er-order1-seed0" / "log.txt").read_text()


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
    from clalfred.cl.experiment import sweep

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
