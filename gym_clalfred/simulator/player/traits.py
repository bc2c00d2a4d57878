"""What AI2-THOR's metadata says of an object class beyond what ALFRED uses."""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import CLASSES, ObjectClass, having


@dataclass(frozen=True)
class ThorCondition:
    """What may be true of an object here and does not concern ALFRED's household.

    Args:
        openness: how far an open object is open, from 0 to 1.
        liquid: what it is filled with.
        is_unbreakable: whether something that could break does not.
    """

    openness: float = 1.0
    liquid: str | None = None
    is_broken: bool = False
    is_cooked: bool = False
    is_used_up: bool = False
    is_unbreakable: bool = False


BREAKABLE = having("breakable")
FILLABLE = having("fillable")
DIRTYABLE = having("dish") | having("dirtyable")
USED_UP = having("used_up")
COOKABLE = having("cookable")
HEAT_SOURCES = having("heat_source")
COLD_SOURCES = having("cold_source")
MOVEABLE = having("moveable")

MATERIALS = {kind: (one.material,) for kind, one in CLASSES.items() if one.material}

#: Kilograms per litre of an object's box, so that pans weigh more than pillows.
_DENSITY = {"Ceramic": 0.8, "Fabric": 0.1, "Glass": 0.5, "Metal": 0.6, "Paper": 0.4, "Wood": 0.3}


def mass_of(object_class: ObjectClass, size: tuple[float, float, float]) -> float:
    """A plausible mass in kilograms, to the gram."""
    litres = size[0] * size[1] * size[2] * 1000.0
    material = MATERIALS.get(object_class, ("",))[0]
    return max(round(litres * _DENSITY.get(material, 0.3), 3), 0.005)
