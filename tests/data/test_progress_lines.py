"""Long work is not silent where there is no terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gym_clalfred.data import progress_lines
from gym_clalfred.data.progress_lines import duration, with_progress


def test_lines_come_at_intervals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, *(10.0 * number for number in range(1, 9))])
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: next(clock))
    made = with_progress(iter(range(8)), 8, "generating tier toy", "trajectories")
    assert [next(made) for _ in range(8)] == list(range(8))
    made.close()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "generating tier toy: 8 trajectories, made once and kept",
        "generating tier toy: 2 of 8 trajectories (25 %), about 1 min 0 s left",
        "generating tier toy: 4 of 8 trajectories (50 %), about 40 s left",
        "generating tier toy: 6 of 8 trajectories (75 %), about 20 s left",
        "generating tier toy: done in 1 min 20 s",
    ]


def test_a_slow_first_item_does_not_spoil_the_estimate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 50.0, 60.0, 70.0, 80.0])
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: next(clock))
    list(with_progress(iter(range(4)), 4, "generating tier toy", "trajectories"))
    assert capsys.readouterr().err.splitlines()[1:] == [
        "generating tier toy: 1 of 4 trajectories (25 %)",
        "generating tier toy: 3 of 4 trajectories (75 %), about 10 s left",
        "generating tier toy: done in 1 min 20 s",
    ]


def test_the_first_line_comes_before_anything_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    def made() -> object:
        assert "2,000 rooms" in capsys.readouterr().err
        yield 1

    assert next(with_progress(made(), 2000, "building", "rooms")) == 1  # type: ignore[arg-type]


def test_a_terminal_gets_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert list(with_progress(iter("ab"), 2, "building", "rooms")) == ["a", "b"]
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "made once" not in shown


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59.4, "59 s"), (165, "2 min 45 s"), (3900, "1 h 5 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_who_waits_for_another_process_says_so(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from gym_clalfred.data.cache import file_lock\n"
        "with file_lock(Path(sys.argv[1]), 'waiting for another'):\n"
        " print('held', flush=True)\n sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "lock")]
    pipe = subprocess.PIPE
    first = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    second = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert second.stderr is not None
    assert second.stderr.readline() == "waiting for another\n"
    assert first.communicate("")[1] == ""
    assert second.communicate("")[0] == "held\n"
