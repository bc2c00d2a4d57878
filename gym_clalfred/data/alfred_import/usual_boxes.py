"""Usual boxes of furniture around the position that AI2-THOR records for it.

Medians, rounded and made symmetric, over the furniture that masks show in all rooms of train, valid
seen and valid unseen. Classes that masks never show, and heights of which masks show too little
(bins, beds, armchairs), follow the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import ObjectClass


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


_TABLE = """
ArmChair           0.43 0.46 0.37  0.00  0.75 floor
BathtubBasin       0.74 0.30 0.30 -0.29 -0.03 anchor
Bed                0.85 1.00 0.90  0.00  0.80 floor
Cabinet            0.22 0.36 0.00 -0.31  0.31 anchor
Cart               0.35 0.25 0.25  0.00  0.80 floor
CoffeeMachine      0.17 0.14 0.17 -0.05  0.35 anchor
CoffeeTable        0.54 0.42 0.45  0.00  0.44 floor
CounterTop         0.70 0.33 0.31 -0.10 -0.05 anchor
Desk               0.72 0.39 0.42  0.00  0.73 floor
DiningTable        0.70 0.48 0.48  0.00  0.74 floor
Drawer             0.24 0.22 0.21 -0.08  0.09 anchor
Dresser            0.62 0.32 0.20  0.00  0.78 floor
Fridge             0.41 0.35 0.40  0.00  1.80 floor
GarbageCan         0.17 0.17 0.14  0.00  0.40 floor
HandTowelHolder    0.12 0.03 0.06 -0.25  0.20 anchor
LaundryHamper      0.22 0.20 0.20  0.00  0.60 floor
Microwave          0.32 0.24 0.14  0.00  0.32 anchor
Ottoman            0.41 0.26 0.26  0.00  0.41 floor
Safe               0.25 0.26 0.26  0.00  0.43 floor
Shelf              0.38 0.14 0.12 -0.03  0.00 anchor
SideTable          0.31 0.26 0.25  0.00  0.62 floor
SinkBasin          0.29 0.20 0.14 -0.16 -0.02 anchor
Sofa               1.00 0.50 0.40  0.00  0.81 floor
StoveBurner        0.11 0.11 0.11 -0.01  0.01 anchor
Toilet             0.21 0.35 0.33  0.00  0.80 floor
ToiletPaperHanger  0.08 0.05 0.10 -0.10  0.06 anchor
TowelHolder        0.31 0.03 0.06 -0.35  0.30 anchor
TVStand            0.72 0.21 0.21  0.00  0.50 floor
"""


def _read(table: str) -> dict[ObjectClass, UsualBox]:
    found = {}
    for line in table.strip().splitlines():
        name, *numbers, where = line.split()
        aside, back, front, low, high = map(float, numbers)
        found[ObjectClass[name]] = UsualBox(aside, back, front, low, high, where == "floor")
    return found


USUAL_BOXES = _read(_TABLE)
