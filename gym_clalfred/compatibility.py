"""Which class may go where when tasks are sampled, and how often, from ALFRED's data.

These tables limit what the generator asks for; they are not enforced when an agent acts.
"""

from __future__ import annotations

from gym_clalfred.objects import CLASSES, RECEPTACLES, ObjectClass, classes


def _accepted(holder: ObjectClass) -> frozenset[ObjectClass]:
    found = (kind.name for kind, one in CLASSES.items() if holder.name in one.goes_in.split())
    return classes(" ".join(found))


def _counts(field: str) -> dict[ObjectClass, int]:
    """The classes that have a count, the most frequent first."""
    counts = {kind: getattr(one, field) for kind, one in CLASSES.items() if getattr(one, field)}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


#: Receptacle class -> classes that ALFRED puts in or on it.
ACCEPTS = {
    holder: _accepted(holder) for holder in sorted(RECEPTACLES, key=lambda holder: holder.name)
}

#: How many ALFRED trajectories have the class as target (the sampling weights of the generator).
TARGET_COUNTS = _counts("target_count")

#: How many ALFRED trajectories end at the receptacle class.
RECEPTACLE_COUNTS = _counts("receptacle_count")

#: How many ALFRED trajectories use the movable receptacle class.
MOVABLE_COUNTS = _counts("movable_count")
