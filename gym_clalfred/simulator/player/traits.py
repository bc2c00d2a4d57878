"""What AI2-THOR's metadata says of an object class beyond what ALFRED uses."""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.household import DISHES


@dataclass(frozen=True)
class Condition:
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


def _classes(names: str) -> frozenset[ObjectClass]:
    return frozenset(ObjectClass[name] for name in names.split())


BREAKABLE = _classes(
    "Bowl CellPhone Cup Egg Glassbottle Laptop Mirror Mug Plate Statue Television Vase Window "
    "WineBottle"
)
FILLABLE = _classes("Bowl Cup Glassbottle HousePlant Kettle Mug Pot WateringCan WineBottle")
DIRTYABLE = DISHES | _classes("Bed Cloth Mirror")
USED_UP = _classes("PaperTowelRoll SoapBottle TissueBox ToiletPaper")
COOKABLE = _classes("BreadSliced EggCracked Potato PotatoSliced")
HEAT_SOURCES = _classes("Microwave StoveBurner Toaster")
COLD_SOURCES = _classes("Fridge")
MOVEABLE = _classes(
    "ArmChair Cart Chair CoffeeMachine Desk DeskLamp DiningTable FloorLamp Footstool GarbageCan "
    "HousePlant LaundryHamper Microwave Ottoman SideTable Sofa Television Toaster TVStand"
)

_MATERIALS = {
    "Ceramic": "Bathtub Bowl Mug Plate Sink SinkBasin Statue Toilet Vase",
    "Fabric": "ArmChair Bed Cloth Curtains HandTowel Ottoman Pillow Sofa TeddyBear Towel",
    "Food": "Apple AppleSliced Bread BreadSliced Egg EggCracked Lettuce LettuceSliced Potato "
    "PotatoSliced Tomato TomatoSliced",
    "Glass": "Cup Glassbottle Mirror ShowerDoor ShowerGlass Television Window WineBottle",
    "Metal": "ButterKnife Faucet Fork Fridge Kettle KeyChain Knife Ladle Laptop Microwave Pan Pot "
    "Safe Spatula Spoon StoveBurner StoveKnob Toaster Watch",
    "Paper": "Book Box Newspaper PaperTowelRoll TissueBox ToiletPaper",
    "Plastic": "AlarmClock CD CellPhone CreditCard DishSponge Pen RemoteControl SprayBottle",
    "Wood": "BaseballBat Cabinet CoffeeTable Desk DiningTable Drawer Dresser Pencil Shelf "
    "SideTable TVStand",
}
MATERIALS = {
    object_class: (material,)
    for material, names in _MATERIALS.items()
    for object_class in _classes(names)
}

#: Kilograms per litre of an object's box, so that pans weigh more than pillows.
_DENSITY = {"Ceramic": 0.8, "Fabric": 0.1, "Glass": 0.5, "Metal": 0.6, "Paper": 0.4, "Wood": 0.3}


def mass_of(object_class: ObjectClass, size: tuple[float, float, float]) -> float:
    """A plausible mass in kilograms, to the gram."""
    litres = size[0] * size[1] * size[2] * 1000.0
    material = MATERIALS.get(object_class, ("",))[0]
    return max(round(litres * _DENSITY.get(material, 0.3), 3), 0.005)
