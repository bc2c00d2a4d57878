"""Fixtures shared by the tests; ``tests`` itself is importable, so ``fakes`` is a plain import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fakes import FakeSimulator, FakeSource

from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.simulator.backends import BACKENDS, Backend


@pytest.fixture
def make_fake_env(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ClAlfredEnv]]:
    """Makes environments on the fake household; closes them afterwards."""
    monkeypatch.setitem(BACKENDS, "fake", Backend("fakes:FakeSimulator"))
    monkeypatch.setattr(FakeSimulator, "crash_at", None)
    made: list[ClAlfredEnv] = []

    def make(**arguments: Any) -> ClAlfredEnv:
        settings = {"backend": "fake", "image_size": 16, "source": FakeSource(), **arguments}
        made.append(ClAlfredEnv(**settings))
        return made[-1]

    yield make
    for env in made:
        env.close()
