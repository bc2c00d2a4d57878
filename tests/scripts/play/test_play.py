"""A window for people, and Gymnasium's ``play`` with keys; without a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from gym_clalfred import viewer
from gym_clalfred.actions import Action
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, MissingDependencyError, SimulatorError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.possible_actions import KEYS, most_central
from gym_clalfred.setups import ENV_IDS
from gym_clalfred.viewer import PANEL_SIZE
from tests.helpers.fakes import APPLE, FRIDGE, LAMP, FakeSimulator

MakeEnv = Callable[..., ClAlfredEnv]

PLACE = "train/pick_and_place_simple-Apple-None-Fridge-1/trial_T1#0"

pygame = pytest.importorskip("pygame")


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(pygame.time, "Clock", FastClock)
    yield
    pygame.quit()


class FastClock:
    def tick(self, fps: int) -> None:
        assert fps == 5


def shown() -> np.ndarray[Any, Any]:
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def test_a_window_shows_every_step(make_fake_env: MakeEnv) -> None:
    env, pictures = make_fake_env(render_mode="human"), make_fake_env(render_mode="rgb_array")
    for each in (env, pictures):
        each.reset(options={"episode": PLACE})
    assert pygame.display.get_surface().get_size() == PANEL_SIZE
    for action in ((Action.PickupObject, ObjectClass.Apple), (Action.RotateLeft, 0)):
        for each in (env, pictures):
            each.step(action)
        assert env.render() is None
        assert np.array_equal(shown(), pictures.render())
    env.close()
    assert not pygame.display.get_init()
    env.reset(seed=0)
    assert pygame.display.get_init()


@pytest.mark.filterwarnings("ignore")
def test_the_window_passes_gymnasiums_check(make_fake_env: MakeEnv) -> None:
    check_env(make_fake_env(render_mode="human"), skip_render_check=False)


def test_a_crash_is_shown(make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    env = make_fake_env(render_mode="human")
    env.reset(seed=0)
    monkeypatch.setattr(FakeSimulator, "crash_at", 1)
    assert env.step((Action.RotateLeft, 0))[4]["crashed"]


def test_without_pygame(make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"cl-alfred-gym\[play\]"):
        make_fake_env(render_mode="human")
    make_fake_env(render_mode="rgb_array")


def test_every_action_has_one_key(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    keys = env.get_keys_to_action()
    assert sorted(action[0] for action in keys.values()) == list(Action)
    assert all(action in env.action_space for action in keys.values())
    assert all(len(key) == 1 for key in keys)


def test_the_environment_takes_no_keys_unless_someone_plays(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    with pytest.raises(BadInputError, match="two integers"):
        env.step(0)
    info = env.step((Action.OpenObject, 0))[4]
    assert (info["reason"], info["failures"]) == ("the action needs a target object", 1)
    env.get_keys_to_action()
    for bad in (1, False, 0.0, None):
        with pytest.raises(BadInputError, match="two integers"):
            env.step(bad)  # type: ignore[arg-type]


def test_no_key_changes_nothing(make_fake_env: MakeEnv) -> None:
    env = make_fake_env(reward="dense", max_steps=3)
    observation, _ = env.reset(options={"episode": PLACE})
    env.get_keys_to_action()
    for _ in range(5):
        again, reward, terminated, truncated, info = env.step(0)
        assert (reward, terminated, truncated, info["steps"]) == (0.0, False, False, 0)
        assert all(np.array_equal(again[name], observation[name]) for name in observation)


def test_keys_act_on_what_is_nearest_to_the_centre(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(options={"episode": PLACE})
    keys = env.get_keys_to_action()
    # Five columns: apple, second apple, table, fridge, lamp; the table is in the centre.
    info = env.step(keys["p"])[4]
    assert info["action_success"]
    assert env.simulator.held is not None
    assert env.simulator.held != APPLE
    assert env.step(keys["n"])[4]["action_success"]
    assert env.simulator.objects[LAMP].is_on
    # Nothing that is off is left: no failure, however long the key is held.
    for _ in range(20):
        info = env.step(keys["n"])[4]
    assert (info["failures"], info["steps"]) == (0, 2)
    assert (info["action_success"], info["reason"]) == (False, "the action needs a target object")
    assert env.step(keys["o"])[4]["action_success"]
    assert env.simulator.objects[FRIDGE].is_open


def test_a_crash_while_looking_for_the_centre(
    make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise SimulatorError("dead")

    env = make_fake_env()
    env.reset(seed=0)
    keys = env.get_keys_to_action()
    for call in ("sight", "frame"):
        monkeypatch.setattr(FakeSimulator, call, crash)
    assert env.step(keys["p"])[4]["crashed"]


def test_most_central_agrees_with_the_picture() -> None:
    env = gymnasium.make(ENV_IDS[0], tier="tiny", image_size=8).unwrapped
    assert isinstance(env, ClAlfredEnv)
    found = 0
    for seed in range(12):
        env.reset(seed=seed)
        for action in (Action.PickupObject, Action.OpenObject, Action.ToggleObjectOn):
            choice = most_central(action, env.simulator)
            possible = env.possible_actions()[action]
            if choice.object_id is None:
                assert not possible.any()
                continue
            found += 1
            sight = env.simulator.sight()
            mask = sight.mask(choice.object_id)
            assert choice.object_id in sight.visible
            nearest = distance(mask)
            for other in sight.visible - {choice.object_id}:
                kind = env.simulator.objects[other].object_class
                if possible[kind] and distance(sight.mask(other)) < nearest:
                    # Nearer ones of the class are only passed over for their own state.
                    state = env.simulator.objects[other]
                    assert state.is_open or state.is_on
    assert found > 5
    env.close()


def distance(mask: np.ndarray[Any, Any]) -> float:
    rows, columns = np.nonzero(mask)
    centre = (mask.shape[0] - 1) / 2
    return min((rows - centre) ** 2 + (columns - centre) ** 2, default=np.inf)


def played(seed: int) -> list[dict[str, Any]]:
    """Infos of ``play(env)`` as a user calls it, with the keys of the expert's actions pressed."""
    from gymnasium.utils.play import play

    env = gymnasium.make(
        ENV_IDS[0], tier="tiny", image_size=32, render_mode="rgb_array", tasks=["pick&place"]
    )
    base = env.unwrapped
    assert isinstance(base, ClAlfredEnv)
    key_of = {action: ord(key) for key, action in KEYS.items()}
    infos: list[dict[str, Any]] = []
    todo: list[Action] = []

    def post(kind: int, **more: Any) -> None:
        pygame.event.post(pygame.event.Event(kind, **more))

    def callback(*step: Any) -> None:
        if not infos:
            todo.extend(low.action for low in base.episode.trajectory.actions)
            todo.append(Action.Stop)
        else:
            post(pygame.KEYUP, key=key_of[todo.pop(0)])
        infos.append(step[-1])
        if "success" in infos[-1] or not todo:
            post(pygame.QUIT)
        else:
            post(pygame.KEYDOWN, key=key_of[todo[0]])

    play(env, callback=callback, seed=seed)
    assert infos[0]["steps"] == 0  # no key was pressed yet
    assert len(infos) == len(base.episode.trajectory.actions) + 2
    env.close()
    return infos


def test_gymnasiums_play_solves_episodes_with_keys() -> None:
    # The object of the task is not always the most central one.
    assert any(played(seed)[-1]["success"] for seed in range(6))
