"""Fixtures shared by the tests."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from clalfred.agents.numerics.arithmetic import make_portable
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.simulator.backends import BACKENDS, Backend
from tests.helpers.fakes import FakeSimulator, FakeSource

if TYPE_CHECKING:
    from clalfred.scripts.play.session import Library, Session

# As in runs; before any test computes.
make_portable()

# Compilation and busy machines make single examples slow; no test here is about time.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first: a long one that starts last keeps one process waiting for the other."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture
def make_fake_env(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ClAlfredEnv]]:
    """Makes environments on the fake household; closes them afterwards."""
    monkeypatch.setitem(BACKENDS, "fake", Backend("tests.helpers.fakes:FakeSimulator"))
    monkeypatch.setattr(FakeSimulator, "crash_at", None)
    made: list[ClAlfredEnv] = []

    def make(**arguments: Any) -> ClAlfredEnv:
        options = {"backend": "fake", "image_size": 16, "source": FakeSource(), **arguments}
        made.append(ClAlfredEnv(**options))
        return made[-1]

    yield make
    for env in made:
        env.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for the first checkpoint, but not for one with an optimiser's state."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(path)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    yield path
    subprocess.run(["umount", str(path)], check=True)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """What ``clalfred-play`` offers: one task, and a folder for demonstrations."""
    from clalfred.scripts.play.session import Library
    from tests.helpers.play_sessions import PLACE

    return Library(PLACE, save=tmp_path / "demonstrations")


@pytest.fixture
def session(library: Library) -> Iterator[Session]:
    """A session of ``clalfred-play`` that shows its first episode."""
    from clalfred.scripts.play.session import Session
    from tests.helpers.play_sessions import told

    session = Session(library)
    told(session, "show")
    yield session
    session.sleep()
