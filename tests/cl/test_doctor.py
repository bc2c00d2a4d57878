"""``clalfred-doctor``: says what works, and how to fix the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from clalfred.cl import doctor
from clalfred.cl.doctor import CHECKS, Finding, examine
from clalfred.scripts.doctor import main


def test_this_machine_can_train() -> None:
    found = {one.name: one for one in examine()}
    assert set(found) == set(CHECKS)
    broken = [one for one in found.values() if one.needed and not one.works]
    assert broken == []
    assert "per second" in found["renderer"].detail


def test_everything_missing_comes_with_a_fix() -> None:
    assert all(one.fix for one in examine() if not one.works)


def only(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    checks = {one.name: (lambda one=one: one) for one in findings}
    monkeypatch.setattr(doctor, "CHECKS", checks)


def test_missing_necessities_fail_and_missing_extras_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, Finding("extra", False, "absent", "get it", needed=False))
    run = CliRunner().invoke(main)
    assert run.exit_code == 0
    assert "fix: get it" in run.output
    only(monkeypatch, Finding("heart", False, "absent", "transplant"))
    run = CliRunner().invoke(main)
    assert run.exit_code == 1
    assert "MISSING heart" in run.output


def test_a_check_that_breaks_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Finding:
        raise ValueError("surprise")

    monkeypatch.setattr(doctor, "CHECKS", {"thing": broken})
    assert examine()[0].detail == "ValueError: surprise"


def test_a_cache_that_cannot_be_written_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLALFRED_CACHE", str(tmp_path / "file" / "below"))
    finding = CHECKS["cache"]()
    assert not finding.works
    assert "CLALFRED_CACHE" in finding.fix


def test_tiers_of_other_releases_are_said_to_be_deletable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLALFRED_CACHE", str(tmp_path))
    older = tmp_path / "tiers" / "small-0000000000000000"
    older.mkdir(parents=True)
    (older / "train.zip").write_bytes(bytes(2_000_000))
    finding = CHECKS["generated data"]()
    assert not finding.works
    assert "1 of other releases" in finding.detail
    assert "2 MB" in finding.detail
    assert str(older.parent) in finding.detail


def test_a_machine_without_display_is_told_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ai2thor")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert "Xvfb" in CHECKS["AI2-THOR"]().fix


def test_alfred_data_is_imported_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLALFRED_ALFRED_DATA", raising=False)
    fix = CHECKS["ALFRED for tests"]().fix
    assert "clalfred-data import" in fix
    assert "docs/REAL_ALFRED.md" in fix


@pytest.mark.parametrize("package", ["torch", "numba"])
def test_a_package_that_cannot_be_imported_is_a_finding(package: str) -> None:
    imports = "from clalfred.scripts.doctor import main"
    program = f"import sys; sys.modules[{package!r}] = None; {imports}; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert f"MISSING {package}" in done.stdout
    assert "fix: install it again" in done.stdout
    assert done.stderr == ""


def test_an_ffmpeg_that_encodes_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CHECKS["ffmpeg"]().detail.endswith("encodes films")
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/bin/false")
    finding = CHECKS["ffmpeg"]()
    assert not finding.works
    assert "/bin/false: cannot encode a film" in finding.detail
