"""Usual boxes of furniture around the position that AI2-THOR records for it.

Medians, rounded and made symmetric, over the furniture that masks show in all rooms of train, valid
seen and valid unseen. Classes that masks never show, and heights of which masks show too little
(bins, beds, armchairs), follow the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import CLASSES


@dataclass(frozen=True)
class UsualBox:
    """Extents in metres from the recorded position, in the frame of the front.

    Args:
        aside: to each side.
        back: behind it.
        front: before it.
        low: of the bottom, from the recorded height.
        high: of the top, from the recorded height; from the floor if it stands there.
        on_floor: whether it stands on the floor.
    """

    aside: float
    back: float
    front: float
    low: float
    high: float
    on_floor: bool


#: By class.
USUAL_BOXES = {
    kind: UsualBox(*one.thor_box)
    for kind, one in sorted(CLASSES.items(), key=lambda item: item[0].name)
    if one.thor_box is not None
}
