"""The options of the environment are declared once, and its constructor takes them."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.options import EnvOptions
from tests.helpers.fakes import FakeSource

NAMES = [one.name for one in fields(EnvOptions)]


def test_the_constructor_shows_every_option_with_its_default() -> None:
    shown = inspect.signature(ClAlfredEnv).parameters
    assert {name: one.default for name, one in shown.items()} == {
        one.name: one.default for one in fields(EnvOptions)
    }


def test_every_option_is_explained() -> None:
    explained = re.findall(r"^        (\w+): ", EnvOptions.__doc__ or "", flags=re.MULTILINE)
    assert explained == NAMES


def test_only_the_setup_may_be_given_by_position() -> None:
    env = ClAlfredEnv("environment-il", source=FakeSource(), order=2)
    assert (env.setup.value, env.order) == ("environment-il", 2)
    with pytest.raises(TypeError, match="positional"):
        ClAlfredEnv("environment-il", "train")
