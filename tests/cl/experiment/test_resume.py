"""A run that is killed goes on as if nothing had happened; a folder is never taken by mistake."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clalfred.agents.checkpoint
from clalfred.agents.checkpoint import load_state
from clalfred.cl.experiment import RunConfig
from clalfred.cl.experiment.callbacks import RunCallback
from clalfred.cl.experiment.folder import read_config
from clalfred.cl.experiment.results import Evaluation
from clalfred.cl.registry import method_names
from gym_clalfred.errors import ClAlfredError, DataError, StorageError, UsageError
from tests import ROOT
from tests.helpers.runs import fake_config, fake_inputs, run_fake

pytestmark = pytest.mark.slow


def without_times(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "results.json").read_text())
    del document["seconds"]
    return document


def assert_equal_runs(one: Path, other: Path) -> None:
    """Results, weights and everything else that learning would go on from, to the last bit."""
    assert without_times(one) == without_times(other)
    assert (one / "agent.zip").read_bytes() == (other / "agent.zip").read_bytes()
    states = [load_state(folder / "checkpoint.zip") for folder in (one, other)]
    for state in states:
        del state["seconds"]
    assert_equal(states[0], states[1], "")


def assert_equal(one: Any, other: Any, where: str) -> None:
    assert type(one) is type(other), where
    if isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype, where
        assert torch.equal(one, other), where
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_equal(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for index, pair in enumerate(zip(one, other)):
            assert_equal(*pair, f"{where}/{index}")
    else:
        assert one == other, where


class StopAt(RunCallback):
    """Leaves a run without warning after so many events, as a kill would."""

    def __init__(self, event: int) -> None:
        super().__init__()
        self.left = event

    def _count(self, *_: object) -> bool:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return True

    _on_step = on_evaluating = on_evaluated_episode = on_evaluated = _count  # type: ignore


@pytest.mark.parametrize("method", method_names())
def test_an_interrupted_run_equals_an_uninterrupted_one(method: str, tmp_path: Path) -> None:
    config = fake_config(method=method, episodes_per_task=3, evaluation_episodes=1, max_steps=4)
    run_fake(config, tmp_path / "whole")
    draw = random.Random(method)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run_fake(config, tmp_path / "pieces", callbacks=[StopAt(draw.randrange(1, 9))])
    run_fake(config, tmp_path / "pieces")
    assert_equal_runs(tmp_path / "whole", tmp_path / "pieces")


def test_a_run_goes_on_without_the_features_that_were_kept(tmp_path: Path) -> None:
    config = fake_config(
        method="er", augment=True, episodes_per_task=3, evaluation_episodes=1, max_steps=4
    )
    run_fake(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run_fake(config, tmp_path / "pieces", callbacks=[StopAt(8)])
    shutil.rmtree(tmp_path / "features")
    run_fake(config, tmp_path / "pieces")
    assert_equal_runs(tmp_path / "whole", tmp_path / "pieces")


def test_kill_nine_at_ten_random_moments_of_a_tiny_run(tmp_path: Path) -> None:
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    command = [sys.executable, "-m", "tests.helpers.killed_runs", str(whole), str(pieces), "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    kills = [int(code) for code in done.stdout.split()]
    assert kills == [-signal.SIGKILL] * 10, done.stdout + done.stderr
    assert_equal_runs(whole, pieces)
    assert not [path for path in pieces.iterdir() if path.name.startswith(".")]


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    config = fake_config(episodes_per_task=1, evaluation_episodes=1, max_steps=2)
    first = run_fake(config, tmp_path / "run")
    before = content(tmp_path / "run")
    again = run_fake(config, tmp_path / "run", callbacks=[StopAt(0)])
    assert again == first
    assert content(tmp_path / "run") == before


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder that was left in the middle."""
    folder = tmp_path_factory.mktemp("begun") / "run"
    with pytest.raises(KeyboardInterrupt):
        run_fake(BEGUN, folder, callbacks=[StopAt(12)])
    return folder


BEGUN = fake_config(episodes_per_task=3, evaluation_episodes=1, max_steps=2)


def assert_refused(folder: Path, config: RunConfig, error: type[ClAlfredError], match: str) -> None:
    before = content(folder)
    with pytest.raises(error, match=match):
        run_fake(config, folder)
    assert content(folder) == before


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"method": "er"}, "another run: method is 'cama', not 'er'"),
        ({"setup": "imbalanced-environment-il"}, "setup is 'environment-il'"),
        ({"seed": 4, "order": 2}, "order is 1, not 2; seed is 0, not 4"),
    ],
)
def test_a_folder_of_another_run_is_refused(
    begun: Path, change: dict[str, Any], match: str
) -> None:
    config = RunConfig.from_dict({**BEGUN.to_dict(), **change})
    assert_refused(begun, config, UsageError, match)


def test_a_run_that_saved_nothing_leaves_its_folder_to_the_next(tmp_path: Path) -> None:
    other = replace(BEGUN, seed=4)
    with pytest.raises(KeyboardInterrupt):
        run_fake(other, tmp_path / "run", callbacks=[StopAt(0)], checkpoint_seconds=60.0)
    assert read_config(tmp_path / "run" / "config.json") == other
    assert run_fake(BEGUN, tmp_path / "run").config == BEGUN
    run_fake(BEGUN, tmp_path / "whole")
    assert_equal_runs(tmp_path / "whole", tmp_path / "run")


def test_a_config_of_another_format_is_refused(tmp_path: Path) -> None:
    document = {"format": 99, "version": "9.0", "config": {}}
    (tmp_path / "config.json").write_text(json.dumps(document))
    assert_refused(tmp_path, BEGUN, DataError, "release 9.0 in format 99")


def test_a_config_with_unknown_settings_is_refused(tmp_path: Path) -> None:
    document = {"format": 1, "version": "9.0", "config": {"taste": "sweet"}}
    (tmp_path / "config.json").write_text(json.dumps(document))
    assert_refused(tmp_path, BEGUN, DataError, "unknown setting 'taste'")


def test_other_data_than_the_run_began_with_is_refused(begun: Path, tmp_path: Path) -> None:
    inputs = fake_inputs(BEGUN, tmp_path / "features")
    inputs.source.label = "fake-source-of-next-year"
    before = content(begun)
    with pytest.raises(DataError, match=r"began with .*fake-source'.*fake-source-of-next-year"):
        run_fake(BEGUN, begun, inputs=inputs)
    assert {name: before[name] for name in before if "tensorboard" not in name} == {
        name: part for name, part in content(begun).items() if "tensorboard" not in name
    }


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"beach")
    assert_refused(tmp_path, BEGUN, UsageError, "not a run's folder")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_checkpoint_is_refused(begun: Path, data: st.DataObject) -> None:
    path = begun / "checkpoint.zip"
    whole = path.read_bytes()
    if data.draw(st.booleans(), label="cut"):
        damaged = whole[: data.draw(st.integers(0, len(whole) - 1), label="length")]
    else:
        # In the contents, which a checksum covers; the zip's dates and flags mean nothing.
        start = data.draw(st.integers(200, len(whole) - 400), label="start")
        damaged = whole[:start] + bytes(64) + bytes([255]) * 64 + whole[start + 128 :]
    path.write_bytes(damaged)
    try:
        assert_refused(begun, BEGUN, DataError, "checkpoint.zip is damaged")
    finally:
        path.write_bytes(whole)


def failing(code: int, name: str) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code), name)

    return fail


@pytest.mark.parametrize(
    ("code", "match"),
    [
        (errno.ENOSPC, "disk is full.*repeat the command"),
        (errno.EROFS, "cannot be written to"),
        (errno.EFBIG, "larger than files may be here"),
    ],
)
def test_a_disk_that_takes_nothing_is_named_and_the_run_goes_on_later(
    code: int, match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run_fake(BEGUN, folder, callbacks=[StopAt(12)])
    before = (folder / "checkpoint.zip").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(clalfred.agents.checkpoint.zipfile.ZipFile, "writestr", failing(code, "disk"))
        with pytest.raises(StorageError, match=match):
            run_fake(BEGUN, folder)
    assert (folder / "checkpoint.zip").read_bytes() == before
    assert not list(folder.glob(".checkpoint*"))
    run_fake(BEGUN, folder)
    run_fake(BEGUN, tmp_path / "whole")
    assert_equal_runs(tmp_path / "whole", folder)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("I am a file")
    with pytest.raises(StorageError, match="expected a folder, found a file"):
        run_fake(BEGUN, tmp_path / "run")
    assert (tmp_path / "run").read_text() == "I am a file"


def test_a_folder_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bad\xff")
    with pytest.raises(StorageError, match="expected a folder whose name is UTF-8"):
        run_fake(BEGUN, folder)
    assert not folder.exists()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_folder_that_is_deleted_under_a_run_is_one_line(tmp_path: Path) -> None:
    class Delete(RunCallback):
        def on_evaluated(self, evaluation: Evaluation) -> None:
            shutil.rmtree(folder)

    folder = tmp_path / "run"
    with pytest.raises(StorageError, match=r"run: was deleted while it was in use; repeat"):
        run_fake(BEGUN, folder, callbacks=[Delete()])
    assert not folder.exists()


def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    class Second(RunCallback):
        def _on_training_start(self) -> None:
            with pytest.raises(StorageError, match="another process"):
                run_fake(BEGUN, self.run.folder.path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fake(BEGUN, tmp_path / "run", callbacks=[Second()])


def test_a_disk_that_is_really_full(small_disk: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="disk is full"):
        run_fake(BEGUN, small_disk / "run", inputs=fake_inputs(BEGUN, tmp_path / "features"))
    load_state(small_disk / "run" / "checkpoint.zip")  # an early one, which fits, is intact
    bigger = ["mount", "-o", "remount,size=20m", str(small_disk)]
    subprocess.run(bigger, check=True)
    run_fake(BEGUN, small_disk / "run", inputs=fake_inputs(BEGUN, tmp_path / "features"))
    run_fake(BEGUN, tmp_path / "whole")
    assert_equal_runs(tmp_path / "whole", small_disk / "run")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = content(small_disk)
    for name in ("run", "other"):
        with pytest.raises(StorageError, match="cannot be written to"):
            run_fake(BEGUN, small_disk / name, inputs=fake_inputs(BEGUN, tmp_path / "features"))
    assert content(small_disk) == before
