"""docs/ENVIRONMENT.md says what the code does."""

from __future__ import annotations

import re

import pytest

from gym_clalfred.actions import Action
from gym_clalfred.objects import (
    OPENABLE,
    PICKUPABLE,
    RECEPTACLES,
    SLICEABLE,
    TOGGLEABLE,
    ObjectClass,
)
from gym_clalfred.possible_actions import KEYS, PAIRS
from gym_clalfred.simulator.contract import Failure
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.rewards import (
    GOAL_REWARD,
    GOTO_DONE_BELOW,
    GOTO_SHAPING,
    STEP_PENALTY,
    SUBGOAL_REWARDS,
)
from tests import ROOT

PAGE = (ROOT / "docs" / "ENVIRONMENT.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The rows of the first table after a heading."""
    section = PAGE.split(f"# {heading}\n", 1)[1]
    rows = re.search(r"^\|.*?(?=^[^|])", section, flags=re.DOTALL | re.MULTILINE)
    assert rows
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[0].splitlines()]
    return cells[2:]


def test_actions_and_keys() -> None:
    shown = {(int(number), name): key for number, name, _, key in table("Actions")}
    names = {"\r": "Enter"}
    assert shown == {
        (action.value, action.name): names.get(key, key.upper()) for key, action in KEYS.items()
    }
    assert len(shown) == len(Action)


def test_reasons() -> None:
    assert [row[0] for row in table("Reasons")] == [failure.value for failure in Failure]


@pytest.mark.parametrize("subgoal", SUBGOAL_REWARDS)
def test_rewards(subgoal: str) -> None:
    rows = {row[0]: row[1:] for row in table("Rewards")}
    assert set(rows) == set(SUBGOAL_REWARDS)
    numbers = SUBGOAL_REWARDS[subgoal]
    *paid, fitting = rows[subgoal]
    assert [float(n) for n in paid] == [
        numbers.positive,
        numbers.negative,
        numbers.invalid_action,
    ]
    if fitting == "moves, turns, looks":
        assert numbers.actions == {action for action in Action if action.is_navigation}
    elif fitting.startswith("all but SliceObject"):
        rest = {action for action in Action if action.is_interaction} - {Action.SliceObject}
        assert numbers.actions == rest
    else:
        assert {action.name for action in numbers.actions} == set(fitting.split(", "))


def test_other_numbers() -> None:
    assert f"pays {GOTO_SHAPING} for every action" in PAGE
    assert f"fewer than {GOTO_DONE_BELOW} actions" in " ".join(PAGE.split())
    assert f"Meeting all goal conditions pays {GOAL_REWARD:g}" in PAGE
    assert f"costs {-STEP_PENALTY}" in PAGE
    assert f"the {len(PAIRS)} meaningful pairs" in " ".join(PAGE.split())
    assert all(task.paper_name in PAGE for task in ALFRED_TASKS)


@pytest.mark.parametrize(
    ("title", "classes"),
    [
        ("Can be picked up", PICKUPABLE),
        ("Receptacles", RECEPTACLES),
        ("Can be opened", OPENABLE),
        ("Can be toggled", TOGGLEABLE),
        ("Can be sliced", SLICEABLE),
        (
            "Only seen",
            set(ObjectClass)
            - {ObjectClass.NoObject}
            - (PICKUPABLE | RECEPTACLES | OPENABLE | TOGGLEABLE | SLICEABLE),
        ),
    ],
)
def test_classes(title: str, classes: set[ObjectClass]) -> None:
    found = re.search(rf"\*\*{title}:\*\* (.*?)\.\n", PAGE, flags=re.DOTALL)
    assert found
    assert set(re.split(r",\s+", found[1])) == {kind.name for kind in classes}
