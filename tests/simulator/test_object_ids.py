"""Ids as AI2-THOR writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.simulator.object_ids import class_of, format_id, position_of, slice_id

coordinates = st.floats(-99, 99)
classes = st.sampled_from([c for c in ObjectClass if c])


@pytest.mark.parametrize(
    ("object_class", "position", "expected"),
    [
        (ObjectClass.Mug, (1.254, 0.9, -0.4), "Mug|+01.25|+00.90|-00.40"),
        (ObjectClass.Fridge, (-12.0, 0.0, -0.001), "Fridge|-12.00|+00.00|+00.00"),
        (ObjectClass.SinkBasin, (0, 0.89, -1.44), "Sink|+00.00|+00.89|-01.44|SinkBasin"),
        (
            ObjectClass.BathtubBasin,
            (0.29, 0.29, -0.08),
            "Bathtub|+00.29|+00.29|-00.08|BathtubBasin",
        ),
    ],
)
def test_form(object_class, position, expected):
    assert format_id(object_class, position) == expected


@pytest.mark.parametrize(
    ("object_id", "object_class"),
    [
        ("Dresser|+02.56|00.00|+00.25", ObjectClass.Dresser),
        ("Sink|-02.17|+00.30|-00.66|SinkBasin", ObjectClass.SinkBasin),
        ("Tomato|-02.55|+00.99|-01.88|TomatoSliced_6", ObjectClass.TomatoSliced),
        ("Egg|-02.55|+00.99|-01.88|EggCracked_1", ObjectClass.EggCracked),
    ],
)
def test_class_of_ids_in_alfred(object_id, object_class):
    assert class_of(object_id) is object_class


@given(object_class=classes, x=coordinates, y=coordinates, z=coordinates)
def test_class_and_position_come_back(object_class, x, y, z):
    object_id = format_id(object_class, (x, y, z))
    assert class_of(object_id) is object_class
    assert position_of(object_id) == pytest.approx((x, y, z), abs=0.00501)


@pytest.mark.parametrize("whole", SLICED_FORM)
def test_slices_know_their_class(whole):
    piece = slice_id(format_id(whole, (1.0, 2.0, 3.0)), 2)
    assert piece.endswith("_2")
    assert class_of(piece) is SLICED_FORM[whole]


@pytest.mark.parametrize(
    "text", ["", "Mug", "Mug|1|2|3", "Nothing|+01.00|+01.00|+01.00", "Mug|+01.00|+01.00"]
)
def test_other_text_is_refused(text):
    with pytest.raises(BadInputError, match="not an object id"):
        class_of(text)
