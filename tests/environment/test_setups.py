"""One spelling per setup, and any other is understood."""

from __future__ import annotations

import gymnasium
import pytest

from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError
from gym_clalfred.names import match_name
from gym_clalfred.rooms import RoomType
from gym_clalfred.setups import ENV_IDS, ORDERS, Setup
from gym_clalfred.stream import PAPER_ORDERS, RELEASED_ORDERS, build_schedule, resolve_order
from tests.helpers.fakes import FakeSource


def test_the_values_are_what_commands_and_results_say() -> None:
    values = ["behavior-il", "environment-il", "imbalanced-environment-il"]
    assert [setup.value for setup in Setup] == values


def test_ids_stay_as_they_are() -> None:
    assert ENV_IDS == (
        "CLAlfred-BehaviorIL-v0",
        "CLAlfred-EnvironmentIL-v0",
        "CLAlfred-ImbalancedEnvironmentIL-v0",
    )


@pytest.mark.parametrize("setup", Setup)
def test_every_spelling_is_understood(setup: Setup) -> None:
    spellings = [
        setup,
        setup.value,
        setup.name,
        setup.paper_name,
        setup.value.replace("-", "_"),
        setup.env_id.split("-")[1],
        setup.value.upper(),
    ]
    for name in spellings:
        assert Setup.parse(name) is setup
        assert ClAlfredEnv(name, source=FakeSource()).setup is setup
    assert gymnasium.spec(setup.env_id).kwargs == {"setup": setup.value}


@pytest.mark.parametrize("name", ["", "il", "task-il", None, 3, ["behavior-il"]])
def test_other_names_are_refused(name: object) -> None:
    with pytest.raises(BadInputError) as caught:
        Setup.parse(name)
    assert "behavior-il, environment-il, imbalanced-environment-il" in str(caught.value)
    assert repr(name) in str(caught.value)


def test_a_near_miss_gets_a_hint() -> None:
    with pytest.raises(BadInputError, match="did you mean 'behavior-il'"):
        Setup.parse("behaviour-il")
    with pytest.raises(BadInputError, match="expected room to be one of Kitchen, Bedroom, got 'x'"):
        match_name("room", "x", {"Kitchen": 1, "Bedroom": 2})


def test_streams_take_every_setup() -> None:
    source = FakeSource(rooms=(1, 201, 301, 401))
    assert set(PAPER_ORDERS) == set(RELEASED_ORDERS) == set(Setup)
    names = {
        setup: build_schedule(source, setup.value.replace("-", "_")).name
        for setup in Setup
        if setup is not Setup.BEHAVIOR_IL
    }
    # Published results have these.
    assert set(names.values()) == {"environment_il-disjoint-1"}
    balanced, all_of_them = (
        build_schedule(FakeSource(rooms=(1, 2, 201, 301, 401)), setup)
        for setup in (Setup.ENVIRONMENT_IL, Setup.IMBALANCED_ENVIRONMENT_IL)
    )
    assert len(balanced) == 4 * 6
    assert len(all_of_them) == 5 * 6


@pytest.mark.parametrize("order", range(1, ORDERS + 1))
def test_imbalanced_streams_have_the_same_orders(order: int) -> None:
    pair = (Setup.ENVIRONMENT_IL, Setup.IMBALANCED_ENVIRONMENT_IL)
    first, second = (resolve_order(setup, order) for setup in pair)
    assert first == second


def test_own_orders_take_any_spelling() -> None:
    assert resolve_order(Setup.ENVIRONMENT_IL, ["living room", "KITCHEN"]) == (
        RoomType.LIVING_ROOM,
        RoomType.KITCHEN,
    )
    names = ["heat", "pick & place", "Pick2 and Place", "pick_cool_then_place_in_recep"]
    assert [task.paper_name for task in resolve_order(Setup.BEHAVIOR_IL, names)] == [
        "Heat",
        "Pick&Place",
        "Pick2&Place",
        "Cool",
    ]
