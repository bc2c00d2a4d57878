"""Which action marks what, on states alone: the rule that both backends share."""

from dataclasses import replace

import pytest

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import ObjectState
from gym_clalfred.simulator.object_ids import class_of, position_of
from gym_clalfred.simulator.treatments import (
    CLEAN,
    COOL,
    HEAT,
    TREATMENTS,
    nearest_basin,
    treatment_of,
)

FAUCET = "Faucet|+01.00|+01.00|+00.00"
NEAR = "Sink|+01.20|+00.90|+00.00|SinkBasin"
FAR = "Sink|-01.00|+00.90|+00.00|SinkBasin"
TUB = "Bathtub|+01.05|+00.30|+00.00|BathtubBasin"
MICROWAVE = "Microwave|+02.00|+00.90|+00.00"
FRIDGE = "Fridge|+03.00|+00.00|+00.00"
CABINET = "Cabinet|+04.00|+00.00|+00.00"


def state(object_id: str, *contents: str) -> ObjectState:
    return ObjectState(
        object_id,
        class_of(object_id),
        position_of(object_id),
        (0.0, 0.0, 0.0),
        (0.1, 0.1, 0.1),
        contents=contents,
    )


@pytest.fixture
def objects() -> dict[str, ObjectState]:
    states = [
        state(FAUCET),
        state(FAR, "far"),
        state(NEAR, "plate", "spoon on plate"),
        state(TUB, "in the tub"),
        state(MICROWAVE, "potato"),
        state(FRIDGE, "egg", "mug"),
        state(CABINET, "pan"),
    ]
    return {each.id: each for each in states}


@pytest.mark.parametrize(
    ("action", "target", "expected"),
    [
        (Action.ToggleObjectOn, FAUCET, (CLEAN, ("plate", "spoon on plate"))),
        (Action.ToggleObjectOff, FAUCET, None),
        (Action.ToggleObjectOn, MICROWAVE, (HEAT, ("potato",))),
        (Action.CloseObject, MICROWAVE, None),
        (Action.CloseObject, FRIDGE, (COOL, ("egg", "mug"))),
        (Action.OpenObject, FRIDGE, None),
        (Action.CloseObject, CABINET, None),
    ],
)
def test_what_is_treated(objects, action, target, expected):
    assert treatment_of(action, target, objects) == expected


def test_empty_vessels_treat_nothing(objects):
    objects[MICROWAVE] = replace(objects[MICROWAVE], contents=())
    assert treatment_of(Action.ToggleObjectOn, MICROWAVE, objects) is None


def test_faucet_without_a_sink_cleans_nothing(objects):
    for name in (NEAR, FAR):
        del objects[name]
    assert nearest_basin(FAUCET, objects) is None
    assert treatment_of(Action.ToggleObjectOn, FAUCET, objects) is None


def test_bathtub_never_counts(objects):
    assert nearest_basin(FAUCET, objects).object_class is ObjectClass.SinkBasin


def test_marks_are_fields_of_the_state():
    for treatment in TREATMENTS.values():
        assert getattr(state(CABINET), treatment.mark) is False
