"""``clalfred-generate`` and ``clalfred-data``: made once, checked, counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from clalfred.scripts import data
from clalfred.scripts.generate import main
from gym_clalfred.data.quotas import TIERS, Quota, Tier
from gym_clalfred.data.tiers import tier_folder
from gym_clalfred.data.trajectory import Split
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks.spec import TaskType


@pytest.fixture
def pocket(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tier with one trajectory per split."""
    quota = Quota(TaskType.PICK_AND_PLACE, RoomType.BATHROOM, 1, 2)
    monkeypatch.setitem(TIERS, "pocket", Tier("pocket", dict.fromkeys(Split, (quota,))))


@pytest.mark.usefixtures("pocket")
def test_a_tier_is_made_verified_and_counted(tmp_path: Path) -> None:
    options = ["pocket", "--cache", str(tmp_path)]
    missing = CliRunner().invoke(main, [*options, "--verify"])
    assert missing.exit_code == 1
    assert "clalfred-generate pocket" in missing.output

    made = CliRunner().invoke(main, [*options, "--workers", "1"])
    assert made.exit_code == 0, made.output
    counts = next(line for line in made.output.splitlines() if line.startswith("Pick&Place"))
    assert counts.split()[1:4] == ["2", "2", "2"]
    folder = tier_folder(TIERS["pocket"], tmp_path)
    assert f"folder  {folder}" in made.output
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    CliRunner().invoke(main, options)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before

    assert CliRunner().invoke(main, [*options, "--verify"]).exit_code == 0
    content = (folder / "train.zip").read_bytes()
    (folder / "train.zip").write_bytes(content[:-100] + bytes(100))
    assert CliRunner().invoke(main, [*options, "--verify"]).exit_code == 1

    (folder / "train.zip").write_bytes(content)
    info = CliRunner().invoke(data.main, ["info", "--data", str(folder)])
    assert info.exit_code == 0, info.output
    assert counts in info.output


def test_info_of_a_folder_without_episodes_is_an_error(tmp_path: Path) -> None:
    run = CliRunner().invoke(data.main, ["info", "--data", str(tmp_path)])
    assert run.exit_code == 1
    assert "no episodes found" in run.output


def test_long_steps_are_not_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with data._ProgressBar() as bar:
        for step in ("unpacking", "reading episodes"):
            for done in range(4):
                bar.show(step, done, 3)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["unpacking: 0 of 3", "reading episodes: 0 of 3"]
