"""Every object class has one record, and the tables say what the records say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gym_clalfred.classes import RECORDS, check_installed
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
from tests import ROOT
from tests.helpers.cases import for_each

EXAMPLES = ROOT / "examples"


def test_every_label_but_the_first_has_one_record() -> None:
    assert set(CLASSES) == set(ObjectClass) - {ObjectClass.NoObject}
    assert len(RECORDS) == len(ObjectClass) - 1 == 118


@for_each(CLASSES)
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


def run(code: str, *paths: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


ROOMS = """
import hashlib
from dataclasses import replace
from gym_clalfred.data.manifest import code_fingerprint
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.generator import make_room
rooms = repr([replace(make_room(number), items=()) for number in (1, 212, 305, 421)])
print(hashlib.sha256(rooms.encode()).hexdigest(), len(ObjectClass), code_fingerprint())
"""


def test_a_class_of_another_package_gets_a_new_label_and_moves_no_furniture(tmp_path: Path) -> None:
    info = tmp_path / "oranges-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: oranges\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[clalfred.classes]\nOrange = 08_own_class:ORANGE\n")
    rooms, labels, fingerprint = run(ROOMS).split()
    with_oranges = run(ROOMS, tmp_path, EXAMPLES).split()
    assert (labels, with_oranges[:2]) == ("119", [rooms, "120"])
    assert with_oranges[2] != fingerprint, "its tiers would be taken for those without it"
    code = (
        "import pickle; from gym_clalfred.objects import COOLABLE, ObjectClass as C; "
        "assert C.Orange in COOLABLE and list(C)[:-1] == list(range(119)); "
        "assert pickle.loads(pickle.dumps(C.Orange)) is C.Orange; print(C(119).name)"
    )
    assert run(code, tmp_path, EXAMPLES) == "Orange\n"


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("Orange", None, "expected a ClassRecord, found None"),
        ("Apple", {}, "expected a new name, such as 'Orange'"),
        ("Blood orange", {}, "expected a new name"),
        ("Orange", {"traits": "pickupable receptacle"}, "expected a thing to be carried"),
        ("Orange", {"traits": "landmark"}, "expected a thing to be carried"),
        ("Orange", {"draw": ""}, "expected draw, words and goes_in"),
    ],
)
def test_a_class_that_cannot_be_added_is_refused(
    name: str, changes: dict[str, str] | None, text: str
) -> None:
    record = replace(RECORDS["Apple"], draw="fruit:orange")
    assert check_installed("Orange", record) is record
    with pytest.raises(BadInputError, match=f"object class '{name}': {text}"):
        check_installed(name, None if changes is None else replace(record, **changes))


def test_a_misspelt_trait_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"traits \['hot'\]: expected some of pickupable"):
        ClassRecord((1.0, 1.0, 1.0, 0.0), traits="pickupable hot")
