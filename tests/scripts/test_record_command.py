"""``clalfred-record``: films of the expert and of agents, alone and side by side."""

from __future__ import annotations

import itertools
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from clalfred.agents.acting.recording import (
    Performer,
    TracedAction,
    expert_trace,
    film,
    record,
    side_by_side,
    write_film,
)
from clalfred.agents.acting.strip import COLUMNS, draw_strip
from clalfred.scripts.record import main
from gym_clalfred.actions import Action
from gym_clalfred.data.storage import storage_errors
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError, ClAlfredError, StorageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.backends import BACKENDS, Backend
from tests.helpers.acting import make_learner
from tests.helpers.fakes import EXPERT, FakeSource
from tests.helpers.runs import untrained_agent


@pytest.fixture(autouse=True)
def fake_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "fake", Backend("tests.helpers.fakes:FakeSimulator"))


def test_the_experts_actions_follow_the_instructions() -> None:
    source = FakeSource()
    key = source.entries(Split.TRAIN)[0].key
    trace = expert_trace(source, key)
    assert [done.action for done in trace] == [*(step.action for step in EXPERT), Action.Stop]
    assert [done.instruction for done in trace[:-1]] == [step.step for step in EXPERT]
    progress = [done.progress or 0.0 for done in trace]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert trace[4].object_class is ObjectClass.Apple


def test_a_film_has_a_picture_before_and_after_each_action() -> None:
    source = FakeSource()
    key = source.entries(Split.TRAIN)[0].key
    trace = expert_trace(source, key)
    frames = list(film(source, key, trace, backend="fake", title="expert"))
    assert len(frames) == len(trace) + 1
    assert all(frame.shape == (540, 960, 3) for frame in frames)
    assert all((one != other).any() for one, other in itertools.pairwise(frames))


def test_a_film_ends_with_the_episode() -> None:
    source = FakeSource()
    key = source.entries(Split.TRAIN)[0].key
    trace = [TracedAction(Action.Stop, ObjectClass.NoObject)] * 5
    assert len(list(film(source, key, trace, backend="fake"))) == 2


def test_the_shorter_film_waits() -> None:
    short = [np.full((4, 6, 3), shade, dtype=np.uint8) for shade in (1, 2)]
    long = [np.full((4, 6, 3), shade, dtype=np.uint8) for shade in (5, 6, 7)]
    both = side_by_side(short, long)
    assert [(frame[0, 0, 0], frame[0, -1, 0]) for frame in both] == [(1, 5), (2, 6), (2, 7)]
    assert both[0].shape == (4, 12, 3)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_films_can_be_read_back(suffix: str, tmp_path: Path) -> None:
    source = FakeSource()
    key = source.entries(Split.TRAIN)[0].key
    path = record(tmp_path / f"film{suffix}", source, key, [Performer("expert")], backend="fake")
    frames = imageio.mimread(path, memtest=False)
    assert len(frames) >= len(EXPERT)
    assert np.std(frames[0]) > 5


def test_bad_names_are_refused_before_any_work(tmp_path: Path) -> None:
    source = FakeSource()
    key = source.entries(Split.TRAIN)[0].key
    with pytest.raises(BadInputError, match=r"ends in .mp4 or .gif"):
        record(tmp_path / "film.avi", source, key, [Performer("expert")])
    with pytest.raises(BadInputError, match="one performer or two"):
        record(tmp_path / "film.mp4", source, key, [])
    with pytest.raises(BadInputError, match="nothing to show"):
        write_film(tmp_path / "film.mp4", [])
    assert not list(tmp_path.iterdir())


def test_the_command_films_an_agent_beside_the_expert(tmp_path: Path) -> None:
    agent = untrained_agent(tmp_path)
    arguments = [str(tmp_path / "both.mp4"), "--agent", str(agent), "--expert"]
    run = CliRunner().invoke(main, [*arguments, "--task", "Examine", "--max-steps", "6"])
    assert run.exit_code == 0, run.output
    assert run.output.startswith("valid_unseen/look_at_obj_in_light")
    frames = imageio.mimread(tmp_path / "both.mp4", memtest=False)
    assert frames[0].shape == (540, 1920, 3)


FRAMES = [np.random.default_rng(shade).integers(256, size=(540, 960, 3)) for shade in (0, 1)]


@pytest.mark.parametrize("program", ["/bin/false", "/nope"])
def test_an_ffmpeg_that_does_not_work_is_one_line(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", program)
    with pytest.raises(ClAlfredError, match=r"^ffmpeg could not encode the film \(.*no ffmpeg$"):
        write_film(tmp_path / "a.mp4", [frame.astype(np.uint8) for frame in FRAMES])
    assert not caplog.records
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_by_the_name_of_the_film(small_disk: Path, tmp_path: Path) -> None:
    path = small_disk / "a.gif"
    with pytest.raises(StorageError, match=f"^{path}: the disk is full"), storage_errors(tmp_path):
        write_film(path, [frame.astype(np.uint8) for frame in FRAMES])
    assert not list(small_disk.iterdir())


def test_a_film_of_an_agent_is_as_long_as_its_evaluation(tmp_path: Path) -> None:
    agent = untrained_agent(tmp_path)  # which was evaluated for four steps
    run = CliRunner().invoke(main, [str(tmp_path / "short.gif"), "--agent", str(agent)])
    assert run.exit_code == 0, run.output
    with Image.open(tmp_path / "short.gif") as film:
        assert 2 <= film.n_frames <= 5


def test_a_number_beyond_the_last_episode_is_named(tmp_path: Path) -> None:
    choice = ["--tier", "tiny", "--task", "Heat", "--number", "9"]
    run = CliRunner().invoke(main, [str(tmp_path / "a.mp4"), *choice])
    assert run.exit_code == 1
    assert "there are 1 such episodes" in run.output


def test_a_strip_has_a_row_for_each_performer(tmp_path: Path) -> None:
    source = FakeSource()
    key = source.entries(Split.TRAIN)[0].key
    one = draw_strip(tmp_path / "one.png", source, key, [Performer("expert")], backend="fake")
    agent = Performer("agent", make_learner().policy)
    performers = [Performer("expert"), agent, agent]
    three = draw_strip(tmp_path / "three.png", source, key, performers, backend="fake")
    small, large = imageio.imread(one), imageio.imread(three)
    assert large.shape[0] > 2.5 * small.shape[0]
    assert small.shape[1] <= COLUMNS * 200
    # The expert's row is the same, whoever comes below.
    width = min(small.shape[1], large.shape[1])
    np.testing.assert_array_equal(small[:200, :width], large[:200, :width])


def test_a_name_that_ends_in_png_asks_for_a_strip(tmp_path: Path) -> None:
    out = tmp_path / "strip.png"
    result = CliRunner().invoke(main, [str(out), "--tier", "tiny", "--split", "valid_seen"])
    assert result.exit_code == 0, result.output
    assert imageio.imread(out).shape[2] == 3
