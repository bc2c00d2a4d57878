"""Unique names for the objects of a room, as AI2-THOR's metadata has them.

The embedded household calls copies of one object by the same name, because the name stands for
their look. Here the second is ``Mug_0a1b2c3d_copy_1``, the third ``Mug_0a1b2c3d_copy_2``.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

from gym_clalfred.simulator.embedded.room_model import Fixture

_COPY = re.compile(r"_copy_\d+$")


def look_of(name: str) -> str:
    """The name that stands for an object's look: without the number of a copy."""
    return _COPY.sub("", name)


def fixture_names(fixtures: Iterable[Fixture]) -> list[str]:
    """A name for each fixture; where fixtures are called by their ids, a class and a tag."""
    names = []
    for fixture in fixtures:
        tag = zlib.crc32(fixture.name.encode())
        named = "|" not in fixture.name
        names.append(fixture.name if named else f"{fixture.object_class.name}_{tag:08x}")
    return unique_names(names)


def unique_names(wanted: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """The wanted names; of equal ones, all but the first get the number of a copy."""
    used = {*taken, *(name for name, count in Counter(wanted).items() if count == 1)}
    names, once = [], {*taken}
    for name in wanted:
        if name not in once:
            once.add(name)
            used.add(name)
            names.append(name)
            continue
        number = 1
        while (copy := f"{look_of(name)}_copy_{number}") in used:
            number += 1
        used.add(copy)
        names.append(copy)
    return names


def slice_name(whole: str, object_id: str) -> str:
    """The name of a piece of an object: its class, the whole's tag and the piece's number."""
    kind, _, piece = object_id.rsplit("|", 1)[1].rpartition("_")
    return f"{kind}_{whole.partition('_')[2]}_{piece}"
