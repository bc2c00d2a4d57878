"""Every command helps, every mistake gets one clear line, and nothing is left behind."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import pytest
import torch
from click.testing import CliRunner, Result

from clalfred.scripts.common import clear_errors
from gym_clalfred import __version__
from tests.helpers.report_runs import write_runs
from tests.helpers.runs import QUICK, untrained_agent

IMPORTER = "gym_clalfred.data.alfred_import.importer.import_alfred"

COMMANDS = (
    *("train", "evaluate", "record", "generate", "data", "doctor", "sweep", "report"),
    "verify",
)


def command(name: str) -> click.Command:
    found: click.Command = importlib.import_module(f"scripts.{name}").main
    return found


def invoke(name: str, *arguments: str) -> Result:
    return CliRunner().invoke(command(name), list(arguments))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_option(name: str) -> None:
    run = invoke(name, "--help")
    assert run.exit_code == 0
    assert "Usage" in run.output
    commands = [command(name)]
    if isinstance(commands[0], click.Group):
        commands += commands[0].commands.values()
    for one in commands:
        assert one.help
        for parameter in one.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"
    if name != "doctor":
        assert f"clalfred-{name}" in run.output.split("Examples:")[1]


@pytest.mark.parametrize("name", [*COMMANDS, "player"])
def test_every_command_says_its_version(name: str) -> None:
    run = invoke(name, "--version")
    assert (run.exit_code, run.output) == (0, f"cl-alfred-gym {__version__}\n")


def test_every_command_is_installed() -> None:
    installed = {one.name: one.value for one in entry_points(group="console_scripts")}
    for name in (*COMMANDS, "player"):
        assert installed[f"clalfred-{name}"] == f"clalfred.scripts.commands:{name}"
    assert installed["clalfred"] == "clalfred.scripts.commands:main"


def hear_interrupts() -> None:
    """A process that was started in the background, as these tests may be, ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_is_one_line_however_many_processes_there_are(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "clalfred.scripts.generate",
        "tiny",
        "--workers",
        "2",
        "--cache",
    ]
    process = subprocess.Popen(
        [*command, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    while not list(tmp_path.glob("tiers/.tiny-*")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    # Away from a terminal progress is said in lines, if there was time for any.
    messages = [line for line in said.splitlines() if line and "generating tier" not in line]
    assert (process.returncode, messages) == (130, ["Interrupted."])
    assert not list(tmp_path.glob("tiers/*tiny*/*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "--method", "kama"), "unknown method 'kama': did you mean 'cama'? known are"),
        (("train", "--method", "qqq"), "known are finetuning, ewc++, er, mir, clib, der++"),
        (("train", "--preset", "papr"), "did you mean 'paper'?"),
        (("train", "--order", "9"), "order 9: expected a whole number from 1 to 5"),
        (("train", "--seed", "-1"), "seed -1: expected a whole number from 0"),
        (("train", "--seed", str(2**64)), "expected a whole number from 0 to 4294967295"),
        (("train", "--set", f"queue_length={10**400}"), "expected a number below"),
        (("sweep", "--orders", ",", "--out", "o"), "order: expected at least one value"),
        (("record", "film.avi"), "film.avi: expected a name that ends in .mp4 or .gif"),
        (("record", "film.gif", "--agent", "a", "--agent", "b", "--expert"), "or two side by side"),
        (("player", "--pipes", "there", "nowhere"), "there: no such pipe"),
        (("train", "--memory", "0"), "memory 0: expected a whole number from 1"),
        (("train", "--set", "alpha=much"), "alpha 'much': expected a number"),
        (("train", "--set", "beta=1"), "unknown setting of the method 'beta'"),
        (("train", "--backend", "unity"), "unknown backend 'unity'"),
        (("train", "--method", "x-der", "--schedule", "gaussian"), "needs task boundaries"),
        (("train", "--config", "nope.yaml"), "there is no such file"),
        (("train", "--encoder-weights", "w", "--tier", "tiny", "--out", "run"), "has none; leave"),
        (
            ("train", "--tier", "huge", "--out", "run"),
            "unknown tier 'huge': known are tiny, small, full",
        ),
        (("train", "--agent", "two-branch:paper", "--tier", "tiny", "--out", "run"), "resnet18"),
        (
            ("train", "--config", "main"),
            "found several runs; use: clalfred-sweep --config main",
        ),
        (
            ("train", "--config", "paper"),
            "setup ['behavior-il', 'environment-il']: expected one "
            "value, since this is one run; clalfred-sweep takes several",
        ),
        (("train", "--config", "."), "config '.': expected a YAML file, found a folder"),
        (("train", "--device", "foo"), "device 'foo': expected cpu, cuda, cuda:1 or auto"),
        (
            ("train", "--agent=two-branch", "--encoder-weights=nowhere.pth", "--out=run"),
            "encoder_weights 'nowhere.pth': there is no such file",
        ),
        (
            (
                "train",
                "--agent",
                "two-branch:paper",
                "--encoder-weights",
                "nowhere.pth",
                "--out",
                "run",
            ),
            "encoder_weights 'nowhere.pth': there is no such file",
        ),
        (("evaluate", "agent.zip", "--split", "vald_seen"), "did you mean 'valid_seen'?"),
        (("record", "film.mp4", "--tier", "tini"), "did you mean 'tiny'?"),
        (("sweep", "--engine", "rai", "--out", "o"), "did you mean 'ray'?"),
        (("evaluate", "nowhere.zip"), "there is no trained agent"),
        (("evaluate", "nowhere.zip", "--submission", "."), "the name of a file, found a folder"),
        (("record", "film.avi", "--tier", "tiny"), "ends in .mp4 or .gif"),
        (("record", "/dev/null/film.mp4", "--tier", "tiny"), "film.mp4: cannot be written to"),
        (("record", "film.mp4", "--episode", "what"), "expected an episode '<split>/"),
        (("generate", "smal"), "did you mean 'small'?"),
        (("data", "info", "--data", "nowhere"), "expected a folder, found nothing there"),
        (("report", "."), "no finished runs"),
        (("report", ".", "--metric", "SR"), "unknown metric 'SR'"),
        (("sweep", "--methods", "cama", "--tier", "huge", "--out", "o"), "unknown tier 'huge'"),
    ],
)
def test_a_mistake_gets_one_clear_error(arguments: tuple[str, ...], message: str) -> None:
    runner = CliRunner()
    with runner.isolated_filesystem() as folder:
        run = runner.invoke(command(arguments[0]), list(arguments[1:]))
        left = [path for path in Path(folder).rglob("*") if path.suffix in (".zip", ".mp4")]
    assert run.exit_code == 1, run.output
    assert "Traceback" not in run.output
    assert message in run.output
    assert run.output.count("Error: ") == 1
    assert len(run.output.splitlines()) == 1
    assert not left


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--workers", "0"),
        ("evaluate", "agent.zip", "--limit", "0"),
        ("evaluate", "agent.zip", "--annotations", "-1"),
        ("record", "film.mp4", "--number", "-1"),
        ("record", "film.mp4", "--fps", "0"),
        ("generate", "tiny", "--workers", "0"),
        ("data", "fidelity", "store", "--every", "0"),
        ("sweep", "--out", "o", "--jobs", "0"),
        ("sweep", "--out", "o", "--retries", "-1"),
    ],
)
def test_numbers_have_a_range(arguments: tuple[str, ...]) -> None:
    run = invoke(*arguments)
    assert run.exit_code == 2
    assert "is not in the range" in run.output


@pytest.mark.parametrize("text", ["alpha", "=0.5", "alpha="])
def test_a_setting_needs_a_name_and_a_value(text: str) -> None:
    run = invoke("train", "--set", text)
    assert run.exit_code == 2
    assert "expected NAME=VALUE, such as alpha=0.5" in run.output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_of_eighty_columns(name: str) -> None:
    assert max(map(len, invoke(name, "--help").output.splitlines())) <= 80


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what commands read: an agent and finished runs."""
    folder = tmp_path_factory.mktemp("finished")
    write_runs(folder / "runs")
    untrained_agent(folder)
    return folder


WRITERS = {
    "train": ("--tier", "tiny", "--out", "{out}"),
    "evaluate": ("{finished}", "--limit", "1", "--lines", "{out}/lines.jsonl"),
    "record": ("{out}/film.mp4", "--tier", "tiny", "--max-steps", "2"),
    "generate": ("tiny", "--cache", "{out}"),
    "sweep": ("--tier", "tiny", "--out", "{out}"),
    "report": ("{finished}/runs", "--out", "{out}"),
    "verify": ("{finished}/none.jsonl", "--page", "{out}/board.html"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_place_that_is_no_folder_gets_one_clear_error(
    name: str, finished: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("I am a file")
    out = tmp_path / "file" / "below"
    run = invoke(name, *(part.format(out=out, finished=finished) for part in WRITERS[name]))
    assert run.exit_code == 1, run.output
    assert run.output.count("Error: ") == 1
    assert "choose another" in run.output
    assert (tmp_path / "file").read_text() == "I am a file"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has /proc")
@pytest.mark.parametrize("name", WRITERS)
def test_a_place_where_no_folder_can_be_made_gets_one_clear_error(
    name: str, finished: Path
) -> None:
    """There the system says that the folder does not exist, as automatic mounts do."""
    out = "/proc/no/folder"
    run = invoke(name, *(part.format(out=out, finished=finished) for part in WRITERS[name]))
    assert isinstance(run.exception, SystemExit), run.exception
    assert run.exit_code == 1, run.output
    assert run.output.count("Error: ") == 1
    assert "choose another" in run.output


@pytest.mark.parametrize("name", ["record", "evaluate"])
def test_a_device_is_not_replaced_by_a_file(name: str, finished: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.mp4"
    os.mkfifo(pipe)
    target = {"record": [str(pipe)], "evaluate": [str(finished), "--submission", str(pipe)]}[name]
    run = invoke(name, *target, "--tier", "tiny", "--max-steps", "2")
    assert run.exit_code == 1, run.output
    assert f"Error: {pipe}: expected the name of a file, found a device or a pipe" in run.output
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_disk_gets_one_clear_error(name: str, finished: Path, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    out = small_disk / "new"
    run = invoke(name, *(part.format(out=out, finished=finished) for part in WRITERS[name]))
    assert run.exit_code == 1, run.output
    assert run.output.count("Error: ") == 1
    assert "cannot be written to" in run.output


@pytest.mark.parametrize("name", ["report", "record"])
def test_a_folder_that_takes_nothing_is_told_by_the_name_that_was_asked_for(
    name: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(prefix: str, dir: Path) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(dir / f"{prefix}2kzxy5tb"))

    monkeypatch.setattr("gym_clalfred.data.cache.tempfile.mkstemp", refuse)
    arguments = (part.format(out=tmp_path, finished=finished) for part in WRITERS[name])
    wanted = tmp_path / {"report": "table.txt", "record": "film.mp4"}[name]
    run = invoke(name, *arguments)
    assert run.exit_code == 1
    assert f"Error: {wanted}: cannot be written to (Permission denied); choose" in run.output


@pytest.mark.parametrize(
    ("name", "file"),
    [("report", "results.json"), ("train", "config.json"), ("sweep", "config.json")],
)
def test_a_file_that_cannot_be_read_is_not_called_a_folder_that_cannot_be_written(
    name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "behavior-il-cama-order1-seed0"
    run.mkdir()
    (run / file).write_text("secret")
    opened = Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == file:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    arguments = {
        "report": (str(tmp_path),),
        "train": ("--tier", "tiny", "--out", str(run)),
        "sweep": ("--tier", "tiny", "--out", str(tmp_path)),
    }
    result = invoke(name, *arguments[name])
    assert result.exit_code == 1
    assert f"Error: {run / file}: cannot be read (Permission denied); change" in result.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"method: 5", "method 5: expected a text"),
        (b"tier: [tiny]", "tier ['tiny']: expected one value"),
        (b"data: 2021", "data 2021: expected a text"),
        (b"order: [1, 2]", "order [1, 2]: expected one value"),
        (b"method: null", "method None: expected a text"),
        (b"7: 8", "unknown setting 7"),
        (b"\x80\xff\x00\x01", "mine.yaml: not YAML"),
        (b"a: [1,", "mine.yaml: not YAML (while parsing a flow node expected the node content"),
    ],
)
def test_a_config_file_with_nonsense_gets_one_clear_error(
    content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_bytes(content)
    run = invoke("train", "--config", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "run"))
    assert run.exit_code == 1, run.output
    assert run.output.count("Error: ") == 1
    assert message in run.output


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_a_gpu_that_is_not_there_is_not_replaced_in_silence(
    name: str, finished: Path, tmp_path: Path
) -> None:
    arguments = {"train": (*QUICK, "--out", str(tmp_path)), "evaluate": (str(finished),)}
    run = invoke(name, *arguments[name], "--device", "cuda")
    assert run.exit_code == 1
    assert "device 'cuda': torch cannot compute there" in run.output
    assert "choose cpu or auto" in run.output


@pytest.mark.parametrize(
    ("arguments", "busy", "continues"),
    [
        (("train",), "clalfred.cl.experiment.run.train", True),
        (("sweep", "--tier", "tiny", "--out", "o"), "clalfred.cl.experiment.sweep.sweep", True),
        (("data", "import", "--alfred", "a"), IMPORTER, True),
        (
            ("evaluate", "agent.zip", "--lines", "l"),
            "clalfred.cl.experiment.agent_file.load_agent",
            True,
        ),
        (("evaluate", "agent.zip"), "clalfred.cl.experiment.agent_file.load_agent", False),
        (("record", "film.mp4"), "gym_clalfred.data.sources.open_source", False),
        (("report", "runs"), "clalfred.cl.report.summary.load_runs", False),
        (("doctor",), "clalfred.cl.doctor.examine", False),
        (("generate", "tiny"), "gym_clalfred.data.tiers.tier_source", False),
    ],
)
def test_ctrl_c_says_that_a_command_continues_if_it_does(
    arguments: tuple[str, ...], busy: str, continues: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(busy, interrupt)
    with CliRunner().isolated_filesystem():
        run = invoke(*arguments)
    assert run.exit_code == 130
    assert "Interrupted." in run.output
    assert ("The same command again continues" in run.output) == continues


@pytest.mark.parametrize(("error", "heard"), [(FileNotFoundError, False), (ArithmeticError, True)])
def test_a_thread_that_cannot_write_leaves_the_words_to_the_command(
    error: type[Exception], heard: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error("tensorboard")

    @clear_errors
    def work() -> None:
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    work()
    assert ("Traceback" in capsys.readouterr().err) == heard


def test_an_agent_of_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    from clalfred.agents.checkpoint import save_state

    save_state(tmp_path / "agent.zip", {"agent": "CAMA"})
    run = invoke("evaluate", str(tmp_path))
    assert run.exit_code == 1
    assert "a checkpoint to continue from, not a trained agent" in run.output
