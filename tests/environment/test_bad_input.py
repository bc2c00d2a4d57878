"""Bad input gives one clear error and leaves the environment usable."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.checks import action_pair
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, DataError, MissingDependencyError, UsageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.setups import ENV_IDS
from gym_clalfred.simulator.backends import BACKENDS, Backend
from tests.helpers.fakes import FakeSource

MakeEnv = Callable[..., ClAlfredEnv]

BAD_ARGUMENTS = [
    ("setup", "TaskIL"),
    ("split", "test"),
    ("order", 0),
    ("order", 6),
    ("order", "1"),
    ("backend", "unity"),
    ("image_size", 0),
    ("image_size", 84.0),
    ("image_size", 100_000),
    ("max_steps", 0),
    ("max_steps", True),
    ("reward", "shaped"),
    ("render_mode", "ansi"),
    ("view_angles", ((0, 0),)),
    ("view_angles", "wide"),
    ("view_angles", ((0, float("nan")),) * 5),
    ("goal_matching", "fuzzy"),
    ("backend", ["embedded"]),
    ("masks", "no"),
    ("depth", 1),
    ("reveal_task", None),
    ("source", 5),
    ("source", "tiny"),
]


@pytest.mark.parametrize(("name", "value"), BAD_ARGUMENTS)
def test_bad_arguments(make_fake_env: MakeEnv, name: str, value: object) -> None:
    with pytest.raises(BadInputError) as caught:
        make_fake_env(**{name: value})
    assert name in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_an_unknown_keyword_is_named(env_id: str) -> None:
    with pytest.raises(TypeError, match=r"'image_sise': did you mean 'image_size'.*reveal_task"):
        gymnasium.make(env_id, image_sise=84)


def test_an_unknown_id_is_answered_with_the_known_ones() -> None:
    with pytest.raises(gymnasium.error.NameNotFound, match="CLAlfred-BehaviorIL"):
        gymnasium.make("CLAlfred-BehaviourIL-v0")


WRONG_FORMS = [
    *(0, [0], [0, 0, 0], [[0, 0]], (0.0, 0.0), ("MoveAhead", "Apple"), None, [True, False]),
    *([[0], [0, 0]], np.zeros((2, 1), dtype=np.int64)),
]
OUT_OF_RANGE = [(13, 0), (-1, 0), (5, 119), (5, -1)]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        *((form, "two integers") for form in WRONG_FORMS),
        *((pair, r"from 0 to (12|118)") for pair in OUT_OF_RANGE),
    ],
)
def test_bad_actions(make_fake_env: MakeEnv, action: Any, words: str) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    with pytest.raises(BadInputError, match=words):
        env.step(action)
    assert env.step((Action.RotateLeft, 0))[4]["steps"] == 1


@given(st.tuples(st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40)))
def test_actions_are_accepted_exactly_in_range(action: tuple[int, int]) -> None:
    fits = 0 <= action[0] < len(Action) and 0 <= action[1] < len(ObjectClass)
    if fits:
        assert action_pair(action) == action
    else:
        with pytest.raises(BadInputError, match="from 0 to"):
            action_pair(action)


@pytest.mark.parametrize(
    ("action", "mask"),
    [
        (99, None),
        ("Stop", None),
        (Action.PickupObject, None),
        (Action.PickupObject, np.zeros((7, 7), dtype=bool)),
    ],
)
def test_bad_masks(make_fake_env: MakeEnv, action: Any, mask: Any) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    with pytest.raises(BadInputError):
        env.act_with_mask(action, mask)
    assert env.step((Action.RotateLeft, 0))[4]["steps"] == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda env: env.step((0, 0)),
        lambda env: env.act_with_mask(0),
        lambda env: env.episode,
        lambda env: env.goal,
        lambda env: env.render(),
    ],
)
def test_use_before_reset(make_fake_env: MakeEnv, use: Callable[[ClAlfredEnv], object]) -> None:
    env = make_fake_env(render_mode="rgb_array")
    with pytest.raises(UsageError, match="reset"):
        use(env)
    env.reset(seed=0)
    use(env)


def test_step_after_the_end(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    env.step((Action.Stop, 0))
    with pytest.raises(UsageError, match="reset"):
        env.step((Action.RotateLeft, 0))
    env.reset()
    env.step((Action.RotateLeft, 0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": 3}, "task"),
        ({"episode": 3}, "EpisodeKey"),
        ({"episode": "train/x"}, "annotation"),
        ({"episode": "test/a/b#0"}, "valid_seen"),
        ({"episode": "train/a/b#-1"}, "annotation"),
    ],
)
def test_bad_reset_options(make_fake_env: MakeEnv, options: dict[str, Any], message: str) -> None:
    env = make_fake_env()
    with pytest.raises(BadInputError, match=message):
        env.reset(options=options)
    env.reset(seed=0)


def test_a_missing_episode_leaves_the_environment_usable(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    with pytest.raises(DataError, match="nobody"):
        env.reset(options={"episode": "train/nobody/trial#0"})
    with pytest.raises(UsageError, match="reset"):
        env.step((0, 0))
    env.reset()


def test_an_annotation_that_is_not_there(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    key = env.episode.key
    missing = EpisodeKey(key.split, key.trajectory, 99)
    with pytest.raises(DataError, match="99"):
        env.reset(options={"episode": missing})


class EmptySource(FakeSource):
    label = "empty-1"

    def entries(self, split: Any) -> tuple[()]:
        return ()


def test_an_empty_split_is_named(make_fake_env: MakeEnv) -> None:
    with pytest.raises(DataError, match="empty-1 has no episodes in split 'valid_seen'"):
        make_fake_env(source=EmptySource(), split="valid_seen").reset()


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_unreadable_data_paths(env_id: str, tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.write_text("not episodes")
    for path in (tmp_path / "nowhere", a_file, tmp_path):
        with pytest.raises(DataError, match=str(path)):
            gymnasium.make(env_id, data=path)


def test_unknown_tiers() -> None:
    with pytest.raises(BadInputError, match="huge"):
        gymnasium.make(ENV_IDS[0], tier="huge")


def test_a_backend_whose_package_is_missing(
    make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    needing = Backend("tests.helpers.fakes:FakeSimulator", "no_such_package_here", "thor")
    monkeypatch.setitem(BACKENDS, "thor", needing)
    with pytest.raises(MissingDependencyError, match="pip install"):
        make_fake_env(backend="thor")


@pytest.mark.parametrize(("name", "value"), [("tier", ["tiny"]), ("data", 3)])
def test_episodes_that_cannot_be_named(name: str, value: object) -> None:
    with pytest.raises(BadInputError, match=re.escape(repr(value))):
        ClAlfredEnv("BehaviorIL", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [5, "episode", ["episode"]])
def test_reset_options_are_a_dict(make_fake_env: MakeEnv, options: Any) -> None:
    env = make_fake_env()
    with pytest.raises(BadInputError, match="expected reset options as a dict"):
        env.reset(options=options)
    env.reset(options={})
