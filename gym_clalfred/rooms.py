"""Room types, scene numbers, which split uses which rooms, and class frequencies."""

from __future__ import annotations

from enum import Enum

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass


class RoomType(str, Enum):
    """The four kinds of rooms, which are also the tasks of Environment-IL."""

    KITCHEN = "Kitchen"
    LIVING_ROOM = "LivingRoom"
    BEDROOM = "Bedroom"
    BATHROOM = "Bathroom"

    @property
    def paper_name(self) -> str:
        """The environment's name in the CL-ALFRED paper."""
        return self.value

    @property
    def numbers(self) -> range:
        """AI2-THOR's scene numbers of this room type."""
        first = _FIRST_NUMBER[self]
        return range(first, first + ROOMS_PER_TYPE)

    @property
    def more_numbers(self) -> range:
        """Numbers of rooms of this type that only the embedded household has."""
        first = _FIRST_OF_MORE[self]
        return range(first, first + _MORE_PER_TYPE)

    @classmethod
    def of(cls, number: int) -> RoomType:
        """The type of a room; raises ``BadInputError`` for a number that no room has."""
        for room_type in cls:
            if number in room_type.numbers or number in room_type.more_numbers:
                return room_type
        raise BadInputError(
            f"no room has number {number!r}: expected 1-30 or 1001-1990 (kitchens), 201-230 or "
            "2001-2990 (living rooms), 301-330 or 3001-3990 (bedrooms), 401-430 or 4001-4990 "
            "(bathrooms)"
        )


def is_room(number: int) -> bool:
    """Whether the embedded household has a room of this number."""
    return any(number in kind.numbers or number in kind.more_numbers for kind in RoomType)


def _more(first: int, count: int) -> tuple[int, ...]:
    """A run of rooms of every type that only the embedded household has."""
    return tuple(n for kind in RoomType for n in kind.more_numbers[first : first + count])


ROOMS_PER_TYPE = 30
_FIRST_NUMBER = {
    RoomType.KITCHEN: 1,
    RoomType.LIVING_ROOM: 201,
    RoomType.BEDROOM: 301,
    RoomType.BATHROOM: 401,
}
# AI2-THOR has no scene of four digits, so these stay free of its numbers.
_MORE_PER_TYPE = 33 * ROOMS_PER_TYPE
_FIRST_OF_MORE = {
    RoomType.KITCHEN: 1001,
    RoomType.LIVING_ROOM: 2001,
    RoomType.BEDROOM: 3001,
    RoomType.BATHROOM: 4001,
}

#: Every scene number of AI2-THOR, in order.
ROOM_NUMBERS = tuple(number for room_type in RoomType for number in room_type.numbers)

#: Scenes that only ``valid_unseen`` uses.
VALID_UNSEEN_NUMBERS = (10, 219, 308, 424)

#: Scenes of ALFRED's unpublished tests.
ALFRED_TEST_NUMBERS = (9, 29, 215, 226, 315, 325, 404, 425)

#: Rooms that only ``test_unseen`` uses: ALFRED's test scenes and six more rooms of each type.
TEST_UNSEEN_NUMBERS = (*ALFRED_TEST_NUMBERS, *_more(0, 6))

#: Rooms for the pre-training of encoders, 60 of each type. No split uses any of them.
PRETRAINING_NUMBERS = _more(ROOMS_PER_TYPE, 2 * ROOMS_PER_TYPE)

#: Scenes of ``train``, ``valid_seen`` and ``test_seen``.
TRAIN_NUMBERS = tuple(
    number
    for number in ROOM_NUMBERS
    if number not in VALID_UNSEEN_NUMBERS and number not in ALFRED_TEST_NUMBERS
)


def _frequencies(row: str) -> dict[ObjectClass, float]:
    pairs = (entry.split(":") for entry in row.split())
    return {ObjectClass[name]: int(count) / ROOMS_PER_TYPE for name, count in pairs}


#: Share of AI2-THOR's rooms of a type that contain a class at all.
CLASS_FREQUENCY = {
    RoomType.KITCHEN: _frequencies(
        "Apple:30 Blinds:5 Book:2 Bowl:30 Bread:30 ButterKnife:29 Cabinet:30 CellPhone:4 "
        "Chair:25 CoffeeMachine:30 CounterTop:30 CreditCard:3 Cup:30 Curtains:2 "
        "DiningTable:16 DishSponge:30 Drawer:28 Egg:30 Faucet:30 Fork:30 Fridge:30 "
        "GarbageCan:30 Glassbottle:7 HousePlant:10 Kettle:15 Knife:30 Ladle:10 Lettuce:30 "
        "LightSwitch:30 Microwave:30 Mirror:2 Mug:30 Pan:30 PaperTowelRoll:10 Pen:2 "
        "Pencil:2 PepperShaker:30 Plate:30 Pot:30 Potato:30 Safe:1 SaltShaker:30 Shelf:5 "
        "SideTable:3 Sink:30 SinkBasin:30 SoapBottle:30 Spatula:30 Spoon:30 SprayBottle:2 "
        "Statue:4 StoveBurner:30 StoveKnob:30 Toaster:30 Tomato:30 Vase:4 Window:26 "
        "WineBottle:10"
    ),
    RoomType.LIVING_ROOM: _frequencies(
        "ArmChair:27 Blinds:1 Book:7 Boots:5 Bowl:4 Box:30 Cabinet:4 Candle:3 CellPhone:7 "
        "Chair:20 CoffeeTable:25 CreditCard:30 Curtains:8 Desk:1 DeskLamp:7 "
        "DiningTable:14 Drawer:23 Dresser:10 FloorLamp:30 GarbageCan:30 HousePlant:30 "
        "KeyChain:30 Lamp:6 Laptop:30 LightSwitch:30 Mirror:3 Newspaper:18 Ottoman:4 "
        "Painting:30 Pen:5 Pencil:4 Pillow:30 Plate:10 RemoteControl:30 Safe:2 Shelf:12 "
        "SideTable:24 Sofa:30 Statue:29 TVStand:12 Television:30 TissueBox:9 Vase:18 "
        "Watch:16 WateringCan:13 Window:28"
    ),
    RoomType.BEDROOM: _frequencies(
        "AlarmClock:30 ArmChair:6 BaseballBat:13 BasketBall:11 Bed:30 Blinds:27 Book:30 "
        "Boots:3 Bowl:13 Box:12 CD:30 Cabinet:5 CellPhone:30 Chair:22 Cloth:5 "
        "CoffeeTable:1 CounterTop:1 CreditCard:30 Curtains:2 Desk:19 DeskLamp:20 "
        "DiningTable:5 Drawer:29 Dresser:15 Footstool:1 GarbageCan:30 HousePlant:7 "
        "KeyChain:30 Lamp:10 Laptop:30 LaundryHamper:8 LaundryHamperLid:8 LightSwitch:30 "
        "Mirror:30 Mug:16 Painting:13 Pen:30 Pencil:30 Pillow:30 Poster:6 RemoteControl:3 "
        "Safe:5 Shelf:20 SideTable:19 Statue:4 TeddyBear:10 Television:3 TennisRacket:10 "
        "TissueBox:4 Vase:3 Watch:2 Window:30"
    ),
    RoomType.BATHROOM: _frequencies(
        "Bathtub:21 BathtubBasin:20 Cabinet:15 Candle:30 Cart:2 Cloth:30 CounterTop:25 "
        "DishSponge:6 Drawer:15 Dresser:2 Faucet:28 FloorLamp:2 Footstool:1 GarbageCan:30 "
        "HandTowel:30 HandTowelHolder:30 HousePlant:1 LightSwitch:30 Mirror:30 Painting:1 "
        "PaperTowelRoll:4 Plunger:30 ScrubBrush:30 Shelf:8 ShowerCurtain:13 ShowerDoor:17 "
        "ShowerGlass:13 ShowerHead:12 SideTable:2 Sink:30 SinkBasin:30 SoapBar:30 "
        "SoapBottle:30 SprayBottle:30 TissueBox:9 Toilet:30 ToiletPaper:30 "
        "ToiletPaperHanger:30 Towel:30 TowelHolder:30 Window:19"
    ),
}
