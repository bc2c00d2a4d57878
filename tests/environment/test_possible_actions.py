"""Action masks: what they exclude would fail, and what would succeed they allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import SimulatorError, UsageError
from gym_clalfred.interaction import choose_by_class
from gym_clalfred.objects import ObjectClass
from gym_clalfred.possible_actions import PAIRS, TARGETS
from gym_clalfred.setups import ENV_IDS
from gym_clalfred.simulator.object_ids import class_of
from gym_clalfred.stream import TaskStream
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType
from gym_clalfred.wrappers import DiscreteActions, SB3Observation
from tests.helpers.fakes import FakeSimulator

MakeEnv = Callable[..., ClAlfredEnv]

NOTHING = ObjectClass.NoObject


def fails(env: ClAlfredEnv, action: Action, kind: ObjectClass) -> bool:
    """Whether an interaction fails, tried on the simulator itself."""
    simulator = env.simulator
    assert env._progress is not None
    previous = env._progress.pointing
    chosen = choose_by_class(kind, simulator.sight(kind), simulator.objects, previous).object_id
    return chosen is None or simulator.step(action, chosen).failure is not None


def masked_pairs(table: np.ndarray[Any, Any]) -> list[tuple[Action, ObjectClass]]:
    return [(action, kind) for action, kind in PAIRS if not table[action, kind]]


def check_table(env: ClAlfredEnv) -> int:
    """Tries all that is masked; returns how many interactions are not."""
    table = env.possible_actions()
    assert table.shape == (len(Action), len(ObjectClass))
    assert table[Action.Stop, NOTHING]
    before = env.simulator.version
    for action, kind in masked_pairs(table):
        if action.is_interaction:
            assert fails(env, action, kind), (action, kind)
        else:
            assert env.simulator.step(action).failure is not None, action
    assert env.simulator.version == before
    return int(table[[*TARGETS]].sum())


@pytest.fixture(scope="module")
def tiny() -> ClAlfredEnv:
    env = gymnasium.make(ENV_IDS[0], tier="tiny", image_size=8).unwrapped
    assert isinstance(env, ClAlfredEnv)
    return env


@pytest.mark.parametrize("task", ALFRED_TASKS)
def test_experts_are_never_masked_and_what_is_masked_fails(
    tiny: ClAlfredEnv, task: TaskType
) -> None:
    entries = [e for e in tiny.source.entries(tiny.split) if e.task_type is task]
    tiny.reset(options={"episode": entries[0].key})
    allowed = 0
    for low in tiny.episode.trajectory.actions:
        kind = NOTHING if low.object_id is None else class_of(low.object_id)
        if low.action.is_interaction:
            allowed += check_table(tiny)
        assert tiny.possible_actions()[low.action, kind], (low.action, kind)
        assert tiny.action_masks()[[low.action, len(Action) + kind]].all()
        assert tiny.step((low.action, kind))[4]["action_success"]
    assert allowed > 0


def test_what_is_allowed_mostly_succeeds(tiny: ClAlfredEnv) -> None:
    rng = np.random.default_rng(0)
    tried = failed = 0
    for entry in tiny.source.entries(tiny.split)[::7]:
        tiny.reset(options={"episode": entry.key})
        for _ in range(40):
            check_table(tiny)
            rows, columns = np.nonzero(tiny.possible_actions())
            keep = rows != Action.Stop
            # Interactions are rarer than moves.
            chance = np.where(rows[keep] >= Action.PickupObject, 5.0, 1.0)
            pick = rng.choice(keep.sum(), p=chance / chance.sum())
            pair = (Action(rows[keep][pick]), ObjectClass(columns[keep][pick]))
            info = tiny.step(pair)[4]
            tried += 1
            if not info["action_success"]:
                failed += 1
                assert pair[0] is Action.PutObject, (pair, info["reason"])
            if info["failures"] == 9:
                break
    assert tried > 200
    assert failed < tried / 10


def test_the_fake_household(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    apple, fridge, lamp = ObjectClass.Apple, ObjectClass.Fridge, ObjectClass.DeskLamp
    table = env.possible_actions()
    assert table[Action.PickupObject].nonzero()[0].tolist() == [apple]
    assert not table[Action.PutObject].any()
    assert not table[Action.SliceObject].any()
    assert table[Action.ToggleObjectOn].nonzero()[0].tolist() == [lamp]
    env.step((Action.PickupObject, apple))
    env.step((Action.OpenObject, fridge))
    table = env.possible_actions()
    assert not table[Action.PickupObject].any()
    assert set(table[Action.PutObject].nonzero()[0]) == {fridge, ObjectClass.DiningTable}
    assert table[Action.CloseObject].nonzero()[0].tolist() == [fridge]
    assert not table[Action.OpenObject].any()


def test_walls_and_the_limits_of_looking(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    env.reset(seed=0)
    assert env.possible_actions()[Action.MoveAhead, NOTHING]
    env.step((Action.RotateLeft, 0))
    assert not env.possible_actions()[Action.MoveAhead, NOTHING]
    assert env.step((Action.MoveAhead, 0))[4]["reason"] == "something is in the way"
    for looks, action in ((2, Action.LookDown), (6, Action.LookUp)):
        for _ in range(looks):
            assert env.possible_actions()[action, NOTHING]
            assert env.step((action, 0))[4]["action_success"]
        assert not env.possible_actions()[action, NOTHING]


def test_masks_need_an_episode(make_fake_env: MakeEnv) -> None:
    env = make_fake_env()
    with pytest.raises(UsageError, match="reset"):
        env.action_masks()
    env.reset(seed=0)
    assert env.action_masks().shape == (len(Action) + len(ObjectClass),)
    env.step((Action.Stop, 0))
    with pytest.raises(UsageError, match="reset"):
        env.action_masks()


def test_a_broken_simulator_masks_nothing_and_ends_the_episode(
    make_fake_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise SimulatorError("dead")

    env = make_fake_env()
    env.reset(seed=0)
    for call in ("sight", "frame"):
        monkeypatch.setattr(FakeSimulator, call, crash)
    assert env.action_masks().all()
    assert env.step((Action.RotateLeft, 0))[4]["crashed"]


def test_masks_of_discrete_actions_are_those_of_pairs(make_fake_env: MakeEnv) -> None:
    base = make_fake_env(tasks=["examine"])
    env = DiscreteActions(TaskStream(base))
    env.reset(seed=0)
    table, mask = base.possible_actions(), env.action_masks()
    assert mask.shape == (env.action_space.n,)  # type: ignore[attr-defined]
    for number, (action, kind) in enumerate(env.pairs):
        assert mask[number] == table[action, kind]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("discrete", [False, True])
def test_maskable_ppo(make_fake_env: MakeEnv, discrete: bool) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    env: Any = make_fake_env(image_size=36, max_steps=20)
    chosen = []
    act = env.step
    env.step = lambda action: chosen.append((action, env.possible_actions())) or act(action)
    model = sb3_contrib.MaskablePPO(
        "MultiInputPolicy",
        SB3Observation(DiscreteActions(env) if discrete else env),
        n_steps=32,
        batch_size=32,
        n_epochs=1,
        device="cpu",
    )
    assert model.learn(64).num_timesteps == 64
    assert len(chosen) == 64
    for (action, kind), table in chosen:
        assert table[action].any()
        assert not discrete or table[action, kind]
