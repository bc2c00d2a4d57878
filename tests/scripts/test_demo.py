"""``make demo``: its last lines can be copied into the user's shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from clalfred.scripts.demo import commands_folder


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment in the current folder, not activated."""
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "clalfred-train").write_text("#!/bin/sh\n")
    (folder / "clalfred-train").chmod(0o755)
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path)
    return folder


def test_commands_of_an_environment_that_is_not_active_have_their_path(installed: Path) -> None:
    assert commands_folder() == ".venv/bin/"


def test_seen_from_elsewhere_the_path_is_whole(
    installed: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert commands_folder() == f"{installed}/"


def test_commands_that_the_shell_finds_have_none(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{installed}:/usr/bin")
    assert commands_folder() == ""
