"""The umbrella ``clalfred``, and how commands start: lightly, and with one line after Ctrl-C."""

from __future__ import annotations

import ast
import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clalfred.scripts import commands
from gym_clalfred import __version__
from tests import ROOT
from tests.helpers.report_runs import write_runs


def umbrella(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[object, str, str]:
    monkeypatch.setattr(sys, "argv", ["clalfred", *words])
    code: object = 0
    try:
        commands.main()
    except SystemExit as error:
        code = error.code
    out, err = capsys.readouterr()
    return code, out, err


def test_every_installed_command_is_listed_and_starts() -> None:
    tree = ast.parse((ROOT / "setup.py").read_text())
    installed = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMANDS"
    )
    assert sorted(installed) == sorted(commands.COMMANDS)
    for name in installed:
        assert getattr(commands, name).args == (name,)
        assert (ROOT / "scripts" / f"{name}.py").exists() or (ROOT / "scripts" / name).is_dir()


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_without_a_command_all_are_listed(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = umbrella(monkeypatch, capsys, *words)
    assert code == 0
    for name, text in commands.COMMANDS.items():
        assert f"  {name:10}{text}\n" in f"{out}\n"


def test_letters_that_a_terminal_does_not_have_are_replaced(tmp_path: Path) -> None:
    write_runs(tmp_path)
    code = (
        "from gym_clalfred.simulator.backends import BACKENDS, Backend; "
        "BACKENDS['fake'] = Backend('tests.helpers.fakes:FakeSimulator'); "
        "from clalfred.scripts.commands import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "report", str(tmp_path)],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("latin-1")
    assert " \N{PLUS-MINUS SIGN} ".encode("latin-1") in done.stdout


def test_a_command_gets_its_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = umbrella(monkeypatch, capsys, "report", "--help")
    assert code == 0
    assert out.startswith("Usage: clalfred report [OPTIONS] FOLDER")
    code, _, err = umbrella(monkeypatch, capsys, "report", str(tmp_path))
    assert code == 1
    assert "there are no finished runs" in err


def test_a_wrong_command_is_answered_with_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = umbrella(monkeypatch, capsys, "tran")
    assert code == 2
    assert err.startswith("Error: no command 'tran': did you mean 'train'? known are train, ")
    assert err.count("\n") == 1
    assert umbrella(monkeypatch, capsys, "--version")[1] == f"cl-alfred-gym {__version__}\n"


def test_a_commands_own_name_is_in_its_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clalfred-report", "--help"])
    with pytest.raises(SystemExit):
        commands.report()
    assert capsys.readouterr().out.startswith("Usage: clalfred-report [OPTIONS]")


@pytest.mark.parametrize("name", ["player", "generate", "data", "commands", "report", "evaluate"])
def test_starting_a_command_does_not_import_torch(name: str) -> None:
    code = f"import sys, clalfred.scripts.{name}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


#: Stands in for the seconds that imports take.
SLOW = """
import sys, time
from clalfred.scripts import commands
class Slow:
    def find_spec(self, name, path, target=None):
        if name == "clalfred.scripts.train":
            print("importing", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
sys.argv = ["clalfred-train", "--help"]
commands.train()
"""


def test_ctrl_c_while_a_command_is_imported_is_one_line() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # the child inherits it
    try:
        with subprocess.Popen(
            [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "importing\n"
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.returncode == 130
    assert errors.strip() == "Interrupted."


def test_ctrl_c_is_as_before_once_the_command_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    module = importlib.import_module("clalfred.scripts.report")
    monkeypatch.setattr(module, "main", lambda **_: seen.append(signal.getsignal(signal.SIGINT)))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        commands.report()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.default_int_handler]


COMMANDS_PAGE = (ROOT / "docs" / "COMMANDS.md").read_text()


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`((?:gym_)?clalfred(?:\.\w+)+)`", COMMANDS_PAGE)))
)
def test_functions_that_the_page_of_commands_names_exist(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), attribute))


def test_configs_that_the_page_of_commands_names_exist() -> None:
    named = re.findall(r"--config (\w+)", COMMANDS_PAGE)
    assert named
    for name in named:
        assert (ROOT / "scripts" / "configs" / f"{name}.yaml").exists()
