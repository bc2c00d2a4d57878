"""Every object class has one record, and the tables say what the records say."""

from __future__ import annotations

import re

import pytest

from gym_clalfred.classes import RECORDS
from gym_clalfred.classes.record import TRAITS, ClassRecord
from gym_clalfred.compatibility import ACCEPTS, MOVABLE_COUNTS, RECEPTACLE_COUNTS, TARGET_COUNTS
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import (
    CLASSES,
    CLOSED_AT_START,
    MOVABLE_RECEPTACLES,
    OPENABLE,
    PICKUPABLE,
    RECEPTACLES,
    SLICED_FORM,
    ObjectClass,
    having,
)
from gym_clalfred.rooms import CLASS_FREQUENCY, ROOMS_PER_TYPE


def test_every_label_but_the_first_has_one_record() -> None:
    assert set(CLASSES) == set(ObjectClass) - {ObjectClass.NoObject}
    assert len(RECORDS) == len(ObjectClass) - 1 == 118


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.name)
def test_a_record_names_classes_that_fit(kind: ObjectClass) -> None:
    record = CLASSES[kind]
    places = [*record.goes_in.split(), *record.starts_in.split(), *record.favourites]
    assert {ObjectClass[name] for name in places} <= RECEPTACLES
    # Paper towels and empty rolls are ALFRED's words for what is never carried here.
    paper = {ObjectClass.PaperTowel, ObjectClass.ToiletPaperRoll}
    assert not places or kind in PICKUPABLE | paper
    assert bool(record.receptacle_count or record.inclination) <= (kind in RECEPTACLES)
    assert bool(record.movable_count) == (kind in MOVABLE_RECEPTACLES)
    assert sum(record.copies) == pytest.approx(1)
    assert max(record.rooms) <= ROOMS_PER_TYPE
    assert min(record.size[:3]) > 0
    assert re.fullmatch(r"([=+]?[a-z ]+(, )?)*", record.words)


def test_tables_come_most_frequent_first_and_leave_nothing_out() -> None:
    for table in (TARGET_COUNTS, RECEPTACLE_COUNTS, MOVABLE_COUNTS):
        assert list(table.values()) == sorted(table.values(), reverse=True)
    assert TARGET_COUNTS[ObjectClass.Tomato] == 411
    assert RECEPTACLE_COUNTS.keys() <= ACCEPTS.keys() == RECEPTACLES
    assert sum(map(len, ACCEPTS.values())) == sum(
        len(record.goes_in.split()) for record in RECORDS.values()
    )
    assert {kind for table in CLASS_FREQUENCY.values() for kind in table} == {
        kind for kind, record in CLASSES.items() if any(record.rooms)
    }


def test_traits_agree_with_each_other() -> None:
    assert all(having(trait) for trait in TRAITS)
    assert PICKUPABLE & RECEPTACLES >= MOVABLE_RECEPTACLES
    assert OPENABLE >= CLOSED_AT_START
    assert CLOSED_AT_START <= having("inside") <= RECEPTACLES
    for whole, sliced in SLICED_FORM.items():
        for trait in ("heatable", "coolable", "cleanable"):
            if sliced is not ObjectClass.EggCracked:
                assert (whole in having(trait)) == (sliced in having(trait)), whole


def test_a_misspelt_trait_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"traits \['hot'\]: expected some of pickupable"):
        ClassRecord((1.0, 1.0, 1.0, 0.0), traits="pickupable hot")
