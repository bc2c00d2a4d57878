"""The picture for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Failure, View
from gym_clalfred.viewer import PANEL_SIZE, Caption, Notes, draw_panel

VIEWS = np.arange(5 * 20 * 20 * 3, dtype=np.uint32).reshape(5, 20, 20, 3).astype(np.uint8)
CAPTION = Caption(
    goal="Put an apple in the fridge.",
    instructions=("Go to the table.", "Take the apple.", "Put it in the fridge."),
    step=3,
    max_steps=1000,
    action=Action.PickupObject,
    object_class=ObjectClass.Apple,
    failure=None,
    failures=0,
    held=None,
    goal_met=0,
    goal_total=3,
)


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": "Put a pear in the fridge."},
        {"instructions": ("Wait.",)},
        {"step": 4},
        {"max_steps": 500},
        {"action": Action.OpenObject},
        {"action": None},
        {"object_class": ObjectClass.Mug},
        {"failure": Failure.TOO_FAR},
        {"failures": 1},
        {"held": ObjectClass.Apple},
        {"goal_met": 1},
        {"goal_total": 4},
        {"success": True},
        {"success": False},
    ],
)
def test_every_fact_shows(changes: dict[str, object]) -> None:
    plain = draw_panel(VIEWS, CAPTION)
    changed = draw_panel(VIEWS, replace(CAPTION, **changes))  # type: ignore[arg-type]
    assert not np.array_equal(plain, changed)


@pytest.mark.parametrize("view", range(5))
def test_every_view_shows(view: int) -> None:
    views = VIEWS.copy()
    views[view] = 255 - views[view]
    assert not np.array_equal(draw_panel(VIEWS, CAPTION), draw_panel(views, CAPTION))


def test_the_outline_is_drawn_around_the_object() -> None:
    mask = np.zeros((20, 20), dtype=np.bool_)
    mask[5:10, 5:10] = True
    difference = (draw_panel(VIEWS, CAPTION) != draw_panel(VIEWS, CAPTION, mask)).any(axis=-1)
    assert difference.any()
    assert difference.sum() < 0.02 * difference.size


@settings(max_examples=25, deadline=None)
@given(
    st.text("abcdefghij ", max_size=400),
    st.lists(st.text("abcdefghij ", max_size=300), max_size=25),
    st.integers(1, 400),
)
def test_any_words_and_any_size_fit(goal: str, steps: list[str], size: int) -> None:
    views = np.zeros((5, size, size, 3), dtype=np.uint8)
    caption = replace(CAPTION, goal=goal, instructions=tuple(steps))
    panel = draw_panel(views, caption)
    assert panel.shape == (PANEL_SIZE[1], PANEL_SIZE[0], 3)
    assert panel.dtype == np.uint8
    margin = panel[:, -10:].reshape(-1, 3)
    assert (margin == margin[0]).all()


def test_render_of_an_episode(make_fake_env: Callable[..., ClAlfredEnv]) -> None:
    env = make_fake_env(render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step((Action.PickupObject, ObjectClass.Apple))
    after = env.render()
    assert before is not None
    assert after is not None
    assert not np.array_equal(before, after)


def test_render_without_a_mode_warns(make_fake_env: Callable[..., ClAlfredEnv]) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="rgb_array"):
        assert env.render() is None


def test_what_is_looked_for_is_drawn_into_the_views() -> None:
    views = np.full((5, 84, 84, 3), 90, np.uint8)
    heat = np.zeros((5, 7, 7), np.float32)
    heat[View.LEFT, 3, 3] = 1.0
    plain, cold, warm = (
        draw_panel(views, replace(CAPTION, notes=notes))
        for notes in (Notes(), Notes(looks_for="Mug"), Notes(looks_for="Mug", heat=heat))
    )
    assert (plain != cold).any()
    rows, columns = np.nonzero((cold != warm).any(2))
    # Within the middle of the left view, which stands right of the front one.
    assert 350 < columns.min() <= columns.max() < 510
    assert 64 < rows.min() <= rows.max() < 224
