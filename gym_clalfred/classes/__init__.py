"""The object classes: one record each. Labels are in ``objects``, shapes in the catalog.

Another package adds things that can be carried by entry points in the group ``clalfred.classes``:
the class's name and its record. Their labels follow ALFRED's 119.
"""

from __future__ import annotations

import re
from importlib import metadata

from gym_clalfred.classes.fittings import RECORDS as _FITTINGS
from gym_clalfred.classes.furniture import RECORDS as _FURNITURE
from gym_clalfred.classes.kitchen import RECORDS as _KITCHEN
from gym_clalfred.classes.record import ClassRecord
from gym_clalfred.classes.things import RECORDS as _THINGS
from gym_clalfred.errors import BadInputError

#: The group of entry points by which other packages add classes.
ENTRY_POINTS = "clalfred.classes"

_ALFRED = {**_THINGS, **_KITCHEN, **_FURNITURE, **_FITTINGS}


def check_installed(name: str, record: object) -> ClassRecord:
    """The record of a class of another package if it can be one; else ``BadInputError``."""
    if not isinstance(record, ClassRecord):
        raise BadInputError(f"object class {name!r}: expected a ClassRecord, found {record!r}")
    if not re.fullmatch(r"[A-Z][A-Za-z]{1,40}", name) or name in _ALFRED:
        raise BadInputError(f"object class {name!r}: expected a new name, such as 'Orange'")
    traits = record.traits.split()
    if "pickupable" not in traits or "receptacle" in traits or "toggleable" in traits:
        raise BadInputError(
            f"object class {name!r}: expected a thing to be carried, which holds and switches "
            f"nothing, found the traits {record.traits!r}"
        )
    if not (record.draw and record.words and record.goes_in):
        raise BadInputError(f"object class {name!r}: expected draw, words and goes_in to be given")
    return record


#: Those of other packages, sorted by name.
INSTALLED: dict[str, ClassRecord] = {
    entry.name: check_installed(entry.name, entry.load())
    for entry in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
}

#: By name; where ALFRED uses two classes equally often, the first comes first.
RECORDS: dict[str, ClassRecord] = {**_ALFRED, **INSTALLED}
